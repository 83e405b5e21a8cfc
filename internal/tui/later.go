package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// putOffFor is how long a need stays out of the list that a person has put off.
const putOffFor = time.Hour

// laterKey is the line that counts what was put off.
const laterKey = "later"

// laterLines count what was put off.
func (s *canvas) laterLines() []line {
	off := s.picture.PutOff()
	if len(off) == 0 {
		return nil
	}

	l := textLine(faint, "  %s put off", stick.Count(len(off), "thing"))
	l.key = laterKey
	return []line{l}
}

// laterWord is what the key z does: what was put off comes back where its count is selected.
func laterWord(m *model, t target) string {
	switch {
	case m.env == nil || m.env.putOff == nil:
		return ""
	case m.shownPage().key == laterKey:
		return "bring back"
	case t.need.Key != "":
		return "later"
	}
	return ""
}

// toggleLater puts a need off, or brings back all that was put off.
func toggleLater(m *model, t target) tea.Cmd {
	if m.shownPage().key == laterKey {
		for _, n := range m.picture.PutOff() {
			m.env.putOff(n.Room.ID(), n.Key, m.now)
		}
		m.note = note{text: "all of it is back"}
		return nil
	}

	m.env.putOff(t.need.Room.ID(), t.need.Key, m.now.Add(putOffFor))
	m.note = note{text: term.Textf("it comes back in an hour: %s", t.need.Text)}
	return nil
}

// needOf is the need of a line; its key is empty for another line.
func needOf(p *monitor.Picture, key string) monitor.NeedIn {
	for _, n := range p.Needs() {
		if needKey(n) == key {
			return n
		}
	}
	return monitor.NeedIn{}
}
