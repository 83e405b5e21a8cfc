package app

import (
	"cmp"
	"os"
	"os/exec"
	"strings"
	"unicode/utf8"

	"talkingstick/internal/term"
)

// writeAnswer writes the text of an answer. A person at a terminal that it is too long for reads it in their
// pager, as with git.
func (a *Run) writeAnswer(text term.Text) {
	if !a.needsPager(text) || !a.throughPager(text) {
		a.Write(text)
	}
}

// needsPager reports whether a text is longer than the terminal of a person who can turn its pages. An agent
// may have a terminal, too, and would wait in the pager for ever.
func (a *Run) needsPager(text term.Text) bool {
	// Only an answer that changes nothing waits for its reader.
	canTurn := a.Reads && a.TTY && a.InTTY && a.Rows > 0 && a.Getenv("TERM") != "dumb"
	if !canTurn || a.Caller == nil || !a.Caller.ActsAsPerson() {
		return false
	}

	// One line is for the prompt after the answer.
	lines := 1
	for line := range strings.Lines(string(text)) {
		lines += 1 + max(0, utf8.RuneCountInString(line)-2)/max(1, a.Columns)
	}
	return lines > a.Rows
}

// throughPager shows a text in the pager, and waits until its reader has left it. It returns false if there
// is no pager.
func (a *Run) throughPager(text term.Text) bool {
	pager := cmp.Or(strings.TrimSpace(a.Getenv("PAGER")), "less")
	if pager == "cat" {
		return false
	}

	name, _, _ := strings.Cut(pager, " ")
	if _, err := exec.LookPath(name); err != nil {
		return false
	}

	a.progress.clear()
	c := exec.Command("sh", "-c", pager)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(string(a.forTerminal(text))), a.Stdout, a.Stderr
	c.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		// These are the values that git sets: keep colours, and end at once if the text fits.
		if a.Getenv(name) == "" {
			c.Env = append(c.Env, name+"="+value)
		}
	}

	if err := c.Start(); err != nil {
		return false
	}

	// A pager that was left early has shown enough, so its status says nothing.
	_ = c.Wait()
	return true
}
