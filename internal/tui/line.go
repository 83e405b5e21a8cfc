package tui

import (
	"slices"
	"strings"
	"unicode"

	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/names"
)

// hue is how a text stands out where colours are wanted: the code of a terminal. Nothing is told by a hue
// alone.
type hue string

const (
	strong hue = "1"
	faint  hue = "2"
	bad    hue = "31"
	good   hue = "32"
	asks   hue = "33"
	added  hue = "32"
	gone   hue = "31"
	place  hue = "36"
)

// cell is a piece of a line.
type cell struct {
	text  term.Text
	hue   hue
	width int // it is cut or filled to so many columns; 0 for as many as it needs
}

// line is a line of the screen.
type line struct {
	cells  []cell
	end    cell   // stands at the right edge, and is kept when the others are cut
	theirs bool   // somebody else wrote it, and it is shown as it is
	key    string // by which the line can be selected; empty for a line that can't
}

// withNames returns a line of ours with what people call agents in place of their ids.
func (l line) withNames(nameOf func(stick.AgentID) string) line {
	if l.theirs {
		return l
	}

	l.cells = slices.Clone(l.cells)
	for i, c := range l.cells {
		l.cells[i].text = term.Text(names.Show(string(c.text), nameOf))
	}

	l.end.text = term.Text(names.Show(string(l.end.text), nameOf))
	return l
}

// quoteLines marks lines as what somebody else wrote.
func quoteLines(lines []line) []line {
	for i := range lines {
		lines[i].theirs = true
	}
	return lines
}

// textLine makes a line of one piece.
func textLine(h hue, format string, args ...any) line {
	return line{cells: []cell{{text: term.Textf(format, args...), hue: h}}}
}

// blank is an empty line.
var blank = line{}

// markWidth is how many columns the mark of a selected line takes. Lines that can't be selected leave them
// free.
const markWidth = 2

// drawLine returns a line as the terminal gets it: exactly width columns if it is selected and there are
// colours, and at most so many else. A width of 0 means any.
func (l line) drawLine(width int, selected, color bool) string {
	var b strings.Builder
	if color && selected {
		b.WriteString("\x1b[7m")
	}

	// Each cell takes from the room that is left.
	room := width
	put := func(c cell, most int) {
		text := normalizeText(c.text)
		if width > 0 && (c.width == 0 || c.width > most) {
			text = term.CutLine(text, most)
		} else if c.width > 0 {
			text = term.CutLine(text, c.width)
		}

		n := term.Width(text)
		if c.width > n && (width == 0 || c.width <= most) {
			text, n = text+strings.Repeat(" ", c.width-n), c.width
		}

		room -= n
		isHued := c.hue != "" && (!selected || c.hue != faint)
		if color && isHued && strings.TrimSpace(text) != "" {
			text = "\x1b[" + string(c.hue) + "m" + text + endOfHue(selected)
		}

		b.WriteString(text)
	}

	// The mark of a selected line, or the columns that it would take.
	lead := "  "
	if selected {
		lead = "> "
	}
	if l.key == "" && len(l.cells) == 0 && l.end.text == "" {
		lead = ""
	}

	put(cell{text: term.Text(lead)}, room)

	// What stands at the right edge keeps its room, at the cost of the others.
	end := 0
	if l.end.text != "" && width > 0 {
		end = min(term.Width(normalizeText(l.end.text))+1, room)
	}

	for _, c := range l.cells {
		if width > 0 && room-end <= 0 {
			break
		}
		put(c, room-end)
	}

	if l.end.text != "" {
		if width > 0 {
			b.WriteString(strings.Repeat(" ", max(0, room-end+1)))
			room = min(room, end-1)
		} else {
			b.WriteString("  ")
		}

		put(l.end, room)
	}

	// The colour of a selected line goes to its edge.
	if color && selected {
		return b.String() + strings.Repeat(" ", max(0, room)) + "\x1b[0m"
	}
	if !color || l.end.text == "" {
		return strings.TrimRight(b.String(), " ")
	}

	return b.String()
}

// endOfHue ends the hue of a cell. A selected line stays one: whether it was added or removed is seen there, too.
func endOfHue(selected bool) string {
	if selected {
		return "\x1b[0;7m"
	}
	return "\x1b[0m"
}

// normalizeText makes all terminals agree on how many columns a text needs. Characters of which some draw one
// where others draw two, or none, are replaced: flags by their letters, and what changes the look of the
// character before it is left out, except for at most three accents.
func normalizeText(t term.Text) string {
	// Most texts are plain, and needn't be copied.
	s := string(t)
	if isPlain(s) {
		return s
	}

	var b strings.Builder
	marks := 0
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteString("    ")
			continue
		case r == '\n':
			r = ' '
		case 0x1f1e6 <= r && r <= 0x1f1ff:
			// It is half of a flag.
			b.WriteRune('A' + r - 0x1f1e6)
			continue
		case 0x1f3fb <= r && r <= 0x1f3ff, 0xfe00 <= r && r <= 0xfe0f, 0xe0100 <= r && r <= 0xe01ef:
			// Tones of skin and variants of characters change the one before.
			continue
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks {
				continue
			}
		default:
			marks = 0
		}

		b.WriteRune(r)
	}

	return b.String()
}

// maxMarks is how many accents a character keeps. No script needs more, and many of them cover the lines
// above.
const maxMarks = 3

// isPlain reports whether a text has only characters about which nobody differs.
func isPlain(s string) bool {
	for _, r := range s {
		if r == '\t' || r == '\n' || r >= 0x300 {
			return false
		}
	}

	return true
}

// wrapText breaks text of others into lines of at most width columns, at blanks where there are some. Each
// begins with an indent of ours, so that it can't look like a line of ours. At most most lines come; the last
// of more says how many are left out.
func wrapText(text term.Text, indent, width, most int) (lines []line) {
	room := max(8, width-markWidth-indent)
	if width == 0 {
		room = 1 << 20
	}

	add := func(s string) {
		lines = append(lines, line{cells: []cell{{text: term.Text(strings.Repeat(" ", indent) + s)}}})
	}

	for s := range strings.SplitSeq(string(text), "\n") {
		for s = normalizeText(term.Text(s)); ; {
			head, rest := splitLine(s, room)
			add(head)
			if s = rest; s == "" {
				break
			}
		}
	}

	// The last line says how many are left out.
	if most > 0 && len(lines) > most {
		left := len(lines) - most + 1
		lines = append(lines[:most-1], textLine(faint, "%s… %d more lines", term.Text(strings.Repeat(" ", indent)), left))
	}

	return lines
}

// sourceLines shows a line of a file or of an output, whole: what doesn't fit goes on below. The first of its
// lines has the key.
func (s *canvas) sourceLines(text string, h hue, key string) (lines []line) {
	room := 0
	if s.width > 0 {
		room = max(8, s.width-markWidth-2)
	}

	for i, part := range term.BreakLine(term.Text(normalizeText(term.SourceLine(text))), room) {
		if i > 0 {
			part, key = "  "+part, ""
		}
		lines = append(lines, line{key: key, theirs: true, cells: []cell{{text: part, hue: h}}})
	}

	return lines
}

// splitLine cuts off what fits into so many columns, at the last blank if that leaves enough.
func splitLine(s string, columns int) (head, rest string) {
	at, blank := 0, -1
	for i, r := range s {
		w := term.Width(string(r))

		// A line that is mostly one word is cut within it.
		if at+w > columns && i > 0 {
			if blank > 0 && blank > i/2 {
				return s[:blank], strings.TrimLeft(s[blank:], " ")
			}
			return s[:i], s[i:]
		}

		if r == ' ' {
			blank = i
		}

		at += w
	}

	return s, ""
}
