package tui

import (
	"fmt"
	"slices"
	"strings"

	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/presence"
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

// drawModel draws a model.
func drawModel(m *model) frame {
	if m.width < leastWidth || m.height < leastHeight {
		return frame{lines: []string{term.CutLine("tt: the terminal is too small", m.width)}}
	}

	// The head takes no more than half of the page, the body the rest.
	s := m.newCanvas()
	o := m.shownPage()
	head, body := o.layoutLines(s)
	shown, tall := headHeight(len(head), s.height)
	draw := func(l line, selected bool) string {
		return l.withNames(s.picture.NameOf).drawLine(m.width, selected, m.color)
	}

	lines := []string{draw(m.topLine(s), false)}
	put := func(part []line, from, height int) {
		for i := from; i < min(from+height, len(part)); i++ {
			lines = append(lines, draw(part[i], part[i].key != "" && part[i].key == o.key))
		}
	}

	put(head, o.headTop, shown)
	if shown < tall {
		lines = append(lines, draw(cutLine(head, o.headTop, shown), false))
	}

	put(body, o.top, s.height-tall)

	// The last lines stand at the bottom, whatever is above them.
	foot, caret := m.footLines()
	for len(lines) < m.height-len(foot) {
		lines = append(lines, "")
	}

	below := len(body) - o.top - (s.height - tall)
	if below > 0 && len(foot) == 2 && len(foot[0].cells) == 0 {
		foot[0].end = cell{text: term.Textf("%d more below", below), hue: faint}
	}

	// Drawing the pages has found out until when their ages hold.
	f := frame{until: s.until}
	for _, l := range foot {
		lines = append(lines, draw(l, false))
	}

	if m.ascii {
		for i, l := range lines {
			lines[i] = term.ASCIIColumns(l)
		}
	}

	if f.lines = lines; caret > 0 {
		f.caret = [2]int{caret, len(lines)}
	}

	return f
}

// cutLine says how many lines of a head aren't shown that could be selected.
func cutLine(head []line, top, shown int) line {
	var parts []string
	if above := len(keysOf(head[:top])); above > 0 {
		parts = append(parts, fmt.Sprintf("%d above", above))
	}
	if below := len(keysOf(head[top+shown:])); below > 0 {
		parts = append(parts, fmt.Sprintf("%d more below", below))
	}
	return line{end: cell{text: term.Textf("%s", strings.Join(parts, ", ")), hue: faint}}
}

// topLine is the first line of the screen: what there is, in numbers.
func (m *model) topLine(s *canvas) line {
	l := line{cells: []cell{{text: "tt  ", hue: strong}}}
	p := m.picture
	if name := m.shownPage().pageTitle(s); name != "" {
		l.cells = append(l.cells, cell{text: name, hue: strong})
		l.cells = append(l.cells, m.placeCells()...)
	} else {
		// On the page with everything, numbers say how much there is.
		rooms := stick.Count(len(p.Rooms)+p.Hidden, "room")
		l.cells = append(l.cells, cell{text: term.Textf("%s, ", rooms)})
		if n := len(p.Needs()); n > 0 {
			l.cells = append(l.cells, cell{text: term.Textf("%s for you", stick.Count(n, "thing")), hue: asks}, cell{text: ", "})
		}
		l.cells = append(l.cells, cell{text: agentCounts(p)})
	}

	l.end = cell{text: term.Textf("%s", p.Me), hue: faint}
	return l
}

// placeCells say where on a page somebody is, if it says so.
func (m *model) placeCells() []cell {
	o := m.shownPage()
	p, ok := o.page.(placed)
	if !ok {
		return nil
	}
	if at := p.placeText(o.key); at != "" {
		return []cell{{text: "  " + at}}
	}
	return nil
}

// agentCounts says how many agents do what, as far as somebody does something.
func agentCounts(p *monitor.Picture) term.Text {
	count := map[presence.AgentState]int{}
	for _, r := range p.Rooms {
		for _, m := range r.State.Members {
			count[activityOf(m)]++
		}
	}

	parts := []string{string(stick.Count(count[presence.AgentWorks], "agent")) + " at work"}
	for _, of := range []struct {
		state     presence.AgentState
		one, many string
	}{{presence.AgentWaits, "waits", "wait"}, {presence.AgentAsks, "asks", "ask"}, {presence.AgentGone, "gone", "gone"}} {
		if n := count[of.state]; n == 1 {
			parts = append(parts, "1 "+of.one)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", n, of.many))
		}
	}
	return term.Textf("%s", strings.Join(parts, ", "))
}

// footLines returns the last lines: what is asked, else how the last act ended or what is under way, and what
// the keys do. caret is the column of the cursor in the last of them, 0 for none.
func (m *model) footLines() (lines []line, caret int) {
	if m.ask != nil {
		return m.ask.questionLines(m.width)
	}
	if m.caption != "" {
		lines = m.sentenceLines(m.caption, strong)
	}

	// The note about the last act comes before what is under way, and that before a problem.
	switch e := m.picture.Problem; {
	case m.note.text != "":
		h := good
		if m.note.bad {
			h = bad
		}
		lines = append(append(lines, m.sentenceLines(m.note.text, h)...), m.sentenceLines(m.note.hint, faint)...)
	case len(m.ongoing) > 0:
		lines = append(lines, m.sentenceLines(m.ongoing[len(m.ongoing)-1].text+" …", "")...)
	case e != nil:
		lines = append(lines, m.sentenceLines(term.Textf("the rooms can't be read: %s", e.Message), bad)...)
	case len(lines) == 0:
		lines = []line{blank}
	}

	return append(lines, m.keyLine()), 0
}

// sentenceLines are the lines of a sentence, at most three.
func (m *model) sentenceLines(text term.Text, h hue) []line {
	if text == "" {
		return nil
	}

	lines := wrapText(text, 0, m.width, 3)
	for i := range lines {
		lines[i].cells[0].hue = h
	}

	return lines
}

// Text is a picture as text, for where there is no terminal to keep it up to date. A width of 0 means any.
func Text(p *monitor.Picture, now stick.Time, home string, width int, color bool) term.Text {
	s := &canvas{picture: p, width: width, now: now, home: home}
	head, body := roomsPage{}.layoutLines(s)
	var b strings.Builder
	for _, l := range slices.Concat(head, body) {
		b.WriteString(l.withNames(p.NameOf).drawLine(width, false, color) + "\n")
	}

	return term.Text(b.String())
}
