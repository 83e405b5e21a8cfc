package tui

import (
	"slices"
	"strings"

	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// frame is a picture of the screen.
type frame struct {
	lines []string
	caret [2]int     // where the cursor is shown, column and line from 1; zero for nowhere
	until stick.Time // when it says something else of the time, although nothing has happened; zero for never
}

// Smallest screen that is drawn.
const (
	leastWidth  = 30
	leastHeight = 8
)

// view draws a model.
func view(m *model) frame {
	if m.width < leastWidth || m.height < leastHeight {
		return frame{lines: []string{term.Fit("tt: the terminal is too small", m.width)}}
	}
	s := m.scene()
	o := m.shown()
	head, body := o.layout(s)
	tall := headHeight(len(head), s.height)
	lines := []string{m.top(s).draw(m.width, false, m.color)}
	put := func(part []line, from, height int) {
		for i := from; i < min(from+height, len(part)); i++ {
			lines = append(lines, part[i].draw(m.width, part[i].key != "" && part[i].key == o.key, m.color))
		}
	}
	put(head, o.headTop, tall)
	put(body, o.top, s.height-tall)
	for len(lines) < m.height-2 {
		lines = append(lines, "")
	}
	status := m.status()
	if below := len(body) - o.top - (s.height - tall); below > 0 && status.end.text == "" {
		status.end = cell{text: term.Textf("%d more below", below), hue: faint}
	}
	lines = append(lines, status.draw(m.width, false, m.color), m.keys().draw(m.width, false, m.color))
	return frame{lines: lines, until: s.until}
}

// top is the first line of the screen: what there is, in numbers.
func (m *model) top(s *scene) line {
	l := line{cells: []cell{{text: "tt  ", hue: strong}}}
	p := m.picture
	if name := m.shown().name(s); name != "" {
		l.cells = append(l.cells, cell{text: name, hue: strong})
	} else {
		work := 0
		for _, r := range p.Rooms {
			for _, a := range r.State.Members {
				if does(a) == stick.AgentWorks {
					work++
				}
			}
		}
		l.cells = append(l.cells, cell{text: term.Textf("%s, %s at work", stick.Count(len(p.Rooms)+p.Hidden, "room"), stick.Count(work, "agent"))})
		if n := len(p.Needs()); n > 0 {
			l.cells = append(l.cells, cell{text: term.Textf(", %s for you", stick.Count(n, "thing")), hue: asks})
		}
	}
	l.end = cell{text: term.Textf("%s", p.Me), hue: faint}
	return l
}

// status is the last line but one: what went wrong with reading the rooms.
func (m *model) status() line {
	if e := m.picture.Problem; e != nil {
		return say(bad, "the rooms can't be read: %s", e.Message)
	}
	return blank
}

// Text is a picture as text, for where there is no terminal to keep it up to date. A width of 0 means any.
func Text(p *monitor.Picture, now stick.Time, home string, width int, color bool) term.Text {
	s := &scene{picture: p, width: width, now: now, home: home}
	head, body := roomsPage{}.layout(s)
	var b strings.Builder
	for _, l := range slices.Concat(head, body) {
		b.WriteString(l.draw(width, false, color) + "\n")
	}
	return term.Text(b.String())
}
