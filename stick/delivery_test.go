package stick

import (
	"testing"
	"time"
)

func TestReaches(t *testing.T) {
	f := room(t).member("a", "b", "human:x")
	for _, c := range []struct {
		name string
		do   func()
		who  AgentID
		want Delivery
	}{
		{"it acted a while ago", func() {}, "b", DeliveryNextPrompt},
		{"it waits for work", func() { f.waits("b") }, "b", DeliveryListening},
		{"it is parked", func() { f.parks("b") }, "b", DeliveryListening},
		{"it ignores events", func() { f.Listeners[len(f.Listeners)-1].Deaf = true }, "b", DeliveryNextPrompt},
		{"its wait is dead", func() { f.parks("b").ends("b") }, "b", DeliveryNextPrompt},
		{"it was silent for long", func() { f.after(5 * time.Hour) }, "b", DeliveryNeedsPerson},
		{"its process lives", func() { f.alive("b") }, "b", DeliveryNextPrompt},
		{"its process is gone", func() { f.gone("b") }, "b", DeliveryNeedsPerson},
		{"a person", func() {}, "human:x", DeliveryNeedsPerson},
		{"a person that waits", func() { f.parks("human:x") }, "human:x", DeliveryListening},
	} {
		c.do()
		equal(t, c.name, f.Reaches(c.who, Deadline{}, Inbox{}, f.s, f.now), c.want)
	}
}

// TestReachesAnIdleAgent: its harness's wait wakes it now or later, but not while it works; a wait of its own
// returns now.
func TestReachesAnIdleAgent(t *testing.T) {
	f := room(t).member("a", "b")
	f.editMember("b", func(m *Member) { m.HooksSeen, m.IdleAt = true, f.now })
	f.parks("b")
	f.Listeners[0].Purpose = Wake
	soon, later := Deadline{SetAt: f.now}, Deadline{SetAt: f.now, TTL: time.Second}
	equal(t, "now", f.Reaches("b", soon, Inbox{}, f.s, f.now), DeliveryListening)
	equal(t, "later", f.Reaches("b", later, Inbox{}, f.s, f.now), DeliveryDelayed)
	equal(t, "later, and then", f.Reaches("b", later, Inbox{}, f.s, f.now.Add(time.Second)), DeliveryListening)
	f.editMember("b", func(m *Member) { m.IdleAt = 0 })
	equal(t, "it works", f.Reaches("b", later, Inbox{}, f.s, f.now), DeliveryNextTool)
	equal(t, "it works, and could be woken", f.Reaches("b", soon, Inbox{}, f.s, f.now), DeliveryNextTool)
	f.editMember("b", func(m *Member) { m.IdleAt = f.now })
	f.parks("b")
	equal(t, "it waits itself", f.Reaches("b", later, Inbox{}, f.s, f.now), DeliveryListening)
}
