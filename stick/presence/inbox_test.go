package presence_test

import (
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/presence"
	"talkingstick/stick/sticktest"
)

// TestReachesByInbox: an idle agent is woken by its harness's inbox, while that can be written to.
func TestReachesByInbox(t *testing.T) {
	const a, b = stick.AgentID("claude:a"), stick.AgentID("claude:b")
	f := sticktest.NewRoom(t).WithMembers(a, b).Alive(a, b)
	m, _ := f.Member(a)
	open := presence.Inbox{Process: m.Processes[0].Process, Signs: presence.Signs{At: f.Now}}
	shut := presence.Inbox{Signs: open.Signs}
	soon, later := stick.Deadline{SetAt: f.Now}, stick.Deadline{SetAt: f.Now, TTL: time.Minute}
	f.EditMember(a, func(m *stick.Member) { m.HooksSeen = true })
	sticktest.Equal(t, "its session has started",
		presence.Reaches(f.Room, a, soon, open, f.Probed, f.Now), presence.DeliveryListening)

	works := open
	works.Signs.ActiveSince = f.Now
	sticktest.Equal(t, "it works", presence.Reaches(f.Room, a, soon, works, f.Probed, f.Now), presence.DeliveryNextTool)
	f.EditMember(a, func(m *stick.Member) { m.IdleAt = f.Now })
	sticktest.Equal(t, "it has stopped",
		presence.Reaches(f.Room, a, soon, open, f.Probed, f.Now), presence.DeliveryListening)
	sticktest.Equal(t, "nothing can be written there",
		presence.Reaches(f.Room, a, soon, shut, f.Probed, f.Now), presence.DeliveryNextPrompt)
	sticktest.Equal(t, "too soon, and nobody waits who could write later",
		presence.Reaches(f.Room, a, later, open, f.Probed, f.Now), presence.DeliveryNextPrompt)

	f.Waits(b)
	f.Listeners[0].Process = open.Process
	sticktest.Equal(t, "too soon, and another waits",
		presence.Reaches(f.Room, a, later, open, f.Probed, f.Now), presence.DeliveryDelayed)
	f.Listeners[0].Process.Boot = "of another host"
	sticktest.Equal(t, "too soon, and one waits on another host",
		presence.Reaches(f.Room, a, later, open, f.Probed, f.Now), presence.DeliveryNextPrompt)

	f.Parks(a)
	sticktest.Equal(t, "it waits itself",
		presence.Reaches(f.Room, a, later, open, f.Probed, f.Now), presence.DeliveryListening)
	if presence.WokenByInbox(f.Room, a, open.Signs, f.Probed, f.Now) {
		t.Error("it is told twice")
	}

	f.Ends(a)
	f.EditMember(a, func(m *stick.Member) { m.IdleAt = 0 })
	f.After(presence.SilentAfter)
	works.Signs.At = 1
	f.EditMember(a, func(m *stick.Member) { m.LastSeenAt = 1 })
	sticktest.Equal(t, "it was interrupted long ago",
		presence.Reaches(f.Room, a, soon, works, f.Probed, f.Now), presence.DeliveryListening)

	f.Gone(a)
	sticktest.Equal(t, "it is gone",
		presence.Reaches(f.Room, a, soon, open, f.Probed, f.Now), presence.DeliveryNeedsPerson)
	if presence.WokenByInbox(f.Room, "human:x", presence.Signs{}, f.Probed, f.Now) {
		t.Error("a person has an inbox")
	}

	f.Closed = true
	if presence.WokenByInbox(f.Room, b, presence.Signs{At: f.Now}, f.Probed, f.Now) {
		t.Error("somebody is woken in a closed room")
	}
}
