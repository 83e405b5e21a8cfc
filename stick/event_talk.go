package stick

import (
	"errors"
)

// MessageSentPayload is the payload of [EventMessageSent]: the message.
type MessageSentPayload struct {
	Caller
	*Message
}

// MessageReadPayload is the payload of [EventMessageRead].
type MessageReadPayload struct {
	Caller
	MessageID int64 `json:"message_id,omitempty"` // the event that holds the message
}

// MessageAckedPayload is the payload of [EventMessageAcked].
type MessageAckedPayload struct {
	Caller
	MessageID int64 `json:"message_id,omitempty"` // the event that holds the message
}

// MessageWithdrawnPayload is the payload of [EventMessageWithdrawn].
type MessageWithdrawnPayload struct {
	Caller
	MessageID int64 `json:"message_id,omitempty"` // the event that holds the message
}

// NoteAddedPayload is the payload of [EventNoteAdded].
type NoteAddedPayload struct {
	Caller
	Note string `json:"note,omitempty"`      // its text
	Turn int64  `json:"note_turn,omitempty"` // the turn that it is about, absent if it is about the room
}

// NoteResolvedPayload is the payload of [EventNoteResolved].
type NoteResolvedPayload struct {
	Caller
	NoteID int64 `json:"note_id,omitempty"` // the event that added the note
}

// message makes [Event.Message] find the message of every payload that embeds one.
func (m *Message) message() *Message { return m }

// talkEvents are the events of messages and notes.
var talkEvents = []EventInfo{
	eventRow(eventKind[MessageSentPayload]{
		Type: EventMessageSent, Meaning: "a message was sent; its payload holds it", For: forNamed,
		Say: func(e Event, p MessageSentPayload) Words {
			if p.Message == nil { // damaged
				return AgentName(e.From) + " sent a message"
			}
			return p.describeFrom(AgentName(e.From)) + aboutTask(e) + p.Gist(160)
		},
		Replay: func(c *Record, e *Event, p MessageSentPayload) error {
			if p.Message == nil {
				return errors.New("it lacks its message")
			}

			c.Messages++

			// The log doesn't hold receipts: they follow from the members at that time.
			c.senders[e.Seq] = e.From
			e.For = c.listAddressees(e.From, *p.Message)
			return nil
		},
	}),
	eventRow(eventKind[MessageReadPayload]{
		Type: EventMessageRead, Meaning: "a recipient opened a message", For: forNamed,
		Say: func(e Event, p MessageReadPayload) Words {
			return Wordsf("Seen by %s: message %d", AgentName(e.From), p.MessageID)
		},
		Replay: func(c *Record, e *Event, p MessageReadPayload) error {
			return c.changeReceipt(p.MessageID, e.From,
				func(r Receipt) (Receipt, error) { return r.Read(e.CreatedAt), nil })
		},
	}),
	eventRow(eventKind[MessageAckedPayload]{
		Type: EventMessageAcked, Meaning: "a recipient accepted a message", For: forRecipient,
		Say: func(e Event, p MessageAckedPayload) Words {
			return Wordsf("Accepted by %s: message %d", AgentName(e.From), p.MessageID)
		},
		Replay: func(c *Record, e *Event, p MessageAckedPayload) error {
			return c.changeReceipt(p.MessageID, e.From,
				func(r Receipt) (Receipt, error) { return r.Read(e.CreatedAt).Ack(e.CreatedAt) })
		},
	}),
	eventRow(eventKind[MessageWithdrawnPayload]{
		Type: EventMessageWithdrawn, Meaning: "the sender withdrew a message", For: forNamed,
		Say: func(e Event, p MessageWithdrawnPayload) Words {
			return Wordsf("%s withdrew message %d", AgentName(e.From), p.MessageID)
		},
		Replay: func(c *Record, e *Event, p MessageWithdrawnPayload) error {
			// Who has acknowledged the message keeps it; only the others learn that it is gone.
			for k, r := range c.Receipts {
				if after := r.Withdraw(); k.Event == p.MessageID && after != r {
					c.Receipts[k] = after
					e.For = append(e.For, Addressee{Agent: k.Agent})
				}
			}

			return nil
		},
	}),
	eventRow(eventKind[NoteAddedPayload]{
		Type: EventNoteAdded, Meaning: "a note was left; its payload holds it", For: forNamed,
		Say: func(e Event, p NoteAddedPayload) Words {
			return AgentName(e.From) + " left a note" + reasonSuffix(p.Note)
		},
		Replay: func(c *Record, e *Event, p NoteAddedPayload) error {
			c.Notes[e.Seq] = p.NoteFrom(*e)
			return nil
		},
	}),
	eventRow(eventKind[NoteResolvedPayload]{
		Type: EventNoteResolved, Meaning: "a note was resolved", For: forNamed,
		Say: func(e Event, p NoteResolvedPayload) Words {
			return Wordsf("%s resolved note %d", AgentName(e.From), p.NoteID)
		},
		Replay: func(c *Record, e *Event, p NoteResolvedPayload) error {
			n, ok := c.Notes[p.NoteID]
			if !ok {
				return errors.New("there is no such note")
			}

			n.ResolvedAt, n.ResolvedBy = e.CreatedAt, e.From
			c.Notes[p.NoteID] = n
			return nil
		},
	}),
}
