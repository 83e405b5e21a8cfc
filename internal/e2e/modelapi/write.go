package modelapi

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// object writes one JSON object as the complete answer.
func object(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) // fails if the harness has hung up, which is fine
}

// stream writes server-sent events.
type stream struct{ w http.ResponseWriter }

func newStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	return stream{w}
}

// send writes one event at once. Two of the dialects name their events.
func (s stream) send(event string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // v consists of maps and strings
	}
	if event != "" {
		fmt.Fprintf(s.w, "event: %s\n", event)
	}
	s.line(string(data))
}

func (s stream) line(data string) {
	fmt.Fprintf(s.w, "data: %s\n\n", data)
	http.NewResponseController(s.w).Flush() // fails if the harness has hung up
}
