package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
	"talkingstick/stick/talk"
)

// delivery is an event and one of its addressees, as the test knows it without the store.
type delivery struct {
	stick.Event
	stick.Receipt
}

// post is a room with messages of every kind, and what their recipients and senders did with them.
type post struct {
	t          *testing.T
	db         *store.DB
	clock      *storetest.Clock
	room       stick.RoomID
	log        []stick.Event
	deliveries []*delivery // in the order of the log, and by name within an event
}

var postmen = []stick.AgentID{"claude:a", "codex:b", "gemini:c", "human:h"}

// newPost sends messages to one member, to several, to the room and to nobody, with and without an
// acknowledgement, in threads and for tasks. Meanwhile the stick goes round. Members see, read and
// acknowledge what they got, and senders withdraw some of it.
func newPost(t *testing.T, db *store.DB, clock *storetest.Clock) *post {
	t.Helper()
	p := &post{t: t, db: db, clock: clock, room: newRoom(t, db, "/work").ID}
	for _, a := range append(postmen, "codex:x") {
		p.log = append(p.log, join(t, db, p.room, a))
	}

	p.play(func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		r, events, err := r.Kick(stick.Kicking{By: "claude:a", Who: "codex:x", Force: true, Relayed: true},
			blind(), now)
		if err != nil {
			t.Fatal(err)
		}
		return r, events
	}, stick.OwesNothing, "", "codex:x")

	p.deliver(p.log[len(p.log)-1], stick.OwesReading, "", "human:h") // it was a person's word
	for i := range 36 {
		p.send(i)
		if i%6 == 0 {
			p.turn(postmen[i/6%3], postmen[(i/6+1)%3])
		}
	}

	for i, d := range slices.Clone(p.deliveries) {
		p.treat(i, d)
	}
	return p
}

// send sends message i. The recipients and contents of all messages go through all combinations.
func (p *post) send(i int) {
	p.t.Helper()
	from := postmen[i%3]
	others := slices.DeleteFunc(slices.Clone(postmen), func(a stick.AgentID) bool { return a == from })
	m := stick.Message{
		Body: fmt.Sprint("message ", i), RequiresAck: i/4%2 == 0, Thread: []string{"", "one", "two"}[i%3],
	}

	var got []stick.AgentID
	switch i % 4 {
	case 0:
		m.To, got = others[i%3:i%3+1], others[i%3:i%3+1]
	case 1:
		m.To, got = others[1:], others[1:]
	case 2:
		m.To, got = []stick.AgentID{stick.ToRoom}, others
	case 3:
		m.To = []stick.AgentID{stick.ToSystem}
	}

	owes := stick.OwesReading
	if m.RequiresAck {
		owes = stick.OwesAck
	}
	task := []string{"", "", "T1", "T2", "T1"}[i%5]
	p.play(func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		r, events, err := talk.Send(r, talk.Sending{By: from, Task: task, Message: m}, blind(), now)
		if err != nil {
			p.t.Fatal(err)
		}
		return r, events
	}, owes, m.Thread, got...)
}

// turn is a turn that one member passes to another.
func (p *post) turn(a, to stick.AgentID) {
	p.t.Helper()
	p.log = append(p.log, claim(p.t, p.db, p.room, a))
	e := pass(p.t, p.db, p.room, a, to)
	p.log = append(p.log, e)
	p.deliver(e, stick.OwesNothing, "", to)
	p.clock.Move(time.Second)
}

// treat does something with delivery i.
func (p *post) treat(i int, d *delivery) {
	p.t.Helper()
	switch what := i % 11; {
	case d.Owes == stick.OwesNothing:
		if what%2 == 0 {
			p.show(d)
		}

	case what == 1:
		p.show(d)
	case what == 2:
		p.read(d)
	case what == 3 && d.Owes == stick.OwesAck:
		p.ack(d)

	case what == 4 && d.Owes == stick.OwesAck:
		p.show(d)
		p.read(d)
		p.ack(d)

	case what == 5 && d.Type == stick.EventMessageSent:
		p.withdraw(d.Event)
	case what == 9 && d.Type == stick.EventMessageSent:
		p.read(d)
		p.withdraw(d.Event)
	}
}

func (p *post) show(d *delivery) {
	p.t.Helper()
	update(p.t, p.db, func(tx *store.Tx) error { return tx.MarkShown(p.room, d.Agent, d.Seq) })
	d.ShownAt = stick.At(p.clock.Now())
	p.clock.Move(time.Second)
}

func (p *post) read(d *delivery) {
	p.t.Helper()
	if d.Withdrawn || d.ReadAt != 0 {
		return
	}

	was := d.Receipt
	d.ReadAt = stick.At(p.clock.Now())
	p.play(func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		_, events := talk.Read(r, d.Agent, d.Event, was, now)
		return r, events
	}, stick.OwesNothing, "")
	p.put(d)
}

func (p *post) ack(d *delivery) {
	p.t.Helper()
	if d.Withdrawn || d.AckedAt != 0 {
		return
	}

	was := d.Receipt
	d.AckedAt = stick.At(p.clock.Now())
	if d.ReadAt == 0 {
		d.ReadAt = d.AckedAt
	}

	p.play(func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		_, events, err := talk.Ack(r, d.Agent, d.Event, was, now)
		if err != nil {
			p.t.Fatal(err)
		}
		return r, events
	}, stick.OwesNothing, "", d.From)
	p.put(d)
}

func (p *post) withdraw(sent stick.Event) {
	p.t.Helper()
	var cs []stick.Receipt
	var told []stick.AgentID

	var taken []*delivery
	for _, d := range p.deliveries {
		if d.Seq == sent.Seq {
			cs = append(cs, d.Receipt)
			if d.AckedAt == 0 && !d.Withdrawn {
				taken, told = append(taken, d), append(told, d.Agent)
			}
		}
	}

	if len(told) == 0 {
		return
	}

	p.play(func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		_, events := talk.Withdraw(r, sent.From, cs)
		return r, events
	}, stick.OwesNothing, "", told...)

	for _, d := range taken {
		d.Withdrawn = true
		p.put(d)
	}
}

func (p *post) put(d *delivery) {
	p.t.Helper()
	update(p.t, p.db, func(tx *store.Tx) error { return tx.PutReceipt(p.room, d.Receipt) })
}

// play plays a rule that makes one event, and records its addressees.
func (p *post) play(rule func(stick.Room, stick.Time) (stick.Room, []stick.Event), owes stick.Owes, thread string, to ...stick.AgentID) {
	p.t.Helper()
	_, events := play(p.t, p.db, p.room, rule)
	if len(events) != 1 {
		p.t.Fatalf("the events are %+v, want one", events)
	}
	events[0].For = nil // the log doesn't keep it
	p.log = append(p.log, events[0])
	p.deliver(events[0], owes, thread, to...)
	p.clock.Move(time.Second)
}

func (p *post) deliver(e stick.Event, owes stick.Owes, thread string, to ...stick.AgentID) {
	for _, a := range slices.Sorted(slices.Values(to)) {
		p.deliveries = append(p.deliveries,
			&delivery{e, stick.Receipt{Event: e.Seq, Agent: a, Owes: owes, Thread: thread}})
	}
}

// at returns the delivery of an event to an agent.
func (p *post) at(seq int64, a stick.AgentID) *delivery {
	for _, d := range p.deliveries {
		if d.Seq == seq && d.Agent == a {
			return d
		}
	}
	return nil
}

// stands returns the state of a delivery, computed without the rules.
func (d *delivery) stands() stick.ReceiptState {
	switch {
	case d.Withdrawn:
		return stick.Withdrawn
	case d.AckedAt > 0:
		return stick.Acked
	case d.ReadAt > 0:
		return stick.Read
	}

	return stick.Unread
}

// owed reports whether the recipient must still do something.
func (d *delivery) owed() bool {
	return d.stands() == stick.Unread && d.Owes != stick.OwesNothing ||
		d.stands() == stick.Read && d.Owes == stick.OwesAck
}
