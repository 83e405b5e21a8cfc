package modelapi

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// writeObject writes one JSON object as the complete answer.
func writeObject(w http.ResponseWriter, v any) {
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

// sendEvent writes one event at once. Two of the dialects name their events.
func (s stream) sendEvent(event string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // v consists of maps and strings
	}

	if event != "" {
		fmt.Fprintf(s.w, "event: %s\n", event)
	}
	s.writeLine(string(data))
}

func (s stream) writeLine(data string) {
	fmt.Fprintf(s.w, "data: %s\n\n", data)
	http.NewResponseController(s.w).Flush() // fails if the harness has hung up
}
