package stick_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/presence"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/talk"
	"talkingstick/stick/tasks"
)

// The tests in this file kill mutants that all others let live (see make mutate).

// TestPriorOwnerIsGuardedAgainstForClaimTimeoutOnly: an agent that passed the stick on must let others go
// first after a claim timeout. Every other cause opens the takeover for the prior owner too.
func TestPriorOwnerIsGuardedAgainstForClaimTimeoutOnly(t *testing.T) {
	passed := func(t *testing.T) *sticktest.Fixture { // from a to b, while c waits
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("a", "c").Hooks("b").Owns("a").Waits("c")
		return f.Passes("b")
	}

	claimed := func(t *testing.T, policy ...string) *sticktest.Fixture { // … and b has made no call since its claim
		f := passed(t)
		f.Policy.OwnerLeaseTTL = max(f.Policy.OwnerLeaseTTL, sticktest.Limit)
		if len(policy) > 0 {
			f.WithPolicy(policy...)
		}
		r, events, why := f.Claim("b", f.Lease(), f.Probed, f.Now)
		if why != stick.DirectPass {
			t.Fatalf("b's claim is %q", why)
		}

		f.Commit(r, events)
		return f
	}

	for _, c := range []struct {
		cause stick.Cause
		make  func(t *testing.T) *sticktest.Fixture
		code  stick.Code // of the refusal, if there is one
	}{
		{stick.OwnerGone, func(t *testing.T) *sticktest.Fixture { return claimed(t).Gone("b").After(time.Second) }, ""},
		{
			stick.OwnerTimeout,
			func(t *testing.T) *sticktest.Fixture { return claimed(t, "owner_lease_ttl=5m").After(6 * time.Minute) },
			"",
		},
		{stick.OwnerIdle, func(t *testing.T) *sticktest.Fixture {
			f := claimed(t, "owner_idle_ttl=5m").Alive("b").After(6 * time.Minute)
			f.Asks("c") // who finds b idle, and has it told
			return f.After(sticktest.Grace)
		}, ""},
		{
			stick.RecipientGone,
			func(t *testing.T) *sticktest.Fixture { return passed(t).Gone("b").After(time.Second) },
			"",
		},
		{
			stick.ClaimTimeout,
			func(t *testing.T) *sticktest.Fixture { return passed(t).After(sticktest.Claim) },
			stick.CodePriorOwner,
		},
		{
			stick.ClaimTimeout,
			func(t *testing.T) *sticktest.Fixture { return claimed(t).Alive("b").After(sticktest.Claim) },
			stick.CodePriorOwner,
		},
		{
			stick.ClaimTimeout,
			func(t *testing.T) *sticktest.Fixture { return passed(t).After(sticktest.Claim + sticktest.Grace) },
			"",
		},
	} {
		f := c.make(t)
		if got := f.OpeningCause(); got != c.cause {
			t.Errorf("%s is open, not %s", got, c.cause)
			continue
		}

		// Not by the fixture's take, which settles first: that would name another recipient.
		_, _, _, err := f.Takeover(stick.Take{By: "a", Reason: "it is needed"}, "lease", f.Probed, f.Now)
		if stick.CodeOf(err) != c.code {
			t.Errorf("%s, %s after the start: the prior owner gets %v, want the code %q",
				c.cause, f.Now.Sub(sticktest.Start), err, c.code)
		}

		// Nor is the offer to it put off.
		if at := f.GuardUntil("a", f.Opening(f.Probed, f.Now), f.Probed, f.Now); at.IsZero() != (c.code == "") {
			t.Errorf("%s, %s after the start: the guard lasts until %s", c.cause, f.Now.Sub(sticktest.Start), at)
		}
	}
}

// TestHeartbeatShowsThatTheOwnerLives: a heartbeat acknowledges the grant, and closes a takeover that was
// open because the owner looked gone.
func TestHeartbeatShowsThatTheOwnerLives(t *testing.T) {
	beat := func(f *sticktest.Fixture) {
		t.Helper()
		r, err := f.Heartbeat(f.Turn.Owner, f.Fence(), "", f.Now)
		if err != nil {
			t.Fatal(err)
		}
		f.Commit(r, nil)
	}

	granted := func() *sticktest.Fixture {
		return sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Hooks("a").Owns("a").After(time.Second)
	}

	f := granted()
	sticktest.Equal(t, "the opening without a heartbeat, once the time to acknowledge is over",
		f.After(sticktest.Claim).OpeningCause(), stick.ClaimTimeout)
	f = granted()
	beat(f)
	sticktest.Equal(t, "the opening after a heartbeat", f.After(sticktest.Claim).OpeningCause(), stick.Cause(""))

	f = granted().Gone("a")
	f.Settles("b")
	opened := f.Now
	sticktest.Equal(t, "the opening of a's absence",
		f.Opening(f.Probed, f.After(time.Second).Now), stick.Opening{Cause: stick.OwnerGone, Since: opened})

	beat(f.Alive("a"))
	f.After(time.Second).Gone("a")
	sticktest.Equal(t, "the opening of a's second absence", f.Opening(f.Probed, f.Now), stick.Opening{
		Cause: stick.OwnerGone, Since: f.Now,
	})
}

// TestClaimNamesTheHandoffItTakesOver: a claim names the latest handoff, unless another turn already took it
// over.
func TestClaimNamesTheHandoffItTakesOver(t *testing.T) {
	named := func(f *sticktest.Fixture) int64 {
		t.Helper()
		e := f.Log[len(f.Log)-1]
		var payload struct {
			HandoffSeq int64 `json:"handoff_seq"`
		}
		if err := json.Unmarshal(e.Payload, &payload); err != nil ||
			e.Type != stick.EventClaim && e.Type != stick.EventTakeover {
			t.Fatalf("the last event is a %s: %v", e.Type, err)
		}

		return payload.HandoffSeq
	}

	f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a")
	sticktest.Equal(t, "the first claim's handoff", named(f), 0)
	for _, next := range []stick.AgentID{"b", "a"} {
		f.Passes(next)
		released := f.Seq
		sticktest.Equal(t, "the claim's handoff", named(f.Owns(next)), released)
	}

	if _, err := f.TryLeave(stick.Leaving{By: "a", Fence: f.Fence(), Abandon: "no more time"}); err != nil {
		t.Fatal(err)
	}
	sticktest.Equal(t, "the handoff of a claim after an abandoned turn", named(f.Owns("b")), 0)

	f.Passes("c") // who doesn't come
	released := f.Seq
	f.WithMembers("a").After(sticktest.Claim + sticktest.Grace)
	if _, err := f.Takes("a"); err != nil {
		t.Fatal(err)
	}
	sticktest.Equal(t, "the takeover's handoff", named(f), released)
}

// TestDoneAfterTheReviewerAskedForChanges: the same commit may be offered again and needs a new review.
// Nothing can be offered after the end of an attempt.
func TestDoneAfterTheReviewerAskedForChanges(t *testing.T) {
	changes := func(t stick.Task) (stick.Event, error) {
		return tasks.RequestChanges(t, tasks.Decision{Call: sticktest.TheReviewer, Head: t.Head, Branch: t.Head}, "x")
	}

	offer := tasks.Offering{Base: "b", Head: "h", Patch: "p"}
	for name, c := range map[string]struct {
		task  stick.Task
		state stick.TaskState // to which done leads, if to any
		code  stick.Code
	}{
		// asked twice
		"in review": {sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p")), "", ""},
		"approved": {
			sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), sticktest.Approve), "", "",
		},
		"changes asked for": {
			sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), changes), stick.TaskInReview, "",
		},
		"changes asked for after approval": {
			sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), sticktest.Approve, changes),
			stick.TaskInReview,
			"",
		},
		"called off": {
			sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), sticktest.Cancel),
			"",
			stick.CodeStaleAttempt,
		},
		"called off and tried again": {
			sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), sticktest.Cancel, sticktest.Retry),
			"",
			stick.CodeStaleAttempt,
		},
		"called off after changes asked for": {
			sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), changes, sticktest.Cancel),
			"",
			stick.CodeStaleAttempt,
		},
	} {
		e, err := tasks.Done(c.task, sticktest.TheWorker, offer)
		if stick.CodeOf(err) != c.code || (e == nil) != (c.state == "") {
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
		sticktest.Equal(t, name+": the state after done", after.State, c.state)
		sticktest.Equal(t, name+": what is approved", after.Approved, "")
	}
}

// TestIdleNotice_OwnerGone: an owner whose process has ended isn't told that it looks idle, even if a
// guardian keeps its lease. Others may take over at once.
func TestIdleNotice_OwnerGone(t *testing.T) {
	for _, c := range []struct {
		name    string
		verdict stick.Verdict
		want    bool
	}{{"alive", stick.Alive, true}, {"unknown", stick.Unknown, true}, {"gone", stick.Gone, false}} {
		make := func() *sticktest.Fixture {
			f := sticktest.NewRoom(t).WithMembers("a", "b").WithPolicy("owner_idle_ttl=5m").
				Owns("a").Process("a", stick.ProvesSession, c.verdict)
			r, err := f.Renew("a", f.Fence(), 77, stick.Process{PID: 1}, f.Now) // a guardian
			if err != nil {
				t.Fatal(err)
			}
			f.Commit(r, nil)
			return f.After(5 * time.Minute)
		}

		told := func(f *sticktest.Fixture) bool {
			for _, e := range f.Log {
				if e.Type == stick.EventOwnerIdle {
					return true
				}
			}
			return false
		}

		f := make()
		sticktest.Equal(t, c.name+": is due", f.IdleNoticeDue(f.Probed, f.Now), c.want)
		f = make()
		f.Asks("b")
		sticktest.Equal(t, c.name+": told by one who waits", told(f), c.want)

		f = make()
		_, err := f.Takes("b")
		sticktest.Equal(t, c.name+": told by one who takes", told(f), c.want)
		sticktest.Equal(t, c.name+": b may take at once", err == nil, !c.want)
	}
}

// TestOffer_LaterRound: everybody gets the offer once in each round. A member that got it checks again
// when the next round starts, whatever other deadlines pass before.
func TestOffer_LaterRound(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").WithPolicy("owner_idle_ttl=21m").Alive("a").
		Hooks("a").Owns("a").Waits("b").After(sticktest.Claim)
	for round := range 3 {
		sticktest.Equal(t, fmt.Sprintf("round %d: open", round), f.OpeningCause(), stick.ClaimTimeout)
		sticktest.Equal(t, fmt.Sprintf("round %d: b is told", round), f.Asks("b").Status, stick.TakeoverAvailable)
		sticktest.Equal(t, fmt.Sprintf("round %d: b looks again after", round), f.Deadline("b"), sticktest.Claim)
		sticktest.Equal(t, fmt.Sprintf("round %d: b is told again", round), f.Asks("b").Status, "")
		f.After(sticktest.Claim)
	}
}

// TestHelperThatBecomesThePrimaryCrashedNothing: a helper's session that goes on as the primary in a new
// process isn't a crash.
func TestHelperThatBecomesThePrimaryCrashedNothing(t *testing.T) {
	for _, helper := range []bool{false, true} {
		f := sticktest.NewRoom(t)
		f.Starts(presence.Starting{By: "a", Helper: helper})
		got := f.Starts(presence.Starting{By: "a"})
		sticktest.Equal(t, "the role", got.Role, stick.RolePrimary)
		sticktest.Equal(t, "the agent that crashed", got.Crashed, map[bool]stick.AgentID{false: "a"}[helper])
	}
}

// TestBefore: of two processes that can be compared one began first, even at the same instant. Of others
// nobody knows.
func TestBefore(t *testing.T) {
	at := func(start int64, pid int) stick.Process {
		return stick.Process{Boot: "b", PIDNS: "n", PID: pid, Start: start}
	}
	other := at(1, 1)
	other.Boot = "c"

	for _, c := range []struct {
		p, q         stick.Process
		before, back bool
	}{
		{at(1, 9), at(2, 1), true, false},
		{at(1, 1), at(1, 2), true, false}, // the same instant
		{at(1, 1), at(1, 1), false, false},
		{other, at(2, 1), false, false},
	} {
		sticktest.Equal(t, fmt.Sprintf("%v before %v", c.p, c.q), c.p.Before(c.q), c.before)
		sticktest.Equal(t, fmt.Sprintf("%v before %v", c.q, c.p), c.q.Before(c.p), c.back)
	}
}

// TestKickOfAnOwnerNamesItsLease: the event names the lease that ended, like every other end of a grant.
func TestKickOfAnOwnerNamesItsLease(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Gone("a")
	lease := f.Turn.Lease
	var payload struct {
		Lease string `json:"lease"`
	}
	if err := json.Unmarshal(f.Must(f.TryKick(stick.Kicking{By: "b", Who: "a"}))[0].Payload, &payload); err != nil {
		t.Fatal(err)
	}
	sticktest.Equal(t, "the lease", payload.Lease, stick.LeaseSum(lease))
}

// TestReplayRefusesWhatCantFollow: events that can't follow the earlier ones break the replay, even if
// somebody has computed the sums anew.
func TestReplayRefusesWhatCantFollow(t *testing.T) {
	message := func() (*sticktest.Fixture, int64) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		return f, f.Sent("a", stick.Message{To: []stick.AgentID{"b"}, Body: "x", RequiresAck: true})
	}

	f, id := message()
	acked := f.Must(f.Acks("b", id))
	f, id = message() // … and b hadn't
	withdrawn := f.Withdraws("a", id)
	joined, sent := f.Log[:2:2], f.Log[2:3:3]
	notes, _ := talk.AddNote(f.Room, "a", "x", true)
	added := f.Commit(f.Room, notes)
	resolved := f.Commit(f.Room, talk.ResolveNote(f.Room, "b", talk.NoteOf(added[0])))
	for name, c := range map[string]struct {
		log    []stick.Event
		reason string // "" if the log holds
	}{
		"what was done":                 {slices.Concat(joined, sent, acked), ""},
		"a note resolved":               {slices.Concat(joined, added, resolved), ""},
		"a withdrawn message accepted":  {slices.Concat(joined, sent, withdrawn, acked), "withdrawn"},
		"one accepted before it came":   {slices.Concat(joined, acked, sent), "no recipient"},
		"a note resolved before it was": {slices.Concat(joined, resolved, added), "no such note"},
	} {
		var rec stick.Record
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
	changes := func(t stick.Task) (stick.Event, error) {
		return tasks.RequestChanges(t, tasks.Decision{Call: sticktest.TheReviewer, Head: t.Head, Branch: t.Head},
			"name it")
	}
	returned := func(t stick.Task) (stick.Event, error) {
		return tasks.Return(t, "claude:o", stick.CauseGate, "make test is red", "", nil)
	}
	fail := func(t stick.Task) (stick.Event, error) { return tasks.Fail(t, sticktest.TheWorker, "too hard") }
	rollback := func(t stick.Task) (stick.Event, error) {
		return tasks.Rollback(t, "claude:o", "r2", "it broke the build")
	}

	offered := sticktest.Offers("h", "p")
	for _, c := range []struct {
		steps         []func(stick.Task) (stick.Event, error)
		cause, reason string
	}{
		{[]func(stick.Task) (stick.Event, error){sticktest.Begun, offered, changes}, stick.CauseReview, "name it"},
		{
			[]func(stick.Task) (stick.Event, error){sticktest.Begun, offered, sticktest.Approve, returned},
			stick.CauseGate,
			"make test is red",
		},
		{[]func(stick.Task) (stick.Event, error){sticktest.Begun, fail}, stick.CauseGivenUp, "too hard"},
		{[]func(stick.Task) (stick.Event, error){sticktest.Begun, sticktest.Cancel}, stick.CauseCancelled, "no"},
		{
			[]func(stick.Task) (stick.Event, error){
				sticktest.Begun, offered, sticktest.Approve, sticktest.Land, rollback,
			},
			stick.CauseRolledBack,
			"it broke the build",
		},
		{
			[]func(stick.Task) (stick.Event, error){sticktest.Begun, offered, changes, sticktest.Offers("i", "q")},
			"",
			"",
		},
		{[]func(stick.Task) (stick.Event, error){sticktest.Begun, sticktest.Cancel, sticktest.Retry}, "", ""},
	} {
		task := sticktest.Made(t, c.steps...)
		sticktest.Equal(t, fmt.Sprintf("after %d steps: the cause", len(c.steps)), task.Cause, c.cause)
		sticktest.Equal(t, fmt.Sprintf("after %d steps: the reason", len(c.steps)), task.Reason, c.reason)
	}
}

// TestRestoreBeforeTheFirstTurn: if no turn was granted, none can have been lost, so no turn id is skipped.
func TestRestoreBeforeTheFirstTurn(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a")
	f.Commit(f.Restore(stick.Generation{Number: 3, Cause: stick.RestoreCause}, f.Probed, f.Now))
	sticktest.Equal(t, "the turn", f.Turn.ID, 0)
	sticktest.Equal(t, "the first turn after it", f.Owns("a").Turn.ID, 1)
}

// TestTaskFence_OnlyWorker: only the worker of a task that is over has a stale attempt.
func TestTaskFence_OnlyWorker(t *testing.T) {
	over := sticktest.Made(t, sticktest.Begun, sticktest.Cancel)
	for by, code := range map[stick.AgentID]stick.Code{
		sticktest.TheWorker.By: stick.CodeStaleAttempt, "pi:x": stick.CodeInvalidTransition,
	} {
		_, err := tasks.Start(over, tasks.Call{By: by}, false)
		sticktest.Equal(t, "the code for "+string(by), stick.CodeOf(err), code)
	}
}

// TestReceiptsOfADamagedMessage: who has to read it is still known, though nothing of the message is.
func TestReceiptsOfADamagedMessage(t *testing.T) {
	e := stick.Event{
		Type: stick.EventMessageSent, From: "a",
		For: []stick.Addressee{{Agent: "b", Owes: stick.OwesReading}}, Payload: []byte("{"),
	}
	sticktest.Equal(t, "receipts", len(e.Receipts()), 1)
	sticktest.Equal(t, "of", e.Receipts()[0].Agent, "b")
}
