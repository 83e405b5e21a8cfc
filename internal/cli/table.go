package cli

import "talkingstick/internal/term"

// table is a list in columns. In a pipe each column is as wide as its widest cell. On a terminal the columns
// give way until each row has room on a line: first the last one, which has the free text, then whichever is
// the widest.
type table struct {
	indent term.Text
	head   []string // none if it is empty
	rows   []tableRow
}

// tableRow is a row. What is below it begins under the second column, and is never cut.
type tableRow struct {
	cells []cell
	below []cell
}

// cell is the text of a cell and its colour.
type cell struct {
	text term.Text
	hue  term.Text // the code of a terminal; empty for none
}

// add adds a row, whose cells are text or painted already, as a cell. Like [term.Wordsf] it makes them safe.
func (t *table) add(cells ...any) *tableRow {
	var r tableRow
	for _, c := range cells {
		painted, ok := c.(cell)
		if !ok {
			painted.text = term.Wordsf("%s", c)
		}

		r.cells = append(r.cells, painted)
	}

	t.rows = append(t.rows, r)
	return &t.rows[len(t.rows)-1]
}

// Room that columns keep as long as others can give way.
const (
	leastText   = 12 // of the last column
	leastColumn = 6  // of any other
	gap         = 2  // between columns
)

// columnWidths returns how wide the columns are. room is the width of the terminal without the indent, 0 for
// any.
func (t *table) columnWidths(room int) []int {
	var width []int
	for _, r := range t.rows {
		for i, c := range r.cells {
			if i == len(width) {
				width = append(width, 0)
			}

			width[i] = max(width[i], term.Width(string(c.text)))
		}
	}

	if room <= 0 || len(width) == 0 {
		return width
	}

	// What doesn't fit is taken from the last column first, as far as it can give.
	over := gap*(len(width)-1) - room
	for _, w := range width {
		over += w
	}

	last := len(width) - 1
	if gives := min(over, width[last]-leastText); gives > 0 {
		width[last], over = width[last]-gives, over-gives
	}

	// After that the widest column gives, one column at a time.
	for ; over > 0; over-- {
		widest := 0
		for i := range width {
			if width[i] > width[widest] {
				widest = i
			}
		}

		if width[widest] <= leastColumn {
			// The terminal is too narrow for columns: rows are cut at its end.
			break
		}

		width[widest]--
	}

	return width
}

// showTable adds a list.
func (p *page) showTable(t table) {
	if len(t.rows) == 0 {
		return
	}

	if len(t.head) > 0 {
		var head tableRow
		for _, name := range t.head {
			head.cells = append(head.cells, cell{term.Wordsf("%s", name), "1"})
		}

		t.rows = append([]tableRow{head}, t.rows...)
	}

	room := 0
	if p.width > 0 {
		room = max(1, p.width-term.Width(string(t.indent)))
	}

	width := t.columnWidths(room)
	for _, r := range t.rows {
		p.showRow(t.indent, r.cells, width, room)
		for _, c := range r.below {
			p.showUnder(t.indent+padding(width[0]+gap), c)
		}
	}
}

// showRow adds a row of a table, with its cells cut to their columns.
func (p *page) showRow(line term.Text, cells []cell, width []int, room int) {
	blanks := 0
	for i, c := range cells {
		most := width[i]
		if room > 0 {
			most = min(most, room)
		}

		if text := fitColumns(c.text, most); text != "" {
			line += padding(blanks)
			blanks = 0
			if c.hue != "" {
				line += p.paint(c.hue, text)
			} else {
				line += text
			}

			blanks -= term.Width(string(text))
		}

		blanks += width[i] + gap
		if room > 0 {
			if room -= width[i] + gap; room <= 0 {
				break
			}
		}
	}

	p.linef("%s", line)
}

// showUnder adds what is below a row. On a terminal it breaks long lines itself, as showHanging does.
func (p *page) showUnder(indent term.Text, c cell) {
	room := 0
	if p.width > 0 {
		room = max(leastText, p.width-term.Width(string(indent)))
	}

	for _, part := range term.Broken(c.text, room) {
		if c.hue != "" {
			part = p.paint(c.hue, part)
		}

		p.linef("%s%s", indent, part)
	}
}
