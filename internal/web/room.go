package web

import (
	"net/http"
	"strings"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/monitor"
	"talkingstick/stick"
)

// roomPage is what only the page of a room shows.
type roomPage struct {
	Rows  []eventRow // of the log, the newest first
	Older int64      // the number of the oldest event that is shown, if there are older ones; 0 if not
	Notes []stick.Note
	Chart *chart
}

// readRoom reads the notes of a room, and shows its last events.
func (s *Server) readRoom(r *http.Request, v *view) error {
	notes, err := s.ops.ListNotes(r.Context(), engine.ListNotesParams{
		Caller: s.o.Caller, Where: core.Where{RoomID: v.Room.ID()},
	})
	if err != nil {
		return err
	}

	b := &roomPage{Notes: notes.Notes}
	if b.Chart, err = s.readChart(r, v.Room.ID(), 0); err != nil {
		return err
	}

	b.Rows, b.Older = rowsOf(v.Root, v.Room, v.Room.Events, v.Room.More)
	v.Body = b
	return nil
}

// readLog reads a page of older events.
func (s *Server) readLog(r *http.Request, v *view) error {
	b := &roomPage{}
	v.Body = b
	if v.Query != "" {
		var err error
		b.Rows, b.Older, err = s.searchLog(r, v, beforeIn(r))
		return err
	}

	res, err := s.ops.GetRoomEvents(r.Context(), eventlog.GetRoomEventsParams{
		Caller: s.o.Caller, Where: core.Where{RoomID: v.Room.ID()},
		EventFilter: eventlog.EventFilter{
			Before: beforeIn(r), TaskID: r.URL.Query().Get("task"), Limit: 2 * eventsShown,
		},
	})
	if err != nil {
		return err
	}

	b.Rows, b.Older = rowsOf(v.Root, v.Room, res.Events, res.More)
	return nil
}

// eventRow is an event as a timeline shows it.
type eventRow struct {
	stick.Event
	Root string // leads from the page to the first one
	Room *monitor.Room
	Kind string // a style: turn, talk, blocked, handoff, incursion, resume, task, member, quiet
	Tag  string // what kind of event it is, in a word or two; empty for none
	Text string // its sentence, which the tag may begin
	Time string
	Says []labeledText // what it says beyond its sentence

	Message int64           // its number, if it is a message; 0 if not
	Answers int64           // the message that it answers; 0 for none
	Actions *messageActions // what the person can do about it; nil for nothing
}

// At is a link to the page of its room.
func (r eventRow) At() string { return r.Root + roomPath(r.Room.ID()) }

// labeledText is a part of what an event says, with what it is.
type labeledText struct{ Label, Text string }

// rowsOf turns events around, so that the newest comes first.
func rowsOf(root string, room *monitor.Room, events []stick.Event, more bool) (rows []eventRow, older int64) {
	for i := len(events) - 1; i >= 0; i-- {
		rows = append(rows, rowOf(root, room, events[i]))
	}

	if more && len(events) > 0 {
		older = events[0].Seq
	}

	return rows, older
}

func rowOf(root string, room *monitor.Room, e stick.Event) eventRow {
	r := eventRow{Event: e, Root: root, Room: room, Time: e.CreatedAt.Go().Local().Format("15:04:05")}
	r.Kind, r.Tag = kindOf(e)
	r.Text = string(e.Say())

	// The tag may say the beginning of the sentence already.
	if rest, ok := strings.CutPrefix(r.Text, r.Tag+" "); ok && r.Tag != "" {
		r.Text = rest
	}

	add := func(label, text string) {
		if strings.TrimSpace(text) != "" {
			r.Says = append(r.Says, labeledText{label, text})
		}
	}

	// What others wrote is beside the sentence: a handoff, a message, a note, a reason.
	if h := e.Handoff; h != nil {
		for _, f := range stick.HandoffFields {
			for _, text := range f.Show(*h) {
				add(f.Label, text)
			}
		}
	}

	if m := e.Message(); m != nil && e.Type == stick.EventMessageSent {
		add("subject", m.Subject)
		for _, f := range m.Says() {
			add(spacedWords(f.Name), *f.Value(&m.Contract))
		}

		add("message", m.Body)
		r.Message, r.Answers, r.Actions = e.Seq, m.ReplyTo, openActions(root, room, e.Seq)
	}

	if p, ok := stick.PayloadOf[stick.NoteAddedPayload](e); ok {
		add("note", p.Note)
	}

	add("reason", e.Reason)
	return r
}

// kindOf says what style a row has, and its tag: in seed words for what people have to notice.
func kindOf(e stick.Event) (kind, tag string) {
	if m := e.Message(); m != nil && e.Type == stick.EventMessageSent {
		switch m.Category {
		case stick.Blocked:
			return "blocked", "Needs input"
		case stick.Handover:
			return "handoff", "Passed to"
		}

		return "talk", "Message"
	}

	switch e.Type {
	case stick.EventPass, stick.EventRelease, stick.EventRerouted:
		return "handoff", "Handoff"
	case stick.EventClaim, stick.EventTakeover:
		return "turn", "Turn"
	case stick.EventIncursion:
		return "incursion", "Overlap"
	case stick.EventResume:
		return "resume", "Resume"
	case stick.EventMessageAcked:
		return "talk", "Accepted"
	case stick.EventMessageRead:
		return "quiet", "Seen"
	case stick.EventStickDenied, stick.EventLateEdit, stick.EventWorkTaken:
		return "incursion", "Edit"
	case stick.EventJoin, stick.EventLeave, stick.EventKick, stick.EventSessionStarted, stick.EventSessionEnded:
		return "member", ""
	}

	if strings.HasPrefix(string(e.Type), "task_") {
		return "task", "Task"
	}

	return "quiet", ""
}

// renderRow renders an event for the timeline of its room.
func (s *Server) renderRow(root string, room *monitor.Room, e stick.Event) string {
	html, err := s.renderTemplate("room", "row", rowOf(root, room, e))
	if err != nil {
		return ""
	}
	return html
}
