package stick

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The tests in this file kill mutants that all others let live (see make mutate).

// TestPriorOwnerIsGuardedAgainstForClaimTimeoutOnly: an agent that passed the stick on must let others go
// first after a claim timeout. Every other cause opens the takeover for the prior owner too.
func TestPriorOwnerIsGuardedAgainstForClaimTimeoutOnly(t *testing.T) {
	passed := func(t *testing.T) *fixture { // from a to b, while c waits
		f := room(t).member("a", "b", "c").alive("a", "c").hooks("b").owns("a").waits("c")
		return f.passes("b")
	}
	claimed := func(t *testing.T, policy ...string) *fixture { // … and b has made no call since its claim
		f := passed(t)
		f.Policy.OwnerLeaseTTL = max(f.Policy.OwnerLeaseTTL, limit)
		if len(policy) > 0 {
			f.policy(policy...)
		}
		r, events, why := f.Claim("b", f.lease(), f.s, f.now)
		if why != DirectPass {
			t.Fatalf("b's claim is %q", why)
		}
		f.commit(r, events)
		return f
	}
	for _, c := range []struct {
		cause Cause
		make  func(t *testing.T) *fixture
		code  Code // of the refusal, if there is one
	}{
		{OwnerGone, func(t *testing.T) *fixture { return claimed(t).gone("b").after(time.Second) }, ""},
		{OwnerTimeout, func(t *testing.T) *fixture { return claimed(t, "owner_lease_ttl=5m").after(6 * time.Minute) }, ""},
		{OwnerIdle, func(t *testing.T) *fixture {
			f := claimed(t, "owner_idle_ttl=5m").alive("b").after(6 * time.Minute)
			f.ask("c") // who finds b idle, and has it told
			return f.after(grace)
		}, ""},
		{RecipientGone, func(t *testing.T) *fixture { return passed(t).gone("b").after(time.Second) }, ""},
		{ClaimTimeout, func(t *testing.T) *fixture { return passed(t).after(claim) }, CodePriorOwner},
		{ClaimTimeout, func(t *testing.T) *fixture { return claimed(t).alive("b").after(claim) }, CodePriorOwner},
		{ClaimTimeout, func(t *testing.T) *fixture { return passed(t).after(claim + grace) }, ""},
	} {
		f := c.make(t)
		if got := f.opening(); got != c.cause {
			t.Errorf("%s is open, not %s", got, c.cause)
			continue
		}
		// Not by the fixture's take, which settles first: that would name another recipient.
		_, _, _, err := f.Takeover(Take{By: "a", Reason: "it is needed"}, "lease", f.s, f.now)
		if CodeOf(err) != c.code {
			t.Errorf("%s, %s after the start: the prior owner gets %v, want the code %q", c.cause, f.now.Sub(start), err, c.code)
		}
		// Nor is the offer to it put off.
		if at := f.guardUntil("a", f.Opening(f.s, f.now), f.s, f.now); at.IsZero() != (c.code == "") {
			t.Errorf("%s, %s after the start: the guard lasts until %s", c.cause, f.now.Sub(start), at)
		}
	}
}

// TestHeartbeatShowsThatTheOwnerLives: a heartbeat acknowledges the grant, and closes a takeover that was
// open because the owner looked gone.
func TestHeartbeatShowsThatTheOwnerLives(t *testing.T) {
	beat := func(f *fixture) {
		t.Helper()
		r, err := f.Heartbeat(f.Turn.Owner, f.fence(), "", f.now)
		if err != nil {
			t.Fatal(err)
		}
		f.commit(r, nil)
	}
	granted := func() *fixture { return room(t).member("a", "b").alive("a").hooks("a").owns("a").after(time.Second) }

	f := granted()
	equal(t, "the opening without a heartbeat, once the time to acknowledge is over", f.after(claim).opening(), ClaimTimeout)
	f = granted()
	beat(f)
	equal(t, "the opening after a heartbeat", f.after(claim).opening(), Cause(""))

	f = granted().gone("a")
	f.settle("b")
	opened := f.now
	equal(t, "the opening of a's absence", f.Opening(f.s, f.after(time.Second).now), Opening{OwnerGone, opened})
	beat(f.alive("a"))
	f.after(time.Second).gone("a")
	equal(t, "the opening of a's second absence", f.Opening(f.s, f.now), Opening{OwnerGone, f.now})
}

// TestClaimNamesTheHandoffItTakesOver: a claim names the latest handoff, unless another turn already took it
// over.
func TestClaimNamesTheHandoffItTakesOver(t *testing.T) {
	named := func(f *fixture) int64 {
		t.Helper()
		e := f.log[len(f.log)-1]
		var payload struct {
			HandoffSeq int64 `json:"handoff_seq"`
		}
		if err := json.Unmarshal(e.Payload, &payload); err != nil || e.Type != EventClaim && e.Type != EventTakeover {
			t.Fatalf("the last event is a %s: %v", e.Type, err)
		}
		return payload.HandoffSeq
	}
	f := room(t).member("a", "b", "c").owns("a")
	equal(t, "the first claim's handoff", named(f), 0)
	for _, next := range []AgentID{"b", "a"} {
		f.passes(next)
		released := f.seq
		equal(t, "the claim's handoff", named(f.owns(next)), released)
	}
	if _, err := f.leave(Leaving{By: "a", Fence: f.fence(), Abandon: "no more time"}); err != nil {
		t.Fatal(err)
	}
	equal(t, "the handoff of a claim after an abandoned turn", named(f.owns("b")), 0)

	f.passes("c") // who doesn't come
	released := f.seq
	f.member("a").after(claim + grace)
	if _, err := f.takes("a"); err != nil {
		t.Fatal(err)
	}
	equal(t, "the takeover's handoff", named(f), released)
}

// TestDoneAfterTheReviewerAskedForChanges: the same commit may be offered again and needs a new review.
// Nothing can be offered after the end of an attempt.
func TestDoneAfterTheReviewerAskedForChanges(t *testing.T) {
	changes := func(t Task) (Event, error) {
		return t.RequestChanges(TaskDecision{TaskCall: theReviewer, Head: t.Head, Branch: t.Head}, "x")
	}
	offer := Offering{Base: "b", Head: "h", Patch: "p"}
	for name, c := range map[string]struct {
		task  Task
		state TaskState // to which done leads, if to any
		code  Code
	}{
		"in review":                          {made(t, begun, offers("h", "p")), "", ""}, // asked twice
		"approved":                           {made(t, begun, offers("h", "p"), approve), "", ""},
		"changes asked for":                  {made(t, begun, offers("h", "p"), changes), TaskInReview, ""},
		"changes asked for after approval":   {made(t, begun, offers("h", "p"), approve, changes), TaskInReview, ""},
		"called off":                         {made(t, begun, offers("h", "p"), cancel), "", CodeStaleAttempt},
		"called off and tried again":         {made(t, begun, offers("h", "p"), cancel, retry), "", CodeStaleAttempt},
		"called off after changes asked for": {made(t, begun, offers("h", "p"), changes, cancel), "", CodeStaleAttempt},
	} {
		e, err := c.task.Done(theWorker, offer)
		if CodeOf(err) != c.code || (e == nil) != (c.state == "") {
			t.Errorf("%s: done makes %+v and %v", name, e, err)
			continue
		}
		if e == nil {
			continue
		}
		e.Seq = 99
		after, err := c.task.Apply(*e)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		equal(t, name+": the state after done", after.State, c.state)
		equal(t, name+": what is approved", after.Approved, "")
	}
}

// TestNoIdleNoticeToTheDead: an owner whose process has ended isn't told that it looks idle, even if a
// guardian keeps its lease. Others may take over at once.
func TestNoIdleNoticeToTheDead(t *testing.T) {
	for _, c := range []struct {
		name    string
		verdict Verdict
		want    bool
	}{{"alive", Alive, true}, {"unknown", Unknown, true}, {"gone", Gone, false}} {
		make := func() *fixture {
			f := room(t).member("a", "b").policy("owner_idle_ttl=5m").owns("a").process("a", ProvesSession, c.verdict)
			r, err := f.Renew("a", f.fence(), 77, Process{PID: 1}, f.now) // a guardian
			if err != nil {
				t.Fatal(err)
			}
			f.commit(r, nil)
			return f.after(5 * time.Minute)
		}
		told := func(f *fixture) bool {
			for _, e := range f.log {
				if e.Type == EventOwnerIdle {
					return true
				}
			}
			return false
		}
		f := make()
		equal(t, c.name+": is due", f.idleNoticeDue(f.s, f.now), c.want)
		f = make()
		f.ask("b")
		equal(t, c.name+": told by one who waits", told(f), c.want)
		f = make()
		_, err := f.takes("b")
		equal(t, c.name+": told by one who takes", told(f), c.want)
		equal(t, c.name+": b may take at once", err == nil, !c.want)
	}
}

// TestOffersOfALaterRound: everybody gets the offer once in each round. A member that got it checks again
// when the next round starts, whatever other deadlines pass before.
func TestOffersOfALaterRound(t *testing.T) {
	f := room(t).member("a", "b").policy("owner_idle_ttl=21m").alive("a").hooks("a").owns("a").waits("b").after(claim)
	for round := range 3 {
		equal(t, fmt.Sprintf("round %d: open", round), f.opening(), ClaimTimeout)
		equal(t, fmt.Sprintf("round %d: b is told", round), f.ask("b").Status, TakeoverAvailable)
		equal(t, fmt.Sprintf("round %d: b looks again after", round), f.deadline("b"), claim)
		equal(t, fmt.Sprintf("round %d: b is told again", round), f.ask("b").Status, "")
		f.after(claim)
	}
}

// TestHelperThatBecomesThePrimaryCrashedNothing: a helper's session that goes on as the primary in a new
// process isn't a crash.
func TestHelperThatBecomesThePrimaryCrashedNothing(t *testing.T) {
	for _, helper := range []bool{false, true} {
		f := room(t)
		f.starts(Starting{By: "a", Helper: helper})
		got := f.starts(Starting{By: "a"})
		equal(t, "the role", got.Role, RolePrimary)
		equal(t, "the agent that crashed", got.Crashed, map[bool]AgentID{false: "a"}[helper])
	}
}

// TestBefore: of two processes that can be compared one began first, even at the same instant. Of others
// nobody knows.
func TestBefore(t *testing.T) {
	at := func(start int64, pid int) Process { return Process{Boot: "b", PIDNS: "n", PID: pid, Start: start} }
	other := at(1, 1)
	other.Boot = "c"
	for _, c := range []struct {
		p, q         Process
		before, back bool
	}{
		{at(1, 9), at(2, 1), true, false},
		{at(1, 1), at(1, 2), true, false}, // the same instant
		{at(1, 1), at(1, 1), false, false},
		{other, at(2, 1), false, false},
	} {
		equal(t, fmt.Sprintf("%v before %v", c.p, c.q), c.p.Before(c.q), c.before)
		equal(t, fmt.Sprintf("%v before %v", c.q, c.p), c.q.Before(c.p), c.back)
	}
}

// TestKickOfAnOwnerNamesItsLease: the event names the lease that ended, like every other end of a grant.
func TestKickOfAnOwnerNamesItsLease(t *testing.T) {
	f := room(t).member("a", "b").owns("a").gone("a")
	lease := f.Turn.Lease
	var payload struct {
		Lease string `json:"lease"`
	}
	if err := json.Unmarshal(f.must(f.kick(Kicking{By: "b", Who: "a"}))[0].Payload, &payload); err != nil {
		t.Fatal(err)
	}
	equal(t, "the lease", payload.Lease, LeaseSum(lease))
}

// TestReplayRefusesWhatCantFollow: events that can't follow the earlier ones break the replay, even if
// somebody has computed the sums anew.
func TestReplayRefusesWhatCantFollow(t *testing.T) {
	message := func() (*fixture, int64) {
		f := room(t).member("a", "b")
		return f, f.sent("a", Message{To: []AgentID{"b"}, Body: "x", RequiresAck: true})
	}
	f, id := message()
	acked := f.must(f.acks("b", id))
	f, id = message() // … and b hadn't
	withdrawn := f.withdraws("a", id)
	joined, sent := f.log[:2:2], f.log[2:3:3]
	notes, _ := f.AddNote("a", "x", true)
	added := f.commit(f.Room, notes)
	resolved := f.commit(f.Room, f.ResolveNote("b", NoteOf(added[0])))
	for name, c := range map[string]struct {
		log    []Event
		reason string // "" if the log holds
	}{
		"what was done":                 {slices.Concat(joined, sent, acked), ""},
		"a note resolved":               {slices.Concat(joined, added, resolved), ""},
		"a withdrawn message accepted":  {slices.Concat(joined, sent, withdrawn, acked), "withdrawn"},
		"one accepted before it came":   {slices.Concat(joined, acked, sent), "no recipient"},
		"a note resolved before it was": {slices.Concat(joined, resolved, added), "no such note"},
	} {
		var rec Record
		var err error
		for _, e := range c.log {
			e.Sum = e.Chain(rec.Sum)
			if err = rec.Replay(e); err != nil {
				break
			}
		}
		if (err == nil) != (c.reason == "") || err != nil && !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTaskKeepsWhyItCameBack: a task keeps the cause and the reason why it was returned or failed, until it
// is offered or tried again.
func TestTaskKeepsWhyItCameBack(t *testing.T) {
	changes := func(t Task) (Event, error) {
		return t.RequestChanges(TaskDecision{TaskCall: theReviewer, Head: t.Head, Branch: t.Head}, "name it")
	}
	returned := func(t Task) (Event, error) { return t.Return("claude:o", CauseGate, "make test is red", "", nil) }
	fail := func(t Task) (Event, error) { return t.Fail(theWorker, "too hard") }
	rollback := func(t Task) (Event, error) { return t.Rollback("claude:o", "r2", "it broke the build") }
	offered := offers("h", "p")
	for _, c := range []struct {
		steps         []func(Task) (Event, error)
		cause, reason string
	}{
		{[]func(Task) (Event, error){begun, offered, changes}, CauseReview, "name it"},
		{[]func(Task) (Event, error){begun, offered, approve, returned}, CauseGate, "make test is red"},
		{[]func(Task) (Event, error){begun, fail}, CauseGivenUp, "too hard"},
		{[]func(Task) (Event, error){begun, cancel}, CauseCancelled, "no"},
		{[]func(Task) (Event, error){begun, offered, approve, land, rollback}, CauseRolledBack, "it broke the build"},
		{[]func(Task) (Event, error){begun, offered, changes, offers("i", "q")}, "", ""},
		{[]func(Task) (Event, error){begun, cancel, retry}, "", ""},
	} {
		task := made(t, c.steps...)
		equal(t, fmt.Sprintf("after %d steps: the cause", len(c.steps)), task.Cause, c.cause)
		equal(t, fmt.Sprintf("after %d steps: the reason", len(c.steps)), task.Reason, c.reason)
	}
}

// TestRestoreBeforeTheFirstTurn: if no turn was granted, none can have been lost, so no turn id is skipped.
func TestRestoreBeforeTheFirstTurn(t *testing.T) {
	f := room(t).member("a")
	f.commit(f.Restore(Generation{Number: 3, Cause: RestoreCause}, f.s, f.now))
	equal(t, "the turn", f.Turn.ID, 0)
	equal(t, "the first turn after it", f.owns("a").Turn.ID, 1)
}

// TestOnlyTheWorkerIsFencedOff: only the worker of a task that is over has a stale attempt.
func TestOnlyTheWorkerIsFencedOff(t *testing.T) {
	over := made(t, begun, cancel)
	for by, code := range map[AgentID]Code{theWorker.By: CodeStaleAttempt, "pi:x": CodeInvalidTransition} {
		_, err := over.Start(TaskCall{By: by}, false)
		equal(t, "the code for "+string(by), CodeOf(err), code)
	}
}

// TestReceiptsOfADamagedMessage: who has to read it is still known, though nothing of the message is.
func TestReceiptsOfADamagedMessage(t *testing.T) {
	e := Event{Type: EventMessageSent, From: "a", For: []Addressee{{"b", OwesReading}}, Payload: []byte("{")}
	equal(t, "receipts", len(e.Receipts()), 1)
	equal(t, "of", e.Receipts()[0].Agent, "b")
}
