package stick

import (
	"fmt"
	"testing"
	"time"
)

func TestTurnClaim(t *testing.T) {
	t.Run("an idle room", func(t *testing.T) {
		f := room(t).member("a")
		ans := f.try("a")
		equal(t, "status", ans.Status, YourTurn)
		equal(t, "reason", ans.Claim, OpenClaim)
		equal(t, "turn", f.Turn.ID, 1)
		equal(t, "lease", f.Turn.Lease, "lease-1")
		equal(t, "a first turn carries no handoff", f.Turn.HandoffDirect, false)
	})
	t.Run("a pass", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").passes("b")
		equal(t, "others", f.try("a").Status, "")
		ans := f.try("b")
		equal(t, "reason", ans.Claim, DirectPass)
		equal(t, "handoff", f.Turn.HandoffDirect, true)
		equal(t, "the event names the handoff", said[ClaimPayload](f.log[len(f.log)-1]).HandoffSeq, f.Turn.HandoffSeq)
	})
	t.Run("asking again gives the same turn, lease and handoff", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").passes("b").owns("b")
		before := f.Turn
		for range 3 {
			ans := f.after(limit).ask("b")
			equal(t, "reason", ans.Claim, AlreadyOwner)
			equal(t, "changed", ans.Changed, false)
		}
		equal(t, "turn", f.Turn, before)
	})
	t.Run("the prior owner is deferred", func(t *testing.T) {
		free := func() *fixture { // nobody was named, and then b came
			return room(t).member("a", "b").owns("a").releases().waits("b")
		}
		f := free().after(grace - ms)
		equal(t, "while another waits", f.ask("a").Status, "")
		equal(t, "looks again", f.deadline("a"), ms)
		equal(t, "a grace later", f.after(ms).ask("a").Claim, OpenClaim)
		g := free().alive("b").gone("b")
		equal(t, "when the other is gone", g.ask("a").Claim, OpenClaim)
		h := free().ends("b")
		equal(t, "when the other's wait ended", h.ask("a").Claim, OpenClaim)
		i := free().parks("b")
		equal(t, "when the other only listens", i.ask("a").Claim, OpenClaim)
		j := free()
		equal(t, "not the other", j.ask("b").Claim, OpenClaim)
	})
	t.Run("it says since when the claimant has waited", func(t *testing.T) {
		since := func(f *fixture) Time { return said[ClaimPayload](f.log[len(f.log)-1]).WaitedSince }
		f := room(t).member("a", "b").owns("a")
		equal(t, "who doesn't wait", since(f), 0)
		f.waits("b").after(time.Minute).passes("b").after(time.Second).owns("b")
		equal(t, "who does", since(f), start)
		f.ends("b").releases().waits("a").owns("a")
		equal(t, "whose wait has only begun", since(f), 0)
		f.parks("b").after(time.Minute).ends("a").releases().owns("b")
		equal(t, "who waits for events only", since(f), 0)
		f.releases().waits("a").after(time.Minute).ends("a").owns("a")
		equal(t, "whose wait is over", since(f), 0)
		f.releases().waits("a").after(time.Minute).owns("b")
		equal(t, "when another waits", since(f), 0)
	})
	t.Run("of a person's waits the oldest counts", func(t *testing.T) {
		f := room(t).member("human:x")
		for i, at := range []Time{start.Add(-time.Minute), start.Add(-time.Hour), start.Add(-time.Second)} {
			id := ListenerID(fmt.Sprint(i))
			f.Listeners, f.s.Listeners[id] = append(f.Listeners, Listener{ID: id, Agent: "human:x", Purpose: Work, StartedAt: at}), Alive
		}
		f.owns("human:x")
		equal(t, "since", said[ClaimPayload](f.log[len(f.log)-1]).WaitedSince, start.Add(-time.Hour))
	})
	t.Run("not by one who takes no part", func(t *testing.T) {
		f := room(t).member("a", "b")
		f.must(f.leave(Leaving{By: "a"}))
		for _, a := range []AgentID{"a", "x"} {
			r, _, why := f.Claim(a, "l", f.s, f.now)
			equal(t, "why", why, "")
			equal(t, "turn", r.Turn.ID, 0)
		}
	})
	t.Run("not in a closed room", func(t *testing.T) {
		f := room(t).member("a")
		f.must(f.close(Closing{By: "human:x", Person: true}))
		_, _, why := f.Claim("a", "l", f.s, f.now)
		equal(t, "why", why, "")
	})
}

// No context is ever lost: every grant has the last handoff, and says how it came by it.
func TestTurnHandoff(t *testing.T) {
	left := func(t *testing.T) *fixture {
		return room(t).member("a", "b", "c").owns("a").passes("b")
	}
	t.Run("a takeover of a reservation keeps it", func(t *testing.T) {
		f := left(t).after(claim)
		if _, err := f.takes("c"); err != nil {
			t.Fatal(err)
		}
		equal(t, "pending", f.Turn.HandoffPending, false)
		equal(t, "direct", f.Turn.HandoffDirect, false)
		equal(t, "kept", f.Turn.HandoffSeq != 0, true)
	})
	t.Run("an abandoned turn gives it on, as recovery", func(t *testing.T) {
		f := left(t).owns("b")
		seq := f.Turn.HandoffSeq
		f.must(f.leave(Leaving{By: "b", Fence: f.fence(), Abandon: "session ended"}))
		f.owns("c")
		equal(t, "kept", f.Turn.HandoffSeq, seq)
		equal(t, "direct", f.Turn.HandoffDirect, false)
	})
	t.Run("anybody's leaving an idle room keeps it", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").releases()
		f.must(f.leave(Leaving{By: "a"}))
		equal(t, "pending", f.Turn.HandoffPending, true)
		f.owns("b")
		equal(t, "direct", f.Turn.HandoffDirect, true)
	})
	t.Run("so does the end of the world", func(t *testing.T) {
		f := left(t)
		f.commit(f.Restore(Generation{Number: 7, Cause: RestoreCause}, f.s, f.now))
		equal(t, "pending", f.Turn.HandoffPending, true)
		f.owns("c")
		equal(t, "direct", f.Turn.HandoffDirect, true)
	})
	t.Run("and a closed room", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		f.must(f.close(Closing{By: "a", Fence: f.fence(), Handoff: &handoff}))
		f.member("b").owns("b")
		equal(t, "direct", f.Turn.HandoffDirect, true)
		equal(t, "next action", f.Turn.NextAction, handoff.NextAction)
	})
}
