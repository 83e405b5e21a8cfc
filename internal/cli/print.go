package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"talkingstick/stick"
)

// print writes a result: as one JSON document, or by text.
func (a *app) print(result any, text func(*page)) error {
	if a.json {
		b, err := json.MarshalIndent(result, "", "  ")
		if err != nil {
			return fmt.Errorf("print result: %w", err)
		}
		a.write(append(plain(b), '\n'))
		return nil
	}
	p := a.page()
	text(p)
	a.write([]byte(p.b.String()))
	return nil
}

// plain is a JSON document with every character escaped that a terminal could act on. JSON itself
// escapes only those below the space.
func plain(doc []byte) []byte {
	var b bytes.Buffer
	for i, r := range string(doc) {
		switch {
		case r < unicode.MaxASCII || unicode.IsPrint(r):
			_, size := utf8.DecodeRune(doc[i:])
			b.Write(doc[i : i+size])
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// write writes an answer. A failure fails only commands that read, because what was committed stays committed. It sets
// unheard, for those answers that count only once they were written.
func (a *app) write(b []byte) {
	if _, err := a.Stdout.Write(b); err != nil {
		a.unheard = true
		if a.lost == nil && !isClosedPipe(err) {
			a.lost = err
		}
	}
}

// unwritten fails with [stick.CodeOutputUnwritable] if an answer couldn't be written. It is no failure that a reader has
// enough and closes the pipe, as head does.
func (a *app) unwritten() error {
	if a.lost == nil {
		return nil
	}
	why := a.lost
	if e, ok := errors.AsType[*os.PathError](why); ok {
		why = e.Err
	}
	return stick.Errorf(stick.CodeOutputUnwritable, "the answer can't be written to standard output: %w", why).
		Hintf("check where the output goes, and run the same command again")
}

// helpOutput takes what cobra prints: help and completions.
type helpOutput struct{ *app }

func (h helpOutput) Write(b []byte) (int, error) {
	h.reads = true
	h.write(b)
	return len(b), nil
}

func (a *app) printError(e *stick.Error) {
	if a.json {
		b, err := json.Marshal(e)
		if err != nil {
			b = []byte(`{"error":"internal","message":"the failure can't be printed"}`)
		}
		fmt.Fprintf(a.Stderr, "%s\n", plain(b))
		return
	}
	fmt.Fprintf(a.Stderr, "tt: %s\n", stick.Line(e.Message))
	if len(e.Hint) > 0 {
		fmt.Fprintf(a.Stderr, "hint: %s\n", stick.Line(e.Hint.String()))
	}
}

// page collects the text of one answer.
type page struct {
	b     strings.Builder
	color bool
	now   stick.Time
}

func (a *app) page() *page {
	now := time.Now
	if a.Now != nil {
		now = a.Now
	}
	color := a.color == "always" || a.color == "auto" && a.TTY && a.Getenv("NO_COLOR") == ""
	return &page{color: color, now: stick.At(now())}
}

// linef adds a line. The caller passes text of agents through [stick.Line] or [stick.Block], which make it safe for a
// terminal.
func (p *page) linef(format string, args ...any) {
	fmt.Fprintf(&p.b, format+"\n", args...)
}

// strong and faint mark text where colours are wanted.
func (p *page) strong(s string) string { return p.paint("1", s) }
func (p *page) faint(s string) string  { return p.paint("2", s) }

func (p *page) paint(code, s string) string {
	if !p.color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// ago says how long ago t was.
func (p *page) ago(t stick.Time) string {
	if t.IsZero() {
		return "never"
	}
	return stick.Ago(p.now.Sub(t))
}

// until says how long it is until t.
func (p *page) until(t stick.Time) string {
	if t <= p.now {
		return "now"
	}
	return "in " + stick.Age(t.Sub(p.now).Round(time.Second)) // a time that has just begun to run shows in full
}

// handoff adds a handoff. The lines of its bodies are indented, so that no body can look like a
// line of ours.
func (p *page) handoff(h stick.Handoff) {
	for _, f := range stick.HandoffFields {
		for _, text := range f.Show(h) {
			p.body(f.Label, text)
		}
	}
	if w := h.Workspace; w != nil && w.DirtyCount > 0 {
		files := "file"
		if w.DirtyCount != 1 {
			files = "files"
		}
		p.linef("  left uncommitted: %d %s at %s", w.DirtyCount, files, short(w.Head))
	}
}

func short(commit string) string {
	if commit == "" {
		return "no commit yet"
	}
	return commit[:min(len(commit), 10)]
}

// body adds text of an agent under a label of ours.
func (p *page) body(name, text string) {
	lines := strings.Split(strings.TrimRight(stick.Block(text), "\n "), "\n")
	p.linef("  %s: %s", name, lines[0])
	for _, l := range lines[1:] {
		p.linef("    %s", l)
	}
}
