package presence_test

import (
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/presence"
	"talkingstick/stick/sticktest"
)

func TestReaches(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b", "human:x")
	for _, c := range []struct {
		name string
		do   func()
		who  stick.AgentID
		want presence.Delivery
	}{
		{"it acted a while ago", func() {}, "b", presence.DeliveryNextPrompt},
		{"it waits for work", func() { f.Waits("b") }, "b", presence.DeliveryListening},
		{"it is parked", func() { f.Parks("b") }, "b", presence.DeliveryListening},
		{"it ignores events", func() { f.Listeners[len(f.Listeners)-1].Deaf = true }, "b", presence.DeliveryNextPrompt},
		{"its wait is dead", func() { f.Parks("b").Ends("b") }, "b", presence.DeliveryNextPrompt},
		{"it was silent for long", func() { f.After(5 * time.Hour) }, "b", presence.DeliveryNeedsPerson},
		{"its process lives", func() { f.Alive("b") }, "b", presence.DeliveryNextPrompt},
		{"its process is gone", func() { f.Gone("b") }, "b", presence.DeliveryNeedsPerson},
		{"a person", func() {}, "human:x", presence.DeliveryNeedsPerson},
		{"a person that waits", func() { f.Parks("human:x") }, "human:x", presence.DeliveryListening},
	} {
		c.do()
		sticktest.Equal(t, c.name,
			presence.Reaches(f.Room, c.who, stick.Deadline{}, presence.Inbox{}, f.Probed, f.Now), c.want)
	}
}

// TestReachesAnIdleAgent: its harness's wait wakes it now or later, but not while it works; a wait of its own
// returns now.
func TestReachesAnIdleAgent(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b")
	f.EditMember("b", func(m *stick.Member) { m.HooksSeen, m.IdleAt = true, f.Now })
	f.Parks("b")
	f.Listeners[0].Purpose = stick.Wake
	soon, later := stick.Deadline{SetAt: f.Now}, stick.Deadline{SetAt: f.Now, TTL: time.Second}
	sticktest.Equal(t, "now",
		presence.Reaches(f.Room, "b", soon, presence.Inbox{}, f.Probed, f.Now), presence.DeliveryListening)
	sticktest.Equal(t, "later",
		presence.Reaches(f.Room, "b", later, presence.Inbox{}, f.Probed, f.Now), presence.DeliveryDelayed)
	sticktest.Equal(t, "later, and then",
		presence.Reaches(f.Room, "b", later, presence.Inbox{}, f.Probed, f.Now.Add(time.Second)),
		presence.DeliveryListening)

	f.EditMember("b", func(m *stick.Member) { m.IdleAt = 0 })
	sticktest.Equal(t, "it works",
		presence.Reaches(f.Room, "b", later, presence.Inbox{}, f.Probed, f.Now), presence.DeliveryNextTool)
	sticktest.Equal(t, "it works, and could be woken",
		presence.Reaches(f.Room, "b", soon, presence.Inbox{}, f.Probed, f.Now), presence.DeliveryNextTool)
	f.EditMember("b", func(m *stick.Member) { m.IdleAt = f.Now })
	f.Parks("b")
	sticktest.Equal(t, "it waits itself",
		presence.Reaches(f.Room, "b", later, presence.Inbox{}, f.Probed, f.Now), presence.DeliveryListening)
}
