package stick

import (
	"testing"
	"time"
)

func TestTurnFence(t *testing.T) {
	for name, call := range fencedCalls {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				situation string
				by        AgentID
				fence     Fence
				code      Code
			}{
				{"an earlier turn", "a", Fence{0, "lease-1"}, CodeTurnMismatch},
				{"an earlier turn and another lease", "a", Fence{0, "x"}, CodeTurnMismatch},
				{"another's turn id", "b", Fence{0, "lease-1"}, CodeTurnMismatch},
				{"another lease", "a", Fence{1, "x"}, CodeStaleLease},
				{"no lease", "a", Fence{1, ""}, CodeStaleLease},
				{"another agent", "b", Fence{1, "lease-1"}, CodeStaleLease},
			} {
				t.Run(c.situation, func(t *testing.T) {
					f := room(t).member("a", "b").owns("a")
					r, events, err := call(f.Room, c.by, c.fence, "b", f.s, f.now)
					refused(t, err, c.code, map[string]any{"current_owner": "a", "current_turn_id": 1, "room_state": Owned})
					if len(AsError(err).Hint) == 0 {
						t.Error("it doesn't say what to do instead")
					}
					equal(t, "events", len(events), 0)
					equal(t, "unchanged", sameRoom(r, f.Room), true)
				})
			}
			t.Run("a turn that was given back", func(t *testing.T) {
				f := room(t).member("a", "b").owns("a")
				old := f.fence()
				f.passes("b")
				_, _, err := call(f.Room, "a", old, "b", f.s, f.now)
				refused(t, err, CodeStaleLease, map[string]any{"current_owner": nil, "reserved_for": "b", "room_state": Reserved})
			})
		})
	}
}

// TestTheHolderIsntToldToWait: an agent that names another turn or lease than its own current ones has the stick, so it
// is told how to repeat the command, and only others are told to wait.
func TestTheHolderIsntToldToWait(t *testing.T) {
	const repeat = "repeat it with the turn and lease of turn 2; tt try shows them"
	f := room(t).member("a", "b").owns("a").releases().owns("a")
	lease := f.fence().Lease
	for _, c := range []struct {
		by            AgentID
		fence         Fence
		message, hint string
	}{
		{"a", Fence{1, lease}, "turn 1 is over; you hold turn 2", repeat},
		{"a", Fence{7, lease}, "there is no turn 7 yet; you hold turn 2", repeat},
		{"a", Fence{2, "x"}, "you hold turn 2, but that isn't its lease", repeat},
		{"b", Fence{1, "x"}, "turn 1 is over; a has just taken the stick; its next action: do the other half", `stop, and wait: tt wait; ask: tt msg send a "…"`},
	} {
		_, err := f.Heartbeat(c.by, c.fence, f.s, f.now)
		says(t, err, c.message, c.hint)
	}
	f.releases()
	_, err := f.Heartbeat("a", Fence{2, lease}, f.s, f.now)
	says(t, err, "that isn't the lease of turn 2; nobody holds the stick", "stop, and wait for your turn: tt wait")
	_, err = f.Heartbeat("a", Fence{1, lease}, f.s, f.now)
	says(t, err, "turn 1 is over; nobody holds the stick", "stop, and wait for your turn: tt wait")
}

func TestTurnHeartbeat(t *testing.T) {
	t.Run("renews where nothing is proved", func(t *testing.T) {
		f := room(t).member("a").owns("a").after(limit + time.Hour)
		equal(t, "before", f.opening(), OwnerTimeout)
		r, err := f.Heartbeat("a", f.fence(), f.s, f.now)
		equal(t, "error", CodeOf(err), "")
		equal(t, "lease", r.LeaseExpiresAt(f.s), f.now.Add(limit))
		equal(t, "kept by", r.LeaseKeptBy(f.s), KeptByHeartbeat)
	})
	t.Run("changes nothing where a process keeps the lease", func(t *testing.T) {
		f := room(t).member("a").alive("a").owns("a").after(time.Hour)
		r, err := f.Heartbeat("a", f.fence(), f.s, f.now)
		equal(t, "error", CodeOf(err), "")
		equal(t, "renewed at", r.Turn.RenewedAt, 0)
		equal(t, "lease", r.LeaseExpiresAt(f.s), 0)
		equal(t, "kept by", r.LeaseKeptBy(f.s), KeptByProcess)
	})
	t.Run("after the clock went back", func(t *testing.T) {
		f := room(t).member("a").owns("a").after(-time.Hour)
		equal(t, "before", f.opening(), OwnerTimeout)
		r, _ := f.Heartbeat("a", f.fence(), f.s, f.now)
		equal(t, "after", r.Opening(f.s, f.now).Cause, "")
		equal(t, "lease", r.LeaseExpiresAt(f.s), f.now.Add(limit))
	})
}

func TestTurnRenew(t *testing.T) {
	f := room(t).member("a", "b").owns("a").after(limit - time.Minute)
	r, err := f.Renew("a", f.fence(), 42, f.now)
	equal(t, "error", CodeOf(err), "")
	equal(t, "kept by", r.LeaseKeptBy(f.s), KeptByGuardian)
	equal(t, "guardian", r.Turn.GuardianPID, 42)
	equal(t, "lease", r.LeaseExpiresAt(f.s), f.now.Add(limit))
	t.Run("is no activity", func(t *testing.T) {
		f.Room = r
		f.waits("b").after(time.Minute)
		equal(t, "told", f.ask("b").Changed, true)
		equal(t, "open", f.after(grace).opening(), OwnerIdle)
	})
	t.Run("ends with the guardian", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		f.Room, _ = f.Renew("a", f.fence(), 42, f.now)
		equal(t, "open", f.after(limit).opening(), OwnerTimeout)
	})
	t.Run("ends with the turn", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		f.Room, _ = f.Renew("a", f.fence(), 42, f.now)
		f.releases().owns("b")
		equal(t, "guardian", f.Turn.GuardianPID, 0)
	})
}

func TestTouch(t *testing.T) {
	f := room(t).member("a", "b").alive("a").owns("a").gone("a")
	f.settle("b")
	f.alive("a").after(time.Minute)
	r := f.Touch("a", f.now)
	equal(t, "acknowledged", r.Turn.Acked, true)
	equal(t, "opened at", r.Turn.OpenedAt, 0)
	m, _ := r.Member("a")
	equal(t, "last seen", m.LastSeenAt, f.now)
	b, _ := f.Member("a")
	equal(t, "the given room", b.LastSeenAt, start)
	equal(t, "another's call", f.Touch("b", f.now).Turn.Acked, false)
}

func TestRestore(t *testing.T) {
	t.Run("ends a lease", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").passes("b").owns("b")
		seq := f.Turn.HandoffSeq
		e := f.commit(f.Restore(5, "reboot", f.now))[0]
		equal(t, "state", f.Turn.State, Idle)
		equal(t, "ends a turn", said[RestoredPayload](e).Ends, true)
		equal(t, "prior", said[RestoredPayload](e).Prior, "b")
		equal(t, "world", said[RestoredPayload](e).World, "reboot")
		equal(t, "turn", f.Turn.ID, 2+RestoreSkip)
		equal(t, "handoff", f.Turn.HandoffSeq, seq)
		f.owns("b")
		equal(t, "the next turn", f.Turn.ID, 3+RestoreSkip)
	})
	t.Run("ends a reservation", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").passes("b")
		e := f.commit(f.Restore(5, "restore", f.now))[0]
		equal(t, "ends a turn", said[RestoredPayload](e).Ends, false)
		equal(t, "for", e.To, "b")
		equal(t, "state", f.Turn.State, Idle)
	})
	t.Run("once", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		f.commit(f.Restore(5, "reboot", f.now))
		_, events := f.Restore(5, "reboot", f.now)
		equal(t, "events", len(events), 0)
	})
	t.Run("is seen before it is written", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		equal(t, "state", f.AtGeneration(5, f.now).State(f.s, f.now), StateIdle)
		equal(t, "state in its own world", f.AtGeneration(0, f.now).State(f.s, f.now), StateOwned)
	})
}
