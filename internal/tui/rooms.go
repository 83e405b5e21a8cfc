package tui

import (
	"cmp"
	"slices"
	"strings"

	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// roomsPage is the page with everything: what waits for the one who watches, and the rooms.
type roomsPage struct {
	only string // it lists what has these words; empty for everything
}

func (roomsPage) pageTitle(*canvas) term.Text { return "" }
func (roomsPage) subjectKey() string          { return "rooms" }

// layoutLines returns the list of needs, which stays on top, and the rooms.
func (p roomsPage) layoutLines(s *canvas) (head, body []line) {
	if s.picture.At.IsZero() {
		return nil, []line{textLine(faint, "reading the rooms …")}
	}
	if p.only != "" {
		return p.layoutFound(s)
	}

	head = s.needLines()
	blocks := func(events int) (body []line) {
		for i, r := range s.picture.Rooms {
			if i > 0 {
				body = append(body, blank)
			}
			body = append(body, s.roomBlock(r, events)...)
		}

		return body
	}

	// What is left of the screen goes to the events of the rooms that are in use, in equal parts.
	body = blocks(fewEvents)
	used := 0
	for _, r := range s.picture.Rooms {
		if inUse(r) {
			used++
		}
	}

	left := s.height - len(head) - len(body)
	if s.height == 0 {
		left = 2 * used
	}
	if used > 0 && left >= used {
		body = blocks(fewEvents + min(left/used, 6))
	}

	if n := s.picture.Hidden; n > 0 {
		body = append(body, blank, textLine(faint, "%s more: tt list --all", stick.Count(n, "room")))
	}

	if len(s.picture.Rooms) == 0 {
		const none = "There is no room. The first one comes with: tt init, or tt join, in a repository."
		body = append(body, textLine("", none))
	}

	return head, body
}

// needWords are what a person is needed for, in a word or two.
var needWords = map[presence.NeedKind]string{
	presence.NeedAnswer:   "asks you",
	presence.NeedTakeover: "take over",
	presence.NeedRelease:  "release",
	presence.NeedMessage:  "answer",
	presence.NeedReview:   "review",
	presence.NeedRedGate:  "red gate",
	presence.NeedMerge:    "merge",
	presence.NeedTask:     "task",
	presence.NeedRescue:   "rescue",
}

// needLines lists what waits for the one who watches.
func (s *canvas) needLines() []line {
	all := s.picture.Needs()
	if len(all) == 0 {
		return append(append([]line{textLine(faint, "Nothing needs you.")}, s.laterLines()...), blank)
	}

	lines := []line{textLine(strong, "Needs you")}
	for i, n := range all {
		end := term.Textf("%s", s.ageText(n.Since))
		if len(s.picture.Rooms) > 1 {
			end = term.Textf("%s  %s", fitText(roomName(n.Room), s.usableWidth()/4), padLeft(end, 6))
		}

		// A key selects each of the first nine.
		number := term.Text("  ")
		if i < 9 {
			number = term.Textf("%d ", i+1)
		}

		lines = append(lines, line{
			key: needKey(n),
			cells: []cell{
				{text: number},
				{text: term.Textf("%s", needWords[n.Kind]), hue: asks, width: 10},
				{text: term.Textf("%s", n.Text)},
			},
			end: cell{text: end, hue: faint},
		})
	}

	return append(append(lines, s.laterLines()...), blank)
}

func needKey(n monitor.NeedIn) string { return "need " + string(n.Room.ID()) + " " + n.Key }

// fewEvents is how many events of a room are listed among all rooms where there is room for no more.
const fewEvents = 2

// roomBlock is a room with its agents, tasks and last events.
func (s *canvas) roomBlock(r *monitor.Room, events int) []line {
	lines := []line{s.titleOf(r)}
	if inUse(r) {
		lines = append(lines, s.agentLines(r)...)
		lines = append(lines, s.taskLines(r, 8)...)
		lines = append(lines, s.eventLines(r.Events, events)...)
	}

	return lines
}

// inUse reports whether somebody works in a room, or is needed there.
func inUse(r *monitor.Room) bool {
	return len(r.Needs) > 0 || r.State.State != stick.StateDormant && r.State.State != stick.StateClosed
}

// titleOf is the line of a room itself: who has the stick, who waits for it, and what keeps it.
func (s *canvas) titleOf(r *monitor.Room) line {
	l := line{key: "room " + string(r.ID())}
	l.cells = []cell{s.pathCell(r), {text: "  "}}
	if p := r.State.Paused; p != nil {
		text := term.Textf("paused by %s, %s: %s; ", p.By, s.ageText(p.Since), stick.Clip(p.Reason, 60))
		l.cells = append(l.cells, cell{text: text, hue: asks})
	}

	l.cells = append(l.cells, s.turnCells(r)...)
	if waits := waitingText(r); waits != "" {
		l.cells = append(l.cells, cell{text: "; " + waits})
	}
	if r.State.TurnID > 0 {
		l.end = cell{text: term.Textf("turn %d", r.State.TurnID), hue: faint}
	}

	return l
}

// pathCell is the path of a room, as much of its end as a line has room for.
func (s *canvas) pathCell(r *monitor.Room) cell {
	return cell{text: keepTail(s.roomPath(r), max(20, s.usableWidth()*2/5)), hue: strong}
}

// turnCells says who has the stick.
func (s *canvas) turnCells(r *monitor.Room) []cell {
	st := r.State
	switch {
	case st.State == stick.StateClosed:
		return []cell{{text: "closed", hue: faint}}
	case st.Takeover != nil:
		who := cmp.Or(deref(st.Owner), deref(st.ReservedFor))
		return []cell{{text: term.Textf("%s can't go on: %s", who, st.Takeover.Cause.Words()), hue: bad}}
	case st.State == stick.StateDormant && st.Owner == nil && st.ReservedFor == nil:
		return []cell{{text: "nobody is here", hue: faint}}
	case st.Owner != nil:
		has := term.Textf("%s has the stick, %s", *st.Owner, s.ageText(st.GrantedAt))
		if st.State == stick.StateDormant {
			return []cell{{text: has + ", and nobody is here", hue: faint}}
		}
		return []cell{{text: has, hue: good}}
	case st.ReservedFor != nil:
		return []cell{{text: term.Textf("the stick is reserved for %s", *st.ReservedFor), hue: good}}
	case st.PendingHandoff != nil:
		return []cell{{text: "nobody has the stick; a handoff waits for the next holder"}}
	}

	return []cell{{text: "nobody has the stick"}}
}

// waitingText says who waits for the stick; empty for nobody.
func waitingText(r *monitor.Room) term.Text {
	var who []stick.AgentID
	for _, m := range r.State.Members {
		if m.Activity != nil && m.Activity.State == presence.AgentWaits {
			who = append(who, m.AgentID)
		}
	}

	switch len(who) {
	case 0:
		return ""
	case 1:
		return term.Textf("%s waits for it", who[0])
	case 2:
		return term.Textf("%s and %s wait for it", who[0], who[1])
	}

	return term.Textf("%s and %d others wait for it", who[0], len(who)-1)
}

func deref(a *stick.AgentID) stick.AgentID {
	if a == nil {
		return ""
	}
	return *a
}

// eventLines lists the last of some events, the newest first.
func (s *canvas) eventLines(all []stick.Event, most int) (lines []line) {
	_, _, age := s.columnWidths()
	for _, e := range slices.Backward(all) {
		if len(lines) == most {
			break
		}

		lines = append(lines, line{cells: []cell{
			{text: "  "},
			{text: term.Textf("%s", s.ageText(e.CreatedAt)), hue: faint, width: age},
			{text: term.Textf("%s", e.Say()), hue: faint},
		}})
	}

	return lines
}

// keepTail is the end of a text in at most so many columns: of a path it says more than the beginning.
func keepTail(t term.Text, columns int) term.Text {
	r := []rune(normalizeText(t))
	n := 0
	for i := len(r) - 1; i >= 0; i-- {
		if n += term.Width(string(r[i])); n > columns-1 && (i > 0 || n > columns) {
			return "…" + term.Text(r[i+1:])
		}
	}

	return t
}

// fitText is a text cut to a number of columns, and padLeft moves one to the right end of them.
func fitText(t term.Text, columns int) term.Text { return term.Text(term.CutLine(string(t), columns)) }

func padLeft(t term.Text, columns int) term.Text {
	return term.Text(strings.Repeat(" ", max(0, columns-term.Width(string(t))))) + t
}
