package stick_test

import (
	"fmt"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

func TestTurnClaim(t *testing.T) {
	t.Run("an idle room", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a")
		ans := f.Peeks("a")
		sticktest.Equal(t, "status", ans.Status, stick.YourTurn)
		sticktest.Equal(t, "reason", ans.Claim, stick.OpenClaim)
		sticktest.Equal(t, "turn", f.Turn.ID, 1)
		sticktest.Equal(t, "lease", f.Turn.Lease, "lease-1")
		sticktest.Equal(t, "a first turn carries no handoff", f.Turn.HandoffDirect, false)
	})

	t.Run("a pass", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Passes("b")
		sticktest.Equal(t, "others", f.Peeks("a").Status, "")
		ans := f.Peeks("b")
		sticktest.Equal(t, "reason", ans.Claim, stick.DirectPass)
		sticktest.Equal(t, "handoff", f.Turn.HandoffDirect, true)
		sticktest.Equal(t, "the event names the handoff",
			sticktest.Said[stick.ClaimPayload](f.Log[len(f.Log)-1]).HandoffSeq, f.Turn.HandoffSeq)
	})

	t.Run("asking again gives the same turn, lease and handoff", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Passes("b").Owns("b")
		before := f.Turn
		for range 3 {
			ans := f.After(sticktest.Limit).Asks("b")
			sticktest.Equal(t, "reason", ans.Claim, stick.AlreadyOwner)
			sticktest.Equal(t, "changed", ans.Changed, false)
		}
		sticktest.Equal(t, "turn", f.Turn, before)
	})

	t.Run("the prior owner is deferred", func(t *testing.T) {
		free := func() *sticktest.Fixture { // nobody was named, and then b came
			return sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Releases().Waits("b")
		}
		f := free().After(sticktest.Grace - sticktest.Moment)
		sticktest.Equal(t, "while another waits", f.Asks("a").Status, "")
		sticktest.Equal(t, "looks again", f.Deadline("a"), sticktest.Moment)
		sticktest.Equal(t, "a grace later", f.After(sticktest.Moment).Asks("a").Claim, stick.OpenClaim)

		g := free().Alive("b").Gone("b")
		sticktest.Equal(t, "when the other is gone", g.Asks("a").Claim, stick.OpenClaim)
		h := free().Ends("b")
		sticktest.Equal(t, "when the other's wait ended", h.Asks("a").Claim, stick.OpenClaim)

		i := free().Parks("b")
		sticktest.Equal(t, "when the other only listens", i.Asks("a").Claim, stick.OpenClaim)
		j := free()
		sticktest.Equal(t, "not the other", j.Asks("b").Claim, stick.OpenClaim)
	})

	t.Run("it says since when the claimant has waited", func(t *testing.T) {
		since := func(f *sticktest.Fixture) stick.Time {
			return sticktest.Said[stick.ClaimPayload](f.Log[len(f.Log)-1]).WaitedSince
		}
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		sticktest.Equal(t, "who doesn't wait", since(f), 0)

		f.Waits("b").After(time.Minute).Passes("b").After(time.Second).Owns("b")
		sticktest.Equal(t, "who does", since(f), sticktest.Start)
		f.Ends("b").Releases().Waits("a").Owns("a")
		sticktest.Equal(t, "whose wait has only begun", since(f), 0)

		f.Parks("b").After(time.Minute).Ends("a").Releases().Owns("b")
		sticktest.Equal(t, "who waits for events only", since(f), 0)
		f.Releases().Waits("a").After(time.Minute).Ends("a").Owns("a")
		sticktest.Equal(t, "whose wait is over", since(f), 0)

		f.Releases().Waits("a").After(time.Minute).Owns("b")
		sticktest.Equal(t, "when another waits", since(f), 0)
	})

	t.Run("of a person's waits the oldest counts", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("human:x")
		for i, at := range []stick.Time{
			sticktest.Start.Add(-time.Minute),
			sticktest.Start.Add(-time.Hour),
			sticktest.Start.Add(-time.Second),
		} {
			id := stick.ListenerID(fmt.Sprint(i))
			f.Listeners, f.Probed.Listeners[id] = append(f.Listeners, stick.Listener{
				ID: id, Agent: "human:x", Purpose: stick.Work, StartedAt: at,
			}), stick.Alive
		}

		f.Owns("human:x")
		sticktest.Equal(t, "since", sticktest.Said[stick.ClaimPayload](f.Log[len(f.Log)-1]).WaitedSince,
			sticktest.Start.Add(-time.Hour))
	})

	t.Run("not by one who takes no part", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		f.Must(f.TryLeave(stick.Leaving{By: "a"}))
		for _, a := range []stick.AgentID{"a", "x"} {
			r, _, why := f.Claim(a, "l", f.Probed, f.Now)
			sticktest.Equal(t, "why", why, "")
			sticktest.Equal(t, "turn", r.Turn.ID, 0)
		}
	})

	t.Run("not in a closed room", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a")
		f.Must(f.TryClose(stick.Closing{By: "human:x", Person: true}))
		_, _, why := f.Claim("a", "l", f.Probed, f.Now)
		sticktest.Equal(t, "why", why, "")
	})
}

// No context is ever lost: every grant has the last handoff, and says how it came by it.
func TestTurnHandoff(t *testing.T) {
	left := func(t *testing.T) *sticktest.Fixture {
		return sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("b")
	}

	t.Run("a takeover of a reservation keeps it", func(t *testing.T) {
		f := left(t).After(sticktest.Claim)
		if _, err := f.Takes("c"); err != nil {
			t.Fatal(err)
		}
		sticktest.Equal(t, "pending", f.Turn.HandoffPending, false)
		sticktest.Equal(t, "direct", f.Turn.HandoffDirect, false)
		sticktest.Equal(t, "kept", f.Turn.HandoffSeq != 0, true)
	})

	t.Run("an abandoned turn gives it on, as recovery", func(t *testing.T) {
		f := left(t).Owns("b")
		seq := f.Turn.HandoffSeq
		f.Must(f.TryLeave(stick.Leaving{By: "b", Fence: f.Fence(), Abandon: "session ended"}))
		f.Owns("c")
		sticktest.Equal(t, "kept", f.Turn.HandoffSeq, seq)
		sticktest.Equal(t, "direct", f.Turn.HandoffDirect, false)
	})

	t.Run("anybody's leaving an idle room keeps it", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Releases()
		f.Must(f.TryLeave(stick.Leaving{By: "a"}))
		sticktest.Equal(t, "pending", f.Turn.HandoffPending, true)
		f.Owns("b")
		sticktest.Equal(t, "direct", f.Turn.HandoffDirect, true)
	})

	t.Run("so does the end of the world", func(t *testing.T) {
		f := left(t)
		f.Commit(f.Restore(stick.Generation{Number: 7, Cause: stick.RestoreCause}, f.Probed, f.Now))
		sticktest.Equal(t, "pending", f.Turn.HandoffPending, true)
		f.Owns("c")
		sticktest.Equal(t, "direct", f.Turn.HandoffDirect, true)
	})

	t.Run("and a closed room", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		f.Must(f.TryClose(stick.Closing{By: "a", Fence: f.Fence(), Handoff: &sticktest.Handoff}))
		f.WithMembers("b").Owns("b")
		sticktest.Equal(t, "direct", f.Turn.HandoffDirect, true)
		sticktest.Equal(t, "next action", f.Turn.NextAction, sticktest.Handoff.NextAction)
	})
}
