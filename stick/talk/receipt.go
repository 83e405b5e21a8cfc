package talk

import (
	"talkingstick/stick"
)

// Receipt returns the state of a message at a recipient in this room. It is undeliverable while the
// recipient owes something and has left or is gone.
func Receipt(r stick.Room, c stick.Receipt, s *stick.Probed) stick.ReceiptState {
	if c.Open() && (!r.IsJoined(c.Agent) || r.IsGone(c.Agent, s)) {
		return stick.Undeliverable
	}
	return c.State()
}

// Read records that by opened a message or another entry of its inbox. A second time changes
// nothing.
func Read(
	r stick.Room, by stick.AgentID, sent stick.Event, c stick.Receipt, now stick.Time,
) (stick.Receipt, []stick.Event) {
	after := c.Read(now)
	if after == c {
		return c, nil
	}
	return after, []stick.Event{r.NewEvent(stick.EventMessageRead, by, sent.From).WithPayload(stick.MessageReadPayload{
		MessageID: c.Event,
	})}
}

// MayAck refuses that by acknowledges a message which it has sent itself, under another name. It fails with
// [stick.CodeAckForbidden].
func MayAck(by, sender stick.Actor, sent stick.Event) error {
	if sent.Message() == nil || !by.Is(sender) {
		return nil
	}
	return stick.Errorf(stick.CodeAckForbidden, "message %d, which you sent as %s, needs an acknowledgement from somebody else",
		sent.Seq, sent.From).With("message_id", sent.Seq).
		Hintf("see who has read it: %s", stick.Cmd("tt msg show <message_id>", sent.Seq))
}

// Ack records that by acknowledged a message, and its sender learns of it. It fails with
// [stick.CodeAckForbidden] for a message that was withdrawn.
func Ack(
	r stick.Room, by stick.AgentID, sent stick.Event, c stick.Receipt, now stick.Time,
) (stick.Receipt, []stick.Event, error) {
	after, err := c.Ack(now)
	if err != nil || after == c {
		return c, nil, err
	}
	return after, []stick.Event{r.NewEvent(stick.EventMessageAcked, by, sent.From).
		WithPayload(stick.MessageAckedPayload{
			MessageID: c.Event,
		})}, nil
}

// Withdraw withdraws a message of by from every recipient that hasn't acknowledged it, and they learn
// of it.
func Withdraw(r stick.Room, by stick.AgentID, cs []stick.Receipt) ([]stick.Receipt, []stick.Event) {
	var changed []stick.Receipt
	var told []stick.Addressee
	for _, c := range cs {
		if after := c.Withdraw(); after != c {
			changed = append(changed, after)
			told = append(told, stick.Addressee{Agent: c.Agent})
		}
	}

	if len(changed) == 0 {
		return nil, nil
	}

	e := r.NewEvent(stick.EventMessageWithdrawn, by, "").
		WithPayload(stick.MessageWithdrawnPayload{MessageID: changed[0].Event})
	e.For = told
	return changed, []stick.Event{e}
}
