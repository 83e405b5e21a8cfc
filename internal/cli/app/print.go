package app

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

// Print writes a result: as one JSON document, or by text.
func (a *Run) Print(result any, text func(*term.Page)) error {
	if a.JSON {
		b, err := stick.JSON(result)
		if err != nil {
			return fmt.Errorf("print result: %w", err)
		}

		var lines bytes.Buffer
		if err := json.Indent(&lines, b, "", "  "); err != nil {
			return fmt.Errorf("print result: %w", err)
		}

		a.Write(PlainJSON(lines.Bytes()) + "\n")
		return nil
	}

	p := a.NewPage()
	text(p)
	a.writeAnswer(p.Text())
	return nil
}

// Sayf adds a line to standard error.
func (a *Run) Sayf(format string, args ...any) error {
	a.progress.clear()
	text := a.showNames(string(term.Wordsf(format, args...)))
	return a.writeError(harness.BreakTags(text))
}

// SayText adds text of several lines to standard error.
func (a *Run) SayText(text string) error {
	a.progress.clear()
	return a.writeError(harness.BreakTags(stick.Block(text)))
}

// writeError adds text to standard error.
func (a *Run) writeError(text string) error {
	if a.ErrColumns != nil && a.ErrColumns() > 0 && !term.IsUTF8(a.Getenv) {
		text = term.ASCII(text)
	}
	_, err := io.WriteString(a.Stderr, text+"\n")
	return err
}

// WriteHook answers a hook in the format of its harness.
func (a *Run) WriteHook(f harness.Firing, answer harness.HookAnswer) {
	answer.Context = strings.TrimSpace(a.showNames(string(a.Told)) + "\n\n" + answer.Context)
	answer.Block, answer.Deny = a.showNames(answer.Block), a.showNames(answer.Deny)
	a.Told = ""
	a.Write(term.Text(f.Answer(answer)))
}

// PlainJSON is a JSON document with every character escaped that a terminal could act on, and the tags of
// harnesses. JSON itself escapes only those below the space.
func PlainJSON(doc []byte) term.Text {
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

// Write writes an answer. A failure fails only commands that read, because what was committed stays
// committed. It sets unheard, for those answers that count only once they were written.
func (a *Run) Write(s term.Text) {
	a.progress.clear()
	if _, err := io.WriteString(a.Stdout, string(a.forTerminal(s))); err != nil {
		a.Unheard = true
		if a.lost == nil && !isClosedPipe(err) {
			a.lost = err
		}
	}
}

// forTerminal returns text as the terminal of standard output can show it. Programs get it as it is.
func (a *Run) forTerminal(s term.Text) term.Text {
	if !a.isASCII() {
		return s
	}
	return term.Text(term.ASCII(string(s)))
}

// isASCII reports whether people read standard output at a terminal without UTF-8.
func (a *Run) isASCII() bool { return a.TTY && !a.JSON && !term.IsUTF8(a.Getenv) }

// RingBell sends a terminal what makes it tell its person of something. Its texts are safe already.
func (a *Run) RingBell(signal string) {
	if a.TTY && signal != "" {
		a.Write(term.Text(signal))
	}
}

// WriteRaw writes text as it is, for programs. A terminal gets it without what it could act on.
func (a *Run) WriteRaw(text string) {
	if a.TTY {
		text = stick.Block(text)
	}
	a.Write(term.Text(text))
}

// OutputFailure fails with [stick.CodeOutputUnwritable] if an answer couldn't be written. It is no failure
// that a reader has enough and closes the pipe, as head does.
func (a *Run) OutputFailure() error {
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

// HelpOutput takes what cobra prints: help and completions.
type HelpOutput struct{ *Run }

func (h HelpOutput) Write(b []byte) (int, error) {
	h.Reads = true
	h.Run.Write(term.Text(b))
	return len(b), nil
}

// PrintError writes a failure to standard error, with its hint.
func (a *Run) PrintError(e *stick.Error) {
	e.Hint = e.Hint.As(a.As)
	a.progress.clear()
	if a.JSON {
		b, err := stick.JSON(e)
		if err != nil {
			b = []byte(`{"error":"internal","message":"the failure can't be printed"}`)
		}

		fmt.Fprintf(a.Stderr, "%s\n", PlainJSON(b))
		return
	}

	// There is nowhere else to say that this failed.
	_ = a.Sayf("tt: %s", e.Words())
	if len(e.Hint) > 0 {
		_ = a.Sayf("hint: %s", term.Hint(e.Hint))
	}
}

// TaskAlias is the other name of tt task. What tt prints next has the name that was typed.
const TaskAlias = "worker"

// NewPage returns an empty page for standard output.
func (a *Run) NewPage() *term.Page {
	color := a.Color == "always" || a.Color == "auto" && a.TTY && a.Getenv("NO_COLOR") == ""
	p := &term.Page{Color: color, Now: a.CurrentTime(), As: a.As, NameOf: a.nameReader()}
	p.ForAgent = a.Caller != nil && !a.Caller.ActsAsPerson()
	if len(a.Args) > 0 && a.Args[0] == TaskAlias {
		p.TaskWord = TaskAlias
	}
	if a.TTY {
		p.Width = a.Columns
	}

	// What is cut ends with three dots there, and not with one character.
	if a.isASCII() && a.Columns > 0 {
		p.Width = max(1, a.Columns-2)
	}
	return p
}

// ErrUnheard ends following when an event can't be written.
var ErrUnheard = errors.New("an event can't be written")

// PrintLine prints one JSON document on a line.
func (a *Run) PrintLine(v any) error {
	b, err := stick.JSON(v)
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	a.Write(PlainJSON(b) + "\n")
	return nil
}
