package tui

import (
	"context"
	"strconv"
	"strings"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// talkPage is the conversation in a room: the messages with their bodies, the newest first.
type talkPage struct {
	room     stick.RoomID
	messages []engine.MessageView
	more     bool
	known    bool
}

func (p talkPage) subjectKey() string { return "talk " + string(p.room) }

func (p talkPage) roomID() stick.RoomID { return p.room }

func (p talkPage) pageTitle(s *canvas) term.Text {
	if r := s.picture.Room(p.room); r != nil {
		return term.Textf("%s: messages", s.roomPath(r))
	}
	return "messages"
}

func (p talkPage) readPage(ctx context.Context, e *env) (page, error) {
	res, err := e.Operations.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{
		Caller: e.Caller, Where: core.Where{RoomID: p.room},
		EventFilter: eventlog.EventFilter{Types: []stick.EventType{stick.EventMessageSent}, Limit: maxListed},
	})

	p.messages, p.more, p.known = nil, res.More, true
	for i := len(res.Events) - 1; i >= 0; i-- {
		p.messages = append(p.messages, engine.ViewMessage(res.Events[i]))
	}

	return p, err
}

func (p talkPage) layoutLines(s *canvas) (head, body []line) {
	switch {
	case !p.known:
		return nil, []line{textLine(faint, "reading …")}
	case len(p.messages) == 0:
		return nil, []line{textLine("", "Nobody has said anything.")}
	}

	for _, m := range p.messages {
		l := s.messageLine(m)
		l.key = messageKey(m.MessageID)
		body = append(body, l)

		// Each line can be selected, so that a long message scrolls.
		for i, text := range quoteLines(wrapText(term.Block(strings.TrimSpace(m.Body)), 4, s.width, 12)) {
			text.key = messageKey(m.MessageID) + " " + strconv.Itoa(i)
			body = append(body, text)
		}

		body = append(body, blank)
	}

	if p.more {
		body = append(body, textLine(faint, "older: tt log"))
	}

	return nil, body
}

func messageKey(id int64) string { return string(term.Textf("message %d", id)) }

// messageLine is the line over the body of a message: from whom it is, and for whom.
func (s *canvas) messageLine(m engine.MessageView) line {
	to := term.Textf("all")
	if len(m.To) > 0 && m.To[0] != stick.ToRoom {
		names := make([]string, len(m.To))
		for i, a := range m.To {
			names[i] = string(a)
		}
		to = term.Textf("%s", strings.Join(names, ", "))
	}

	l := line{
		cells: []cell{{text: term.Textf("%s", m.From), hue: strong}, {text: " to "}, {text: to}},
		end:   cell{text: term.Textf("%s", s.ageText(m.CreatedAt)), hue: faint},
	}

	if m.Category != stick.Info && m.Category != "" {
		l.cells = append(l.cells, cell{text: term.Textf(", %s", m.Category), hue: asks})
	}
	if m.TaskID != "" {
		l.cells = append(l.cells, cell{text: term.Textf(", about %s", stick.Clip(m.TaskID, 40)), hue: faint})
	}
	if m.Subject != "" {
		l.cells = append(l.cells, cell{text: term.Textf(": %s", m.Subject)})
	}

	return l
}

func (p talkPage) targetAt(pic *monitor.Picture, key string) target {
	t := target{room: pic.Room(p.room)}
	for _, m := range p.messages {
		if k := messageKey(m.MessageID); k == key || strings.HasPrefix(key, k+" ") {
			t.message, t.agent = m.MessageID, m.From
		}
	}

	return t
}

// messagePage is one message, and who has seen or accepted it.
type messagePage struct {
	room stick.RoomID
	id   int64
	res  *engine.GetMessageResult // nil until it was read
}

func (p messagePage) subjectKey() string { return string(p.room) + " " + messageKey(p.id) }

func (p messagePage) roomID() stick.RoomID { return p.room }

func (p messagePage) pageTitle(*canvas) term.Text { return term.Textf("message %d", p.id) }

// readPage reads the message, and marks it as seen where its reader is a recipient that hasn't seen it: to
// open a message is to read it.
func (p messagePage) readPage(ctx context.Context, e *env) (page, error) {
	at := core.Where{RoomID: p.room}
	res, err := e.Operations.GetMessage(ctx, engine.GetMessageParams{Caller: e.Caller, Where: at, MessageID: p.id})
	if err != nil {
		return p, err
	}

	p.res = &res

	for i, r := range res.Receipts {
		if r.AgentID == res.Me && r.State == stick.Unread {
			_, err = e.Operations.ReadMessage(ctx, engine.ReadMessageParams{
				MessagesParams: engine.MessagesParams{Caller: e.Caller, Where: at, MessageIDs: []int64{p.id}},
			})
			res.Receipts[i].State = stick.Read
		}
	}

	return p, err
}

func (p messagePage) layoutLines(s *canvas) (head, body []line) {
	if p.res == nil {
		return nil, []line{textLine(faint, "reading …")}
	}

	body = quoteLines(wrapText(term.Block(strings.TrimSpace(p.res.Body)), 0, s.width, 0))
	for _, f := range p.res.Says() {
		body = append(body, s.fieldLines(strings.ReplaceAll(f.Name, "_", " "), *f.Value(&p.res.Contract))...)
	}

	if len(p.res.Receipts) > 0 {
		body = append(body, blank)
	}

	for _, r := range p.res.Receipts {
		word, at := term.Text("not seen"), stick.Time(0)
		switch r.State {
		case stick.Read:
			word, at = "Seen", r.ReadAt
		case stick.Acked:
			word, at = "Accepted", r.AckedAt
		case stick.Unread:
		default:
			word = term.Textf("%s", r.State)
		}

		body = append(body, line{
			cells: []cell{{text: word, width: 10}, {text: term.Textf("%s", r.AgentID)}},
			end:   cell{text: term.Textf("%s", s.ageText(at)), hue: faint},
		})
	}

	return []line{s.messageLine(p.res.MessageView), blank}, body
}

func (p messagePage) targetAt(pic *monitor.Picture, _ string) target {
	t := target{room: pic.Room(p.room), message: p.id}
	if p.res != nil {
		t.agent = p.res.From
	}
	return t
}
