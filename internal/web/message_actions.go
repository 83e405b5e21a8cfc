package web

import (
	"net/http"
	"strconv"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/monitor"
	"talkingstick/stick"
)

// messageActions is what a person can do about a message, wherever it is shown.
type messageActions struct {
	Root  string // leads from the page to the first one
	Room  *monitor.Room
	ID    int64
	From  stick.AgentID
	State stick.ReceiptState // at the person; empty for a message to others
	Asks  bool               // its sender waits until it is accepted
	Event bool               // it is no message, but an event that its addressee should read
	Keys  bool               // its controls have keys
	Back  string             // the page on which it is shown; empty for that of its room
}

// actionsOn returns what the person can do about a message in an inbox.
func actionsOn(root string, room *monitor.Room, m engine.InboxMessage) messageActions {
	l := messageActions{Root: root, Room: room, ID: m.MessageID, From: m.From, Asks: m.RequiresAck, Event: m.Event != ""}
	if m.Recipient == room.State.AgentID {
		l.State = m.State
	}
	return l
}

// openActions returns what the person can do about a message that waits for it, nil if it doesn't.
func openActions(root string, room *monitor.Room, id int64) *messageActions {
	m, ok := room.OpenMessage(id)
	if !ok {
		return nil
	}

	l := actionsOn(root, room, m)
	return &l
}

// On returns the same on a page, where keys work.
func (l messageActions) On(page string) messageActions {
	l.Keys, l.Back = true, page
	return l
}

// To is the page to which its forms lead back.
func (l messageActions) To() string {
	if l.Back == "" {
		return roomPath(l.Room.ID())
	}
	return l.Back
}

// CanSee reports whether it can be marked as seen.
func (l messageActions) CanSee() bool { return l.State == stick.Unread }

// CanAccept reports whether it can be accepted.
func (l messageActions) CanAccept() bool {
	return !l.Event && (l.State == stick.Unread || l.State == stick.Read)
}

// CanReply reports whether it can be answered.
func (l messageActions) CanReply() bool {
	return !l.Event && l.From != "" && l.From != l.Room.State.AgentID
}

// Waits reports whether its sender waits for the person.
func (l messageActions) Waits() bool { return l.Asks && l.CanAccept() }

// reply is a message that answers another one.
type reply struct {
	ID   int64
	From stick.AgentID
	Gist string // what it says, in short
}

// repliesTo finds the answers to a message among events.
func repliesTo(events []stick.Event, id int64) (out []reply) {
	for _, e := range events {
		if m := e.Message(); m != nil && e.Type == stick.EventMessageSent && m.ReplyTo == id {
			out = append(out, reply{e.Seq, e.From, string(m.Gist(100))})
		}
	}

	return out
}

// messagePage is a message, its receipts and its answers.
type messagePage struct {
	engine.GetMessageResult
	More    []labeledText
	Actions messageActions
	Answers []reply
}

// readMessage reads a message, which marks nothing.
func (s *Server) readMessage(r *http.Request, v *view) error {
	id, _ := strconv.ParseInt(r.PathValue("seq"), 10, 64)

	by, at := s.o.Caller, core.Where{RoomID: v.Room.ID()}
	res, err := s.ops.GetMessage(r.Context(), engine.GetMessageParams{Caller: by, Where: at, MessageID: id})
	if err != nil {
		return err
	}

	actions := messageActions{
		Root:  v.Root,
		Room:  v.Room,
		ID:    id,
		From:  res.From,
		Asks:  res.RequiresAck,
		Event: res.Event != "",
	}

	b := &messagePage{GetMessageResult: res, Actions: actions.On(r.URL.Path)}

	// It waits for the person only if the person is among the recipients.
	for _, x := range res.Receipts {
		if x.AgentID == res.Me {
			b.Actions.State = x.State
		}
	}

	for _, f := range res.Says() {
		b.More = append(b.More, labeledText{spacedWords(f.Name), *f.Value(&res.Contract)})
	}

	// Answers are later than the message.
	later, err := s.ops.GetRoomEvents(r.Context(), eventlog.GetRoomEventsParams{
		Caller: by, Where: at, FromStart: true,
		EventFilter: eventlog.EventFilter{After: id, Types: []stick.EventType{stick.EventMessageSent}, Limit: maxCatchUp},
	})
	if err != nil {
		return err
	}

	b.Answers = repliesTo(later.Events, id)
	v.Body = b
	return nil
}

// acceptAnswered acknowledges the message that a form has answered, if its button says so.
func (s *Server) acceptAnswered(r *http.Request, arguments any) error {
	sent, ok := arguments.(*engine.SendMessageParams)
	if !ok || r.PostForm.Get("accept") == "" || sent.ReplyTo == 0 {
		return nil
	}

	_, err := s.o.Engine.AckMessage(r.Context(), engine.MessagesParams{
		Caller: s.o.Caller, Where: sent.Where, MessageIDs: []int64{sent.ReplyTo},
	})
	if err == nil {
		return nil
	}

	// The reply can't be taken back, so the error says that it was sent.
	e := *stick.AsError(err)
	e.Message = "your reply is sent, but the message isn't accepted: " + e.Message
	return &e
}

// MessageActions returns what the person can do about the message of a need; nil if it is about none.
func (v *view) MessageActions(n monitor.NeedIn) *messageActions {
	l := openActions(v.Root, n.Room, n.Message)
	if l != nil {
		*l = l.On(v.Path)
	}
	return l
}
