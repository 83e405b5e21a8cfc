package stick

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// payload is a row of testdata/payloads.txt: what programs before this one have stored.
type payload struct {
	Type EventType
	JSON string
}

func storedPayloads(t *testing.T) []payload {
	t.Helper()
	f, err := os.Open("testdata/payloads.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []payload
	for s := bufio.NewScanner(f); s.Scan(); {
		typ, text, _ := strings.Cut(s.Text(), "\t")
		out = append(out, payload{EventType(typ), text})
	}
	return out
}

// TestStoredPayloads holds payloads to their bytes, over which the log is summed: what was stored is
// read and written again without a change.
func TestStoredPayloads(t *testing.T) {
	seen := map[EventType]bool{}
	for _, p := range storedPayloads(t) {
		seen[p.Type] = true
		e := Event{Type: p.Type, Payload: []byte(p.JSON)}
		equal(t, string(p.Type), string(e.Amend(func(*Facts) {}).Payload), p.JSON)
	}
	for _, info := range EventTypes {
		if !seen[info.Type] {
			t.Errorf("no payload of %s is in testdata/payloads.txt", info.Type)
		}
	}
}
