package app

import (
	"io"
	"os"
	"strings"

	"talkingstick/stick"
)

// ReadBody reads a text from standard input, without the line break at its end. It stops reading a text
// that is too long as soon as the operation will refuse it.
func ReadBody(r io.Reader, most int64) (string, error) {
	body, err := ReadText(r, most)
	if err != nil {
		return "", stick.Errorf(stick.CodeUsage, "the body can't be read from standard input").With("field", "body")
	}
	return body, nil
}

// ReadText is [ReadBody] for any source. It fails with the error of the source.
func ReadText(r io.Reader, most int64) (string, error) {
	// A text beyond the limit is read a little further, so that the operation sees that it is too long.
	b, err := io.ReadAll(io.LimitReader(r, most+64<<10))
	return strings.TrimSuffix(string(b), "\n"), err
}

// Input is standard input. A signal ends the program while something waits for it.
func (a *Run) Input() io.Reader { return awaited{a.Stdin, &a.Interrupts} }

// awaited is a source that may have nothing for a long time, such as a terminal or a FIFO.
type awaited struct {
	source io.Reader
	waits  *Interrupts
}

func (r awaited) Read(b []byte) (int, error) {
	r.waits.inputs.Add(1)
	defer r.waits.inputs.Add(-1)
	return r.source.Read(b)
}

// OpenInput opens a file that somebody names, which may be a FIFO, as a shell's <(…) makes it. A signal ends
// the program while something waits for its other side.
func (a *Run) OpenInput(file string) (io.ReadCloser, error) {
	a.Interrupts.inputs.Add(1)
	defer a.Interrupts.inputs.Add(-1)
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{awaited{f, &a.Interrupts}, f}, nil
}
