package tui

import (
	"strings"
	"testing"

	"talkingstick/internal/term"
)

// terminal does with what a screen writes what a terminal does, as far as a screen needs it.
type terminal struct {
	*testing.T
	rows    [][]rune
	x, y    int
	cursor  bool
	written int // bytes
}

func newTerminal(t *testing.T, width, height int) *terminal {
	s := &terminal{T: t}
	for range height {
		s.rows = append(s.rows, []rune(strings.Repeat(" ", width)))
	}
	return s
}

func (s *terminal) text() string {
	var lines []string
	for _, r := range s.rows {
		lines = append(lines, strings.TrimRight(strings.ReplaceAll(string(r), "\x00", ""), " "))
	}
	return strings.Join(lines, "\n")
}

// Write takes what a screen writes. A wide character is followed by a NUL here.
func (s *terminal) Write(b []byte) (int, error) {
	s.written += len(b)
	for text := string(b); text != ""; {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			i := strings.IndexFunc(rest, func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' })
			s.control(rest[:i], rest[i])
			text = rest[i+1:]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch w := term.Width(string(r)); {
		case r == '\a':
		case r < ' ':
			s.Errorf("the terminal gets %q", r)
		case w > 0 && s.x+w <= len(s.rows[s.y]):
			s.rows[s.y][s.x] = r
			if w == 2 {
				s.rows[s.y][s.x+1] = 0
			}
			s.x += w
		case w > 0:
			s.Errorf("line %d is wider than the terminal: %q", s.y+1, r)
		}
	}
	return len(b), nil
}

func (s *terminal) control(args string, what byte) {
	switch {
	case what == 'H':
		s.x, s.y = 0, 0
		if row, column, ok := strings.Cut(args, ";"); ok {
			s.y, s.x = atoi(row)-1, atoi(column)-1
		}
	case what == 'J':
		for _, r := range s.rows {
			clearRow(r)
		}
	case what == 'K':
		if s.x >= len(s.rows[s.y]) {
			s.Error("it erases the last column, where the cursor stays")
			return
		}
		clearRow(s.rows[s.y][s.x:])
	case args == "?25":
		s.cursor = what == 'h'
	case what == 'm', what == 'h', what == 'l':
	default:
		s.Errorf("the terminal gets the sequence %q%c", args, what)
	}
}

func clearRow(r []rune) {
	for i := range r {
		r[i] = ' '
	}
}

func atoi(s string) (n int) {
	for _, d := range s {
		n = n*10 + int(d-'0')
	}
	return n
}

// The terminal shows what the frames say, whatever was there before. What stays the same isn't written again.
func TestScreenWritesWhatHasChanged(t *testing.T) {
	out := newTerminal(t, 10, 3)
	s := screen{out: out}
	s.enter()
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
		s.draw(frame{lines: c.lines}, 10, 3)
		var want []string
		for i := range 3 {
			l := ""
			if i < len(c.lines) {
				l = strings.NewReplacer("\x1b[7m", "", "\x1b[0m", "").Replace(c.lines[i])
			}
			want = append(want, strings.TrimRight(l, " "))
		}
		if got := out.text(); got != strings.Join(want, "\n") {
			t.Errorf("the terminal shows\n%s\nnot\n%s", got, strings.Join(want, "\n"))
		}
		if out.written > c.bytes {
			t.Errorf("%d bytes are written for %q", out.written, c.lines)
		}
	}
	if s.leave(); s.err != nil || !out.cursor {
		t.Error("the cursor stays hidden")
	}
}

// A caret is shown where a text is typed, and goes with it.
func TestScreenShowsTheCaret(t *testing.T) {
	out := newTerminal(t, 10, 3)
	s := screen{out: out}
	s.enter()
	s.draw(frame{lines: []string{"a"}, caret: [2]int{3, 2}}, 10, 3)
	if !out.cursor || out.x != 2 || out.y != 1 {
		t.Errorf("the cursor is at %d,%d, shown: %t", out.x, out.y, out.cursor)
	}
	s.draw(frame{lines: []string{"a"}}, 10, 3)
	if out.cursor {
		t.Error("the cursor stays")
	}
}
