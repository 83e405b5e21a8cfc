package tui

import (
	"io"
	"strconv"
	"strings"

	"talkingstick/internal/term"
)

// screen draws frames on a terminal. It writes only the lines that have changed, each over the one before, so that nothing flickers, and
// nothing at all while the frames stay the same. The lines are placed one by one and never wrapped: a terminal that takes a character for
// wider than we do spoils no other line.
// See docs/decisions/screens-and-browser.md#tt-watch.
type screen struct {
	out   io.Writer
	drawn []string // what the terminal shows; nil if that isn't known
	cells [2]int   // its size when that was drawn
	caret [2]int   // where the cursor is shown, counted from 1; zero if it isn't
	err   error    // why nothing more can be written
}

// What a terminal is told at the start and at the end: to use its second screen, to show no cursor, to cut
// long lines, to say what is pasted.
const (
	enterSequence = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[H\x1b[2J"
	leaveSequence = "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l"

	// What comes between these two is shown at once, by terminals that know them. Others ignore them.
	beginUpdate = "\x1b[?2026h"
	endUpdate   = "\x1b[?2026l"
)

func (s *screen) enterScreen() { s.writeText(enterSequence) }
func (s *screen) leaveScreen() { s.writeText(leaveSequence) }

// drawFrame shows a frame on a terminal of this size.
func (s *screen) drawFrame(f frame, width, height int) {
	// After a change of size, the terminal may have moved everything.
	if s.cells != [2]int{width, height} {
		s.drawn, s.cells = nil, [2]int{width, height}
	}

	var b strings.Builder
	if s.drawn == nil {
		b.WriteString("\x1b[2J")
		s.drawn = make([]string, height)
	}

	// Only lines that have changed are written.
	for i := range height {
		now := ""
		if i < len(f.lines) {
			now = f.lines[i]
		}

		if now != s.drawn[i] {
			b.WriteString("\x1b[" + strconv.Itoa(i+1) + ";1H" + now)
			// The cursor stays on a last column that is written to, and would erase it.
			if drawnWidth(now) < width {
				b.WriteString("\x1b[K")
			}

			s.drawn[i] = now
		}
	}

	// Nothing has changed, not even where the cursor is.
	if b.Len() == 0 && f.caret == s.caret {
		return
	}

	// The cursor is shown only while somebody types.
	switch {
	case f.caret != [2]int{}:
		b.WriteString("\x1b[" + strconv.Itoa(f.caret[1]) + ";" + strconv.Itoa(f.caret[0]) + "H\x1b[?25h")
	case s.caret != [2]int{}:
		b.WriteString("\x1b[?25l")
	}

	s.caret = f.caret
	s.writeText(beginUpdate + b.String() + endUpdate)
}

// drawnWidth returns how many columns a drawn line takes. It has no sequences but those of hues.
func drawnWidth(drawn string) (n int) {
	for {
		text, rest, hued := strings.Cut(drawn, "\x1b")
		n += term.Width(text)
		if !hued {
			return n
		}

		_, drawn, _ = strings.Cut(rest, "m")
	}
}

func (s *screen) writeText(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.out, text)
	}
}
