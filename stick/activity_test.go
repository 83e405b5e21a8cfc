package stick

import (
	"testing"
	"time"
)

// does checks what an agent does by what its hooks have reported.
func (f *fixture) does(what string, a AgentID, h Signs, want AgentState, since Time) {
	f.t.Helper()
	got, _ := f.Activity(a, h, f.s, f.now)
	if got.State != want || got.Since != since {
		f.t.Errorf("%s: %s since %d, want %s since %d", what, got.State, got.Since-start, want, since-start)
	}
}

func TestActivity(t *testing.T) {
	const a = AgentID("claude:a")
	f := room(t).member(a).alive(a)
	seen := f.now
	f.does("no hook has fired", a, Signs{}, AgentUnknown, seen)

	began := f.now
	f.after(time.Minute)
	f.does("its session has started", a, Signs{At: began}, AgentIdle, began)
	works := Signs{At: f.now, ActiveSince: began.Add(time.Second), Tool: "Edit", File: "a.go"}
	f.does("it has had a prompt", a, works, AgentWorks, works.ActiveSince)
	asks := works
	asks.AskedAt = f.now
	f.does("its harness asks for a permission", a, asks, AgentAsks, f.now)

	f.waits(a)
	f.does("it waits", a, works, AgentWaits, f.now)
	f.does("it waits in the background and asks", a, asks, AgentAsks, f.now)
	f.ends(a)

	f.after(SilentAfter - time.Second)
	f.does("it was silent for nearly ten minutes", a, works, AgentWorks, works.ActiveSince)
	f.after(time.Second)
	f.does("an interrupt fires no hook", a, works, AgentIdle, works.At)
	if got, _ := f.Activity(a, works, f.s, f.now); !got.Silent || got.Tool != "Edit" || got.File != "a.go" {
		t.Errorf("it isn't said that nobody knows when it stopped: %+v", got)
	}
	f.editMember(a, func(m *Member) { m.BusySince = works.At })
	f.does("a tool call takes long", a, works, AgentWorks, works.ActiveSince)
	f.after(longCall)
	f.does("a tool call was interrupted", a, works, AgentIdle, works.At)
	f.editMember(a, func(m *Member) { m.BusySince, m.IdleAt = 0, f.now })
	f.does("it has stopped", a, works, AgentIdle, f.now)
	f.gone(a)
	f.does("its process has ended", a, asks, AgentGone, asks.At)
}

func TestActivityOfAPerson(t *testing.T) {
	f := room(t).member("human:ann")
	if got, ok := f.Activity("human:ann", Signs{}, f.s, f.now); ok {
		t.Errorf("a person has no hooks, but %+v", got)
	}
	f.waits("human:ann")
	f.does("a person waits", "human:ann", Signs{}, AgentWaits, f.now)
}

// TestLooksUntil: a view that is read again at that time, and only then, misses nothing that time alone
// changes.
func TestLooksUntil(t *testing.T) {
	const a, b = AgentID("claude:a"), AgentID("codex:b")
	quiet := map[AgentID]Signs{}
	f := room(t).member(a, b).alive(a, b)
	check := func(what string, signs map[AgentID]Signs, want time.Duration) {
		t.Helper()
		at := f.LooksUntil(signs, f.s, f.now)
		if got := at.Sub(f.now); at.IsZero() && want != 0 || !at.IsZero() && got != want {
			t.Errorf("%s: after %v, want %v", what, got, want)
		}
	}
	check("nobody has the stick", quiet, 0)
	works := map[AgentID]Signs{a: {At: f.now, ActiveSince: f.now}}
	check("an agent works", works, SilentAfter)
	f.after(SilentAfter)
	check("it has become silent", works, 0)

	f.owns(a)
	check("a holder is kept by its process", quiet, f.Policy.OwnerIdleTTL+f.Policy.WaiterGrace)
	f.passes(b)
	check("a pass waits for its recipient", quiet, f.Policy.ClaimTTL)
	f.pauses("lunch")
	check("a pause lasts until somebody ends it", quiet, 0)
}
