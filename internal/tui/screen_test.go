package tui

import (
	"strings"
	"testing"

	"talkingstick/internal/recording"
)

// terminal is what a screen writes to. What a screen doesn't need is an error.
type terminal struct {
	*testing.T
	*recording.Screen
	written int // bytes
}

// newTerminal makes a terminal of a size, which cuts long lines.
func newTerminal(t *testing.T, width, height int) *terminal {
	s := &terminal{T: t, Screen: recording.NewScreen(width, height)}
	if _, err := s.Screen.Write([]byte(enterSequence)); err != nil {
		t.Error(err)
	}
	return s
}

// Write takes what a screen writes.
func (s *terminal) Write(b []byte) (int, error) {
	s.written += len(b)
	n, err := s.Screen.Write(b)
	if err != nil {
		s.Error(err)
	}
	return n, nil
}

// The terminal shows what the frames say, whatever was there before. What stays the same isn't written again.
func TestScreenWritesWhatHasChanged(t *testing.T) {
	out := newTerminal(t, 10, 3)
	s := screen{out: out}
	s.enterScreen()

	for _, c := range []struct {
		lines []string
		bytes int // that are written at most
	}{
		{[]string{"\x1b[7m> one     \x1b[0m", "two", "0123456789"}, 100},
		{[]string{"\x1b[7m> one     \x1b[0m", "two", "0123456789"}, 0},
		{[]string{"  one", "漢字漢字漢"}, 70},
		{[]string{"  one", "漢字"}, 40},
	} {
		out.written = 0
		s.drawFrame(frame{lines: c.lines}, 10, 3)
		var want []string
		for i := range 3 {
			l := ""
			if i < len(c.lines) {
				l = strings.NewReplacer("\x1b[7m", "", "\x1b[0m", "").Replace(c.lines[i])
			}
			want = append(want, strings.TrimRight(l, " "))
		}

		if got := out.Text(); got != strings.Join(want, "\n") {
			t.Errorf("the terminal shows\n%s\nnot\n%s", got, strings.Join(want, "\n"))
		}
		if out.written > c.bytes {
			t.Errorf("%d bytes are written for %q", out.written, c.lines)
		}
	}

	if s.leaveScreen(); s.err != nil || !out.Cursor {
		t.Error("the cursor stays hidden")
	}
}

// A caret is shown where a text is typed, and goes with it.
func TestScreenShowsTheCaret(t *testing.T) {
	out := newTerminal(t, 10, 3)
	s := screen{out: out}
	s.enterScreen()
	s.drawFrame(frame{lines: []string{"a"}, caret: [2]int{3, 2}}, 10, 3)
	if !out.Cursor || out.X != 2 || out.Y != 1 {
		t.Errorf("the cursor is at %d,%d, shown: %t", out.X, out.Y, out.Cursor)
	}

	s.drawFrame(frame{lines: []string{"a"}}, 10, 3)
	if out.Cursor {
		t.Error("the cursor stays")
	}
}
