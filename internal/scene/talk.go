package scene

import (
	"context"
	"slices"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// Sent is the answer to an actor that sends a message.
type Sent struct {
	Answer[engine.SendMessageResult]
}

// ID returns the number of the message.
func (x Sent) ID() int64 { x.by.Helper(); return x.OK().MessageID }

// Reaches expects that the message reaches who in this way.
func (x Sent) Reaches(who *Actor, how presence.Delivery) Sent {
	x.by.Helper()
	if !slices.ContainsFunc(x.OK().Recipients, func(r engine.Recipient) bool { return r.AgentID == who.ID && r.Delivery == how }) {
		x.failStory("a message that reaches %s by %s", who.Name, how)
	}
	return x
}

// Send sends a message to one actor.
func (a *Actor) Send(to *Actor, body string) Sent {
	return a.SendAs(engine.SendMessageParams{To: []stick.AgentID{to.ID}, Body: body})
}

// Tell sends a message to everybody in the room.
func (a *Actor) Tell(body string) Sent {
	return a.SendAs(engine.SendMessageParams{To: []stick.AgentID{stick.ToRoom}, Body: body})
}

// SendAs sends a message.
func (a *Actor) SendAs(p engine.SendMessageParams) Sent { return Sent{a.SendMessage(p)} }

// Reads records messages as read.
func (a *Actor) Reads(ids ...int64) Answer[engine.MessagesResult] {
	return a.ReadMessage(engine.ReadMessageParams{MessagesParams: engine.MessagesParams{MessageIDs: ids}})
}

// Accepts acknowledges messages.
func (a *Actor) Accepts(ids ...int64) Answer[engine.MessagesResult] {
	return a.AckMessage(engine.MessagesParams{MessageIDs: ids})
}

// Withdraws withdraws a message.
func (a *Actor) Withdraws(id int64) Answer[engine.WithdrawMessageResult] {
	return a.WithdrawMessage(engine.WithdrawMessageParams{MessageID: id})
}

// Inbox returns the actor's open messages.
func (a *Actor) Inbox() engine.GetInboxResult {
	a.Helper()
	return a.GetInbox(engine.GetInboxParams{}).OK()
}

// Note leaves a note.
func (a *Actor) Note(body string) Answer[engine.AddNoteResult] {
	return a.AddNote(engine.AddNoteParams{Body: body})
}

// StreamDelivered is the operation of that name.
func (a *Actor) StreamDelivered(name string, cursor int64) {
	a.Helper()
	if err := a.Engine.Log.StreamDelivered(a.Context(), a.By, a.Room().ID, name, cursor); err != nil {
		a.failStory("moving the stream of %s: %v", a.Name, err)
	}
}

// DigestDelivered says that the digest of the room was seen to its end.
func (a *Actor) DigestDelivered() {
	a.Helper()
	res := a.GetDigest(eventlog.GetDigestParams{}).OK()
	if err := a.Engine.Log.DigestDelivered(a.Context(), a.By, res.RoomID, res.Cursor); err != nil {
		a.failStory("moving the mark of %s: %v", a.Name, err)
	}
}

// FollowEvents is the operation of that name. It returns when ctx ends or deliver fails.
func (a *Actor) FollowEvents(ctx context.Context, p eventlog.WaitForEventsParams, deliver func(eventlog.EventsResult) error) error {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	_, err := a.Engine.Log.FollowEvents(ctx, p, deliver)
	return err
}
