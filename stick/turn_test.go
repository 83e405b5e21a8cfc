package stick_test

import (
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

func TestTurnFence(t *testing.T) {
	for name, call := range fencedCalls {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				situation string
				by        stick.AgentID
				fence     stick.Fence
				code      stick.Code
			}{
				{"an earlier turn", "a", stick.Fence{Turn: 0, Lease: "lease-1"}, stick.CodeTurnMismatch},
				{"an earlier turn and another lease", "a", stick.Fence{Turn: 0, Lease: "x"}, stick.CodeTurnMismatch},
				{"another's turn id", "b", stick.Fence{Turn: 0, Lease: "lease-1"}, stick.CodeTurnMismatch},
				{"another lease", "a", stick.Fence{Turn: 1, Lease: "x"}, stick.CodeStaleLease},
				{"no lease", "a", stick.Fence{Turn: 1, Lease: ""}, stick.CodeStaleLease},
				{"another agent", "b", stick.Fence{Turn: 1, Lease: "lease-1"}, stick.CodeStaleLease},
			} {
				t.Run(c.situation, func(t *testing.T) {
					f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
					r, events, err := call(f.Room, c.by, c.fence, "b", f.Probed, f.Now)
					sticktest.Refused(t, err, c.code, map[string]any{
						"current_owner": "a", "current_turn_id": 1, "room_state": stick.Owned,
					})
					if len(stick.AsError(err).Hint) == 0 {
						t.Error("it doesn't say what to do instead")
					}
					sticktest.Equal(t, "events", len(events), 0)
					sticktest.Equal(t, "unchanged", sticktest.IsSameRoom(r, f.Room), true)
				})
			}

			t.Run("a turn that was given back", func(t *testing.T) {
				f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
				old := f.Fence()
				f.Passes("b")
				_, _, err := call(f.Room, "a", old, "b", f.Probed, f.Now)
				sticktest.Refused(t, err, stick.CodeStaleLease, map[string]any{
					"current_owner": nil, "reserved_for": "b", "room_state": stick.Reserved,
				})
			})
		})
	}
}

// TestNotYourTurn_Holder: an agent that names another turn or lease than its own current ones has the
// stick, so it is told how to repeat the command, and only others are told to wait.
func TestNotYourTurn_Holder(t *testing.T) {
	const repeat = "repeat it with the turn and lease of turn 2; tt try shows them"
	f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Releases().Owns("a")
	lease := f.Fence().Lease
	for _, c := range []struct {
		by            stick.AgentID
		fence         stick.Fence
		message, hint string
	}{
		{"a", stick.Fence{Turn: 1, Lease: lease}, "turn 1 is over; you hold turn 2", repeat},
		{"a", stick.Fence{Turn: 7, Lease: lease}, "there is no turn 7 yet; you hold turn 2", repeat},
		{"a", stick.Fence{Turn: 2, Lease: "x"}, "you hold turn 2, but that isn't its lease", repeat},
		{
			"b",
			stick.Fence{Turn: 1, Lease: "x"},
			"turn 1 is over; a has just taken the stick",
			`stop, and wait: tt wait; ask: tt msg send a "…"`,
		},
	} {
		_, err := f.Heartbeat(c.by, c.fence, stick.ProvesSession, f.Now)
		sticktest.Says(t, err, c.message, c.hint)
	}

	f.Releases()
	_, err := f.Heartbeat("a", stick.Fence{Turn: 2, Lease: lease}, "", f.Now)
	sticktest.Says(t, err, "that isn't the lease of turn 2; nobody holds the stick",
		"stop, and wait for your turn: tt wait")
	_, err = f.Heartbeat("a", stick.Fence{Turn: 1, Lease: lease}, "", f.Now)
	sticktest.Says(t, err, "turn 1 is over; nobody holds the stick", "stop, and wait for your turn: tt wait")
}

// TestStaleLease_Caller: whoever the stick is reserved for takes its turn, and whoever was
// removed has to be let in again before it can wait; a person needs to ask nobody for that.
func TestStaleLease_Caller(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b", "human:pat").Owns("a").Passes("b")
	for _, c := range []struct {
		by     stick.AgentID
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
			next, _, err := r.Kick(stick.Kicking{By: "b", Who: c.by, Force: true}, f.Probed, f.Now)
			if err != nil {
				t.Fatal(err)
			}
			r = next
		}
		sticktest.Equal(t, string(c.by), r.FencedStep(c.by).String(), c.hint)
	}
}

func TestTurnHeartbeat(t *testing.T) {
	t.Run("renews where nothing is proved", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a").After(sticktest.Limit + time.Hour)
		sticktest.Equal(t, "before", f.OpeningCause(), stick.OwnerTimeout)
		r, err := f.Heartbeat("a", f.Fence(), "", f.Now)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
		sticktest.Equal(t, "lease", r.LeaseExpiresAt(f.Probed, f.Now), f.Now.Add(sticktest.Limit))
		sticktest.Equal(t, "kept by", r.LeaseKeptBy(f.Probed, f.Now), stick.KeptByHeartbeat)
	})

	t.Run("renews where others may not see the process that keeps the lease", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Alive("a").Owns("a").After(time.Hour)
		r, err := f.Heartbeat("a", f.Fence(), stick.ProvesSession, f.Now)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
		sticktest.Equal(t, "renewed at", r.Turn.RenewedAt, f.Now)
		sticktest.Equal(t, "lease", r.LeaseExpiresAt(f.Probed, f.Now), 0)
		sticktest.Equal(t, "kept by", r.LeaseKeptBy(f.Probed, f.Now), stick.KeptByProcess)

		f.Room = r
		f.Process("a", stick.ProvesSession, stick.Unknown)
		sticktest.Equal(t, "where it isn't seen", f.LeaseExpiresAt(f.Probed, f.Now), f.Now.Add(sticktest.Limit))
	})

	t.Run("leaves the renewals of a guardian alone", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
		f.Room, _ = f.Renew("a", f.Fence(), 42, stick.Process{PID: 1}, f.Now)
		at := f.Now
		f.After(time.Minute)
		f.Room, _ = f.Heartbeat("a", f.Fence(), "", f.Now)
		sticktest.Equal(t, "renewed at", f.Turn.RenewedAt, at)
	})

	t.Run("after the clock went back", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a").After(-time.Hour)
		sticktest.Equal(t, "before", f.OpeningCause(), stick.OwnerTimeout)
		r, _ := f.Heartbeat("a", f.Fence(), "", f.Now)
		sticktest.Equal(t, "after", r.Opening(f.Probed, f.Now).Cause, "")
		sticktest.Equal(t, "lease", r.LeaseExpiresAt(f.Probed, f.Now), f.Now.Add(sticktest.Limit))
	})
}

// An owner whose process keeps the lease says by heartbeats that it isn't idle.
func TestHeartbeatsEndIdleness(t *testing.T) {
	idle := func(t *testing.T) *sticktest.Fixture {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Owns("a").After(sticktest.Limit)
		f.Asks("b")
		return f.After(sticktest.Grace)
	}

	beat := func(f *sticktest.Fixture, proof stick.Proof) *sticktest.Fixture {
		f.Room, _ = f.Heartbeat("a", f.Fence(), proof, f.Now)
		return f
	}

	for _, proof := range []stick.Proof{stick.ProvesSession, stick.ProvesTurn} {
		t.Run("from a process that proves the "+string(proof), func(t *testing.T) {
			f := idle(t)
			sticktest.Equal(t, "before", f.OpeningCause(), stick.OwnerIdle)
			sticktest.Equal(t, "after", beat(f, proof).OpeningCause(), "")
			sticktest.Equal(t, "idle at", f.IdleAt(f.Probed, f.Now), f.Now.Add(sticktest.Limit))
			sticktest.Equal(t, "a wait's deadline", f.Deadline("b"), sticktest.Limit)

			_, err := f.Takes("b")
			sticktest.Refused(t, err, stick.CodeTakeoverNotAvailable, nil)
			f.After(sticktest.Limit - sticktest.Moment).Asks("b")
			sticktest.Equal(t, "told before the new limit", f.Turn.IdleNoticeAt, sticktest.Start.Add(sticktest.Limit))

			f.After(sticktest.Moment).Asks("b")
			sticktest.Equal(t, "told at the new limit", f.Turn.IdleNoticeAt, f.Now)
			sticktest.Equal(t, "idle since", f.Turn.IdleSince, f.Now.Add(-sticktest.Limit))
			sticktest.Equal(t, "a grace later", f.After(sticktest.Grace).OpeningCause(), stick.OwnerIdle)
		})
	}

	for _, proof := range []stick.Proof{"", stick.ProvesCarrier} {
		t.Run("but not without a proof: "+string(proof), func(t *testing.T) {
			f := beat(idle(t), proof)
			sticktest.Equal(t, "still open", f.OpeningCause(), stick.OwnerIdle)
			sticktest.Equal(t, "counts", f.HeartbeatCounts(proof, f.Now), false)
			sticktest.Equal(t, "idle at", f.IdleAt(f.Probed, f.Now), sticktest.Start.Add(sticktest.Limit))
		})
	}

	t.Run("alone for at most four times the limit", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Owns("a").Waits("b")
		end := sticktest.Start.Add(4 * sticktest.Limit)
		sticktest.Equal(t, "until", f.HeartbeatsUntil(), end)
		for f.Now.Add(30*time.Minute) < end {
			beat(f.After(30*time.Minute), stick.ProvesSession).Asks("b")
		}
		sticktest.Equal(t, "idle at", f.IdleAt(f.Probed, f.Now), end)
		sticktest.Equal(t, "nobody was told", f.Turn.IdleNoticeAt, 0)

		f.Now = end
		sticktest.Equal(t, "counts", f.HeartbeatCounts(stick.ProvesSession, end), false)
		sticktest.Equal(t, "told", beat(f, stick.ProvesSession).Asks("b").Changed, true)
		beat(f.After(sticktest.Grace), stick.ProvesSession)
		sticktest.Equal(t, "open", f.OpeningCause(), stick.OwnerIdle)

		f.Room = f.Touch("a", f.Now)
		sticktest.Equal(t, "after another act", f.OpeningCause(), "")
		sticktest.Equal(t, "heartbeats count again", f.HeartbeatCounts(stick.ProvesSession, f.Now), true)
		sticktest.Equal(t, "until", f.HeartbeatsUntil(), f.Now.Add(4*sticktest.Limit))
	})

	t.Run("one late heartbeat doesn't move the end", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Owns("a").After(4*sticktest.Limit - sticktest.Moment)
		sticktest.Equal(t, "idle at",
			beat(f, stick.ProvesSession).IdleAt(f.Probed, f.Now), sticktest.Start.Add(4*sticktest.Limit))
	})

	t.Run("at the end the first heartbeat of all changes nothing", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Owns("a").After(4 * sticktest.Limit)
		f.Asks("b")
		f.After(sticktest.Grace)
		sticktest.Equal(t, "open", beat(f, stick.ProvesSession).OpeningCause(), stick.OwnerIdle)
		sticktest.Equal(t, "recorded", f.Turn.HeartbeatAt, 0)
	})

	t.Run("after the clock went back", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Owns("a")
		beat(f.After(time.Hour), stick.ProvesSession).After(-2 * time.Hour)
		sticktest.Equal(t, "idle at", beat(f, stick.ProvesSession).IdleAt(f.Probed, f.Now), f.Now.Add(sticktest.Limit))
		sticktest.Equal(t, "recorded", f.Turn.HeartbeatAt, f.Now)
	})

	t.Run("where nothing but heartbeats keeps the lease nobody is idle", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
		sticktest.Equal(t, "idle at", f.IdleAt(f.Probed, f.Now), 0)
		f.Releases()
		sticktest.Equal(t, "of a free stick", f.IdleAt(f.Probed, f.Now), 0)
		sticktest.Equal(t, "heartbeats for a free stick", f.HeartbeatsUntil(), 0)
	})
}

func TestTurnRenew(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").After(sticktest.Limit - time.Minute)
	r, err := f.Renew("a", f.Fence(), 42, stick.Process{PID: 1}, f.Now)
	sticktest.Equal(t, "error", stick.CodeOf(err), "")
	sticktest.Equal(t, "kept by", r.LeaseKeptBy(f.Probed, f.Now), stick.KeptByGuardian)
	sticktest.Equal(t, "guardian", r.Turn.GuardianPID, 42)
	sticktest.Equal(t, "lease", r.LeaseExpiresAt(f.Probed, f.Now), f.Now.Add(sticktest.Limit))

	t.Run("is no activity", func(t *testing.T) {
		f.Room = r
		f.Waits("b").After(time.Minute)
		sticktest.Equal(t, "told", f.Asks("b").Changed, true)
		sticktest.Equal(t, "open", f.After(sticktest.Grace).OpeningCause(), stick.OwnerIdle)
	})

	t.Run("ends with the guardian", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
		f.Room, _ = f.Renew("a", f.Fence(), 42, stick.Process{PID: 1}, f.Now)
		sticktest.Equal(t, "open", f.After(sticktest.Limit).OpeningCause(), stick.OwnerTimeout)
	})

	t.Run("ends with the turn", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		f.Room, _ = f.Renew("a", f.Fence(), 42, stick.Process{PID: 1}, f.Now)
		f.Releases().Owns("b")
		sticktest.Equal(t, "guardian", f.Turn.GuardianPID, 0)
	})
}

// A guardian that doesn't renew the lease any more has ended: it isn't shown, and keeps nothing.
func TestGuardianThatEnded(t *testing.T) {
	guarded := func() *sticktest.Fixture {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		f.Room, _ = f.Renew("a", f.Fence(), 42, stick.Process{PID: 7}, f.Now)
		return f
	}

	every := stick.DefaultPolicy().HeartbeatInterval
	f := guarded().After(2*every - sticktest.Moment)
	sticktest.Equal(t, "it lives", f.Guardian(f.Now), 42)
	sticktest.Equal(t, "it serves", f.Turn.GuardianOf, stick.Process{PID: 7}.Key())

	f.After(sticktest.Moment)
	sticktest.Equal(t, "it has ended", f.Guardian(f.Now), 0)
	sticktest.Equal(t, "kept by", f.LeaseKeptBy(f.Probed, f.Now), stick.KeptByHeartbeat)
	sticktest.Equal(t, "the lease runs on", f.LeaseExpiresAt(f.Probed, f.Now), sticktest.Start.Add(sticktest.Limit))

	f.Room, _ = f.Heartbeat("a", f.Fence(), "", f.Now)
	sticktest.Equal(t, "a heartbeat renews the lease", f.LeaseExpiresAt(f.Probed, f.Now), f.Now.Add(sticktest.Limit))
	sticktest.Equal(t, "and doesn't revive the guardian", f.Guardian(f.Now), 0)
	sticktest.Equal(t, "nor whom it served", f.Turn.GuardianOf, "")

	f = guarded().After(3 * every)
	f.Room, _ = f.Renew("a", f.Fence(), 42, stick.Process{PID: 7}, f.Now)
	sticktest.Equal(t, "one that was stopped goes on", f.Guardian(f.Now), 42)
}

func TestTouch(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Owns("a").Gone("a")
	f.Settles("b")
	f.Alive("a").After(time.Minute)
	r := f.Touch("a", f.Now)
	sticktest.Equal(t, "acknowledged", r.Turn.Acked, true)
	sticktest.Equal(t, "opened at", r.Turn.OpenedAt, 0)

	m, _ := r.Member("a")
	sticktest.Equal(t, "last seen", m.LastSeenAt, f.Now)
	b, _ := f.Member("a")
	sticktest.Equal(t, "the given room", b.LastSeenAt, sticktest.Start)
	sticktest.Equal(t, "another's call", f.Touch("b", f.Now).Turn.Acked, false)
}

func TestRestore(t *testing.T) {
	t.Run("the release rule follows", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("c").Releases().Owns("b").
			Releases().Owns("a").Waits("b", "c")
		f.Commit(f.Restore(stick.Generation{Number: 5, Cause: stick.RestoreCause}, f.Probed, f.Now))
		sticktest.Equal(t, "reserved for", f.Turn.ReservedFor, "c")
		sticktest.Equal(t, "by", f.Turn.ReservedBy, stick.ByRelease)
		sticktest.Equal(t, "the last event", f.Log[len(f.Log)-1].Type, stick.EventRerouted)
	})

	t.Run("the holder comes last", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("b").Releases().Owns("a").Waits("a", "b")
		f.Commit(f.Restore(stick.Generation{Number: 5, Cause: stick.RestoreCause}, f.Probed, f.Now))
		sticktest.Equal(t, "reserved for", f.Turn.ReservedFor, "b")
	})

	t.Run("also after a pass", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("b").Waits("c")
		f.Commit(f.Restore(stick.Generation{Number: 5, Cause: stick.RestoreCause}, f.Probed, f.Now))
		sticktest.Equal(t, "reserved for", f.Turn.ReservedFor, "c")
	})

	t.Run("a free stick stays free", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Releases().Waits("b")
		events := f.Commit(f.Restore(stick.Generation{Number: 5, Cause: stick.RestoreCause}, f.Probed, f.Now))
		sticktest.Equal(t, "events", len(events), 1)
		sticktest.Equal(t, "state", f.Turn.State, stick.Idle)
	})

	t.Run("ends a lease", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Passes("b").Owns("b")
		seq := f.Turn.HandoffSeq
		e := f.Commit(f.Restore(stick.Generation{Number: 5, Cause: stick.RebootCause}, f.Probed, f.Now))[0]
		sticktest.Equal(t, "state", f.Turn.State, stick.Idle)
		sticktest.Equal(t, "ends a turn", sticktest.Said[stick.RestoredPayload](e).Ends, true)
		sticktest.Equal(t, "prior", sticktest.Said[stick.RestoredPayload](e).Prior, "b")
		sticktest.Equal(t, "world", sticktest.Said[stick.RestoredPayload](e).World, "reboot")
		sticktest.Equal(t, "turn", f.Turn.ID, 2+stick.RestoreSkip)
		sticktest.Equal(t, "handoff", f.Turn.HandoffSeq, seq)

		f.Owns("b")
		sticktest.Equal(t, "the next turn", f.Turn.ID, 3+stick.RestoreSkip)
	})

	t.Run("ends a reservation", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Passes("b")
		e := f.Commit(f.Restore(stick.Generation{Number: 5, Cause: stick.RestoreCause}, f.Probed, f.Now))[0]
		sticktest.Equal(t, "ends a turn", sticktest.Said[stick.RestoredPayload](e).Ends, false)
		sticktest.Equal(t, "for", e.To, "b")
		sticktest.Equal(t, "state", f.Turn.State, stick.Idle)
	})

	t.Run("goes above what the database knows", func(t *testing.T) {
		for above, want := range map[int64]int64{0: 1 + stick.RestoreSkip, 12: 1 + stick.RestoreSkip, 9000: 9000} {
			f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
			f.Commit(f.Restore(stick.Generation{Number: 5, Cause: stick.LossCause, Above: above}, f.Probed, f.Now))
			sticktest.Equal(t, "turn", f.Turn.ID, want)
		}

		f := sticktest.NewRoom(t).WithMembers("a")
		f.Commit(f.Restore(stick.Generation{Number: 5, Cause: stick.LossCause, Above: 40}, f.Probed, f.Now))
		f.Owns("a")
		sticktest.Equal(t, "the first turn", f.Turn.ID, 41)
	})

	t.Run("says what was lost", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
		e := f.Commit(f.Restore(
			stick.Generation{Number: 5, Cause: stick.LossCause, Lost: stick.Lost{From: 7, To: 9}}, f.Probed,
			f.Now,
		))[0]
		sticktest.Equal(t, "said", e.Say(), "the database lost events 7 to 9; a's turn ended")
	})

	t.Run("once", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
		f.Commit(f.Restore(stick.Generation{Number: 5, Cause: stick.RebootCause}, f.Probed, f.Now))
		_, events := f.Restore(stick.Generation{Number: 5, Cause: stick.RebootCause}, f.Probed, f.Now)
		sticktest.Equal(t, "events", len(events), 0)
	})

	t.Run("is seen before it is written", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
		sticktest.Equal(t, "state",
			f.AtGeneration(stick.Generation{Number: 5}, f.Now).State(f.Probed, f.Now), stick.StateIdle)
		sticktest.Equal(t, "state in its own world",
			f.AtGeneration(stick.Generation{}, f.Now).State(f.Probed, f.Now), stick.StateOwned)
	})
}
