package stick_test

import (
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

// TestRoom_FirstPlan tests what the first plan of the program asked for, as far as it is a rule. Each test has
// the words of the plan. If the design has changed the rule since, a comment says how, and the test shows the
// new rule.
func TestRoom_FirstPlan(t *testing.T) {
	// A release names a live listener; naming the next active member left the stick with those who
	// weren't waiting.
	t.Run("happy path: join, idle claim, release with handoff, reserved recipient claims", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Waits("b").Releases()
		sticktest.Equal(t, "reserved for", f.Turn.ReservedFor, "b")
		ans := f.Asks("b")
		sticktest.Equal(t, "reason", ans.Claim, stick.InSequence)
		sticktest.Equal(t, "handoff", f.Turn.HandoffDirect, true)
	})

	t.Run("handoff validation errors", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
		_, err := f.TryRelease("a", f.Fence(), stick.Handoff{Status: "s", NextAction: " "})
		sticktest.Refused(t, err, stick.CodeInvalidHandoff, map[string]any{"field": "next_action"})
	})

	t.Run("stale leases", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
		_, err := f.TryRelease("a", stick.Fence{Turn: 1, Lease: "old"}, sticktest.Handoff)
		sticktest.Refused(t, err, stick.CodeStaleLease, map[string]any{
			"current_owner": "a", "current_turn_id": 1, "room_state": stick.Owned,
		})
	})

	t.Run("turn mismatch rejection", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
		_, err := f.TryRelease("a", stick.Fence{Turn: 0, Lease: "lease-1"}, sticktest.Handoff)
		sticktest.Refused(t, err, stick.CodeTurnMismatch, map[string]any{"current_turn_id": 1})
	})

	// Several processes at once are tested where there are processes; by the rules the second finds
	// the room owned.
	t.Run("simultaneous claims", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		sticktest.Equal(t, "the second", f.Peeks("b").Status, "")
		sticktest.Equal(t, "turn", f.Turn.ID, 1)
	})

	t.Run("explicit pass", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("c")
		sticktest.Equal(t, "reason", f.Peeks("c").Claim, stick.DirectPass)
	})

	t.Run("pass to unknown or inactive member rejection", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		_, err := f.TryPass("x")
		sticktest.Refused(t, err, stick.CodeUnknownMember, nil)
		f.After(f.Policy.PresenceTTL)
		_, err = f.TryPass("b")
		sticktest.Refused(t, err, stick.CodeUnknownMember, nil)
	})

	// Of those who wait; and it is the order of a room that asks for it.
	t.Run("release sequence", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").WithPolicy("order=sequence").Owns("a")
		for _, next := range []stick.AgentID{"b", "c", "a", "b"} {
			f.Waits("a", "b", "c").Ends(f.Turn.Owner).Releases()
			sticktest.Equal(t, "reserved for", f.Turn.ReservedFor, next)
			f.Asks(next)
		}
	})

	// Only a pass is reserved for so long. A release moves on by itself after waiter_grace.
	t.Run("claim timeout and takeover", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("b").After(sticktest.Claim)
		ans := f.Peeks("c")
		sticktest.Equal(t, "status", ans.Status, stick.TakeoverAvailable)
		sticktest.Equal(t, "cause", ans.Opening.Cause, stick.ClaimTimeout)
		why, _ := f.Takes("c")
		sticktest.Equal(t, "why", why, stick.TookOver)
	})

	// A candidate is one who waits, and the guard lasts waiter_grace.
	t.Run("prior owner rejected on claim-timeout takeover when another active candidate exists", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Waits("c").Owns("a").Passes("b").After(sticktest.Claim)
		_, err := f.Takes("a")
		sticktest.Refused(t, err, stick.CodePriorOwner, nil)
	})

	t.Run("prior owner allowed on claim-timeout takeover when no other active candidate exists", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("b").After(sticktest.Claim)
		why, err := f.Takes("a")
		sticktest.Equal(t, "why", why, stick.TookOver)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
	})

	t.Run("owner timeout and takeover", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").After(sticktest.Limit)
		sticktest.Equal(t, "status", f.Peeks("b").Status, stick.TakeoverAvailable)
		why, _ := f.Takes("b")
		sticktest.Equal(t, "why", why, stick.TookOver)
	})

	t.Run("owner-timeout takeover fences stale owner writes", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		old := f.Fence()
		f.After(sticktest.Limit)
		if _, err := f.Takes("b"); err != nil {
			t.Fatal(err)
		}
		_, err := f.TryRelease("a", old, sticktest.Handoff)
		sticktest.Refused(t, err, stick.CodeTurnMismatch, map[string]any{"current_owner": "b", "current_turn_id": 2})
	})

	t.Run("owner process gone yields immediate owner_gone takeover availability", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Gone("a")
		sticktest.Equal(t, "state", f.State(f.Probed, f.Now), stick.StateOwnerGone)
		sticktest.Equal(t, "cause", f.Peeks("b").Opening.Cause, stick.OwnerGone)
	})

	// A wait doesn't offer it: the reservation moves on by itself. `take` finds it open.
	t.Run("reserved recipient process gone yields immediate recipient_gone takeover availability", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("b").Gone("b")
		sticktest.Equal(t, "state", f.State(f.Probed, f.Now), stick.StateRecipientGone)
		g := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("b").Gone("b")
		why, _ := g.Takes("c")
		sticktest.Equal(t, "take", why, stick.TookOver)
		sticktest.Equal(t, "a wait", f.Peeks("c").Status, stick.YourTurn)
	})

	t.Run("original reserved recipient claiming after claim timeout but before takeover", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("b").After(sticktest.Claim + time.Hour)
		sticktest.Equal(t, "reason", f.Peeks("b").Claim, stick.DirectPass)
	})

	t.Run("expired owner heartbeating after lease timeout but before takeover", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").After(sticktest.Limit + time.Hour)
		r, err := f.Heartbeat("a", f.Fence(), "", f.Now)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
		sticktest.Equal(t, "open", r.Opening(f.Probed, f.Now).Open(), false)
	})

	// Gone opens and doesn't bar: the same session may come back in a new process, as long as
	// nobody has taken over.
	t.Run("dead owner or dead reserved recipient cannot reclaim after exact process-gone detection", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Gone("a")
		f.Settles("b")
		f.Alive("a")
		f.Room = f.Touch("a", f.Now)
		sticktest.Equal(t, "open", f.OpeningCause(), "")
		sticktest.Equal(t, "the owner that came back", f.Peeks("a").Claim, stick.AlreadyOwner)

		f.Gone("a")
		if _, err := f.Takes("b"); err != nil {
			t.Fatal(err)
		}
		f.Alive("a")
		sticktest.Equal(t, "after the takeover", f.Peeks("a").Status, "")
	})

	t.Run("dormant rooms remain readable and resumable, rather than auto-closing", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Releases().After(1000 * time.Hour)
		sticktest.Equal(t, "state", f.State(f.Probed, f.Now), stick.StateDormant)
		sticktest.Equal(t, "resumed", f.Peeks("b").Status, stick.YourTurn)
		sticktest.Equal(t, "with the handoff", f.Turn.HandoffDirect, true)
	})

	t.Run("event log reconstruction after takeover", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Passes("b").Owns("b").After(sticktest.Limit)
		if _, err := f.Takes("a"); err != nil {
			t.Fatal(err)
		}
		var found *stick.Handoff
		for _, e := range f.Log {
			if e.Seq == f.Turn.HandoffSeq {
				found = e.Handoff
			}
		}
		sticktest.Equal(t, "the last handoff is in the log",
			found != nil && found.NextAction == sticktest.Handoff.NextAction, true)
	})
}

// TestExamples plays the examples of the first plan.
func TestExamples(t *testing.T) {
	agents := func(t *testing.T) *sticktest.Fixture {
		return sticktest.NewRoom(t).WithMembers("codex", "claude", "gemini").WithPolicy("order=sequence")
	}

	t.Run("three-agent round robin", func(t *testing.T) {
		f := agents(t).Owns("codex")
		for _, next := range []stick.AgentID{"claude", "gemini", "codex"} {
			f.Waits("codex", "claude", "gemini").Releases()
			sticktest.Equal(t, "reserved for", f.Turn.ReservedFor, next)
			f.Asks(next)
			sticktest.Equal(t, "handoff", f.Turn.HandoffDirect, true)
		}
	})

	t.Run("explicit skip", func(t *testing.T) {
		f := agents(t).Owns("codex").Passes("gemini").Owns("gemini").Waits("codex", "claude").Releases()
		sticktest.Equal(t, "resumes from gemini", f.Turn.ReservedFor, "codex")
	})

	// A release that isn't claimed moves on by itself; it is a pass that has to be taken over.
	t.Run("missed recipient", func(t *testing.T) {
		f := agents(t).Owns("codex").Waits("gemini").Passes("claude").After(sticktest.Claim)
		_, err := f.Takes("codex")
		sticktest.Refused(t, err, stick.CodePriorOwner, nil)
		if _, err := f.Takes("gemini"); err != nil {
			t.Fatal(err)
		}
		sticktest.Equal(t, "turn", f.Turn.ID, 2)
		sticktest.Equal(t, "claude wakes up late", f.Peeks("claude").Status, "")
		sticktest.Equal(t, "codex's handoff is still the last", f.Turn.HandoffSeq != 0, true)
	})

	t.Run("crashed owner", func(t *testing.T) {
		f := agents(t).Owns("codex").Passes("claude").Owns("claude")
		old := f.Fence()
		f.After(sticktest.Limit)
		sticktest.Equal(t, "state", f.State(f.Probed, f.Now), stick.StateStaleOwner)

		if _, err := f.Takes("codex"); err != nil {
			t.Fatal(err)
		}
		_, err := f.TryRelease("claude", old, sticktest.Handoff)
		sticktest.Refused(t, err, stick.CodeTurnMismatch, map[string]any{"current_owner": "codex"})
	})

	t.Run("two-process concurrent claim", func(t *testing.T) {
		f := agents(t).Owns("claude")
		sticktest.Equal(t, "codex", f.Peeks("codex").Status, "")
		sticktest.Equal(t, "owner", f.Turn.Owner, "claude")
	})
}
