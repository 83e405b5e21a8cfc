package talk_test

import (
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/talk"
)

// conversation makes events of two idle agents and of others, ten seconds apart.
type conversation struct{ log []stick.Event }

func (c *conversation) add(e stick.Event) stick.Event {
	e.Seq = int64(len(c.log) + 1)
	e.CreatedAt = sticktest.Start.Add(time.Duration(e.Seq) * 10 * time.Second)
	c.log = append(c.log, e)
	return e
}

func (c *conversation) send(from stick.AgentID, m stick.Message) stick.Event {
	e := stick.Event{Type: stick.EventMessageSent, From: from}
	if len(m.To) == 1 && !m.IsToEverybody() {
		e.To = m.To[0]
	}
	return c.add(e.WithPayload(stick.MessageSentPayload{Message: &m}))
}

func (c *conversation) says(from, to stick.AgentID) stick.Event {
	return c.send(from, stick.Message{To: []stick.AgentID{to}, Category: stick.Info, Body: "x"})
}

func (c *conversation) delay(e stick.Event, of stick.AgentID) time.Duration {
	return talk.WakeAt(e, of, c.log).TTL
}

// TestWakePace_TwoAgents: three wakes come at once, and then later and later.
func TestWakePace_TwoAgents(t *testing.T) {
	c := &conversation{}
	for i, want := range []time.Duration{0, 0, 0, 5, 10, 20, 40, 80, 160, 300, 300, 300} {
		from, to := stick.AgentID("a:1"), stick.AgentID("b:2")
		if i%2 == 1 {
			from, to = to, from
		}
		e := c.says(from, to)
		if got := c.delay(e, to); got != want*time.Second || talk.WakeAt(e, to, c.log).SetAt != e.CreatedAt {
			t.Errorf("wake %d is delayed by %s, not %s", i+1, got, want*time.Second)
		}
	}
}

// TestWakePace_CountedEvents: how often two agents have woken each other when one of them writes again.
func TestWakePace_CountedEvents(t *testing.T) {
	const a, b, other, person stick.AgentID = "a:1", "b:2", "c:3", "human:x"
	full := func(c *conversation) { // the next wake of b comes after 80 s
		for range 3 {
			c.says(b, a)
			c.says(a, b)
		}
		c.says(b, a)
	}

	one := func(e stick.Event) func(*conversation) {
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
				c.add(stick.Event{Type: stick.EventMessageAcked, From: b, To: a}.WithPayload(stick.MessageAckedPayload{MessageID: 1}))
			}
		}, 40 * time.Second},
		{"to the room", func(c *conversation) {
			for range 2 {
				c.send(a, stick.Message{To: []stick.AgentID{stick.ToRoom}, Category: stick.Info, Body: "x"})
				c.send(b, stick.Message{To: []stick.AgentID{stick.ToRoom}, Category: stick.Info, Body: "x"})
			}
		}, 10 * time.Second},
		{"a turn of one of them", one(stick.Event{Type: stick.EventClaim, From: b}), 0},
		{"a turn of one of them, and two wakes since", func(c *conversation) {
			full(c)
			c.says(a, other)
			c.add(stick.Event{Type: stick.EventClaim, From: b})
			c.says(a, b)
			c.says(b, a)
		}, 0},
		{"a takeover by one of them", one(stick.Event{Type: stick.EventTakeover, From: a}), 0},
		{"a person's message", func(c *conversation) {
			full(c)
			c.says(person, a)
		}, 0},
		{"a review", one(stick.Event{Type: stick.EventTaskApproved, From: other, To: a}), 0},
		{"another agent's message", func(c *conversation) { full(c); c.says(other, b) }, 80 * time.Second},
		{"a BLOCKED", func(c *conversation) {
			full(c)
			c.send(b, stick.Message{To: []stick.AgentID{a}, Category: stick.Blocked, Body: "x"})
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

	for name, e := range map[string]func(*conversation) stick.Event{
		"a person's": func(c *conversation) stick.Event { return c.says(person, b) },
		"BLOCKED": func(c *conversation) stick.Event {
			return c.send(a, stick.Message{To: []stick.AgentID{b}, Category: stick.Blocked, Body: "x"})
		},
		"interrupting": func(c *conversation) stick.Event {
			return c.send(a, stick.Message{
				To: []stick.AgentID{b}, Category: stick.Info, Body: "x", Hint: stick.Interrupt,
			})
		},
		"no message": func(c *conversation) stick.Event {
			return c.add(stick.Event{Type: stick.EventPass, From: a, To: b})
		},
	} {
		c := &conversation{}
		full(c)
		if got := c.delay(e(c), b); got != 0 {
			t.Errorf("%s is delayed by %s", name, got)
		}
	}
}
