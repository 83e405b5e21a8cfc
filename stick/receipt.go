package stick

// Owes says what an event asks of somebody it is for.
type Owes int

// What an event asks for.
const (
	OwesNothing Owes = iota // it is for its addressee, and that is all
	OwesReading             // it stays in the inbox until it is read
	OwesAck                 // it stays in the inbox until it is acknowledged
)

// Addressee is somebody an event is for.
type Addressee struct {
	Agent AgentID
	Owes  Owes
}

// Receipt is what became of an event at one of those it is for. What is read or acknowledged stays
// so.
type Receipt struct {
	Event     int64
	Agent     AgentID
	Owes      Owes
	Thread    string // of a message
	ReadAt    Time   // the recipient opened it
	AckedAt   Time   // the recipient accepted it
	Withdrawn bool   // the sender took it back before it was acknowledged

	// Evidence.
	ShownAt Time // its body was put into the recipient's context, which isn't reading
}

// ReceiptState is how a message stands at one of its recipients.
type ReceiptState string

// The states of a receipt. The first three follow each other and never go back; the other two end
// what is owed.
const (
	Unread        ReceiptState = "unread"
	Read          ReceiptState = "read"
	Acked         ReceiptState = "acked"
	Undeliverable ReceiptState = "undeliverable" // the recipient left or is gone
	Withdrawn     ReceiptState = "withdrawn"     // the sender took it back
)

// State is how the receipt stands, the recipient being there.
func (c Receipt) State() ReceiptState {
	switch {
	case !c.AckedAt.IsZero():
		return Acked
	case c.Withdrawn:
		return Withdrawn
	case !c.ReadAt.IsZero():
		return Read
	}
	return Unread
}

// Open reports whether the recipient still owes something.
func (c Receipt) Open() bool {
	switch c.State() {
	case Unread:
		return c.Owes != OwesNothing
	case Read:
		return c.Owes == OwesAck
	}
	return false
}

// Read is the receipt after its recipient opened the message. Reading never acknowledges.
func (c Receipt) Read(now Time) Receipt {
	if c.State() == Unread {
		c.ReadAt = now
	}
	return c
}

// Ack is the receipt after its recipient accepted the message; what wasn't read is read then. A
// second time keeps the first. It fails with [CodeAckForbidden] for one that was withdrawn.
func (c Receipt) Ack(now Time) (Receipt, error) {
	switch c.State() {
	case Acked:
		return c, nil
	case Withdrawn:
		return c, Errorf(CodeAckForbidden, "message %d was withdrawn by its sender", c.Event).
			With("message_id", c.Event).Hintf("nothing is owed for it any more")
	}
	c = c.Read(now)
	c.AckedAt = now
	return c, nil
}

// Withdraw is the receipt after its sender took the message back. What was acknowledged stays so.
func (c Receipt) Withdraw() Receipt {
	if c.State() != Acked {
		c.Withdrawn = true
	}
	return c
}

// Receipt is how a message stands at a recipient of this room. What is owed by a recipient that
// left or is gone is undeliverable, for as long as it is away.
func (r Room) Receipt(c Receipt, s *Probed) ReceiptState {
	if c.Open() && (!r.joined(c.Agent) || r.gone(c.Agent, s)) {
		return Undeliverable
	}
	return c.State()
}

// ReadMessage notes that by opened a message or another entry of its inbox. Reading again changes
// nothing.
func (r Room) ReadMessage(by AgentID, sent Event, c Receipt, now Time) (Receipt, []Event) {
	after := c.Read(now)
	if after == c {
		return c, nil
	}
	return after, []Event{r.event(EventMessageRead, by, sent.From).with(MessageReadPayload{MessageID: c.Event})}
}

// AckMessage notes that by accepted a message, and tells its sender. It fails with
// [CodeAckForbidden] for one that was withdrawn.
func (r Room) AckMessage(by AgentID, sent Event, c Receipt, now Time) (Receipt, []Event, error) {
	after, err := c.Ack(now)
	if err != nil || after == c {
		return c, nil, err
	}
	return after, []Event{r.event(EventMessageAcked, by, sent.From).with(MessageAckedPayload{MessageID: c.Event})}, nil
}

// WithdrawMessage takes a message of by back from everybody who hasn't accepted it, and tells them.
func (r Room) WithdrawMessage(by AgentID, cs []Receipt) ([]Receipt, []Event) {
	var changed []Receipt
	var told []Addressee
	for _, c := range cs {
		if after := c.Withdraw(); after != c {
			changed = append(changed, after)
			told = append(told, Addressee{Agent: c.Agent})
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	e := r.event(EventMessageWithdrawn, by, "").with(MessageWithdrawnPayload{MessageID: changed[0].Event})
	e.For = told
	return changed, []Event{e}
}
