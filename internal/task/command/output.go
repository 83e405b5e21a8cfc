package command

import (
	"slices"
	"strings"
	"sync"
)

// MaxOutput is how many bytes are kept of what a command prints, from the end.
const MaxOutput = 1 << 20

// Tail keeps the end of what is written to it, because commands say at the end what went wrong.
type Tail struct {
	buf  []byte
	size int64
}

// Write adds to what is written. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.size += int64(len(p))

	// It may grow to twice what is kept, so that not each write moves it.
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*MaxOutput {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-MaxOutput:]...)
	}
	return len(p), nil
}

// Bytes returns what is kept.
func (t *Tail) Bytes() []byte {
	if len(t.buf) > MaxOutput {
		return t.buf[len(t.buf)-MaxOutput:]
	}
	return t.buf
}

// LastLine keeps the last line that is written to it, for whoever looks while the command runs.
type LastLine struct {
	mu   sync.Mutex
	text []byte
}

// maxLastLine is how many bytes of the last line are kept. More don't fit on a terminal.
const maxLastLine = 1 << 10

// Write adds to what is written. It never fails.
func (l *LastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	l.text = append(l.text[:0], l.text[max(0, len(l.text)-maxLastLine):]...)
	return len(p), nil
}

// String returns the last line that isn't blank.
func (l *LastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.FieldsFunc(string(l.text), func(r rune) bool { return r == '\n' || r == '\r' })

	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}

	return ""
}
