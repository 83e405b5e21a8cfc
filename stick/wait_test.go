package stick_test

import (
	"slices"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

func TestAsk(t *testing.T) {
	t.Run("who has no business in the room", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a")
		f.Must(f.TryLeave(stick.Leaving{By: "b"}))
		f.Must(f.TryKick(stick.Kicking{By: "a", Who: "c", Force: true}))
		sticktest.Equal(t, "left", f.Asks("b").Status, stick.HasLeft)
		sticktest.Equal(t, "kicked", f.Asks("c").Status, stick.WasKicked)
		sticktest.Equal(t, "never joined", f.Asks("x").Status, stick.HasLeft)

		f.Must(f.TryClose(stick.Closing{By: "a", Fence: f.Fence(), Handoff: &sticktest.Handoff}))
		sticktest.Equal(t, "closed", f.Asks("a").Status, stick.RoomClosed)
		sticktest.Equal(t, "no deadline in a closed room", f.Deadline("a"), -1)
	})

	t.Run("one who only listens", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Parks("b")
		sticktest.Equal(t, "an idle room", f.Look("b", stick.Listen, true).Status, "")
		f.Owns("a").Passes("b")
		sticktest.Equal(t, "a pass to it", f.Look("b", stick.Listen, true).Status, "")
		sticktest.Equal(t, "deadline",
			f.NextDeadline(stick.Asking{Agent: "b", Purpose: stick.Listen}, f.Probed, f.Now), 0)

		g := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Parks("b").After(sticktest.Limit)
		sticktest.Equal(t, "an open takeover", g.Look("b", stick.Listen, true).Status, "")
	})

	t.Run("it moves a reservation on for others", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d").Owns("a").Waits("b", "c").
			Parks("d").Releases().After(sticktest.Grace)
		ans := f.Look("d", stick.Listen, true)
		sticktest.Equal(t, "changed", ans.Changed, true)
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "c")
	})

	t.Run("tells an idle owner", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Owns("a").Waits("b").After(sticktest.Limit)
		ans := f.Asks("b")
		sticktest.Equal(t, "status", ans.Status, "")
		sticktest.Equal(t, "changed", ans.Changed, true)

		e := f.Log[len(f.Log)-1]
		sticktest.Equal(t, "event", e.Type, stick.EventOwnerIdle)
		sticktest.Equal(t, "to", e.To, "a")
		sticktest.Equal(t, "idle since", sticktest.Said[stick.OwnerIdlePayload](e).IdleSince, sticktest.Start)
		sticktest.Equal(t, "once", f.Asks("b").Changed, false)
	})

	t.Run("a joining member comes last in the offers", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Waits("b").After(sticktest.Limit)
		r, _, _, _ := f.Join("c", "", false, f.Now)
		f.Waits("c")
		r.Listeners = f.Listeners
		_, _, ans := r.Ask(stick.Asking{Agent: "c", Purpose: stick.Work, Blocking: true}, f.Probed, f.Now)
		sticktest.Equal(t, "status", ans.Status, "")
	})
}

// TestWaitingInPieces: waits that follow each other closely are one wait, up to the turn.
func TestWaitingInPieces(t *testing.T) {
	// a holds the stick, and b waits in pieces of 100 s, with a time between them.
	pieces := func(n int, between time.Duration) *sticktest.Fixture {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		for range n {
			f.Waits("b")
			began := f.Now
			f.After(100 * time.Second)
			f.Room = f.Returned("b", began, f.Now)
			f.Ends("b").After(between)
		}

		return f
	}

	since := func(f *sticktest.Fixture) stick.Time {
		switch p := f.Log[len(f.Log)-1].Decode().(type) {
		case stick.ClaimPayload:
			return p.WaitedSince
		case stick.TakeoverPayload:
			return p.WaitedSince
		}

		t.Fatal("nothing was granted")
		return 0
	}

	t.Run("the turn comes to the last one", func(t *testing.T) {
		f := pieces(3, stick.AsksAgain).Waits("b").After(time.Second).Releases().Owns("b")
		sticktest.Equal(t, "since", since(f), sticktest.Start)
		f.Ends("b").Releases().After(time.Second).Owns("b")
		sticktest.Equal(t, "a turn ends it", since(f), 0)
	})

	t.Run("the turn comes between two", func(t *testing.T) {
		f := pieces(2, 5*time.Second).Releases().Owns("b")
		sticktest.Equal(t, "since", since(f), sticktest.Start)
	})

	t.Run("a takeover after an answer", func(t *testing.T) {
		f := pieces(30, 5*time.Second)
		if _, err := f.Takes("b"); err != nil {
			t.Fatal(err)
		}
		sticktest.Equal(t, "since", since(f), sticktest.Start)
	})

	t.Run("it came back later", func(t *testing.T) {
		f := pieces(1, stick.AsksAgain+sticktest.Moment)
		again := f.Now
		f.Waits("b").After(time.Second).Releases().Owns("b")
		sticktest.Equal(t, "since", since(f), again)
		g := pieces(1, stick.AsksAgain+sticktest.Moment).Releases().Owns("b")
		sticktest.Equal(t, "it doesn't wait", since(g), 0)
	})

	t.Run("an earlier program had recorded only when it returned", func(t *testing.T) {
		f := pieces(1, time.Second)
		f.EditMember("b", func(m *stick.Member) { m.WaitedSince = 0 })
		again := f.Now
		f.Waits("b").After(time.Second).Releases().Owns("b")
		sticktest.Equal(t, "since", since(f), again)
	})

	t.Run("it left and came back", func(t *testing.T) {
		f := pieces(1, time.Second)
		f.Must(f.TryLeave(stick.Leaving{By: "b"}))
		f.WithMembers("b").Releases().Owns("b")
		sticktest.Equal(t, "since", since(f), 0)
	})
}

func TestNextDeadline(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*sticktest.Fixture)
		want time.Duration
	}{
		{"a lease", func(f *sticktest.Fixture) { f.Owns("a").After(time.Minute) }, sticktest.Limit - time.Minute},
		{"a lease after a heartbeat", func(f *sticktest.Fixture) {
			f.Owns("a").After(time.Minute)
			f.Room, _ = f.Heartbeat("a", f.Fence(), "", f.Now)
		}, sticktest.Limit},
		{
			"idleness",
			func(f *sticktest.Fixture) { f.Alive("a").Owns("a").After(time.Minute) },
			sticktest.Limit - time.Minute,
		},
		{"idleness while a tool runs", func(f *sticktest.Fixture) {
			f.Alive("a").Owns("a").EditMember("a", func(m *stick.Member) { m.BusySince = f.Now })
		}, 4 * sticktest.Limit},
		{"the grace of one that was told", func(f *sticktest.Fixture) {
			f.Alive("a").Owns("a").After(sticktest.Limit).Asks("c")
			f.After(time.Second)
		}, sticktest.Grace - time.Second},
		{"an acknowledgement", func(f *sticktest.Fixture) { f.Alive("a").Hooks("a").Owns("a") }, sticktest.Claim},
		{"a guardian's lease and idleness", func(f *sticktest.Fixture) {
			f.Owns("a").After(time.Minute)
			f.Room, _ = f.Renew("a", f.Fence(), 9, stick.Process{PID: 1}, f.Now)
		}, sticktest.Limit - time.Minute},
		{
			"a pass",
			func(f *sticktest.Fixture) { f.Owns("a").Passes("b").After(time.Minute) },
			sticktest.Claim - time.Minute,
		},
		{"a release", func(f *sticktest.Fixture) { f.Owns("a").Waits("b").Releases() }, sticktest.Grace},
		{
			"an owner of which nothing is known",
			func(f *sticktest.Fixture) { f.Process("a", stick.ProvesSession, stick.Unknown).Owns("a") },
			sticktest.Limit,
		},
		{
			"a place in the order of offers",
			func(f *sticktest.Fixture) { f.Owns("a").Waits("b").After(sticktest.Limit) },
			sticktest.Grace,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Waits("c")
			c.make(f)
			sticktest.Equal(t, "deadline", f.Deadline("c"), c.want)
		})
	}

	t.Run("one that waits for its place still tells an idle owner in time", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").
			WithPolicy("owner_lease_ttl=1m", "owner_idle_ttl=65s").Owns("a").Waits("b", "c")
		f.Room, _ = f.Renew("a", f.Fence(), 9, stick.Process{PID: 1}, f.Now)
		f.After(time.Minute)
		sticktest.Equal(t, "deadline", f.Deadline("c"), 5*time.Second)
	})
}

func TestInLine(t *testing.T) {
	line := func(f *sticktest.Fixture, want ...stick.AgentID) {
		t.Helper()
		if got := f.InLine(f.Probed); !slices.Equal(got, want) {
			t.Errorf("in line are %v, want %v", got, want)
		}
	}

	f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d", "e").Owns("a").Waits("c", "b").Parks("d")
	line(f, "b", "c")
	f.Releases()
	sticktest.Equal(t, "the first in line gets the stick", f.Turn.ReservedFor, "b")

	f.Owns("b").Waits("a")
	line(f, "c", "a")
	line(f.Gone("c"), "a")

	t.Run("the last holder comes last while the stick is free, and no longer when another has it", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").WithPolicy("order=sequence").Owns("a").
			Releases().Waits("a", "b")
		line(f, "b", "a")
		line(f.Owns("c"), "a", "b")
	})

	t.Run("one that didn't claim is passed over", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d").Owns("a").Waits("b", "c").
			Parks("d").Releases().After(sticktest.Grace)
		f.Look("d", stick.Listen, true)
		line(f, "c")
	})
}
