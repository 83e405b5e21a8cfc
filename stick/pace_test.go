package stick

import (
	"testing"
	"time"
)

// conversation makes events of two idle agents and of others, ten seconds apart.
type conversation struct{ log []Event }

func (c *conversation) add(e Event) Event {
	e.Seq = int64(len(c.log) + 1)
	e.CreatedAt = start.Add(time.Duration(e.Seq) * 10 * time.Second)
	c.log = append(c.log, e)
	return e
}

func (c *conversation) send(from AgentID, m Message) Event {
	e := Event{Type: EventMessageSent, From: from}
	if len(m.To) == 1 && !m.isToEverybody() {
		e.To = m.To[0]
	}
	return c.add(e.withPayload(MessageSentPayload{Message: &m}))
}

func (c *conversation) says(from, to AgentID) Event {
	return c.send(from, Message{To: []AgentID{to}, Category: Info, Body: "x"})
}

func (c *conversation) delay(e Event, of AgentID) time.Duration { return WakeAt(e, of, c.log).TTL }

// TestTwoThatAnswerEachOther: three wakes come at once, and then later and later.
func TestTwoThatAnswerEachOther(t *testing.T) {
	c := &conversation{}
	for i, want := range []time.Duration{0, 0, 0, 5, 10, 20, 40, 80, 160, 300, 300, 300} {
		from, to := AgentID("a:1"), AgentID("b:2")
		if i%2 == 1 {
			from, to = to, from
		}
		e := c.says(from, to)
		if got := c.delay(e, to); got != want*time.Second || WakeAt(e, to, c.log).SetAt != e.CreatedAt {
			t.Errorf("wake %d is delayed by %s, not %s", i+1, got, want*time.Second)
		}
	}
}

// TestWhatCountsAsAWake: how often two agents have woken each other when one of them writes again.
func TestWhatCountsAsAWake(t *testing.T) {
	const a, b, other, person AgentID = "a:1", "b:2", "c:3", "human:x"
	full := func(c *conversation) { // the next wake of b comes after 80 s
		for range 3 {
			c.says(b, a)
			c.says(a, b)
		}
		c.says(b, a)
	}
	one := func(e Event) func(*conversation) {
		return func(c *conversation) { full(c); c.add(e) }
	}
	for _, c := range []struct {
		name  string
		given func(*conversation)
		want  time.Duration
	}{
		{"nothing before", func(*conversation) {}, 0},
		{"many", full, 80 * time.Second},
		{"many in one go, to one that does nothing", func(c *conversation) {
			for range 20 {
				c.says(a, b)
			}
		}, 0},
		{"a ring of three", func(c *conversation) {
			for range 5 {
				c.says(a, b)
				c.says(b, other)
				c.says(other, a)
			}
		}, 20 * time.Second},
		{"acknowledgements", func(c *conversation) {
			for range 3 {
				c.says(a, b)
				c.add(Event{Type: EventMessageAcked, From: b, To: a}.withPayload(MessageAckedPayload{MessageID: 1}))
			}
		}, 40 * time.Second},
		{"to the room", func(c *conversation) {
			for range 2 {
				c.send(a, Message{To: []AgentID{ToRoom}, Category: Info, Body: "x"})
				c.send(b, Message{To: []AgentID{ToRoom}, Category: Info, Body: "x"})
			}
		}, 10 * time.Second},
		{"a turn of one of them", one(Event{Type: EventClaim, From: b}), 0},
		{"a turn of one of them, and two wakes since", func(c *conversation) {
			full(c)
			c.says(a, other)
			c.add(Event{Type: EventClaim, From: b})
			c.says(a, b)
			c.says(b, a)
		}, 0},
		{"a takeover by one of them", one(Event{Type: EventTakeover, From: a}), 0},
		{"a person's message", func(c *conversation) {
			full(c)
			c.says(person, a)
		}, 0},
		{"a review", one(Event{Type: EventTaskApproved, From: other, To: a}), 0},
		{"another agent's message", func(c *conversation) { full(c); c.says(other, b) }, 80 * time.Second},
		{"a BLOCKED", func(c *conversation) {
			full(c)
			c.send(b, Message{To: []AgentID{a}, Category: Blocked, Body: "x"})
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := &conversation{}
			c.given(log)
			if got := log.delay(log.says(a, b), b); got != c.want {
				t.Errorf("delayed by %s, not %s", got, c.want)
			}
		})
	}
	for name, e := range map[string]func(*conversation) Event{
		"a person's": func(c *conversation) Event { return c.says(person, b) },
		"BLOCKED":    func(c *conversation) Event { return c.send(a, Message{To: []AgentID{b}, Category: Blocked, Body: "x"}) },
		"interrupting": func(c *conversation) Event {
			return c.send(a, Message{To: []AgentID{b}, Category: Info, Body: "x", Hint: Interrupt})
		},
		"no message": func(c *conversation) Event { return c.add(Event{Type: EventPass, From: a, To: b}) },
	} {
		c := &conversation{}
		full(c)
		if got := c.delay(e(c), b); got != 0 {
			t.Errorf("%s is delayed by %s", name, got)
		}
	}
}
