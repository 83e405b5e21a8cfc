package engine

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/talk"
)

// MessagesParams names messages of a room.
type MessagesParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	MessageIDs []int64 `json:"message_ids"`
}

// ReadMessageParams names messages to mark as read.
type ReadMessageParams struct {
	MessagesParams
	All bool `json:"all,omitempty"` // all unread messages of the caller, instead of message_ids
}

// MessagesResult says what state the messages are in at the caller.
type MessagesResult struct {
	RoomID   stick.RoomID    `json:"room_id"`
	AgentID  stick.AgentID   `json:"agent_id"`
	Messages []MessageStatus `json:"messages"`
	Count    *int            `json:"count,omitempty"` // with all: how many were marked, which messages then doesn't list
}

// MessageStatus is the state of a message at one recipient.
type MessageStatus struct {
	MessageID int64              `json:"message_id"`
	State     stick.ReceiptState `json:"state"`
	ReadAt    stick.Time         `json:"read_at"`
	AckedAt   stick.Time         `json:"acked_at"`
	Already   bool               `json:"already,omitempty"` // nothing changed
}

// ReadMessage records that the caller opened messages, which is no acknowledgement. It fails with
// [stick.CodeUnknownMember], [stick.CodeNotFound] and [stick.CodeReadForbidden], and then records none of
// them. With All it records many in several transactions.
func (e *Engine) ReadMessage(ctx context.Context, p ReadMessageParams) (MessagesResult, error) {
	if p.All && len(p.MessageIDs) > 0 {
		return MessagesResult{}, stick.Errorf(stick.CodeUsage, "name messages or use all, not both").
			With("field", "all")
	}

	if !p.All {
		return e.updateReceipts(ctx, p.MessagesParams, stick.CodeReadForbidden, "read", readRule)
	}

	var res MessagesResult
	count := 0

	// Many messages take several transactions, so that none of these lasts long.
	for more := true; more; {
		var n int
		err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) (err error) {
			o.Settle()
			if err := o.RequireMember(); err != nil {
				return err
			}

			res = MessagesResult{RoomID: o.Room.ID, AgentID: o.Me.Agent, Messages: []MessageStatus{}, Count: &count}
			n, more, err = o.markOldestRead()
			return err
		}, nil)
		if err != nil {
			return res, err
		}

		count += n
	}

	return res, nil
}

func readRule(o *op, sent stick.Event, c stick.Receipt) (stick.Receipt, []stick.Event, error) {
	c, events := talk.Read(o.Room, o.Me.Agent, sent, c, o.Tx.Now())
	return c, events, nil
}

// markOldestRead marks the caller's oldest unread messages as read, as many as one transaction should change.
// It returns how many, and whether there are more.
func (o *op) markOldestRead() (n int, more bool, err error) {
	q := store.InboxQuery{
		Room: o.Room.ID, Agent: o.Me.Agent, Open: true, States: []stick.ReceiptState{stick.Unread}, Limit: core.MaxRows,
	}
	entries, more, err := o.Tx.Inbox(q)
	if err != nil {
		return 0, false, err
	}

	for _, i := range entries {
		if _, err := o.putReceipt(i.Event, i.Receipt, readRule); err != nil {
			return 0, false, err
		}
	}

	return len(entries), more, nil
}

// putReceipt applies rule to one receipt of the caller, and records the outcome.
func (o *op) putReceipt(sent stick.Event, c stick.Receipt, rule receiptRule) (stick.Receipt, error) {
	after, events, err := rule(o, sent, c)
	if err != nil {
		return c, err
	}

	// A rule that changes nothing writes nothing.
	if after != c {
		if err := o.Tx.PutReceipt(o.Room.ID, after); err != nil {
			return c, err
		}
	}

	o.Apply(o.Room, events)
	return after, nil
}

// receiptRule says what becomes of the receipt of a message, and which events tell of it.
type receiptRule func(o *op, sent stick.Event, c stick.Receipt) (stick.Receipt, []stick.Event, error)

// AckMessage records that the caller accepted messages; an event tells their senders. It fails with
// [stick.CodeUnknownMember], [stick.CodeNotFound] and [stick.CodeAckForbidden], and then records none of
// them.
func (e *Engine) AckMessage(ctx context.Context, p MessagesParams) (MessagesResult, error) {
	return e.updateReceipts(ctx, p, stick.CodeAckForbidden, "acknowledge", func(
		o *op, sent stick.Event, c stick.Receipt,
	) (stick.Receipt, []stick.Event, error) {
		if c.State() != stick.Acked {
			if err := o.requireOtherSender(sent); err != nil {
				return c, nil, err
			}
		}

		return talk.Ack(o.Room, o.Me.Agent, sent, c, o.Tx.Now())
	})
}

// requireOtherSender refuses the acknowledgement of a message that the caller has sent under another name.
func (o *op) requireOtherSender(sent stick.Event) error {
	me, err := o.Me.Actor(o.Tx)
	if err != nil {
		return err
	}

	sender, err := core.ActorOf(o.Tx, sent.From)
	if err != nil {
		return err
	}

	return talk.MayAck(me, sender, sent)
}

// updateReceipts applies rule to the caller's receipts for all the messages, or to none.
func (e *Engine) updateReceipts(
	ctx context.Context, p MessagesParams, forbidden stick.Code, verb stick.Words, rule receiptRule,
) (MessagesResult, error) {
	var res MessagesResult
	if len(p.MessageIDs) == 0 {
		return res, stick.Errorf(stick.CodeUsage, "no message given").With("field", "message_ids").
			Hintf("see yours: %s", stick.Cmd("tt inbox"))
	}

	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		o.Settle()
		if err := o.RequireMember(); err != nil {
			return err
		}

		res = MessagesResult{RoomID: o.Room.ID, AgentID: o.Me.Agent, Messages: []MessageStatus{}}
		for _, id := range p.MessageIDs {
			sent, c, err := o.loadReceipt(id, forbidden, verb)
			if err != nil {
				return err
			}
			after, err := o.putReceipt(sent, c, rule)
			if err != nil {
				return err
			}
			status := MessageStatus{id, after.State(), after.ReadAt, after.AckedAt, after == c}
			res.Messages = append(res.Messages, status)
		}

		return nil
	}, nil)
	return res, err
}

// loadReceipt loads a message of the caller's inbox with its receipt. It fails with [stick.CodeNotFound], or
// with forbidden if the message isn't for the caller.
func (o *op) loadReceipt(id int64, forbidden stick.Code, verb stick.Words) (stick.Event, stick.Receipt, error) {
	sent, err := o.Tx.Event(o.Room.ID, id)
	if err != nil {
		return stick.Event{}, stick.Receipt{}, err
	}
	if sent == nil {
		return stick.Event{}, stick.Receipt{}, errNoMessage(id)
	}

	c, ok, err := o.Tx.Receipt(o.Room.ID, o.Me.Agent, id)
	switch {
	case err != nil:
	case ok && c.Owes != stick.OwesNothing:
		return *sent, c, nil
	case sent.Message() == nil:
		err = errNoMessage(id)
	case sent.From == o.Me.Agent:
		err = stick.Errorf(forbidden, "message %d is from you: only its recipients can %s it", id, verb).
			With("message_id", id).
			Hintf("see who has read it: %s", stick.Cmd("tt msg show <message_id>", id))
	default:
		err = stick.Errorf(forbidden, "message %d isn't for you: only its recipients can %s it", id, verb).
			With("message_id", id).
			Hintf("see yours: %s", stick.Cmd("tt inbox"))
	}

	return *sent, c, err
}

// ViewMessage returns the message of an event. Another event becomes a message whose body is its sentence.
func ViewMessage(e stick.Event) MessageView {
	v := MessageView{MessageID: e.Seq, EventID: e.ID, From: e.From, TaskID: e.Task, CreatedAt: e.CreatedAt}

	if m := e.Message(); m != nil {
		v.Message = *m
		return v
	}

	v.Event, v.Body = e.Type, string(e.Say())
	return v
}

// MessageView is a message, or another event that its addressee should read.
type MessageView struct {
	MessageID int64         `json:"message_id"`
	EventID   string        `json:"event_id"`
	From      stick.AgentID `json:"from_agent_id"`
	CreatedAt stick.Time    `json:"created_at"`
	TaskID    string        `json:"task_id,omitempty"`
	stick.Message
	Event stick.EventType `json:"event_type,omitempty"` // of an event that is no message; Body has its sentence
}

// GetInboxParams asks for messages of the caller.
type GetInboxParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	State  string        `json:"state,omitempty"` // unread, read, acked, all; empty for those still open
	Sent   bool          `json:"sent,omitempty"`  // messages from the caller instead, at their recipients
	From   stick.AgentID `json:"from,omitempty"`
	TaskID string        `json:"task_id,omitempty"`
	Thread string        `json:"thread,omitempty"`
	After  int64         `json:"after,omitempty"`
	Limit  int           `json:"limit,omitempty"` // 0 for 50, at most 500
	Owed   bool          `json:"-"`               // only those that wait for an ack, however long they are
}

// GetInboxResult lists messages, the oldest first.
type GetInboxResult struct {
	RoomID   stick.RoomID   `json:"room_id"`
	AgentID  stick.AgentID  `json:"agent_id"`
	Unread   int            `json:"unread"`  // of the whole inbox
	Unacked  int            `json:"unacked"` // those that wait for an acknowledgement, read or not
	Messages []InboxMessage `json:"messages"`
	More     bool           `json:"more,omitempty"`   // there are more: newer ones after a cursor, else older ones
	Cursor   int64          `json:"cursor,omitempty"` // of the last message: pass it as after to go on
}

// InboxMessage is a message, and its state at one recipient.
type InboxMessage struct {
	MessageView
	Recipient stick.AgentID      `json:"agent_id"`
	State     stick.ReceiptState `json:"state"`
	ShownAt   stick.Time         `json:"shown_at"`
	ReadAt    stick.Time         `json:"read_at"`
	AckedAt   stick.Time         `json:"acked_at"`
	Overdue   bool               `json:"overdue,omitempty"`
}

// inboxStates are the values of [GetInboxParams.State].
var inboxStates = map[string][]stick.ReceiptState{
	"": nil, "all": nil, "unread": {stick.Unread}, "read": {stick.Read}, "acked": {stick.Acked},
}

// GetInbox lists the caller's messages: the newest ones, or those after a number, as many as fit into one
// answer. It writes nothing: listing a message isn't reading it. It fails with [stick.CodeNoRoom],
// [stick.CodeUsage], [stick.CodeUnknownMember] and [stick.CodeAmbiguousRecipient].
func (e *Engine) GetInbox(ctx context.Context, p GetInboxParams) (GetInboxResult, error) {
	var res GetInboxResult
	states, known := inboxStates[p.State]
	if !known {
		return res, stick.Errorf(stick.CodeUsage, "a message is unread, read or acked, not %q", stick.Clip(p.State, 40)).
			With("field", "state").
			Hintf("the states are unread, read, acked and all; " +
				"the default: unread ones, and those you haven't accepted yet")
	}

	limit, err := core.CheckLimit(p.Limit)
	if err != nil {
		return res, err
	}

	err = e.core.Read(ctx, p.Where, p.Caller, func(
		tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity,
	) (err error) {
		q := store.InboxQuery{
			Room: r.ID, Agent: me.Agent, States: states, Open: p.State == "", Owed: p.Owed,
			Task: p.TaskID, Thread: p.Thread, After: p.After, Limit: limit,
		}

		if p.From != "" {
			if q.From, err = r.NamedEver(p.From, probes.Probed, tx.Now()); err != nil {
				return stick.AsError(err).With("field", "from")
			}
		}

		// Of messages that the caller sent, From names the recipient.
		if p.Sent {
			q.Agent, q.From = q.From, me.Agent
		}

		entries, more, err := tx.Inbox(q)
		if err != nil {
			return err
		}

		res = GetInboxResult{RoomID: r.ID, AgentID: me.Agent, Messages: []InboxMessage{}, More: more}
		for _, i := range entries {
			res.Messages = append(res.Messages, InboxMessage{
				MessageView: ViewMessage(i.Event), Recipient: i.Agent, State: talk.Receipt(r, i.Receipt, probes.Probed),
				ShownAt: i.ShownAt, ReadAt: i.ReadAt, AckedAt: i.AckedAt,
				Overdue: isOverdue(i.Event, i.Receipt, tx.Now()),
			})
		}

		if !p.Owed {
			res.clipToAnswer(p.After == 0)
		}
		res.Unread, res.Unacked, err = tx.CountOpen(r.ID, me.Agent)
		return err
	})
	return res, err
}

// clipToAnswer leaves out what is too much for one answer: the oldest messages, or the newest ones.
func (res *GetInboxResult) clipToAnswer(newest bool) {
	// Of the newest messages the oldest are left out; of those after a number, the newest.
	all := res.Messages
	if newest {
		slices.Reverse(all)
	}

	n := countFitting(all, maxAnswer)
	if n < len(all) {
		all, res.More = all[:n], true
	}

	if newest {
		slices.Reverse(all)
	}

	res.Messages = all
	if len(all) > 0 {
		res.Cursor = all[len(all)-1].MessageID
	}
}

// GetMessageParams asks for one message.
type GetMessageParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	MessageID int64 `json:"message_id"`
}

// GetMessageResult is a message, and its state at each recipient.
type GetMessageResult struct {
	RoomID stick.RoomID `json:"room_id"`
	MessageView
	Receipts []ReceiptView `json:"receipts"`
	Me       stick.AgentID `json:"-"` // who asks
}

// ReceiptView is the state of a message at one recipient.
type ReceiptView struct {
	AgentID stick.AgentID      `json:"agent_id"`
	State   stick.ReceiptState `json:"state"`
	ShownAt stick.Time         `json:"shown_at"` // when its body came into the recipient's context
	ReadAt  stick.Time         `json:"read_at"`
	AckedAt stick.Time         `json:"acked_at"`
	Overdue bool               `json:"overdue,omitempty"`
}

// GetMessage returns a message and its receipts. Every member may see every message. It writes nothing, not
// even that the message was read. It fails with [stick.CodeNoRoom] and [stick.CodeNotFound].
func (e *Engine) GetMessage(ctx context.Context, p GetMessageParams) (GetMessageResult, error) {
	var res GetMessageResult
	err := e.core.Read(ctx, p.Where, p.Caller, func(
		tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity,
	) error {
		sent, err := tx.Event(r.ID, p.MessageID)
		if err != nil {
			return err
		}

		var cs []stick.Receipt
		if sent != nil {
			if cs, err = tx.Receipts(p.MessageID); err != nil {
				return err
			}
			cs = slices.DeleteFunc(cs, func(c stick.Receipt) bool { return c.Owes == stick.OwesNothing })
		}

		// Another event counts as a message if somebody has to answer it.
		if sent == nil || sent.Message() == nil && len(cs) == 0 {
			return errNoMessage(p.MessageID)
		}

		res = GetMessageResult{RoomID: r.ID, MessageView: ViewMessage(*sent), Receipts: []ReceiptView{}, Me: me.Agent}
		for _, c := range cs {
			res.Receipts = append(res.Receipts, ReceiptView{
				c.Agent, talk.Receipt(r, c, probes.Probed), c.ShownAt, c.ReadAt, c.AckedAt, isOverdue(*sent, c, tx.Now()),
			})
		}

		return nil
	})
	return res, err
}

// isOverdue reports whether a message with the hint interrupt wasn't seen in time by a recipient.
func isOverdue(sent stick.Event, c stick.Receipt, now stick.Time) bool {
	m := sent.Message()

	// The earlier of both times counts.
	seen := c.ShownAt
	if seen.IsZero() || !c.ReadAt.IsZero() && c.ReadAt < seen {
		seen = c.ReadAt
	}

	return m != nil && m.Overdue(sent.CreatedAt, seen, now)
}
