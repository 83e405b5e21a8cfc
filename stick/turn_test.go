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

// TestTheHolderIsntToldToWait: an agent that names another turn or lease than its own current ones has the
// stick, so it is told how to repeat the command, and only others are told to wait.
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
		{"b", Fence{1, "x"}, "turn 1 is over; a has just taken the stick", `stop, and wait: tt wait; ask: tt msg send a "…"`},
	} {
		_, err := f.Heartbeat(c.by, c.fence, ProvesSession, f.now)
		says(t, err, c.message, c.hint)
	}
	f.releases()
	_, err := f.Heartbeat("a", Fence{2, lease}, "", f.now)
	says(t, err, "that isn't the lease of turn 2; nobody holds the stick", "stop, and wait for your turn: tt wait")
	_, err = f.Heartbeat("a", Fence{1, lease}, "", f.now)
	says(t, err, "turn 1 is over; nobody holds the stick", "stop, and wait for your turn: tt wait")
}

// TestAStaleGrantIsAnsweredForItsCaller: whoever the stick is reserved for takes its turn, and whoever was
// removed has to be let in again before it can wait; a person needs to ask nobody for that.
func TestAStaleGrantIsAnsweredForItsCaller(t *testing.T) {
	f := room(t).member("a", "b", "human:pat").owns("a").passes("b")
	for _, c := range []struct {
		by     AgentID
		kicked bool
		hint   string
	}{
		{"a", false, "stop, and wait for your turn: tt wait"},
		{"b", false, "take your turn: tt wait"},
		{"a", true, "stop; ask a person; on their word: tt join"},
		{"human:pat", true, "stop; to come back: tt join"},
	} {
		r := f.Room
		if c.kicked {
			next, _, err := r.Kick(Kicking{By: "b", Who: c.by, Force: true}, f.s, f.now)
			if err != nil {
				t.Fatal(err)
			}
			r = next
		}
		equal(t, string(c.by), r.FencedStep(c.by).String(), c.hint)
	}
}

func TestTurnHeartbeat(t *testing.T) {
	t.Run("renews where nothing is proved", func(t *testing.T) {
		f := room(t).member("a").owns("a").after(limit + time.Hour)
		equal(t, "before", f.opening(), OwnerTimeout)
		r, err := f.Heartbeat("a", f.fence(), "", f.now)
		equal(t, "error", CodeOf(err), "")
		equal(t, "lease", r.LeaseExpiresAt(f.s, f.now), f.now.Add(limit))
		equal(t, "kept by", r.LeaseKeptBy(f.s, f.now), KeptByHeartbeat)
	})
	t.Run("renews where others may not see the process that keeps the lease", func(t *testing.T) {
		f := room(t).member("a").alive("a").owns("a").after(time.Hour)
		r, err := f.Heartbeat("a", f.fence(), ProvesSession, f.now)
		equal(t, "error", CodeOf(err), "")
		equal(t, "renewed at", r.Turn.RenewedAt, f.now)
		equal(t, "lease", r.LeaseExpiresAt(f.s, f.now), 0)
		equal(t, "kept by", r.LeaseKeptBy(f.s, f.now), KeptByProcess)
		f.Room = r
		f.process("a", ProvesSession, Unknown)
		equal(t, "where it isn't seen", f.LeaseExpiresAt(f.s, f.now), f.now.Add(limit))
	})
	t.Run("leaves the renewals of a guardian alone", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		f.Room, _ = f.Renew("a", f.fence(), 42, Process{PID: 1}, f.now)
		at := f.now
		f.after(time.Minute)
		f.Room, _ = f.Heartbeat("a", f.fence(), "", f.now)
		equal(t, "renewed at", f.Turn.RenewedAt, at)
	})
	t.Run("after the clock went back", func(t *testing.T) {
		f := room(t).member("a").owns("a").after(-time.Hour)
		equal(t, "before", f.opening(), OwnerTimeout)
		r, _ := f.Heartbeat("a", f.fence(), "", f.now)
		equal(t, "after", r.Opening(f.s, f.now).Cause, "")
		equal(t, "lease", r.LeaseExpiresAt(f.s, f.now), f.now.Add(limit))
	})
}

// An owner whose process keeps the lease says by heartbeats that it isn't idle.
func TestHeartbeatsEndIdleness(t *testing.T) {
	idle := func(t *testing.T) *fixture {
		f := room(t).member("a", "b").alive("a").owns("a").after(limit)
		f.ask("b")
		return f.after(grace)
	}
	beat := func(f *fixture, proof Proof) *fixture {
		f.Room, _ = f.Heartbeat("a", f.fence(), proof, f.now)
		return f
	}
	for _, proof := range []Proof{ProvesSession, ProvesTurn} {
		t.Run("from a process that proves the "+string(proof), func(t *testing.T) {
			f := idle(t)
			equal(t, "before", f.opening(), OwnerIdle)
			equal(t, "after", beat(f, proof).opening(), "")
			equal(t, "idle at", f.IdleAt(f.s, f.now), f.now.Add(limit))
			equal(t, "a wait's deadline", f.deadline("b"), limit)
			_, err := f.takes("b")
			refused(t, err, CodeTakeoverNotAvailable, nil)
			f.after(limit - ms).ask("b")
			equal(t, "told before the new limit", f.Turn.IdleNoticeAt, start.Add(limit))
			f.after(ms).ask("b")
			equal(t, "told at the new limit", f.Turn.IdleNoticeAt, f.now)
			equal(t, "idle since", f.Turn.IdleSince, f.now.Add(-limit))
			equal(t, "a grace later", f.after(grace).opening(), OwnerIdle)
		})
	}
	for _, proof := range []Proof{"", ProvesCarrier} {
		t.Run("but not without a proof: "+string(proof), func(t *testing.T) {
			f := beat(idle(t), proof)
			equal(t, "still open", f.opening(), OwnerIdle)
			equal(t, "counts", f.HeartbeatCounts(proof, f.now), false)
			equal(t, "idle at", f.IdleAt(f.s, f.now), start.Add(limit))
		})
	}
	t.Run("alone for at most four times the limit", func(t *testing.T) {
		f := room(t).member("a", "b").alive("a").owns("a").waits("b")
		end := start.Add(4 * limit)
		equal(t, "until", f.HeartbeatsUntil(), end)
		for f.now.Add(30*time.Minute) < end {
			beat(f.after(30*time.Minute), ProvesSession).ask("b")
		}
		equal(t, "idle at", f.IdleAt(f.s, f.now), end)
		equal(t, "nobody was told", f.Turn.IdleNoticeAt, 0)
		f.now = end
		equal(t, "counts", f.HeartbeatCounts(ProvesSession, end), false)
		equal(t, "told", beat(f, ProvesSession).ask("b").Changed, true)
		beat(f.after(grace), ProvesSession)
		equal(t, "open", f.opening(), OwnerIdle)
		f.Room = f.Touch("a", f.now)
		equal(t, "after another act", f.opening(), "")
		equal(t, "heartbeats count again", f.HeartbeatCounts(ProvesSession, f.now), true)
		equal(t, "until", f.HeartbeatsUntil(), f.now.Add(4*limit))
	})
	t.Run("one late heartbeat doesn't move the end", func(t *testing.T) {
		f := room(t).member("a", "b").alive("a").owns("a").after(4*limit - ms)
		equal(t, "idle at", beat(f, ProvesSession).IdleAt(f.s, f.now), start.Add(4*limit))
	})
	t.Run("at the end the first heartbeat of all changes nothing", func(t *testing.T) {
		f := room(t).member("a", "b").alive("a").owns("a").after(4 * limit)
		f.ask("b")
		f.after(grace)
		equal(t, "open", beat(f, ProvesSession).opening(), OwnerIdle)
		equal(t, "recorded", f.Turn.HeartbeatAt, 0)
	})
	t.Run("after the clock went back", func(t *testing.T) {
		f := room(t).member("a", "b").alive("a").owns("a")
		beat(f.after(time.Hour), ProvesSession).after(-2 * time.Hour)
		equal(t, "idle at", beat(f, ProvesSession).IdleAt(f.s, f.now), f.now.Add(limit))
		equal(t, "recorded", f.Turn.HeartbeatAt, f.now)
	})
	t.Run("where nothing but heartbeats keeps the lease nobody is idle", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		equal(t, "idle at", f.IdleAt(f.s, f.now), 0)
		f.releases()
		equal(t, "of a free stick", f.IdleAt(f.s, f.now), 0)
		equal(t, "heartbeats for a free stick", f.HeartbeatsUntil(), 0)
	})
}

func TestTurnRenew(t *testing.T) {
	f := room(t).member("a", "b").owns("a").after(limit - time.Minute)
	r, err := f.Renew("a", f.fence(), 42, Process{PID: 1}, f.now)
	equal(t, "error", CodeOf(err), "")
	equal(t, "kept by", r.LeaseKeptBy(f.s, f.now), KeptByGuardian)
	equal(t, "guardian", r.Turn.GuardianPID, 42)
	equal(t, "lease", r.LeaseExpiresAt(f.s, f.now), f.now.Add(limit))
	t.Run("is no activity", func(t *testing.T) {
		f.Room = r
		f.waits("b").after(time.Minute)
		equal(t, "told", f.ask("b").Changed, true)
		equal(t, "open", f.after(grace).opening(), OwnerIdle)
	})
	t.Run("ends with the guardian", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		f.Room, _ = f.Renew("a", f.fence(), 42, Process{PID: 1}, f.now)
		equal(t, "open", f.after(limit).opening(), OwnerTimeout)
	})
	t.Run("ends with the turn", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		f.Room, _ = f.Renew("a", f.fence(), 42, Process{PID: 1}, f.now)
		f.releases().owns("b")
		equal(t, "guardian", f.Turn.GuardianPID, 0)
	})
}

// A guardian that doesn't renew the lease any more has ended: it isn't shown, and keeps nothing.
func TestGuardianThatEnded(t *testing.T) {
	guarded := func() *fixture {
		f := room(t).member("a", "b").owns("a")
		f.Room, _ = f.Renew("a", f.fence(), 42, Process{PID: 7}, f.now)
		return f
	}
	every := DefaultPolicy().HeartbeatInterval
	f := guarded().after(2*every - ms)
	equal(t, "it lives", f.Guardian(f.now), 42)
	equal(t, "it serves", f.Turn.GuardianOf, Process{PID: 7}.Key())
	f.after(ms)
	equal(t, "it has ended", f.Guardian(f.now), 0)
	equal(t, "kept by", f.LeaseKeptBy(f.s, f.now), KeptByHeartbeat)
	equal(t, "the lease runs on", f.LeaseExpiresAt(f.s, f.now), start.Add(limit))
	f.Room, _ = f.Heartbeat("a", f.fence(), "", f.now)
	equal(t, "a heartbeat renews the lease", f.LeaseExpiresAt(f.s, f.now), f.now.Add(limit))
	equal(t, "and doesn't revive the guardian", f.Guardian(f.now), 0)
	equal(t, "nor whom it served", f.Turn.GuardianOf, "")
	f = guarded().after(3 * every)
	f.Room, _ = f.Renew("a", f.fence(), 42, Process{PID: 7}, f.now)
	equal(t, "one that was stopped goes on", f.Guardian(f.now), 42)
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
	t.Run("the release rule follows", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("c").releases().owns("b").releases().owns("a").waits("b", "c")
		f.commit(f.Restore(Generation{Number: 5, Cause: RestoreCause}, f.s, f.now))
		equal(t, "reserved for", f.Turn.ReservedFor, "c")
		equal(t, "by", f.Turn.ReservedBy, ByRelease)
		equal(t, "the last event", f.log[len(f.log)-1].Type, EventRerouted)
	})
	t.Run("the holder comes last", func(t *testing.T) {
		f := room(t).member("a", "b").owns("b").releases().owns("a").waits("a", "b")
		f.commit(f.Restore(Generation{Number: 5, Cause: RestoreCause}, f.s, f.now))
		equal(t, "reserved for", f.Turn.ReservedFor, "b")
	})
	t.Run("also after a pass", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").passes("b").waits("c")
		f.commit(f.Restore(Generation{Number: 5, Cause: RestoreCause}, f.s, f.now))
		equal(t, "reserved for", f.Turn.ReservedFor, "c")
	})
	t.Run("a free stick stays free", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").releases().waits("b")
		events := f.commit(f.Restore(Generation{Number: 5, Cause: RestoreCause}, f.s, f.now))
		equal(t, "events", len(events), 1)
		equal(t, "state", f.Turn.State, Idle)
	})
	t.Run("ends a lease", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").passes("b").owns("b")
		seq := f.Turn.HandoffSeq
		e := f.commit(f.Restore(Generation{Number: 5, Cause: RebootCause}, f.s, f.now))[0]
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
		e := f.commit(f.Restore(Generation{Number: 5, Cause: RestoreCause}, f.s, f.now))[0]
		equal(t, "ends a turn", said[RestoredPayload](e).Ends, false)
		equal(t, "for", e.To, "b")
		equal(t, "state", f.Turn.State, Idle)
	})
	t.Run("goes above what the database knows", func(t *testing.T) {
		for above, want := range map[int64]int64{0: 1 + RestoreSkip, 12: 1 + RestoreSkip, 9000: 9000} {
			f := room(t).member("a").owns("a")
			f.commit(f.Restore(Generation{Number: 5, Cause: LossCause, Above: above}, f.s, f.now))
			equal(t, "turn", f.Turn.ID, want)
		}
		f := room(t).member("a")
		f.commit(f.Restore(Generation{Number: 5, Cause: LossCause, Above: 40}, f.s, f.now))
		f.owns("a")
		equal(t, "the first turn", f.Turn.ID, 41)
	})
	t.Run("says what was lost", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		e := f.commit(f.Restore(Generation{Number: 5, Cause: LossCause, Lost: Lost{From: 7, To: 9}}, f.s, f.now))[0]
		equal(t, "said", e.Say(), "the database lost events 7 to 9; a's turn ended")
	})
	t.Run("once", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		f.commit(f.Restore(Generation{Number: 5, Cause: RebootCause}, f.s, f.now))
		_, events := f.Restore(Generation{Number: 5, Cause: RebootCause}, f.s, f.now)
		equal(t, "events", len(events), 0)
	})
	t.Run("is seen before it is written", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		equal(t, "state", f.AtGeneration(Generation{Number: 5}, f.now).State(f.s, f.now), StateIdle)
		equal(t, "state in its own world", f.AtGeneration(Generation{}, f.now).State(f.s, f.now), StateOwned)
	})
}
