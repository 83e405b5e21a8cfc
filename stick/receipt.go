package stick

// Owes says what an event asks of an addressee.
type Owes int

// What an event asks for.
const (
	OwesNothing Owes = iota // nothing: the addressee only learns of it
	OwesReading             // it stays in the inbox until it is read
	OwesAck                 // it stays in the inbox until it is acknowledged
)

// Addressee is an agent that an event is for.
type Addressee struct {
	Agent AgentID
	Owes  Owes
}

// Receipt says what one addressee has done about an event. It never becomes unread or unacknowledged again.
type Receipt struct {
	Event     int64
	Agent     AgentID
	Owes      Owes
	Thread    string // of a message
	ReadAt    Time   // when the recipient opened it
	AckedAt   Time   // when the recipient acknowledged it
	Withdrawn bool   // the sender withdrew it before it was acknowledged

	// Evidence.
	ShownAt Time // when its body was put into the recipient's context, which doesn't count as reading
}

// ReceiptState is the state of a message at one recipient.
type ReceiptState string

// The states of a receipt. The first three follow each other and never go back. In the other two the
// recipient owes nothing.
const (
	Unread        ReceiptState = "unread"
	Read          ReceiptState = "read"
	Acked         ReceiptState = "acked"
	Undeliverable ReceiptState = "undeliverable" // the recipient left or is gone
	Withdrawn     ReceiptState = "withdrawn"     // the sender withdrew it
)

// State returns the state of the receipt, as if its recipient were present. See talk.Receipt.
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

// Open reports whether the recipient must still read or acknowledge the event.
func (c Receipt) Open() bool {
	switch c.State() {
	case Unread:
		return c.Owes != OwesNothing
	case Read:
		return c.Owes == OwesAck
	}
	return false
}

// Read returns the receipt after its recipient has opened the message. Reading doesn't acknowledge.
func (c Receipt) Read(now Time) Receipt {
	if c.State() == Unread {
		c.ReadAt = now
	}
	return c
}

// Ack returns the receipt after its recipient has acknowledged the message, which also counts as reading. A
// second time changes nothing. It fails with [CodeAckForbidden] for a message that was withdrawn.
func (c Receipt) Ack(now Time) (Receipt, error) {
	switch c.State() {
	case Acked:
		return c, nil
	case Withdrawn:
		return c, Errorf(CodeAckForbidden, "the sender has withdrawn message %d", c.Event).
			With("message_id", c.Event).Hintf("go on without it: there is nothing left to accept")
	}

	// Who accepts a message has read it.
	c = c.Read(now)
	c.AckedAt = now
	return c, nil
}

// Withdraw returns the receipt after the sender has withdrawn the message. One that was acknowledged stays
// acknowledged.
func (c Receipt) Withdraw() Receipt {
	if c.State() != Acked {
		c.Withdrawn = true
	}
	return c
}
