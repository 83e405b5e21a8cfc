package tui

import (
	"context"
	"strconv"
	"strings"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// agentPage is an agent in a room: what it does, its tasks, what it has changed, and what it has done.
type agentPage struct {
	room   stick.RoomID
	agent  stick.AgentID
	events []stick.Event
	more   bool
	known  bool

	changes guard.ListChangesResult // what it has edited and nobody has committed
}

func (p agentPage) subjectKey() string { return "agent " + string(p.room) + " " + string(p.agent) }

func (p agentPage) roomID() stick.RoomID { return p.room }

func (p agentPage) pageTitle(*canvas) term.Text { return term.Textf("%s", p.agent) }

func (p agentPage) readPage(ctx context.Context, e *env) (page, error) {
	res, err := e.Operations.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{
		Caller: e.Caller, Where: core.Where{RoomID: p.room},
		EventFilter: eventlog.EventFilter{From: p.agent, Limit: maxListed},
	})

	p.events, p.more, p.known = res.Events, res.More, true
	if err != nil {
		return p, err
	}

	p.changes, err = e.Operations.ListChanges(ctx, guard.ListChangesParams{
		Caller: e.Caller, Where: core.Where{RoomID: p.room}, Agent: p.agent, Diff: true, Limit: maxListed,
	})
	// There is no repository, or nobody knows of an edit of it.
	if err != nil {
		p.changes = guard.ListChangesResult{}
	}

	return p, nil
}

func (p agentPage) layoutLines(s *canvas) (head, body []line) {
	r := s.picture.Room(p.room)
	if r == nil {
		return nil, []line{textLine("", "The room isn't there any more.")}
	}

	head = []line{{cells: append([]cell{s.pathCell(r), {text: "  "}}, s.turnCells(r)...)}}
	for _, m := range r.State.Members {
		if m.AgentID == p.agent {
			l := s.agentLine(r, m, m.AgentID == deref(r.State.Owner))
			l.key = ""
			head = append(head, l)
			if activityOf(m) == presence.AgentAsks {
				head = append(head, s.fieldLines("asks", asksWhere(m))...)
			}

			head = append(head, s.fieldLines("last sign", s.lastSign(m))...)
		}
	}

	for _, t := range r.Tasks {
		if t.Worker == p.agent {
			body = append(body, s.taskLine(r, t))
		}
	}

	if len(body) > 0 {
		body = append(body, blank)
	}

	body = append(body, s.changeLines(p.changes)...)
	return append(head, blank), append(body, s.logLines(p.events, p.more, p.known)...)
}

// asksWhere says where a person answers what a harness asks. What it asks, no hook says.
func asksWhere(m engine.RoomMember) string {
	if m.Process.PID == 0 {
		return "its person, in its own terminal"
	}
	return "its person, in the terminal of process " + strconv.Itoa(m.Process.PID)
}

// changeLines lists files that nobody has committed, and what differs in them.
func (s *canvas) changeLines(res guard.ListChangesResult) (lines []line) {
	if res.Count == 0 {
		return nil
	}

	lines = append(lines, textLine(strong, "Edited, and not committed"))
	for _, c := range res.Changes {
		lines = append(lines, line{cells: []cell{
			{text: term.Textf("%s", c.Status), hue: faint, width: 4}, {text: term.Path(c.Path)},
		}})
	}

	if hidden := res.Count - len(res.Changes); hidden > 0 {
		lines = append(lines, textLine(faint, "%s more: tt changes", stick.Count(hidden, "file")))
	}
	if res.Diff != "" {
		lines = append(append(lines, blank), s.patchLines(res.Diff)...)
	}

	return append(lines, blank)
}

// lastSign says when a member was last seen, and what it is bound to.
func (s *canvas) lastSign(m engine.RoomMember) string {
	parts := []string{s.agoText(m.LastSeenAt)}
	if a := m.Activity; a != nil && !a.LastSign.IsZero() {
		parts[0] = s.agoText(a.LastSign)
	}
	if m.Role != "" {
		parts = append(parts, string(m.Role))
	}
	if m.Verdict == stick.Gone {
		parts = append(parts, "its process has ended")
	}

	return strings.Join(parts, "; ")
}

func (p agentPage) targetAt(pic *monitor.Picture, key string) target {
	if t := (roomsPage{}).targetAt(pic, key); t.task != "" {
		return t
	}
	return target{room: pic.Room(p.room), agent: p.agent}
}
