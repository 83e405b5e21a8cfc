// Package recording shows what programs do on terminals: as text that a test reads, and as an SVG that a
// document shows. It is linked into tests only.
package recording

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"talkingstick/internal/term"
)

// Style is how a character looks.
type Style struct {
	Strong, Faint, Reverse bool
	Color                  int // of the eight of a terminal, from 30; 0 for the usual one
}

// cell is a place for a character. The second place of a wide character has no text.
type cell struct {
	text string
	Style
}

// Screen does with what a program writes what a terminal does, as far as the programs of tests need it. What
// they don't need is an error, so that no picture is wrong unseen.
type Screen struct {
	rows   [][]cell
	X, Y   int  // of the cursor, from 0; X is the width behind a last column that was written to
	Cursor bool // it is shown
	wraps  bool
	style  Style
	main   [][]cell // what the other screen shows while the second one is used
	rest   string   // the beginning of a sequence or a character whose end must follow
}

// NewScreen makes an empty screen of a size.
func NewScreen(width, height int) *Screen {
	return &Screen{rows: blankRows(width, height), Cursor: true, wraps: true}
}

func blankRows(width, height int) [][]cell {
	rows := make([][]cell, height)
	for y := range rows {
		rows[y] = make([]cell, width)
		eraseCells(rows[y])
	}
	return rows
}

func eraseCells(row []cell) {
	for x := range row {
		row[x] = cell{text: " "}
	}
}

// Text is what the screen shows, without blanks at the ends of lines.
func (s *Screen) Text() string {
	var lines []string
	for _, row := range s.rows {
		var b strings.Builder
		for _, c := range row {
			b.WriteString(c.text)
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return strings.Join(lines, "\n")
}

// Write takes what a program writes. It does all of it, whatever it returns.
func (s *Screen) Write(b []byte) (int, error) {
	text, failed := s.rest+string(b), []error(nil)

	for s.rest = ""; text != ""; {
		n, err := s.writeNext(text)

		// The next write may bring the end of a sequence.
		if n == 0 {
			s.rest = text
			break
		}

		if err != nil {
			failed = append(failed, err)
		}
		text = text[n:]
	}
	return len(b), errors.Join(failed...)
}

// writeNext does the first character or sequence of a text, and returns its length: 0 if its end is missing.
func (s *Screen) writeNext(text string) (int, error) {
	if rest, ok := strings.CutPrefix(text, "\x1b"); ok {
		if rest == "" || rest == "[" {
			return 0, nil
		}

		if rest[0] != '[' {
			return 2, fmt.Errorf("the terminal gets the sequence %q", text[:2])
		}

		i := strings.IndexFunc(rest[1:], func(r rune) bool { return '@' <= r && r <= '~' })
		if i < 0 {
			return 0, nil
		}
		return i + 3, s.runSequence(rest[1:i+1], rest[i+1])
	}

	if !utf8.FullRuneInString(text) {
		return 0, nil
	}

	r, n := utf8.DecodeRuneInString(text)
	switch r {
	case '\a':
	case '\b':
		s.X = max(0, s.X-1)
	case '\r':
		s.X = 0
	case '\n':
		s.moveDown()
	default:
		if r < ' ' || r == 0x7f {
			return n, fmt.Errorf("the terminal gets %q", r)
		}
		return n, s.putCharacter(text[:n])
	}
	return n, nil
}

// putCharacter writes a character where the cursor is.
func (s *Screen) putCharacter(text string) error {
	w := term.Width(text)

	// What doesn't fit goes to the next line, if the terminal wraps.
	if w > 0 && s.X+w > len(s.rows[s.Y]) {
		if !s.wraps {
			return fmt.Errorf("line %d is wider than the terminal: %q", s.Y+1, text)
		}
		s.X = 0
		s.moveDown()
	}

	row := s.rows[s.Y]
	switch {
	case w == 0 && s.X > 0: // an accent
		row[s.X-1].text += text
	case w > 0:
		row[s.X] = cell{text, s.style}
		if w == 2 {
			row[s.X+1] = cell{"", s.style}
		}
		s.X += w
	}
	return nil
}

// moveDown moves the cursor to the next line.
func (s *Screen) moveDown() {
	if s.Y++; s.Y < len(s.rows) {
		return
	}

	// Below the last line, everything moves up.
	s.Y--
	copy(s.rows, s.rows[1:])
	s.rows[s.Y] = blankRows(len(s.rows[0]), 1)[0]
}

// runSequence does a sequence.
func (s *Screen) runSequence(args string, what byte) error {
	switch mode := what == 'h'; string(what) + args {
	case "J2", "J":
		for _, row := range s.rows {
			eraseCells(row)
		}
	case "K", "K0":
		if s.X >= len(s.rows[s.Y]) {
			return errors.New("it erases the last column, where the cursor stays")
		}
		eraseCells(s.rows[s.Y][s.X:])
	case "h?25", "l?25":
		s.Cursor = mode
	case "h?7", "l?7":
		s.wraps = mode
	case "h?1049":
		s.main, s.rows = s.rows, blankRows(len(s.rows[0]), len(s.rows))
	case "l?1049":
		if s.main != nil {
			s.rows, s.main = s.main, nil
		}
	case "h?2004", "l?2004", "h?2026", "l?2026": // what is pasted is marked; what follows is shown at once
	default:
		if what == 'H' {
			return s.moveCursor(args)
		}
		if what == 'm' {
			return s.setStyle(args)
		}
		return fmt.Errorf("the terminal gets the sequence %q%c", args, what)
	}
	return nil
}

func (s *Screen) moveCursor(args string) error {
	s.X, s.Y = 0, 0

	row, column, ok := strings.Cut(args, ";")
	if !ok {
		return nil
	}

	y, err := strconv.Atoi(row)
	x, xerr := strconv.Atoi(column)
	if err = errors.Join(err, xerr); err != nil || y < 1 || x < 1 || y > len(s.rows) || x > len(s.rows[0]) {
		return fmt.Errorf("the cursor goes to %s", args)
	}

	s.X, s.Y = x-1, y-1
	return nil
}

func (s *Screen) setStyle(args string) error {
	for _, arg := range strings.Split(args, ";") {
		switch n, _ := strconv.Atoi(arg); {
		case n == 0:
			s.style = Style{}
		case n == 1:
			s.style.Strong = true
		case n == 2:
			s.style.Faint = true
		case n == 7:
			s.style.Reverse = true
		case 30 <= n && n <= 37:
			s.style.Color = n
		default:
			return fmt.Errorf("the terminal gets the look %q", args)
		}
	}
	return nil
}
