package stick

import (
	"slices"
	"testing"
	"time"
)

func TestAsk(t *testing.T) {
	t.Run("who has no business in the room", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a")
		f.must(f.leave(Leaving{By: "b"}))
		f.must(f.kick(Kicking{By: "a", Who: "c", Force: true}))
		equal(t, "left", f.ask("b").Status, HasLeft)
		equal(t, "kicked", f.ask("c").Status, WasKicked)
		equal(t, "never joined", f.ask("x").Status, HasLeft)
		f.must(f.close(Closing{By: "a", Fence: f.fence(), Handoff: &handoff}))
		equal(t, "closed", f.ask("a").Status, RoomClosed)
		equal(t, "no deadline in a closed room", f.deadline("a"), -1)
	})
	t.Run("one who only listens", func(t *testing.T) {
		f := room(t).member("a", "b").parks("b")
		equal(t, "an idle room", f.look("b", Listen, true).Status, "")
		f.owns("a").passes("b")
		equal(t, "a pass to it", f.look("b", Listen, true).Status, "")
		equal(t, "deadline", f.NextDeadline(Asking{Agent: "b", Purpose: Listen}, f.s, f.now), 0)
		g := room(t).member("a", "b").owns("a").parks("b").after(limit)
		equal(t, "an open takeover", g.look("b", Listen, true).Status, "")
	})
	t.Run("it moves a reservation on for others", func(t *testing.T) {
		f := room(t).member("a", "b", "c", "d").owns("a").waits("b", "c").parks("d").releases().after(grace)
		ans := f.look("d", Listen, true)
		equal(t, "changed", ans.Changed, true)
		equal(t, "named", f.Turn.ReservedFor, "c")
	})
	t.Run("tells an idle owner", func(t *testing.T) {
		f := room(t).member("a", "b").alive("a").owns("a").waits("b").after(limit)
		ans := f.ask("b")
		equal(t, "status", ans.Status, "")
		equal(t, "changed", ans.Changed, true)
		e := f.log[len(f.log)-1]
		equal(t, "event", e.Type, EventOwnerIdle)
		equal(t, "to", e.To, "a")
		equal(t, "idle since", said[OwnerIdlePayload](e).IdleSince, start)
		equal(t, "once", f.ask("b").Changed, false)
	})
	t.Run("a joining member comes last in the offers", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").waits("b").after(limit)
		r, _, _, _ := f.Join("c", false, f.now)
		f.waits("c")
		r.Listeners = f.Listeners
		_, _, ans := r.Ask(Asking{Agent: "c", Purpose: Work, Blocking: true}, f.s, f.now)
		equal(t, "status", ans.Status, "")
	})
}

// TestWaitingInPieces: waits that follow each other closely are one wait, up to the turn.
func TestWaitingInPieces(t *testing.T) {
	// a holds the stick, and b waits in pieces of 100 s, with a time between them.
	pieces := func(n int, between time.Duration) *fixture {
		f := room(t).member("a", "b").owns("a")
		for range n {
			f.waits("b")
			began := f.now
			f.after(100 * time.Second)
			f.Room = f.Returned("b", began, f.now)
			f.ends("b").after(between)
		}
		return f
	}
	since := func(f *fixture) Time {
		switch p := f.log[len(f.log)-1].Decode().(type) {
		case ClaimPayload:
			return p.WaitedSince
		case TakeoverPayload:
			return p.WaitedSince
		}
		t.Fatal("nothing was granted")
		return 0
	}
	t.Run("the turn comes to the last one", func(t *testing.T) {
		f := pieces(3, asksAgain).waits("b").after(time.Second).releases().owns("b")
		equal(t, "since", since(f), start)
		f.ends("b").releases().after(time.Second).owns("b")
		equal(t, "a turn ends it", since(f), 0)
	})
	t.Run("the turn comes between two", func(t *testing.T) {
		f := pieces(2, 5*time.Second).releases().owns("b")
		equal(t, "since", since(f), start)
	})
	t.Run("a takeover after an answer", func(t *testing.T) {
		f := pieces(30, 5*time.Second)
		if _, err := f.takes("b"); err != nil {
			t.Fatal(err)
		}
		equal(t, "since", since(f), start)
	})
	t.Run("it came back later", func(t *testing.T) {
		f := pieces(1, asksAgain+ms)
		again := f.now
		f.waits("b").after(time.Second).releases().owns("b")
		equal(t, "since", since(f), again)
		g := pieces(1, asksAgain+ms).releases().owns("b")
		equal(t, "it doesn't wait", since(g), 0)
	})
	t.Run("an earlier program had recorded only when it returned", func(t *testing.T) {
		f := pieces(1, time.Second)
		f.editMember("b", func(m *Member) { m.WaitedSince = 0 })
		again := f.now
		f.waits("b").after(time.Second).releases().owns("b")
		equal(t, "since", since(f), again)
	})
	t.Run("it left and came back", func(t *testing.T) {
		f := pieces(1, time.Second)
		f.must(f.leave(Leaving{By: "b"}))
		f.member("b").releases().owns("b")
		equal(t, "since", since(f), 0)
	})
}

func TestNextDeadline(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*fixture)
		want time.Duration
	}{
		{"a lease", func(f *fixture) { f.owns("a").after(time.Minute) }, limit - time.Minute},
		{"a lease after a heartbeat", func(f *fixture) {
			f.owns("a").after(time.Minute)
			f.Room, _ = f.Heartbeat("a", f.fence(), "", f.now)
		}, limit},
		{"idleness", func(f *fixture) { f.alive("a").owns("a").after(time.Minute) }, limit - time.Minute},
		{"idleness while a tool runs", func(f *fixture) { f.alive("a").owns("a").editMember("a", func(m *Member) { m.BusySince = f.now }) }, 4 * limit},
		{"the grace of one that was told", func(f *fixture) { f.alive("a").owns("a").after(limit).ask("c"); f.after(time.Second) }, grace - time.Second},
		{"an acknowledgement", func(f *fixture) { f.alive("a").hooks("a").owns("a") }, claim},
		{"a guardian's lease and idleness", func(f *fixture) {
			f.owns("a").after(time.Minute)
			f.Room, _ = f.Renew("a", f.fence(), 9, Process{PID: 1}, f.now)
		}, limit - time.Minute},
		{"a pass", func(f *fixture) { f.owns("a").passes("b").after(time.Minute) }, claim - time.Minute},
		{"a release", func(f *fixture) { f.owns("a").waits("b").releases() }, grace},
		{"an owner of which nothing is known", func(f *fixture) { f.process("a", ProvesSession, Unknown).owns("a") }, limit},
		{"a place in the order of offers", func(f *fixture) { f.owns("a").waits("b").after(limit) }, grace},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := room(t).member("a", "b", "c").waits("c")
			c.make(f)
			equal(t, "deadline", f.deadline("c"), c.want)
		})
	}
	t.Run("one that waits for its place still tells an idle owner in time", func(t *testing.T) {
		f := room(t).member("a", "b", "c").policy("owner_lease_ttl=1m", "owner_idle_ttl=65s").owns("a").waits("b", "c")
		f.Room, _ = f.Renew("a", f.fence(), 9, Process{PID: 1}, f.now)
		f.after(time.Minute)
		equal(t, "deadline", f.deadline("c"), 5*time.Second)
	})
}

func TestInLine(t *testing.T) {
	line := func(f *fixture, want ...AgentID) {
		t.Helper()
		if got := f.InLine(f.s); !slices.Equal(got, want) {
			t.Errorf("in line are %v, want %v", got, want)
		}
	}
	f := room(t).member("a", "b", "c", "d", "e").owns("a").waits("c", "b").parks("d")
	line(f, "b", "c")
	f.releases()
	equal(t, "the first in line gets the stick", f.Turn.ReservedFor, "b")
	f.owns("b").waits("a")
	line(f, "c", "a")
	line(f.gone("c"), "a")

	t.Run("the last holder comes last while the stick is free, and no longer when another has it", func(t *testing.T) {
		f := room(t).member("a", "b", "c").policy("order=sequence").owns("a").releases().waits("a", "b")
		line(f, "b", "a")
		line(f.owns("c"), "a", "b")
	})
	t.Run("one that didn't claim is passed over", func(t *testing.T) {
		f := room(t).member("a", "b", "c", "d").owns("a").waits("b", "c").parks("d").releases().after(grace)
		f.look("d", Listen, true)
		line(f, "c")
	})
}
