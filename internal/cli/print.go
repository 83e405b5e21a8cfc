package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"talkingstick/internal/harness"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// print writes a result: as one JSON document, or by text.
func (a *app) print(result any, text func(*page)) error {
	if a.json {
		b, err := stick.JSON(result)
		if err != nil {
			return fmt.Errorf("print result: %w", err)
		}

		var lines bytes.Buffer
		if err := json.Indent(&lines, b, "", "  "); err != nil {
			return fmt.Errorf("print result: %w", err)
		}

		a.write(plain(lines.Bytes()) + "\n")
		return nil
	}

	p := a.page()
	text(p)
	a.writeAnswer(p.shown())
	return nil
}

// sayf adds a line to standard error.
func (a *app) sayf(format string, args ...any) error {
	a.progress.clear()
	_, err := io.WriteString(a.Stderr, harness.BreakTags(string(term.Wordsf(format, args...)))+"\n")
	return err
}

// sayText adds text of several lines to standard error.
func (a *app) sayText(text string) error {
	a.progress.clear()
	_, err := io.WriteString(a.Stderr, harness.BreakTags(stick.Block(text))+"\n")
	return err
}

// writeHook answers a hook in the format of its harness.
func (a *app) writeHook(f harness.Firing, answer harness.HookAnswer) {
	answer.Context = strings.TrimSpace(string(a.told) + "\n\n" + answer.Context)
	a.told = ""
	a.write(term.Text(f.Answer(answer)))
}

// plain is a JSON document with every character escaped that a terminal could act on, and the tags of
// harnesses. JSON itself escapes only those below the space.
func plain(doc []byte) term.Text {
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

	return term.Text(harness.EscapeTags(b.String()))
}

// write writes an answer. A failure fails only commands that read, because what was committed stays
// committed. It sets unheard, for those answers that count only once they were written.
func (a *app) write(s term.Text) {
	a.progress.clear()
	if _, err := io.WriteString(a.Stdout, string(s)); err != nil {
		a.unheard = true
		if a.lost == nil && !isClosedPipe(err) {
			a.lost = err
		}
	}
}

// ringBell sends a terminal what makes it tell its person of something. Its texts are safe already.
func (a *app) ringBell(signal string) {
	if a.TTY && signal != "" {
		a.write(term.Text(signal))
	}
}

// writeRaw writes text as it is, for programs. A terminal gets it without what it could act on.
func (a *app) writeRaw(text string) {
	if a.TTY {
		text = stick.Block(text)
	}
	a.write(term.Text(text))
}

// outputFailure fails with [stick.CodeOutputUnwritable] if an answer couldn't be written. It is no failure
// that a reader has enough and closes the pipe, as head does.
func (a *app) outputFailure() error {
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
	h.write(term.Text(b))
	return len(b), nil
}

func (a *app) printError(e *stick.Error) {
	e.Hint = e.Hint.As(a.as)
	a.progress.clear()
	if a.json {
		b, err := stick.JSON(e)
		if err != nil {
			b = []byte(`{"error":"internal","message":"the failure can't be printed"}`)
		}

		fmt.Fprintf(a.Stderr, "%s\n", plain(b))
		return
	}

	// There is nowhere else to say that this failed.
	_ = a.sayf("tt: %s", e.Words())
	if len(e.Hint) > 0 {
		_ = a.sayf("hint: %s", term.Hint(e.Hint))
	}
}

func (a *app) page() *page {
	color := a.color == "always" || a.color == "auto" && a.TTY && a.Getenv("NO_COLOR") == ""
	p := &page{color: color, now: a.now(), as: a.as}
	if len(a.Args) > 0 && a.Args[0] == taskAlias {
		p.taskWord = taskAlias
	}
	if a.TTY {
		p.width = a.Columns
	}
	return p
}

// errUnheard ends following when an event can't be written.
var errUnheard = errors.New("an event can't be written")

// printLine prints one JSON document on a line.
func (a *app) printLine(v any) error {
	b, err := stick.JSON(v)
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	a.write(plain(b) + "\n")
	return nil
}
