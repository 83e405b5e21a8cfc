package tui

import (
	"cmp"
	"context"
	"slices"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// maxListed is how many events a page lists.
const maxListed = 200

// roomPage is a room: who has the stick and since when, the last handoff, agents, tasks, and its log.
type roomPage struct {
	id      stick.RoomID
	handoff *stick.Event // that the holder got, or the next one gets; nil if there is none
	events  []stick.Event
	more    bool // there are older ones
	known   bool // it was read
}

func (p roomPage) subjectKey() string { return "room " + string(p.id) }

func (p roomPage) roomID() stick.RoomID { return p.id }

func (p roomPage) pageTitle(s *canvas) term.Text {
	if r := s.picture.Room(p.id); r != nil {
		return s.roomPath(r)
	}
	return "a room that isn't there"
}

func (p roomPage) readPage(ctx context.Context, e *env) (page, error) {
	at := core.Where{RoomID: p.id}
	st, err := e.Operations.GetRoomState(ctx, engine.GetRoomStateParams{Caller: e.Caller, Where: at})
	if err != nil {
		return p, err
	}

	// The handoff may be older than the events that are listed.
	p.handoff = nil
	if st.HandoffSeq != nil {
		one, err := e.Operations.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{
			Caller: e.Caller, Where: at, FromStart: true,
			EventFilter: eventlog.EventFilter{After: *st.HandoffSeq - 1, Limit: 1},
		})
		if err != nil {
			return p, err
		}

		if len(one.Events) > 0 && one.Events[0].Handoff != nil {
			p.handoff = &one.Events[0]
		}
	}

	all, err := e.Operations.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{
		Caller: e.Caller, Where: at, EventFilter: eventlog.EventFilter{Limit: maxListed},
	})

	p.events, p.more, p.known = all.Events, all.More, true
	return p, err
}

func (p roomPage) layoutLines(s *canvas) (head, body []line) {
	r := s.picture.Room(p.id)
	if r == nil {
		return nil, []line{textLine("", "The room isn't there any more.")}
	}

	head = []line{{cells: s.turnCells(r), end: cell{text: term.Textf("turn %d", r.State.TurnID), hue: faint}}, blank}
	if waits := waitingText(r); waits != "" {
		head[0].cells = append(head[0].cells, cell{text: "; " + waits})
	}
	if pause := r.State.Paused; pause != nil {
		head = slices.Insert(head, 0, textLine(asks, "%s", pause.Says(s.now, "")))
	}

	if h := p.handoff; h != nil {
		body = append(body, textLine(strong, "Handoff of %s, %s", h.From, s.agoText(h.CreatedAt)))
		body = append(body, s.handoffLines(*h.Handoff)...)
		body = append(body, blank)
	}

	body = append(body, s.agentLines(r)...)
	body = append(body, s.taskLines(r, 100)...)
	body = append(body, blank)
	return head, append(body, s.logLines(p.events, p.more, p.known)...)
}

func (p roomPage) targetAt(pic *monitor.Picture, key string) target {
	return cmp.Or(roomsPage{}.targetAt(pic, key), target{room: pic.Room(p.id)})
}

// handoffLines shows a handoff.
func (s *canvas) handoffLines(h stick.Handoff) (lines []line) {
	for _, f := range stick.HandoffFields {
		for _, text := range f.Show(h) {
			lines = append(lines, s.fieldLines(f.Label, text)...)
		}
	}

	if w := h.Workspace; w != nil && w.DirtyCount > 0 {
		lines = append(lines, s.fieldLines("left", string(stick.Count(w.DirtyCount, "uncommitted file"))+" at "+shortCommit(w.Head))...)
	}

	return lines
}

// nameWidth is how wide the names of fields are.
const nameWidth = 14

// fieldLines shows text of others beside its name, and below it what doesn't fit there.
func (s *canvas) fieldLines(name, text string) []line {
	if text == "" {
		return nil
	}

	lines := quoteLines(wrapText(term.Block(text), nameWidth, s.width, 0))
	if len(name) >= nameWidth {
		return append([]line{textLine(faint, "%s", name)}, lines...)
	}

	// The first line has the name in its indent.
	first := string(lines[0].cells[0].text)[nameWidth:]
	lines[0].cells = []cell{{text: term.Textf("%s", name), hue: faint, width: nameWidth}, {text: term.Text(first)}}
	return lines
}

// logLines lists events, the newest first.
func (s *canvas) logLines(events []stick.Event, more, known bool) (lines []line) {
	if !known {
		return []line{textLine(faint, "reading …")}
	}

	lines = append(lines, textLine(strong, "What happened, the newest first"))
	for _, e := range slices.Backward(events) {
		said := wrapText(term.Textf("%s", e.Say()), 10, s.width, 3)
		said[0].cells = []cell{
			{text: term.Textf("%s", s.ageText(e.CreatedAt)), hue: faint, width: 10},
			{text: said[0].cells[0].text[10:]},
		}

		lines = append(lines, said...)
	}

	if more {
		lines = append(lines, textLine(faint, "older: tt log"))
	}

	return lines
}

// shortCommit shortens a commit.
func shortCommit(commit string) string { return commit[:min(len(commit), 10)] }
