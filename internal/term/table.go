package term

// Table is a list in columns. In a pipe each column is as wide as its widest cell. On a terminal the columns
// give way until each row has room on a line: first the last one, which has the free text, then whichever is
// the widest.
type Table struct {
	Indent Text
	Head   []string // none if it is empty
	Rows   []TableRow
}

// TableRow is a row. What is below it begins under the second column, and is never cut.
type TableRow struct {
	cells []Cell
	Below []Cell
}

// Cell is the text of a cell and its colour.
type Cell struct {
	Text Text
	Hue  Text // the code of a terminal; empty for none
}

// Add adds a row, whose cells are text or painted already, as a cell. Like [Wordsf] it makes them safe.
func (t *Table) Add(cells ...any) *TableRow {
	var r TableRow
	for _, c := range cells {
		painted, ok := c.(Cell)
		if !ok {
			painted.Text = Wordsf("%s", c)
		}

		r.cells = append(r.cells, painted)
	}

	t.Rows = append(t.Rows, r)
	return &t.Rows[len(t.Rows)-1]
}

// Room that columns keep as long as others can give way.
const (
	leastText   = 12 // of the last column
	leastColumn = 6  // of any other
	ColumnGap   = 2  // between columns
)

// columnWidths returns how wide the columns are. room is the width of the terminal without the indent, 0 for
// any.
func (t *Table) columnWidths(room int) []int {
	var width []int
	for _, r := range t.Rows {
		for i, c := range r.cells {
			if i == len(width) {
				width = append(width, 0)
			}

			width[i] = max(width[i], Width(string(c.Text)))
		}
	}

	if room <= 0 || len(width) == 0 {
		return width
	}

	// What doesn't fit is taken from the last column first, as far as it can give.
	over := ColumnGap*(len(width)-1) - room
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

// ShowTable adds a list.
func (p *Page) ShowTable(t Table) {
	if len(t.Rows) == 0 {
		return
	}

	if len(t.Head) > 0 {
		var head TableRow
		for _, name := range t.Head {
			head.cells = append(head.cells, Cell{Text: Wordsf("%s", name), Hue: "1"})
		}

		t.Rows = append([]TableRow{head}, t.Rows...)
	}

	// Columns are as wide as what is shown.
	for _, r := range t.Rows {
		for i := range r.cells {
			r.cells[i].Text = p.showNames(r.cells[i].Text)
		}
	}

	room := 0
	if p.Width > 0 {
		room = max(1, p.Width-Width(string(t.Indent)))
	}

	width := t.columnWidths(room)
	for _, r := range t.Rows {
		p.showRow(t.Indent, r.cells, width, room)
		for _, c := range r.Below {
			p.showUnder(t.Indent+Padding(width[0]+ColumnGap), c)
		}
	}
}

// showRow adds a row of a table, with its cells cut to their columns.
func (p *Page) showRow(line Text, cells []Cell, width []int, room int) {
	blanks := 0
	for i, c := range cells {
		most := width[i]
		if room > 0 {
			most = min(most, room)
		}

		if text := fitColumns(c.Text, most); text != "" {
			line += Padding(blanks)
			blanks = 0
			if c.Hue != "" {
				line += p.Paint(c.Hue, text)
			} else {
				line += text
			}

			blanks -= Width(string(text))
		}

		blanks += width[i] + ColumnGap
		if room > 0 {
			if room -= width[i] + ColumnGap; room <= 0 {
				break
			}
		}
	}

	p.Linef("%s", line)
}

// showUnder adds what is below a row. On a terminal it breaks long lines itself, as showHanging does.
func (p *Page) showUnder(indent Text, c Cell) {
	room := 0
	if p.Width > 0 {
		room = max(leastText, p.Width-Width(string(indent)))
	}

	for _, part := range BreakWords(c.Text, room) {
		if c.Hue != "" {
			part = p.Paint(c.Hue, part)
		}

		p.Linef("%s%s", indent, part)
	}
}
