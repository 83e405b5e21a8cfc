package stick

import (
	"testing"
	"time"
)

// TestFirstSlice tests what the first plan of the program asked for, as far as it is a rule. Each test has
// the words of the plan. If the design has changed the rule since, a comment says how, and the test shows the
// new rule.
func TestFirstSlice(t *testing.T) {
	// A release names a live listener; naming the next active member left the stick with those who
	// weren't waiting.
	t.Run("happy path: join, idle claim, release with handoff, reserved recipient claims", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").waits("b").releases()
		equal(t, "reserved for", f.Turn.ReservedFor, "b")
		ans := f.ask("b")
		equal(t, "reason", ans.Claim, InSequence)
		equal(t, "handoff", f.Turn.HandoffDirect, true)
	})
	t.Run("handoff validation errors", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		_, err := f.release("a", f.fence(), Handoff{Status: "s", NextAction: " "})
		refused(t, err, CodeInvalidHandoff, map[string]any{"field": "next_action"})
	})
	t.Run("stale leases", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		_, err := f.release("a", Fence{1, "old"}, handoff)
		refused(t, err, CodeStaleLease, map[string]any{"current_owner": "a", "current_turn_id": 1, "room_state": Owned})
	})
	t.Run("turn mismatch rejection", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		_, err := f.release("a", Fence{0, "lease-1"}, handoff)
		refused(t, err, CodeTurnMismatch, map[string]any{"current_turn_id": 1})
	})
	// Several processes at once are tested where there are processes; by the rules the second finds
	// the room owned.
	t.Run("simultaneous claims", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		equal(t, "the second", f.try("b").Status, "")
		equal(t, "turn", f.Turn.ID, 1)
	})
	t.Run("explicit pass", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").passes("c")
		equal(t, "reason", f.try("c").Claim, DirectPass)
	})
	t.Run("pass to unknown or inactive member rejection", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		_, err := f.pass("x")
		refused(t, err, CodeUnknownMember, nil)
		f.after(f.Policy.PresenceTTL)
		_, err = f.pass("b")
		refused(t, err, CodeUnknownMember, nil)
	})
	// Of those who wait; and it is the order of a room that asks for it.
	t.Run("release sequence", func(t *testing.T) {
		f := room(t).member("a", "b", "c").policy("order=sequence").owns("a")
		for _, next := range []AgentID{"b", "c", "a", "b"} {
			f.waits("a", "b", "c").ends(f.Turn.Owner).releases()
			equal(t, "reserved for", f.Turn.ReservedFor, next)
			f.ask(next)
		}
	})
	// Only a pass is reserved for so long. A release moves on by itself after waiter_grace.
	t.Run("claim timeout and takeover", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").passes("b").after(claim)
		ans := f.try("c")
		equal(t, "status", ans.Status, TakeoverAvailable)
		equal(t, "cause", ans.Opening.Cause, ClaimTimeout)
		why, _ := f.takes("c")
		equal(t, "why", why, TookOver)
	})
	// A candidate is one who waits, and the guard lasts waiter_grace.
	t.Run("prior owner rejected on claim-timeout takeover when another active candidate exists", func(t *testing.T) {
		f := room(t).member("a", "b", "c").waits("c").owns("a").passes("b").after(claim)
		_, err := f.takes("a")
		refused(t, err, CodePriorOwner, nil)
	})
	t.Run("prior owner allowed on claim-timeout takeover when no other active candidate exists", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").passes("b").after(claim)
		why, err := f.takes("a")
		equal(t, "why", why, TookOver)
		equal(t, "error", CodeOf(err), "")
	})
	t.Run("owner timeout and takeover", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").after(limit)
		equal(t, "status", f.try("b").Status, TakeoverAvailable)
		why, _ := f.takes("b")
		equal(t, "why", why, TookOver)
	})
	t.Run("owner-timeout takeover fences stale owner writes", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		old := f.fence()
		f.after(limit)
		if _, err := f.takes("b"); err != nil {
			t.Fatal(err)
		}
		_, err := f.release("a", old, handoff)
		refused(t, err, CodeTurnMismatch, map[string]any{"current_owner": "b", "current_turn_id": 2})
	})
	t.Run("owner process gone yields immediate owner_gone takeover availability", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").gone("a")
		equal(t, "state", f.State(f.s, f.now), StateOwnerGone)
		equal(t, "cause", f.try("b").Opening.Cause, OwnerGone)
	})
	// A wait doesn't offer it: the reservation moves on by itself. `take` finds it open.
	t.Run("reserved recipient process gone yields immediate recipient_gone takeover availability", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").passes("b").gone("b")
		equal(t, "state", f.State(f.s, f.now), StateRecipientGone)
		g := room(t).member("a", "b", "c").owns("a").passes("b").gone("b")
		why, _ := g.takes("c")
		equal(t, "take", why, TookOver)
		equal(t, "a wait", f.try("c").Status, YourTurn)
	})
	t.Run("original reserved recipient claiming after claim timeout but before takeover", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").passes("b").after(claim + time.Hour)
		equal(t, "reason", f.try("b").Claim, DirectPass)
	})
	t.Run("expired owner heartbeating after lease timeout but before takeover", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").after(limit + time.Hour)
		r, err := f.Heartbeat("a", f.fence(), "", f.now)
		equal(t, "error", CodeOf(err), "")
		equal(t, "open", r.Opening(f.s, f.now).Open(), false)
	})
	// Gone opens and doesn't bar: the same session may come back in a new process, as long as
	// nobody has taken over.
	t.Run("dead owner or dead reserved recipient cannot reclaim after exact process-gone detection", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").gone("a")
		f.settle("b")
		f.alive("a")
		f.Room = f.Touch("a", f.now)
		equal(t, "open", f.opening(), "")
		equal(t, "the owner that came back", f.try("a").Claim, AlreadyOwner)
		f.gone("a")
		if _, err := f.takes("b"); err != nil {
			t.Fatal(err)
		}
		f.alive("a")
		equal(t, "after the takeover", f.try("a").Status, "")
	})
	t.Run("dormant rooms remain readable and resumable, rather than auto-closing", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").releases().after(1000 * time.Hour)
		equal(t, "state", f.State(f.s, f.now), StateDormant)
		equal(t, "resumed", f.try("b").Status, YourTurn)
		equal(t, "with the handoff", f.Turn.HandoffDirect, true)
	})
	t.Run("event log reconstruction after takeover", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").passes("b").owns("b").after(limit)
		if _, err := f.takes("a"); err != nil {
			t.Fatal(err)
		}
		var found *Handoff
		for _, e := range f.log {
			if e.Seq == f.Turn.HandoffSeq {
				found = e.Handoff
			}
		}
		equal(t, "the last handoff is in the log", found != nil && found.NextAction == handoff.NextAction, true)
	})
}

// TestExamples plays the examples of the first plan.
func TestExamples(t *testing.T) {
	agents := func(t *testing.T) *fixture {
		return room(t).member("codex", "claude", "gemini").policy("order=sequence")
	}
	t.Run("three-agent round robin", func(t *testing.T) {
		f := agents(t).owns("codex")
		for _, next := range []AgentID{"claude", "gemini", "codex"} {
			f.waits("codex", "claude", "gemini").releases()
			equal(t, "reserved for", f.Turn.ReservedFor, next)
			f.ask(next)
			equal(t, "handoff", f.Turn.HandoffDirect, true)
		}
	})
	t.Run("explicit skip", func(t *testing.T) {
		f := agents(t).owns("codex").passes("gemini").owns("gemini").waits("codex", "claude").releases()
		equal(t, "resumes from gemini", f.Turn.ReservedFor, "codex")
	})
	// A release that isn't claimed moves on by itself; it is a pass that has to be taken over.
	t.Run("missed recipient", func(t *testing.T) {
		f := agents(t).owns("codex").waits("gemini").passes("claude").after(claim)
		_, err := f.takes("codex")
		refused(t, err, CodePriorOwner, nil)
		if _, err := f.takes("gemini"); err != nil {
			t.Fatal(err)
		}
		equal(t, "turn", f.Turn.ID, 2)
		equal(t, "claude wakes up late", f.try("claude").Status, "")
		equal(t, "codex's handoff is still the last", f.Turn.HandoffSeq != 0, true)
	})
	t.Run("crashed owner", func(t *testing.T) {
		f := agents(t).owns("codex").passes("claude").owns("claude")
		old := f.fence()
		f.after(limit)
		equal(t, "state", f.State(f.s, f.now), StateStaleOwner)
		if _, err := f.takes("codex"); err != nil {
			t.Fatal(err)
		}
		_, err := f.release("claude", old, handoff)
		refused(t, err, CodeTurnMismatch, map[string]any{"current_owner": "codex"})
	})
	t.Run("two-process concurrent claim", func(t *testing.T) {
		f := agents(t).owns("claude")
		equal(t, "codex", f.try("codex").Status, "")
		equal(t, "owner", f.Turn.Owner, "claude")
	})
}
