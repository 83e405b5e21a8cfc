package stick_test

import (
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

func TestOpening(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(*sticktest.Fixture)
		cause stick.Cause
		state stick.RoomState
	}{
		{
			"an owner that lives",
			func(f *sticktest.Fixture) { f.Alive("a").Owns("a").After(sticktest.Limit) },
			"",
			stick.StateOwned,
		},
		{
			"an owner that is gone",
			func(f *sticktest.Fixture) { f.Owns("a").Gone("a") },
			stick.OwnerGone,
			stick.StateOwnerGone,
		},
		{
			"an owner of which nothing is known",
			func(f *sticktest.Fixture) { f.Process("a", stick.ProvesSession, stick.Unknown).Owns("a") },
			"",
			stick.StateOwned,
		},
		{
			"the shell of a person has ended",
			func(f *sticktest.Fixture) { f.Process("a", stick.ProvesTurn, stick.Gone).Owns("a") },
			"",
			stick.StateOwned,
		},
		{"a carrier that lives keeps nothing", func(f *sticktest.Fixture) {
			f.Process("a", stick.ProvesCarrier, stick.Alive).Owns("a").After(sticktest.Limit)
		}, stick.OwnerTimeout, stick.StateStaleOwner},
		{
			"a carrier that ended frees",
			func(f *sticktest.Fixture) { f.Process("a", stick.ProvesCarrier, stick.Gone).Owns("a") },
			stick.OwnerGone,
			stick.StateOwnerGone,
		},
		{
			"a lease before its end",
			func(f *sticktest.Fixture) { f.Owns("a").After(sticktest.Limit - sticktest.Moment) },
			"",
			stick.StateOwned,
		},
		{
			"a lease that is over",
			func(f *sticktest.Fixture) { f.Owns("a").After(sticktest.Limit) },
			stick.OwnerTimeout,
			stick.StateStaleOwner,
		},
		{
			"a lease in the future: the clock went back",
			func(f *sticktest.Fixture) { f.Owns("a").After(-time.Minute - sticktest.Moment) },
			stick.OwnerTimeout,
			stick.StateStaleOwner,
		},
		{
			"a clock that went back a little",
			func(f *sticktest.Fixture) { f.Owns("a").After(-time.Minute) },
			"",
			stick.StateOwned,
		},
		{
			"an idle owner that wasn't told",
			func(f *sticktest.Fixture) { f.Alive("a").Owns("a").After(2 * sticktest.Limit) },
			"",
			stick.StateOwned,
		},
		{
			"an idle owner that was told just now",
			func(f *sticktest.Fixture) { f.Alive("a").Owns("a").After(sticktest.Limit).Asks("b") },
			"",
			stick.StateOwned,
		},
		{"an idle owner that was told a grace ago", func(f *sticktest.Fixture) {
			f.Alive("a").Owns("a").After(sticktest.Limit).Asks("b")
			f.After(sticktest.Grace)
		}, stick.OwnerIdle, stick.StateStaleOwner},
		{"an idle owner that did something since", func(f *sticktest.Fixture) {
			f.Alive("a").Owns("a").After(sticktest.Limit).Asks("b")
			f.Room = f.Touch("a", f.Now)
			f.After(sticktest.Grace)
		}, "", stick.StateOwned},
		{"an idle owner that was told, and then got a longer limit", func(f *sticktest.Fixture) {
			f.Alive("a").Owns("a").After(sticktest.Limit).Asks("b")
			f.After(sticktest.Grace).WithPolicy("owner_idle_ttl=2h")
		}, "", stick.StateOwned},
		{"an idle owner that was told, at the end of its longer limit", func(f *sticktest.Fixture) {
			f.Alive("a").Owns("a").After(sticktest.Limit).Asks("b")
			f.WithPolicy("owner_idle_ttl=2h").After(2*time.Hour - sticktest.Limit)
		}, stick.OwnerIdle, stick.StateStaleOwner},
		{"a tool call in progress", func(f *sticktest.Fixture) {
			f.Alive("a").Owns("a").EditMember("a", func(m *stick.Member) { m.BusySince = f.Now })
			f.After(4*sticktest.Limit - sticktest.Moment).Asks("b")
			f.After(sticktest.Grace - 2*sticktest.Moment)
		}, "", stick.StateOwned},
		{"a tool call for four times the limit", func(f *sticktest.Fixture) {
			f.Alive("a").Owns("a").EditMember("a", func(m *stick.Member) { m.BusySince = f.Now })
			f.After(4 * sticktest.Limit).Asks("b")
			f.After(sticktest.Grace)
		}, stick.OwnerIdle, stick.StateStaleOwner},
		{
			"a grant without a reaction where it would be seen",
			func(f *sticktest.Fixture) { f.Alive("a").Hooks("a").Owns("a").After(sticktest.Claim) },
			stick.ClaimTimeout,
			stick.StateOwned,
		},
		{
			"a grant without a reaction where it wouldn't",
			func(f *sticktest.Fixture) { f.Alive("a").Owns("a").After(sticktest.Claim) },
			"",
			stick.StateOwned,
		},
		{"a grant with a reaction", func(f *sticktest.Fixture) {
			f.Alive("a").Hooks("a").Owns("a")
			f.Room = f.Touch("a", f.Now)
			f.After(sticktest.Claim)
		}, "", stick.StateOwned},
		{
			"a pass before its end",
			func(f *sticktest.Fixture) { f.Owns("a").Passes("b").After(sticktest.Claim - sticktest.Moment) },
			"",
			stick.StateReserved,
		},
		{
			"a pass that wasn't claimed",
			func(f *sticktest.Fixture) { f.Owns("a").Passes("b").After(sticktest.Claim) },
			stick.ClaimTimeout,
			stick.StateReserved,
		},
		{
			"a release that wasn't claimed",
			func(f *sticktest.Fixture) { f.Waits("b").Owns("a").Releases().After(sticktest.Claim) },
			"",
			stick.StateReserved,
		},
		{
			"a recipient that is gone",
			func(f *sticktest.Fixture) { f.Owns("a").Passes("b").Gone("b") },
			stick.RecipientGone,
			stick.StateRecipientGone,
		},
		{"a closed room", func(f *sticktest.Fixture) {
			f.Owns("a")
			f.Must(f.TryClose(stick.Closing{By: "a", Fence: f.Fence(), Handoff: &sticktest.Handoff}))
			f.Gone("a")
		}, "", stick.StateClosed},
		{"an idle room", func(f *sticktest.Fixture) {}, "", stick.StateIdle},
		{"nobody is active", func(f *sticktest.Fixture) { f.After(f.Policy.PresenceTTL) }, "", stick.StateDormant},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b", "c")
			c.make(f)
			sticktest.Equal(t, "cause", f.OpeningCause(), c.cause)
			sticktest.Equal(t, "state", f.State(f.Probed, f.Now), c.state)
		})
	}
}

func TestTakeover(t *testing.T) {
	t.Run("from an owner", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").After(sticktest.Limit)
		why, err := f.TryTake(stick.Take{By: "b", ExpectedTurn: 1, Reason: " it hangs "})
		if err != nil {
			t.Fatal(err)
		}
		e := f.Log[len(f.Log)-1]
		sticktest.Equal(t, "why", why, stick.TookOver)
		sticktest.Equal(t, "turn", f.Turn.ID, 2)
		sticktest.Equal(t, "owner", f.Turn.Owner, "b")
		sticktest.Equal(t, "reason", e.Reason, "it hangs")
		sticktest.Equal(t, "cause", sticktest.Said[stick.TakeoverPayload](e).Cause, stick.OwnerTimeout)
		sticktest.Equal(t, "prior", sticktest.Said[stick.TakeoverPayload](e).Prior, "a")
		sticktest.Equal(t, "ends a turn", sticktest.Said[stick.TakeoverPayload](e).Ends, true)
		sticktest.Equal(t, "it didn't wait", sticktest.Said[stick.TakeoverPayload](e).WaitedSince, 0)
	})

	t.Run("by one whose wait goes on", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").After(time.Minute).Waits("b").After(sticktest.Limit)
		if _, err := f.Takes("b"); err != nil {
			t.Fatal(err)
		}
		sticktest.Equal(t, "waited since", sticktest.Said[stick.TakeoverPayload](f.Log[len(f.Log)-1]).WaitedSince,
			sticktest.Start.Add(time.Minute))
	})

	t.Run("refused while none is open, and says when one could be", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		_, err := f.Takes("b")
		sticktest.Refused(t, err, stick.CodeTakeoverNotAvailable, map[string]any{
			"current_owner": "a", "current_turn_id": 1, "opens_at": f.Now.Add(sticktest.Limit),
		})
		sticktest.Says(t, err, "you can't take over yet: a has just taken the stick, and nothing shows that it has stopped",
			`if a does nothing, you can take over in 45 min at the earliest; until then wait: tt wait; ask: tt msg send a "…"`)
		f.Passes("b").WithMembers("c")
		_, err = f.Takes("c")
		sticktest.Refused(t, err, stick.CodeTakeoverNotAvailable, map[string]any{
			"reserved_for": "b", "opens_at": f.Now.Add(sticktest.Claim),
		})

		sticktest.Says(t, err, "you can't take over yet: the stick is reserved for b, who was named just now",
			"b has 20 min left to take the stick; wait for your turn: tt wait")
	})

	t.Run("tells an idle owner first", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Owns("a").After(sticktest.Limit)
		_, err := f.Takes("b")
		sticktest.Refused(t, err, stick.CodeTakeoverNotAvailable, map[string]any{
			"opens_at": f.Now.Add(sticktest.Grace),
		})
		sticktest.Says(t, err, "you can't take over yet: a looks idle, and still has time to answer that",
			`if a does nothing, you can take over in 10 s at the earliest; until then wait: tt wait; ask: tt msg send a "…"`)
		sticktest.Equal(t, "told", f.Log[len(f.Log)-1].Type, stick.EventOwnerIdle)

		if _, err = f.After(sticktest.Grace).Takes("b"); err != nil {
			t.Error(err)
		}
	})

	t.Run("refused as soon as the owner has a longer limit, and says when that ends", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Owns("a").After(sticktest.Limit)
		f.Asks("b")
		f.After(sticktest.Grace).WithPolicy("owner_idle_ttl=2h")
		_, err := f.Takes("b")
		sticktest.Refused(t, err, stick.CodeTakeoverNotAvailable, map[string]any{
			"opens_at": sticktest.Start.Add(2 * time.Hour),
		})

		sticktest.Says(t, err, "you can't take over yet: a has held the stick for 45 min, and nothing shows that it has stopped",
			`if a does nothing, you can take over in 1 h at the earliest; until then wait: tt wait; ask: tt msg send a "…"`)
		sticktest.Equal(t, "a wait checks again", f.Deadline("b"), 2*time.Hour-sticktest.Limit-sticktest.Grace)
		f.After(2*time.Hour - sticktest.Limit - sticktest.Grace)
		sticktest.Equal(t, "since", f.Opening(f.Probed, f.Now).Since, f.Now)

		if _, err = f.Takes("b"); err != nil {
			t.Error(err)
		}
	})

	t.Run("needs a reason", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").After(sticktest.Limit)
		_, err := f.TryTake(stick.Take{By: "b", Reason: " \n"})
		sticktest.Refused(t, err, stick.CodeUsage, map[string]any{"field": "reason"})
	})

	t.Run("of another turn than the expected one", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").After(sticktest.Limit)
		_, err := f.TryTake(stick.Take{By: "b", ExpectedTurn: 7, Reason: "r"})
		sticktest.Refused(t, err, stick.CodeTurnMismatch, map[string]any{
			"current_turn_id": 1, "current_owner": "a", "room_state": stick.Owned,
		})
	})

	t.Run("by the owner", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
		why, err := f.Takes("a")
		sticktest.Equal(t, "why", why, stick.AlreadyOwner)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
	})

	t.Run("by one who takes no part", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a").After(sticktest.Limit)
		_, err := f.Takes("x")
		sticktest.Refused(t, err, stick.CodeUnknownMember, map[string]any{"to_agent_id": "x"})
	})

	t.Run("in a closed room", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a")
		f.Must(f.TryClose(stick.Closing{By: "human:x", Person: true}))
		_, err := f.Takes("a")
		sticktest.Refused(t, err, stick.CodeRoomClosed, map[string]any{"room_state": stick.StateClosed})
	})

	t.Run("of an idle room is a claim", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Releases()
		why, err := f.Takes("b")
		sticktest.Equal(t, "why", why, stick.OpenClaim)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
		sticktest.Equal(t, "handoff", f.Turn.HandoffDirect, true)
	})

	t.Run("of an idle room by the deferred", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Releases().Waits("b")
		_, err := f.Takes("a")
		sticktest.Refused(t, err, stick.CodePriorOwner, map[string]any{
			"room_state": stick.Idle, "current_owner": nil, "opens_at": f.Now.Add(sticktest.Grace),
		})
		why, err := f.TryTake(stick.Take{By: "a", Reason: "r", Operator: true})
		sticktest.Equal(t, "on a person's word", why, stick.TookOver)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
	})

	t.Run("by the recipient is a claim", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Passes("b").After(time.Hour)
		why, _ := f.Takes("b")
		sticktest.Equal(t, "why", why, stick.DirectPass)
	})

	t.Run("on a person's word", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Owns("a")
		why, err := f.TryTake(stick.Take{By: "b", Reason: "r", Operator: true, Relayed: true})
		sticktest.Equal(t, "why", why, stick.TookOver)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")

		facts := sticktest.Said[stick.TakeoverPayload](f.Log[len(f.Log)-1])
		sticktest.Equal(t, "cause", facts.Cause, stick.OperatorRequested)
		sticktest.Equal(t, "relayed by", facts.RelayedBy, "b")
		sticktest.Equal(t, "verdict", facts.Verdict, stick.Alive)
	})

	t.Run("the prior owner's guard", func(t *testing.T) {
		passed := func() *sticktest.Fixture {
			return sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("b").After(sticktest.Claim)
		}
		f := passed().Waits("c")
		_, err := f.Takes("a")
		sticktest.Refused(t, err, stick.CodePriorOwner, map[string]any{"reserved_for": "b"})
		sticktest.Equal(t, "a look", f.Peeks("a").Status, "")

		if _, err := f.After(sticktest.Grace).Takes("a"); err != nil {
			t.Errorf("a grace later: %v", err)
		}
		if _, err := passed().Takes("a"); err != nil {
			t.Errorf("while nobody else waits: %v", err)
		}

		if _, err := passed().Waits("b").Takes("a"); err != nil {
			t.Errorf("the recipient is no other: %v", err)
		}
		if _, err := passed().Waits("c").Alive("c").Gone("c").Takes("a"); err != nil {
			t.Errorf("while the other is gone: %v", err)
		}

		if _, err := passed().Parks("c").Takes("a"); err != nil {
			t.Errorf("while the other only listens: %v", err)
		}
		if _, err := passed().Waits("c").Takes("c"); err != nil {
			t.Errorf("not of the other: %v", err)
		}
	})

	t.Run("the guard while one was told", func(t *testing.T) {
		told := func(t *testing.T) *sticktest.Fixture {
			f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("b").Waits("c").
				After(sticktest.Claim + 5*time.Second)
			sticktest.Equal(t, "c", f.Asks("c").Status, stick.TakeoverAvailable)
			return f.Ends("c")
		}

		f := told(t)
		_, err := f.After(stick.TimeToTake - sticktest.Moment).Takes("a")
		sticktest.Refused(t, err, stick.CodePriorOwner, map[string]any{
			"reserved_for": "b", "opens_at": f.Now.Add(sticktest.Moment),
		})
		f.Waits("a")
		sticktest.Equal(t, "a's wait", f.Asks("a").Status, "")
		sticktest.Equal(t, "its deadline", f.Deadline("a"), sticktest.Moment)

		if _, err := f.After(sticktest.Moment).Takes("a"); err != nil {
			t.Errorf("after its time to take: %v", err)
		}
		f = told(t).Waits("a").After(stick.TimeToTake)
		sticktest.Equal(t, "a's wait a minute later", f.Asks("a").Status, stick.TakeoverAvailable)

		if _, err := f.Takes("a"); err != nil {
			t.Errorf("whoever got the offer may take: %v", err)
		}
		if _, err := told(t).Alive("c").Gone("c").Takes("a"); err != nil {
			t.Errorf("when it is gone: %v", err)
		}

		f = told(t)
		f.Must(f.TryLeave(stick.Leaving{By: "c"}))
		if _, err := f.Takes("a"); err != nil {
			t.Errorf("when it has left: %v", err)
		}
		f = told(t).WithPolicy("waiter_grace=5m").After(5*time.Minute - sticktest.Moment)
		_, err = f.Takes("a")
		sticktest.Refused(t, err, stick.CodePriorOwner, map[string]any{"opens_at": f.Now.Add(sticktest.Moment)})

		f = told(t).WithPolicy("claim_ttl=30s").After(30 * time.Second)
		if _, err := f.Takes("a"); err != nil {
			t.Errorf("in the next round: %v", err)
		}
	})

	t.Run("the guard while one asked for work a moment ago", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("b").After(sticktest.Claim)
		f.Room = f.Returned("c", sticktest.Start, f.Now.Add(-sticktest.Grace+2*time.Second))
		_, err := f.Takes("a")
		sticktest.Refused(t, err, stick.CodePriorOwner, map[string]any{"opens_at": f.Now.Add(2 * time.Second)})

		sticktest.Says(t, err, "you had the stick last, so others come first; the stick is reserved for b, who was named 20 min ago",
			"if nobody takes it, you can take it in 2 s; until then wait for your turn: tt wait")
		_, err = f.After(2*time.Second - sticktest.Moment).Takes("a")
		sticktest.Says(t, err, "you had the stick last, so others come first; the stick is reserved for b, who was named 20 min ago",
			"if nobody takes it, you can take it in a moment; until then wait for your turn: tt wait")
		if _, err := f.After(sticktest.Moment).Takes("a"); err != nil {
			t.Error(err)
		}

		for _, other := range []stick.AgentID{"a", "b"} {
			f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("b").After(sticktest.Claim)
			f.Room = f.Returned(other, sticktest.Start, f.Now)
			if _, err := f.Takes("a"); err != nil {
				t.Errorf("%s doesn't count: %v", other, err)
			}
		}
	})

	t.Run("the guard after a grant that wasn't acknowledged", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("b").Hooks("b").Owns("a").
			Passes("b").Owns("b").Waits("c").After(sticktest.Claim)
		_, err := f.Takes("a")
		sticktest.Refused(t, err, stick.CodePriorOwner, nil)
		if _, err := f.After(sticktest.Grace).Takes("a"); err != nil {
			t.Error(err)
		}
	})
}

func TestRoom_OfferAfterLoss(t *testing.T) {
	dead := func(t *testing.T) *sticktest.Fixture {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d").Alive("a").Owns("a").Waits("b", "c", "d").Gone("a")
		f.Settles("x")
		return f
	}

	t.Run("one per grace, in the order of fairness", func(t *testing.T) {
		f := dead(t)
		sticktest.Equal(t, "c at first", f.Asks("c").Status, "")
		sticktest.Equal(t, "c's place", f.Deadline("c"), sticktest.Grace)
		sticktest.Equal(t, "d's place", f.Deadline("d"), 2*sticktest.Grace)
		sticktest.Equal(t, "b", f.Asks("b").Status, stick.TakeoverAvailable)
		sticktest.Equal(t, "c a moment before", f.After(sticktest.Grace-sticktest.Moment).Asks("c").Status, "")
		sticktest.Equal(t, "c", f.After(sticktest.Moment).Asks("c").Status, stick.TakeoverAvailable)
		sticktest.Equal(t, "d is a grace after c", f.Deadline("d"), sticktest.Grace)
	})

	t.Run("nobody is told twice in a round", func(t *testing.T) {
		f := dead(t)
		f.Asks("b")
		f.After(time.Minute)
		sticktest.Equal(t, "again", f.Asks("b").Status, "")
		sticktest.Equal(t, "sleeps until the next round", f.Deadline("b"), sticktest.Claim-time.Minute)
		sticktest.Equal(t, "in the next round",
			f.After(sticktest.Claim-time.Minute).Asks("b").Status, stick.TakeoverAvailable)
	})

	t.Run("the first is stopped", func(t *testing.T) {
		f := dead(t).After(sticktest.Grace)
		sticktest.Equal(t, "the second", f.Asks("c").Status, stick.TakeoverAvailable)
		sticktest.Equal(t, "the third, behind the first", f.Deadline("d"), 2*sticktest.Grace)
	})

	t.Run("a grant clears who was told", func(t *testing.T) {
		f := dead(t)
		f.Asks("b")
		if _, err := f.Takes("c"); err != nil {
			t.Fatal(err)
		}
		f.Alive("c").Gone("c")
		f.Settles("x")
		sticktest.Equal(t, "b", f.Asks("b").Status, stick.TakeoverAvailable)
	})

	t.Run("so does a reservation", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("b").After(sticktest.Limit)
		sticktest.Equal(t, "b", f.Asks("b").Status, stick.TakeoverAvailable)
		f.Passes("c").After(sticktest.Claim)
		sticktest.Equal(t, "b", f.Asks("b").Status, stick.TakeoverAvailable)
	})

	t.Run("an owner that came back and ended again", func(t *testing.T) {
		f := dead(t)
		f.Asks("b")
		f.Alive("a")
		f.Room = f.Touch("a", f.Now)
		f.After(time.Second).Gone("a")
		sticktest.Equal(t, "b within a grace of the last offer", f.Asks("b").Status, "")
		sticktest.Equal(t, "its place", f.Deadline("b"), sticktest.Grace-time.Second)
		sticktest.Equal(t, "the next one's", f.Deadline("c"), 2*sticktest.Grace-time.Second)
		sticktest.Equal(t, "the next one's a grace later",
			f.After(sticktest.Grace-time.Second).Deadline("c"), sticktest.Grace)
		sticktest.Equal(t, "b", f.Asks("b").Status, stick.TakeoverAvailable)
	})

	t.Run("an owner that ended long after the last offer", func(t *testing.T) {
		f := dead(t)
		f.Asks("b")
		f.Alive("a")
		f.Room = f.Touch("a", f.Now)
		f.After(time.Minute).Gone("a")
		sticktest.Equal(t, "b at once", f.Asks("b").Status, stick.TakeoverAvailable)
	})

	t.Run("rounds that are shorter than a grace", func(t *testing.T) {
		f := dead(t).WithPolicy("claim_ttl=1s")
		f.Asks("b")
		sticktest.Equal(t, "in the next round", f.After(sticktest.Grace-sticktest.Moment).Asks("b").Status, "")
		sticktest.Equal(t, "a grace after the last offer",
			f.After(sticktest.Moment).Asks("b").Status, stick.TakeoverAvailable)
	})

	t.Run("an offer of a time that the clock went back from", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").WithPolicy("claim_ttl=24h").Owns("a").
			Waits("b", "c").After(sticktest.Limit)
		f.Asks("b")
		f.After(-time.Hour)
		sticktest.Equal(t, "c", f.Asks("c").Status, stick.TakeoverAvailable)
	})

	t.Run("a limit that opened again is no new round", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").WithPolicy("owner_lease_ttl=1m").Owns("a").
			Waits("b").After(time.Minute)
		sticktest.Equal(t, "b", f.Asks("b").Status, stick.TakeoverAvailable)
		f.Room = f.Touch("a", f.Now)
		f.After(time.Minute)
		sticktest.Equal(t, "open again", f.OpeningCause(), stick.OwnerTimeout)
		sticktest.Equal(t, "b", f.Asks("b").Status, "")
		sticktest.Equal(t, "sleeps until the next round", f.Deadline("b"), sticktest.Claim-time.Minute)
	})

	t.Run("the prior owner after its guard", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Passes("b").Waits("a", "c").
			After(sticktest.Claim)
		sticktest.Equal(t, "a", f.Asks("a").Status, "")
		sticktest.Equal(t, "a's place", f.Deadline("a") >= sticktest.Grace, true)
		sticktest.Equal(t, "c", f.Asks("c").Status, stick.TakeoverAvailable)
	})

	t.Run("the prior owner first in the order of joining waits for its guard all the same", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").WithPolicy("order=sequence").Owns("c").
			Passes("b").Waits("a", "c").After(sticktest.Claim)
		sticktest.Equal(t, "c", f.Asks("c").Status, "")
		sticktest.Equal(t, "c's place", f.Deadline("c"), sticktest.Grace)
		g := sticktest.NewRoom(t).WithMembers("a", "b", "c").WithPolicy("order=sequence").Owns("c").
			Passes("b").Waits("c").After(sticktest.Claim)
		sticktest.Equal(t, "c alone", g.Asks("c").Status, stick.TakeoverAvailable)
	})

	t.Run("one look shows what is open to anybody", func(t *testing.T) {
		f := dead(t)
		for range 2 {
			sticktest.Equal(t, "d", f.Peeks("d").Opening.Cause, stick.OwnerGone)
		}
	})

	t.Run("not before a machine that slept had its grace", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Waits("b").After(sticktest.Limit)
		q := stick.Asking{Agent: "b", Purpose: stick.Work, Blocking: true, NotSoon: f.Now.Add(sticktest.Grace)}
		_, events, ans := f.Ask(q, f.Probed, f.Now)
		sticktest.Equal(t, "status", ans.Status, "")
		sticktest.Equal(t, "events", len(events), 0)
		sticktest.Equal(t, "deadline", f.NextDeadline(q, f.Probed, f.Now), f.Now.Add(sticktest.Grace))

		_, _, ans = f.Ask(q, f.Probed, f.Now.Add(sticktest.Grace))
		sticktest.Equal(t, "later", ans.Status, stick.TakeoverAvailable)
	})

	// Were an opening said to begin now, whoever isn't the first in order would never have its turn.
	t.Run("after the clock went back everybody has a place", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("b", "c").After(-time.Hour)
		sticktest.Equal(t, "since", f.Opening(f.Probed, f.Now).Since, 0)
		sticktest.Equal(t, "c, though b is stopped", f.Asks("c").Status, stick.TakeoverAvailable)
		for range 3 {
			sticktest.Equal(t, "told again", f.After(time.Second).Asks("c").Status, "")
		}
	})
}
