package stick

import (
	"testing"
	"time"
)

// TestReachesByInbox: an idle agent is woken by its harness's inbox, while that can be written to.
func TestReachesByInbox(t *testing.T) {
	const a, b = AgentID("claude:a"), AgentID("claude:b")
	f := room(t).member(a, b).alive(a, b)
	m, _ := f.Member(a)
	open := Inbox{Process: m.Processes[0].Process, Signs: Signs{At: f.now}}
	shut := Inbox{Signs: open.Signs}
	soon, later := Deadline{SetAt: f.now}, Deadline{SetAt: f.now, TTL: time.Minute}
	f.editMember(a, func(m *Member) { m.HooksSeen = true })
	equal(t, "its session has started", f.Reaches(a, soon, open, f.s, f.now), DeliveryListening)
	works := open
	works.Signs.ActiveSince = f.now
	equal(t, "it works", f.Reaches(a, soon, works, f.s, f.now), DeliveryNextTool)
	f.editMember(a, func(m *Member) { m.IdleAt = f.now })
	equal(t, "it has stopped", f.Reaches(a, soon, open, f.s, f.now), DeliveryListening)
	equal(t, "nothing can be written there", f.Reaches(a, soon, shut, f.s, f.now), DeliveryNextPrompt)
	equal(t, "too soon, and nobody waits who could write later", f.Reaches(a, later, open, f.s, f.now), DeliveryNextPrompt)
	f.waits(b)
	f.Listeners[0].Process = open.Process
	equal(t, "too soon, and another waits", f.Reaches(a, later, open, f.s, f.now), DeliveryDelayed)
	f.Listeners[0].Process.Boot = "of another host"
	equal(t, "too soon, and one waits on another host", f.Reaches(a, later, open, f.s, f.now), DeliveryNextPrompt)
	f.parks(a)
	equal(t, "it waits itself", f.Reaches(a, later, open, f.s, f.now), DeliveryListening)
	if f.WokenByInbox(a, open.Signs, f.s, f.now) {
		t.Error("it is told twice")
	}
	f.ends(a)
	f.editMember(a, func(m *Member) { m.IdleAt = 0 })
	f.after(SilentAfter)
	works.Signs.At = 1
	f.editMember(a, func(m *Member) { m.LastSeenAt = 1 })
	equal(t, "it was interrupted long ago", f.Reaches(a, soon, works, f.s, f.now), DeliveryListening)
	f.gone(a)
	equal(t, "it is gone", f.Reaches(a, soon, open, f.s, f.now), DeliveryNeedsPerson)
	if f.WokenByInbox("human:x", Signs{}, f.s, f.now) {
		t.Error("a person has an inbox")
	}
	f.Closed = true
	if f.WokenByInbox(b, Signs{At: f.now}, f.s, f.now) {
		t.Error("somebody is woken in a closed room")
	}
}
