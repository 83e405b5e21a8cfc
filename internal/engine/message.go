package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
	"talkingstick/stick/presence"
	"talkingstick/stick/talk"
)

// SendMessageParams asks to send a message.
type SendMessageParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	To          []stick.AgentID `json:"to"` // members by full or short name, or room, or system
	Body        string          `json:"body,omitempty"`
	Category    string          `json:"category,omitempty"` // INFO if empty
	Subject     string          `json:"subject,omitempty"`
	TaskID      string          `json:"task_id,omitempty"`
	RequiresAck *bool           `json:"requires_ack,omitempty"`  // nil for the default of the category
	Thread      string          `json:"thread,omitempty"`        // empty for that of ReplyTo, or of the task
	ReplyTo     int64           `json:"reply_to,omitempty"`      // a message
	Hint        string          `json:"delivery_hint,omitempty"` // interrupt: recipients should see it within a minute
	stick.Contract
}

// SendMessageResult says who gets a message, and how it reaches them.
type SendMessageResult struct {
	RoomID      stick.RoomID    `json:"room_id"`
	MessageID   int64           `json:"message_id"` // the number of its event
	EventID     string          `json:"event_id"`
	AgentID     stick.AgentID   `json:"agent_id"`
	Category    stick.Category  `json:"category"`
	RequiresAck bool            `json:"requires_ack"`
	Thread      string          `json:"thread,omitempty"`
	Recipients  []Recipient     `json:"recipients"`
	LeftOut     []stick.AgentID `json:"left_out,omitempty"` // members that are gone
	Contract    *Missing        `json:"contract,omitempty"` // fields that the message should also have
	Note        stick.Words     `json:"note,omitempty"`
	Joined      bool            `json:"joined,omitempty"`   // by this call
	Reopened    bool            `json:"reopened,omitempty"` // this call opened a closed room
}

// Recipient is a member that gets a message.
type Recipient struct {
	AgentID  stick.AgentID     `json:"agent_id"`
	Delivery presence.Delivery `json:"delivery"`
	WakesAt  stick.Time        `json:"wakes_at,omitzero"` // when a delayed message wakes it
}

// reachesSoon reports whether the recipient will see the message within a minute on its own.
func (r Recipient) reachesSoon() bool {
	return r.Delivery == presence.DeliveryListening || r.Delivery == presence.DeliveryNextTool
}

// Missing lists the fields that a message of its category should have and hasn't.
type Missing struct {
	Missing []string `json:"missing"`
}

// SendMessage sends a message to members of a room. A caller that isn't a member joins, and the room is made
// if there is none; a person's message opens a closed one. A message never moves the stick. It fails with
// [stick.CodeUsage], [stick.CodeMessageTooLarge], [stick.CodeContractIncomplete], [stick.CodeUnknownMember],
// [stick.CodeAmbiguousRecipient], [stick.CodeNoRecipient], [stick.CodeNotFound], [stick.CodeRoomClosed] and
// [stick.CodeKicked].
func (e *Engine) SendMessage(ctx context.Context, p SendMessageParams) (SendMessageResult, error) {
	var res SendMessageResult
	category, err := talk.ParseCategory(p.Category)
	if err != nil {
		return res, err
	}

	m := stick.Message{
		To: p.To, Category: category, Subject: p.Subject, Body: p.Body, RequiresAck: category.Asks(),
		Thread: p.Thread, ReplyTo: p.ReplyTo, Hint: p.Hint, Contract: p.Contract,
	}

	m.Urgency = strings.ToLower(strings.TrimSpace(m.Urgency))
	if p.RequiresAck != nil {
		m.RequiresAck = *p.RequiresAck
	}
	if err := talk.Check(m); err != nil {
		// A message with a fault makes no room.
		return res, err
	}
	if err := stick.CheckTask(p.TaskID); err != nil {
		return res, err
	}

	in := e.core.Inboxes()
	send := func() error {
		return e.writeRoom(ctx, p.Where, p.Caller, core.JoinsOrReopens, func(o *op) error {
			o.Settle()
			q := talk.Sending{By: o.Me.Agent, Task: p.TaskID, Message: m}
			if err := o.completeAddress(&q); err != nil {
				return err
			}

			r, events, err := talk.Send(o.Room, q, o.Probes.Probed, o.Tx.Now())
			if err != nil {
				return err
			}

			o.Apply(r, events)
			res = SendMessageResult{
				RoomID: r.ID, AgentID: o.Me.Agent, Category: m.Category, RequiresAck: m.RequiresAck,
				Thread:     q.Message.Thread,
				Recipients: []Recipient{}, LeftOut: events[0].Message().LeftOut, Joined: o.Joined,
				Reopened: o.Before.Closed, Note: o.Me.Note,
			}

			for _, a := range events[0].For {
				how, wake, err := o.ReachOf(a.Agent, events[0], in)
				if err != nil {
					return err
				}
				to := Recipient{AgentID: a.Agent, Delivery: how}
				if how == presence.DeliveryDelayed {
					to.WakesAt = wake.At()
				}
				res.Recipients = append(res.Recipients, to)
			}
			res.addNotes(m, p.Caller)
			return nil
		}, func(o *op) error {
			sent := o.LastEvent(stick.EventMessageSent)
			res.MessageID, res.EventID = sent.Seq, sent.ID
			return nil
		})
	}

	err = in.RetryUnseen(ctx, send)
	return res, err
}

// addNotes adds what the sender of a message should know of it besides its recipients.
func (res *SendMessageResult) addNotes(m stick.Message, by core.Caller) {
	if missing := m.Missing(m.Category); len(missing) > 0 {
		res.Contract = &Missing{missing}
	}

	if m.Hint == stick.Interrupt && !slices.ContainsFunc(res.Recipients, Recipient.reachesSoon) {
		res.Note = core.JoinNotes(res.Note,
			"no recipient will see it within a minute, so it interrupts nobody: it goes out as an ordinary message")
	}
	if m.Category == stick.Handover {
		pass := stick.Hintf("a message never moves the stick; to pass it: %s",
			stick.Cmd("tt pass <agent> --status … --next-action …"))
		res.Note = core.JoinNotes(res.Note, pass.As(by.AssumedByFlag()).Words())
	}
}

// completeAddress completes a message: the full names of its recipients, its thread, and the author of the
// message that it replies to.
func (o *op) completeAddress(q *talk.Sending) error {
	m := &q.Message
	to := make([]stick.AgentID, len(m.To))
	for i, name := range m.To {
		to[i] = name
		if name == stick.ToRoom || name == stick.ToBroadcast || name == stick.ToSystem || presence.NamesRole(name) {
			continue
		}

		var err error
		if to[i], err = o.resolveRecipient(name); err != nil {
			if e, ok := errors.AsType[*stick.Error](err); ok {
				e.With("field", "to")
			}
			return err
		}
	}

	m.To = to

	// A reply belongs to the thread and the task of its message, unless it names others.
	if m.ReplyTo != 0 {
		parent, err := o.loadMessage(m.ReplyTo)
		if err != nil {
			return err
		}

		q.Author = parent.From
		if m.Thread == "" {
			m.Thread = parent.Message().Thread
		}
		if q.Task == "" {
			q.Task = parent.Task
		}
		if m.Thread == "" {
			m.Thread = fmt.Sprintf("message:%d", m.ReplyTo)
		}
	}

	if m.Thread == "" && q.Task != "" {
		if m.Thread = "bead:" + q.Task; len(m.Thread) > stick.MaxLabel {
			// A task's name may already be as long as a thread's may be.
			m.Thread = q.Task
		}
	}

	return nil
}

// loadMessage loads a message of the room. It fails with [stick.CodeNotFound].
func (o *op) loadMessage(id int64) (stick.Event, error) {
	e, err := o.Tx.Event(o.Room.ID, id)
	if err == nil && (e == nil || e.Message() == nil) {
		err = errNoMessage(id)
	}
	if err != nil {
		return stick.Event{}, err
	}
	return *e, nil
}

func errNoMessage(id int64) *stick.Error {
	return stick.Errorf(stick.CodeNotFound, "there is no message %d in this room", id).With("message_id", id).
		Hintf("see yours: %s", stick.Cmd("tt inbox"))
}

// WithdrawMessageParams asks to withdraw a message.
type WithdrawMessageParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	MessageID int64 `json:"message_id"`
}

// WithdrawMessageResult says from whom a message was withdrawn.
type WithdrawMessageResult struct {
	RoomID    stick.RoomID    `json:"room_id"`
	MessageID int64           `json:"message_id"`
	Withdrawn []stick.AgentID `json:"withdrawn_from"`
	Already   bool            `json:"already,omitempty"`
}

// WithdrawMessage withdraws a message of the caller from all recipients that haven't accepted it. It fails
// with [stick.CodeUnknownMember], [stick.CodeNotFound] and [stick.CodeWithdrawForbidden].
func (e *Engine) WithdrawMessage(ctx context.Context, p WithdrawMessageParams) (WithdrawMessageResult, error) {
	var res WithdrawMessageResult
	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		o.Settle()
		if err := o.RequireMember(); err != nil {
			return err
		}

		res = WithdrawMessageResult{RoomID: o.Room.ID, MessageID: p.MessageID, Withdrawn: []stick.AgentID{}}
		sent, err := o.loadMessage(p.MessageID)
		if err != nil {
			return err
		}

		if sent.From != o.Me.Agent {
			return stick.Errorf(stick.CodeWithdrawForbidden, "message %d is from %s: only its sender can withdraw it",
				p.MessageID, sent.From).
				With("message_id", p.MessageID).Hintf("tell %s what is wrong with it", sent.From)
		}

		cs, err := o.Tx.Receipts(p.MessageID)
		if err != nil {
			return err
		}

		changed, events := talk.Withdraw(o.Room, o.Me.Agent, cs)
		if len(changed) == 0 {
			res.Already = slices.ContainsFunc(cs, func(c stick.Receipt) bool { return c.Withdrawn })
			switch {
			case len(cs) == 0:
				return stick.Errorf(stick.CodeWithdrawForbidden,
					"message %d had no recipients: it is only in the log, which keeps it", p.MessageID).
					With("message_id", p.MessageID)
			case !res.Already:
				return stick.Errorf(stick.CodeWithdrawForbidden, "message %d has already been accepted", p.MessageID).
					With("message_id", p.MessageID).
					Hintf("send another message that says what has changed: --reply-to %d", p.MessageID)
			}
		}

		for _, c := range changed {
			if err := o.Tx.PutReceipt(o.Room.ID, c); err != nil {
				return err
			}
			res.Withdrawn = append(res.Withdrawn, c.Agent)
		}

		o.Apply(o.Room, events)
		return nil
	}, nil)
	return res, err
}
