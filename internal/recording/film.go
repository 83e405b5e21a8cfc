package recording

import (
	"slices"
	"strings"
	"time"
)

// Film is what terminals show, picture by picture. They stand one below the other.
type Film struct {
	Title string // what happens in it, for those who can't see it
	panes []*pane
	time  time.Duration // of all pictures
}

// pane is a terminal in a film.
type pane struct {
	title  string
	screen func() *Screen
	width  int // columns
	height int
	lines  []shownRow  // of all rows, in the order in which they appear
	last   [][]textRun // of each row, in the last picture
}

// shownRow is a row that looks the same for some time.
type shownRow struct {
	row      int
	runs     []textRun
	from, to time.Duration
}

// textRun is text of one style.
type textRun struct {
	column, width int
	text          string
	Style
}

// Add adds a terminal to a film before its first picture. Its screen is asked for with each picture.
func (f *Film) Add(title string, width, height int, screen func() *Screen) {
	f.panes = append(f.panes, &pane{title: title, screen: screen, width: width, height: height, last: make([][]textRun, height)})
}

// Shot takes a picture of how the terminals look now, and shows it for some time.
func (f *Film) Shot(long time.Duration) {
	for _, p := range f.panes {
		s := p.screen()
		for y, row := range s.rows {
			// The cursor is a character in reverse.
			if s.Cursor && y == s.Y && s.X < len(row) {
				row = slices.Clone(row)
				row[s.X].Reverse = true
			}

			runs := runsOf(row)
			if slices.Equal(runs, p.last[y]) {
				continue
			}

			p.endLine(y, f.time)
			if p.last[y] = runs; len(runs) > 0 {
				p.lines = append(p.lines, shownRow{row: y, runs: runs, from: f.time})
			}
		}
	}
	f.time += long
}

// endLine notes until when a row looked as in the last picture.
func (p *pane) endLine(row int, at time.Duration) {
	for i := len(p.lines) - 1; i >= 0; i-- {
		if p.lines[i].row == row {
			if p.lines[i].to == 0 {
				p.lines[i].to = at
			}
			return
		}
	}
}

// runsOf are the pieces of a row between wide gaps. Blanks that look like nothing belong to none.
func runsOf(row []cell) (runs []textRun) {
	for x := 0; x < len(row); {
		end := x + 1
		for end < len(row) && row[end].Style == row[x].Style {
			end++
		}

		if row[x].Reverse {
			runs = append(runs, textRun{x, end - x, textOf(row[x:end]), row[x].Style})
		} else {
			runs = append(runs, splitWords(x, row[x:end])...)
		}

		x = end
	}
	return runs
}

// splitWords are the pieces of cells of one style that two blanks keep apart.
func splitWords(at int, cells []cell) (runs []textRun) {
	for x := 0; x < len(cells); {
		if cells[x].text == " " {
			x++
			continue
		}

		// One blank belongs to the piece; two end it.
		end, blanks := x, 0
		for i := x; i < len(cells) && blanks < 2; i++ {
			if cells[i].text == " " {
				blanks++
			} else {
				end, blanks = i+1, 0
			}
		}

		runs = append(runs, textRun{at + x, end - x, textOf(cells[x:end]), cells[x].Style})
		x = end
	}
	return runs
}

func textOf(cells []cell) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString(c.text)
	}
	return b.String()
}
