//go:build unix

package app

import (
	"bytes"
	"strings"
	"testing"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/term"
)

// reader is a person at a terminal of ten lines, whose pager marks what it shows.
func reader(out *bytes.Buffer) *Run {
	getenv := func(name string) string { return map[string]string{"PAGER": "sed s/^/paged:/"}[name] }
	return &Run{
		Env:   Env{Stdout: out, Stderr: out, Getenv: getenv, TTY: true, InTTY: true, Rows: 10, Columns: 20},
		Reads: true, Caller: &core.Caller{Person: true},
	}
}

func TestAPersonTurnsThePagesOfALongAnswer(t *testing.T) {
	short, long, wide := "a\n", strings.Repeat("a\n", 10), strings.Repeat(strings.Repeat("a", 61)+"\n", 3)
	for _, c := range []struct {
		name    string
		text    string
		change  func(*Run)
		isPaged bool
	}{
		{"a long answer", long, func(*Run) {}, true},
		{"one whose lines are longer than the terminal is wide", wide, func(*Run) {}, true},
		{"a short one", short, func(*Run) {}, false},
		{"for an agent", long, func(a *Run) { a.Caller = &core.Caller{} }, false},
		{"for a person who acts as an agent", long, func(a *Run) { a.Caller.As = "codex" }, false},
		{"through a pipe", long, func(a *Run) { a.TTY = false }, false},
		{"without a keyboard", long, func(a *Run) { a.InTTY = false }, false},
		{"of a command that acts", long, func(a *Run) { a.Reads = false }, false},
		{"without a pager", long, func(a *Run) { a.Getenv = func(string) string { return "cat" } }, false},
		{
			"with a pager that isn't there",
			long,
			func(a *Run) { a.Getenv = func(string) string { return "no-such-pager-here" } },
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			a := reader(&out)
			c.change(a)
			a.writeAnswer(term.Text(c.text))
			got := strings.HasPrefix(out.String(), "paged:")
			if got != c.isPaged || strings.ReplaceAll(out.String(), "paged:", "") != c.text {
				t.Errorf("paged is %v, not %v: %q", got, c.isPaged, out.String())
			}
		})
	}
}
