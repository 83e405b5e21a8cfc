package stick

import (
	"testing"
	"time"
)

func TestOpening(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(*fixture)
		cause Cause
		state RoomState
	}{
		{"an owner that lives", func(f *fixture) { f.alive("a").owns("a").after(limit) }, "", StateOwned},
		{"an owner that is gone", func(f *fixture) { f.owns("a").gone("a") }, OwnerGone, StateOwnerGone},
		{"an owner of which nothing is known", func(f *fixture) { f.process("a", ProvesSession, Unknown).owns("a") }, "", StateOwned},
		{"the shell of a person has ended", func(f *fixture) { f.process("a", ProvesTurn, Gone).owns("a") }, "", StateOwned},
		{"a carrier that lives keeps nothing", func(f *fixture) { f.process("a", ProvesCarrier, Alive).owns("a").after(limit) }, OwnerTimeout, StateStaleOwner},
		{"a carrier that ended frees", func(f *fixture) { f.process("a", ProvesCarrier, Gone).owns("a") }, OwnerGone, StateOwnerGone},
		{"a lease before its end", func(f *fixture) { f.owns("a").after(limit - ms) }, "", StateOwned},
		{"a lease that is over", func(f *fixture) { f.owns("a").after(limit) }, OwnerTimeout, StateStaleOwner},
		{"a lease in the future: the clock went back", func(f *fixture) { f.owns("a").after(-time.Minute - ms) }, OwnerTimeout, StateStaleOwner},
		{"a clock that went back a little", func(f *fixture) { f.owns("a").after(-time.Minute) }, "", StateOwned},
		{"an idle owner that wasn't told", func(f *fixture) { f.alive("a").owns("a").after(2 * limit) }, "", StateOwned},
		{"an idle owner that was told just now", func(f *fixture) { f.alive("a").owns("a").after(limit).ask("b") }, "", StateOwned},
		{"an idle owner that was told a grace ago", func(f *fixture) { f.alive("a").owns("a").after(limit).ask("b"); f.after(grace) }, OwnerIdle, StateStaleOwner},
		{"an idle owner that did something since", func(f *fixture) {
			f.alive("a").owns("a").after(limit).ask("b")
			f.Room = f.Touch("a", f.now)
			f.after(grace)
		}, "", StateOwned},
		{"an idle owner that was told, and then got a longer limit", func(f *fixture) {
			f.alive("a").owns("a").after(limit).ask("b")
			f.after(grace).policy("owner_idle_ttl=2h")
		}, "", StateOwned},
		{"an idle owner that was told, at the end of its longer limit", func(f *fixture) {
			f.alive("a").owns("a").after(limit).ask("b")
			f.policy("owner_idle_ttl=2h").after(2*time.Hour - limit)
		}, OwnerIdle, StateStaleOwner},
		{"a tool call in progress", func(f *fixture) {
			f.alive("a").owns("a").editMember("a", func(m *Member) { m.BusySince = f.now })
			f.after(4*limit - ms).ask("b")
			f.after(grace - 2*ms)
		}, "", StateOwned},
		{"a tool call for four times the limit", func(f *fixture) {
			f.alive("a").owns("a").editMember("a", func(m *Member) { m.BusySince = f.now })
			f.after(4 * limit).ask("b")
			f.after(grace)
		}, OwnerIdle, StateStaleOwner},
		{"a grant without a reaction where it would be seen", func(f *fixture) { f.alive("a").hooks("a").owns("a").after(claim) }, ClaimTimeout, StateOwned},
		{"a grant without a reaction where it wouldn't", func(f *fixture) { f.alive("a").owns("a").after(claim) }, "", StateOwned},
		{"a grant with a reaction", func(f *fixture) { f.alive("a").hooks("a").owns("a"); f.Room = f.Touch("a", f.now); f.after(claim) }, "", StateOwned},
		{"a pass before its end", func(f *fixture) { f.owns("a").passes("b").after(claim - ms) }, "", StateReserved},
		{"a pass that wasn't claimed", func(f *fixture) { f.owns("a").passes("b").after(claim) }, ClaimTimeout, StateReserved},
		{"a release that wasn't claimed", func(f *fixture) { f.waits("b").owns("a").releases().after(claim) }, "", StateReserved},
		{"a recipient that is gone", func(f *fixture) { f.owns("a").passes("b").gone("b") }, RecipientGone, StateRecipientGone},
		{"a closed room", func(f *fixture) {
			f.owns("a")
			f.must(f.close(Closing{By: "a", Fence: f.fence(), Handoff: &handoff}))
			f.gone("a")
		}, "", StateClosed},
		{"an idle room", func(f *fixture) {}, "", StateIdle},
		{"nobody is active", func(f *fixture) { f.after(f.Policy.PresenceTTL) }, "", StateDormant},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := room(t).member("a", "b", "c")
			c.make(f)
			equal(t, "cause", f.opening(), c.cause)
			equal(t, "state", f.State(f.s, f.now), c.state)
		})
	}
}

func TestTakeover(t *testing.T) {
	t.Run("from an owner", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").after(limit)
		why, err := f.take(Take{By: "b", ExpectedTurn: 1, Reason: " it hangs "})
		if err != nil {
			t.Fatal(err)
		}
		e := f.log[len(f.log)-1]
		equal(t, "why", why, TookOver)
		equal(t, "turn", f.Turn.ID, 2)
		equal(t, "owner", f.Turn.Owner, "b")
		equal(t, "reason", e.Reason, "it hangs")
		equal(t, "cause", said[TakeoverPayload](e).Cause, OwnerTimeout)
		equal(t, "prior", said[TakeoverPayload](e).Prior, "a")
		equal(t, "ends a turn", said[TakeoverPayload](e).Ends, true)
		equal(t, "it didn't wait", said[TakeoverPayload](e).WaitedSince, 0)
	})
	t.Run("by one whose wait goes on", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").after(time.Minute).waits("b").after(limit)
		if _, err := f.takes("b"); err != nil {
			t.Fatal(err)
		}
		equal(t, "waited since", said[TakeoverPayload](f.log[len(f.log)-1]).WaitedSince, start.Add(time.Minute))
	})
	t.Run("refused while none is open, and says when one could be", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		_, err := f.takes("b")
		refused(t, err, CodeTakeoverNotAvailable, map[string]any{"current_owner": "a", "current_turn_id": 1, "opens_at": f.now.Add(limit)})
		says(t, err, "you can't take over yet: a has just taken the stick, and nothing shows that it has stopped",
			`if a does nothing, you can in 45 min at the earliest; until then wait: tt wait; ask: tt msg send a "…"`)
		f.passes("b").member("c")
		_, err = f.takes("c")
		refused(t, err, CodeTakeoverNotAvailable, map[string]any{"reserved_for": "b", "opens_at": f.now.Add(claim)})
		says(t, err, "you can't take over yet: the stick is reserved for b, who was named just now",
			"b has 20 min left to take the stick; wait for your turn: tt wait")
	})
	t.Run("tells an idle owner first", func(t *testing.T) {
		f := room(t).member("a", "b").alive("a").owns("a").after(limit)
		_, err := f.takes("b")
		refused(t, err, CodeTakeoverNotAvailable, map[string]any{"opens_at": f.now.Add(grace)})
		says(t, err, "you can't take over yet: a looks idle, and still has time to answer that",
			`if a does nothing, you can in 10 s at the earliest; until then wait: tt wait; ask: tt msg send a "…"`)
		equal(t, "told", f.log[len(f.log)-1].Type, EventOwnerIdle)
		if _, err = f.after(grace).takes("b"); err != nil {
			t.Error(err)
		}
	})
	t.Run("refused as soon as the owner has a longer limit, and says when that ends", func(t *testing.T) {
		f := room(t).member("a", "b").alive("a").owns("a").after(limit)
		f.ask("b")
		f.after(grace).policy("owner_idle_ttl=2h")
		_, err := f.takes("b")
		refused(t, err, CodeTakeoverNotAvailable, map[string]any{"opens_at": start.Add(2 * time.Hour)})
		says(t, err, "you can't take over yet: a has held the stick for 45 min, and nothing shows that it has stopped",
			`if a does nothing, you can in 1 h at the earliest; until then wait: tt wait; ask: tt msg send a "…"`)
		equal(t, "a wait checks again", f.deadline("b"), 2*time.Hour-limit-grace)
		f.after(2*time.Hour - limit - grace)
		equal(t, "since", f.Opening(f.s, f.now).Since, f.now)
		if _, err = f.takes("b"); err != nil {
			t.Error(err)
		}
	})
	t.Run("needs a reason", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").after(limit)
		_, err := f.take(Take{By: "b", Reason: " \n"})
		refused(t, err, CodeUsage, map[string]any{"field": "reason"})
	})
	t.Run("of another turn than the expected one", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").after(limit)
		_, err := f.take(Take{By: "b", ExpectedTurn: 7, Reason: "r"})
		refused(t, err, CodeTurnMismatch, map[string]any{"current_turn_id": 1, "current_owner": "a", "room_state": Owned})
	})
	t.Run("by the owner", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		why, err := f.takes("a")
		equal(t, "why", why, AlreadyOwner)
		equal(t, "error", CodeOf(err), "")
	})
	t.Run("by one who takes no part", func(t *testing.T) {
		f := room(t).member("a").owns("a").after(limit)
		_, err := f.takes("x")
		refused(t, err, CodeUnknownMember, map[string]any{"to_agent_id": "x"})
	})
	t.Run("in a closed room", func(t *testing.T) {
		f := room(t).member("a")
		f.must(f.close(Closing{By: "human:x", Person: true}))
		_, err := f.takes("a")
		refused(t, err, CodeRoomClosed, map[string]any{"room_state": StateClosed})
	})
	t.Run("of an idle room is a claim", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").releases()
		why, err := f.takes("b")
		equal(t, "why", why, OpenClaim)
		equal(t, "error", CodeOf(err), "")
		equal(t, "handoff", f.Turn.HandoffDirect, true)
	})
	t.Run("of an idle room by the deferred", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").releases().waits("b")
		_, err := f.takes("a")
		refused(t, err, CodePriorOwner, map[string]any{"room_state": Idle, "current_owner": nil, "opens_at": f.now.Add(grace)})
		why, err := f.take(Take{By: "a", Reason: "r", Operator: true})
		equal(t, "on a person's word", why, TookOver)
		equal(t, "error", CodeOf(err), "")
	})
	t.Run("by the recipient is a claim", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").passes("b").after(time.Hour)
		why, _ := f.takes("b")
		equal(t, "why", why, DirectPass)
	})
	t.Run("on a person's word", func(t *testing.T) {
		f := room(t).member("a", "b").alive("a").owns("a")
		why, err := f.take(Take{By: "b", Reason: "r", Operator: true, Relayed: true})
		equal(t, "why", why, TookOver)
		equal(t, "error", CodeOf(err), "")
		facts := said[TakeoverPayload](f.log[len(f.log)-1])
		equal(t, "cause", facts.Cause, OperatorRequested)
		equal(t, "relayed by", facts.RelayedBy, "b")
		equal(t, "verdict", facts.Verdict, Alive)
	})
	t.Run("the prior owner's guard", func(t *testing.T) {
		passed := func() *fixture { return room(t).member("a", "b", "c").owns("a").passes("b").after(claim) }
		f := passed().waits("c")
		_, err := f.takes("a")
		refused(t, err, CodePriorOwner, map[string]any{"reserved_for": "b"})
		equal(t, "a look", f.try("a").Status, "")
		if _, err := f.after(grace).takes("a"); err != nil {
			t.Errorf("a grace later: %v", err)
		}
		if _, err := passed().takes("a"); err != nil {
			t.Errorf("while nobody else waits: %v", err)
		}
		if _, err := passed().waits("b").takes("a"); err != nil {
			t.Errorf("the recipient is no other: %v", err)
		}
		if _, err := passed().waits("c").alive("c").gone("c").takes("a"); err != nil {
			t.Errorf("while the other is gone: %v", err)
		}
		if _, err := passed().parks("c").takes("a"); err != nil {
			t.Errorf("while the other only listens: %v", err)
		}
		if _, err := passed().waits("c").takes("c"); err != nil {
			t.Errorf("not of the other: %v", err)
		}
	})
	t.Run("the guard while one was told", func(t *testing.T) {
		told := func(t *testing.T) *fixture {
			f := room(t).member("a", "b", "c").owns("a").passes("b").waits("c").after(claim + 5*time.Second)
			equal(t, "c", f.ask("c").Status, TakeoverAvailable)
			return f.ends("c")
		}
		f := told(t)
		_, err := f.after(timeToTake - ms).takes("a")
		refused(t, err, CodePriorOwner, map[string]any{"reserved_for": "b", "opens_at": f.now.Add(ms)})
		f.waits("a")
		equal(t, "a's wait", f.ask("a").Status, "")
		equal(t, "its deadline", f.deadline("a"), ms)
		if _, err := f.after(ms).takes("a"); err != nil {
			t.Errorf("after its time to take: %v", err)
		}
		f = told(t).waits("a").after(timeToTake)
		equal(t, "a's wait a minute later", f.ask("a").Status, TakeoverAvailable)
		if _, err := f.takes("a"); err != nil {
			t.Errorf("whoever got the offer may take: %v", err)
		}
		if _, err := told(t).alive("c").gone("c").takes("a"); err != nil {
			t.Errorf("when it is gone: %v", err)
		}
		f = told(t)
		f.must(f.leave(Leaving{By: "c"}))
		if _, err := f.takes("a"); err != nil {
			t.Errorf("when it has left: %v", err)
		}
		f = told(t).policy("waiter_grace=5m").after(5*time.Minute - ms)
		_, err = f.takes("a")
		refused(t, err, CodePriorOwner, map[string]any{"opens_at": f.now.Add(ms)})
		f = told(t).policy("claim_ttl=30s").after(30 * time.Second)
		if _, err := f.takes("a"); err != nil {
			t.Errorf("in the next round: %v", err)
		}
	})
	t.Run("the guard while one asked for work a moment ago", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").passes("b").after(claim)
		f.Room = f.Returned("c", start, f.now.Add(-grace+2*time.Second))
		_, err := f.takes("a")
		refused(t, err, CodePriorOwner, map[string]any{"opens_at": f.now.Add(2 * time.Second)})
		says(t, err, "you had the stick last, so others come first; the stick is reserved for b, who was named 20 min ago",
			"if nobody takes it, you can in 2 s; until then wait for your turn: tt wait")
		_, err = f.after(2*time.Second - ms).takes("a")
		says(t, err, "you had the stick last, so others come first; the stick is reserved for b, who was named 20 min ago",
			"if nobody takes it, you can in a moment; until then wait for your turn: tt wait")
		if _, err := f.after(ms).takes("a"); err != nil {
			t.Error(err)
		}
		for _, other := range []AgentID{"a", "b"} {
			f := room(t).member("a", "b", "c").owns("a").passes("b").after(claim)
			f.Room = f.Returned(other, start, f.now)
			if _, err := f.takes("a"); err != nil {
				t.Errorf("%s doesn't count: %v", other, err)
			}
		}
	})
	t.Run("the guard after a grant that wasn't acknowledged", func(t *testing.T) {
		f := room(t).member("a", "b", "c").alive("b").hooks("b").owns("a").passes("b").owns("b").waits("c").after(claim)
		_, err := f.takes("a")
		refused(t, err, CodePriorOwner, nil)
		if _, err := f.after(grace).takes("a"); err != nil {
			t.Error(err)
		}
	})
}

func TestOffers(t *testing.T) {
	dead := func(t *testing.T) *fixture {
		f := room(t).member("a", "b", "c", "d").alive("a").owns("a").waits("b", "c", "d").gone("a")
		f.settle("x")
		return f
	}
	t.Run("one per grace, in the order of fairness", func(t *testing.T) {
		f := dead(t)
		equal(t, "c at first", f.ask("c").Status, "")
		equal(t, "c's place", f.deadline("c"), grace)
		equal(t, "d's place", f.deadline("d"), 2*grace)
		equal(t, "b", f.ask("b").Status, TakeoverAvailable)
		equal(t, "c a moment before", f.after(grace-ms).ask("c").Status, "")
		equal(t, "c", f.after(ms).ask("c").Status, TakeoverAvailable)
		equal(t, "d is a grace after c", f.deadline("d"), grace)
	})
	t.Run("nobody is told twice in a round", func(t *testing.T) {
		f := dead(t)
		f.ask("b")
		f.after(time.Minute)
		equal(t, "again", f.ask("b").Status, "")
		equal(t, "sleeps until the next round", f.deadline("b"), claim-time.Minute)
		equal(t, "in the next round", f.after(claim-time.Minute).ask("b").Status, TakeoverAvailable)
	})
	t.Run("the first is stopped", func(t *testing.T) {
		f := dead(t).after(grace)
		equal(t, "the second", f.ask("c").Status, TakeoverAvailable)
		equal(t, "the third, behind the first", f.deadline("d"), 2*grace)
	})
	t.Run("a grant clears who was told", func(t *testing.T) {
		f := dead(t)
		f.ask("b")
		if _, err := f.takes("c"); err != nil {
			t.Fatal(err)
		}
		f.alive("c").gone("c")
		f.settle("x")
		equal(t, "b", f.ask("b").Status, TakeoverAvailable)
	})
	t.Run("so does a reservation", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").waits("b").after(limit)
		equal(t, "b", f.ask("b").Status, TakeoverAvailable)
		f.passes("c").after(claim)
		equal(t, "b", f.ask("b").Status, TakeoverAvailable)
	})
	t.Run("an owner that came back and ended again", func(t *testing.T) {
		f := dead(t)
		f.ask("b")
		f.alive("a")
		f.Room = f.Touch("a", f.now)
		f.after(time.Second).gone("a")
		equal(t, "b within a grace of the last offer", f.ask("b").Status, "")
		equal(t, "its place", f.deadline("b"), grace-time.Second)
		equal(t, "the next one's", f.deadline("c"), 2*grace-time.Second)
		equal(t, "the next one's a grace later", f.after(grace-time.Second).deadline("c"), grace)
		equal(t, "b", f.ask("b").Status, TakeoverAvailable)
	})
	t.Run("an owner that ended long after the last offer", func(t *testing.T) {
		f := dead(t)
		f.ask("b")
		f.alive("a")
		f.Room = f.Touch("a", f.now)
		f.after(time.Minute).gone("a")
		equal(t, "b at once", f.ask("b").Status, TakeoverAvailable)
	})
	t.Run("rounds that are shorter than a grace", func(t *testing.T) {
		f := dead(t).policy("claim_ttl=1s")
		f.ask("b")
		equal(t, "in the next round", f.after(grace-ms).ask("b").Status, "")
		equal(t, "a grace after the last offer", f.after(ms).ask("b").Status, TakeoverAvailable)
	})
	t.Run("an offer of a time that the clock went back from", func(t *testing.T) {
		f := room(t).member("a", "b", "c").policy("claim_ttl=24h").owns("a").waits("b", "c").after(limit)
		f.ask("b")
		f.after(-time.Hour)
		equal(t, "c", f.ask("c").Status, TakeoverAvailable)
	})
	t.Run("a limit that opened again is no new round", func(t *testing.T) {
		f := room(t).member("a", "b").policy("owner_lease_ttl=1m").owns("a").waits("b").after(time.Minute)
		equal(t, "b", f.ask("b").Status, TakeoverAvailable)
		f.Room = f.Touch("a", f.now)
		f.after(time.Minute)
		equal(t, "open again", f.opening(), OwnerTimeout)
		equal(t, "b", f.ask("b").Status, "")
		equal(t, "sleeps until the next round", f.deadline("b"), claim-time.Minute)
	})
	t.Run("the prior owner after its guard", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").passes("b").waits("a", "c").after(claim)
		equal(t, "a", f.ask("a").Status, "")
		equal(t, "a's place", f.deadline("a") >= grace, true)
		equal(t, "c", f.ask("c").Status, TakeoverAvailable)
	})
	t.Run("the prior owner first in the order of joining waits for its guard all the same", func(t *testing.T) {
		f := room(t).member("a", "b", "c").policy("order=sequence").owns("c").passes("b").waits("a", "c").after(claim)
		equal(t, "c", f.ask("c").Status, "")
		equal(t, "c's place", f.deadline("c"), grace)
		g := room(t).member("a", "b", "c").policy("order=sequence").owns("c").passes("b").waits("c").after(claim)
		equal(t, "c alone", g.ask("c").Status, TakeoverAvailable)
	})
	t.Run("one look shows what is open to anybody", func(t *testing.T) {
		f := dead(t)
		for range 2 {
			equal(t, "d", f.try("d").Opening.Cause, OwnerGone)
		}
	})
	t.Run("not before a machine that slept had its grace", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").waits("b").after(limit)
		q := Asking{Agent: "b", Purpose: Work, Blocking: true, NotSoon: f.now.Add(grace)}
		_, events, ans := f.Ask(q, f.s, f.now)
		equal(t, "status", ans.Status, "")
		equal(t, "events", len(events), 0)
		equal(t, "deadline", f.NextDeadline(q, f.s, f.now), f.now.Add(grace))
		_, _, ans = f.Ask(q, f.s, f.now.Add(grace))
		equal(t, "later", ans.Status, TakeoverAvailable)
	})
	// Were an opening said to begin now, whoever isn't the first in order would never have its turn.
	t.Run("after the clock went back everybody has a place", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").waits("b", "c").after(-time.Hour)
		equal(t, "since", f.Opening(f.s, f.now).Since, 0)
		equal(t, "c, though b is stopped", f.ask("c").Status, TakeoverAvailable)
		for range 3 {
			equal(t, "told again", f.after(time.Second).ask("c").Status, "")
		}
	})
}
