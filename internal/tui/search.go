package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// askSearch asks for words. The page with everything lists only what has them then; on another page the next line
// with them is selected.
func (m *model) askSearch() {
	m.ask = newPrompt((*model).search, "Search")
	m.ask.allowsEmpty = true
	if m.sought != "" && len(m.pages) > 1 {
		m.ask.text = term.Textf("Search; enter alone goes on to the next line with %s", stick.Quote(m.sought, 40))
	}
}

func (m *model) search(words string) tea.Cmd {
	if len(m.pages) == 1 {
		m.pages[0].page = roomsPage{only: words}
		return nil
	}

	if words != "" {
		m.sought = words
	}
	if m.sought != "" && !m.selectNextWith(m.sought) {
		m.note = note{text: term.Textf("no line has %s", stick.Quote(m.sought, 60)), bad: true}
	}
	return nil
}

// selectNextWith selects the next line of the page that has some words, from the top again after the last one.
func (m *model) selectNextWith(words string) bool {
	o := m.shownPage()
	head, body := o.layoutLines(m.newCanvas())
	lines := slices.DeleteFunc(slices.Concat(head, body), func(l line) bool { return l.key == "" })
	now := slices.IndexFunc(lines, func(l line) bool { return l.key == o.key })

	for i := range lines {
		l := lines[(now+1+i)%len(lines)]
		if l.hasWords(words, m.picture.NameOf) {
			o.key = l.key
			return true
		}
	}
	return false
}

// hasWords reports whether a line has each of some words, in any case.
func (l line) hasWords(words string, nameOf func(stick.AgentID) string) bool {
	var text strings.Builder
	for _, shown := range []line{l, l.withNames(nameOf)} {
		for _, c := range append(shown.cells, shown.end) {
			text.WriteString(string(c.text) + " ")
		}
	}

	all := strings.ToLower(text.String())
	for _, word := range strings.Fields(strings.ToLower(words)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// foundLines are those of some lines that the page is searched for.
func (s *canvas) foundLines(words string, lines []line) []line {
	return slices.DeleteFunc(lines, func(l line) bool { return !l.hasWords(words, s.picture.NameOf) })
}

// foundEvents is how many events of a room are searched.
const foundEvents = 30

// foundBlock is what of a room has some words: nothing if neither its line nor one in it has.
func (s *canvas) foundBlock(r *monitor.Room, words string) []line {
	title := s.titleOf(r)
	all := slices.Concat(s.agentLines(r), s.taskLines(r, len(r.Tasks)), s.eventLines(r.Events, foundEvents))
	found := s.foundLines(words, all)
	if len(found) == 0 && !title.hasWords(words, s.picture.NameOf) {
		return nil
	}
	return append([]line{title}, found...)
}

// layoutFound is the page with everything while it is searched.
func (p roomsPage) layoutFound(s *canvas) (head, body []line) {
	head = append(head, textLine(asks, "Only what has %s; esc shows all", stick.Quote(p.only, 60)))
	needs := s.needLines()
	head = append(head, s.foundLines(p.only, slices.DeleteFunc(needs, func(l line) bool { return l.key == "" }))...)
	head = append(head, blank)

	for _, r := range s.picture.Rooms {
		found := s.foundBlock(r, p.only)
		if len(body) > 0 && len(found) > 0 {
			body = append(body, blank)
		}
		body = append(body, found...)
	}

	if len(body) == 0 {
		body = append(body, textLine("", "No room, agent, task or late event has that."))
	}
	return head, body
}
