package presence_test

import (
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/presence"
	"talkingstick/stick/sticktest"
)

// does checks what an agent does by what its hooks have reported.
func does(f *sticktest.Fixture, what string, a stick.AgentID, h presence.Signs, want presence.AgentState, since stick.Time) {
	f.T.Helper()
	got, _ := presence.ActivityOf(f.Room, a, h, f.Probed, f.Now)
	if got.State != want || got.Since != since {
		f.T.Errorf("%s: %s since %d, want %s since %d",
			what, got.State, got.Since-sticktest.Start, want, since-sticktest.Start)
	}
}

func TestActivity(t *testing.T) {
	const a = stick.AgentID("claude:a")
	f := sticktest.NewRoom(t).WithMembers(a).Alive(a)
	seen := f.Now
	does(f, "no hook has fired", a, presence.Signs{}, presence.AgentUnknown, seen)

	began := f.Now
	f.After(time.Minute)
	does(f, "its session has started", a, presence.Signs{At: began}, presence.AgentIdle, began)
	works := presence.Signs{At: f.Now, ActiveSince: began.Add(time.Second), Tool: "Edit", File: "a.go"}
	does(f, "it has had a prompt", a, works, presence.AgentWorks, works.ActiveSince)
	asks := works
	asks.AskedAt = f.Now
	does(f, "its harness asks for a permission", a, asks, presence.AgentAsks, f.Now)

	f.Waits(a)
	does(f, "it waits", a, works, presence.AgentWaits, f.Now)
	rested := f.Now
	f.EditMember(a, func(m *stick.Member) { m.RestsSince = rested })
	does(f, "it waits, and rests", a, works, presence.AgentRests, rested)
	f.Room = f.EndRest(a)
	does(f, "it waits in the background and asks", a, asks, presence.AgentAsks, f.Now)
	f.Ends(a)

	f.After(presence.SilentAfter - time.Second)
	does(f, "it was silent for nearly ten minutes", a, works, presence.AgentWorks, works.ActiveSince)
	f.After(time.Second)
	does(f, "an interrupt fires no hook", a, works, presence.AgentIdle, works.At)
	got, _ := presence.ActivityOf(f.Room, a, works, f.Probed, f.Now)
	if !got.Silent || got.Tool != "Edit" || got.File != "a.go" {
		t.Errorf("it isn't said that nobody knows when it stopped: %+v", got)
	}

	f.EditMember(a, func(m *stick.Member) { m.BusySince = works.At })
	does(f, "a tool call takes long", a, works, presence.AgentWorks, works.ActiveSince)
	f.After(presence.LongCall)
	does(f, "a tool call was interrupted", a, works, presence.AgentIdle, works.At)
	f.EditMember(a, func(m *stick.Member) { m.BusySince, m.IdleAt = 0, f.Now })
	does(f, "it has stopped", a, works, presence.AgentIdle, f.Now)
	f.Gone(a)
	does(f, "its process has ended", a, asks, presence.AgentGone, asks.At)
}

func TestActivityOfAPerson(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("human:ann")
	if got, ok := presence.ActivityOf(f.Room, "human:ann", presence.Signs{}, f.Probed, f.Now); ok {
		t.Errorf("a person has no hooks, but %+v", got)
	}
	f.Waits("human:ann")
	does(f, "a person waits", "human:ann", presence.Signs{}, presence.AgentWaits, f.Now)
}

// TestLooksUntil: a view that is read again at that time, and only then, misses nothing that time alone
// changes.
func TestLooksUntil(t *testing.T) {
	const a, b = stick.AgentID("claude:a"), stick.AgentID("codex:b")
	quiet := map[stick.AgentID]presence.Signs{}
	f := sticktest.NewRoom(t).WithMembers(a, b).Alive(a, b)
	check := func(what string, signs map[stick.AgentID]presence.Signs, want time.Duration) {
		t.Helper()
		at := presence.LooksUntil(f.Room, signs, f.Probed, f.Now)
		got := at.Sub(f.Now)
		if at.IsZero() {
			got = 0
		}
		if got != want || at == f.Now {
			t.Errorf("%s: after %v (%d), want %v", what, got, at, want)
		}
	}

	check("nobody has the stick", quiet, 0)
	works := map[stick.AgentID]presence.Signs{a: {At: f.Now, ActiveSince: f.Now}}
	check("an agent works", works, presence.SilentAfter)
	f.After(presence.SilentAfter)
	check("it has become silent", works, 0)

	f.Owns(a)
	check("a holder is kept by its process", quiet, f.Policy.OwnerIdleTTL+f.Policy.WaiterGrace)
	f.Passes(b)
	check("a pass waits for its recipient", quiet, f.Policy.ClaimTTL)
	f.After(f.Policy.ClaimTTL)
	check("it has waited for long enough", quiet, 0)

	f.Pauses("lunch")
	check("a pause lasts until somebody ends it", quiet, 0)
}
