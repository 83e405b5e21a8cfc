package stick

import (
	"testing"
	"time"
)

// pauses lets a person pause the room; resumes lets one end the pause. Both must succeed.
func (f *fixture) pauses(reason string) []Event {
	f.t.Helper()
	r, events, err := f.Pause("human:ann", true, reason, f.now)
	return f.must(f.done(r, events, err))
}

func (f *fixture) resumes() []Event {
	f.t.Helper()
	r, events, err := f.Resume("human:ann", true, f.s, f.now)
	return f.must(f.done(r, events, err))
}

func TestPauseIsAPersons(t *testing.T) {
	f := room(t).member("a", "b").owns("a")
	_, _, err := f.Pause("a", false, "a demo", f.now)
	refused(t, err, CodePersonOnly, nil)
	_, _, err = f.Resume("a", false, f.s, f.now)
	refused(t, err, CodePersonOnly, nil)
	_, _, err = f.Pause("human:ann", true, "  ", f.now)
	refused(t, err, CodeUsage, map[string]any{"field": "reason"})
	_, _, err = f.Pause("human:ann", true, "a \x00", f.now)
	refused(t, err, CodeUsage, map[string]any{"field": "reason"})
	equal(t, "events of a resume without a pause", len(f.resumes()), 0)

	since := f.now
	first := f.pauses(" a demo ")
	equal(t, "who is told", len(first[0].Receipts()), 2)
	equal(t, "the pause", f.Paused, Pause{"human:ann", "a demo", since})
	f.now = f.now.Add(time.Minute)
	equal(t, "events of the same pause again", len(f.pauses("a demo")), 0)
	f.pauses("lunch")
	equal(t, "the pause with another reason", f.Paused, Pause{"human:ann", "lunch", since})
	equal(t, "whether the first reason is old news", f.Overtaken(first[0], "a"), true)
	resumed := f.resumes()[0]
	equal(t, "what is said of it", resumed.Say(), "human:ann resumed the room, which was paused for 1 min")
	equal(t, "the pause", f.Paused, Pause{})
	equal(t, "whether its end is news", f.Overtaken(resumed, "b"), false)
	f.releases().waits("b")
	f.owns("b")
	equal(t, "whether its end is news after the next grant", f.Overtaken(resumed, "b"), true)

	closed := f.releases().Room
	closed.Closed = true
	_, _, err = closed.Pause("human:ann", true, "x", f.now)
	refused(t, err, CodeRoomClosed, nil)
	_, _, err = closed.Resume("human:ann", true, f.s, f.now)
	refused(t, err, CodeRoomClosed, nil)
}

// TestNobodyGetsTheStickInAPause: not by a claim, nor a takeover, nor on a person's word; and it is refused
// with what to do.
func TestNobodyGetsTheStickInAPause(t *testing.T) {
	f := room(t).member("a", "b", "human:ann")
	f.pauses("a demo")
	for _, by := range []AgentID{"a", "human:ann"} {
		equal(t, "what a try of "+string(by)+" answers", f.try(by).Status, "")
		for _, operator := range []bool{false, true} {
			_, err := f.take(Take{By: by, Reason: "now", Operator: operator})
			refused(t, err, CodePaused, map[string]any{"paused": f.Paused})
		}
	}
	_, err := f.takes("a")
	equal(t, "the hint for an agent", AsError(err).Hint.String(), "wait until it goes on: tt wait")
	_, err = f.takes("human:ann")
	equal(t, "the hint for a person", AsError(err).Hint.String(), "end the pause: tt resume")
	err = f.MayLand("a", false, f.now)
	refused(t, err, CodePaused, nil)
	equal(t, "the hint for who merges", AsError(err).Hint.String(), "wait until it goes on: tt wait --park")
	if err := f.MayLand("human:ann", true, f.now); err != nil {
		t.Errorf("a person may not merge: %v", err)
	}
	// the first that waits is named when the pause ends, not the first that asks
	f.waits("b")
	f.waits("a")
	equal(t, "when the wait has to check again", f.deadline("b"), -1)
	equal(t, "the next one", f.resumes()[1].To, "a")
	equal(t, "what b's wait answers", f.try("b").Status, "")
	equal(t, "what a's wait answers", f.try("a").Status, YourTurn)
}

// TestAPauseTakesNoTime: whatever ran out meanwhile begins anew when the room goes on.
func TestAPauseTakesNoTime(t *testing.T) {
	long := func(f *fixture) { f.now = f.now.Add(24 * time.Hour) }

	f := room(t).member("a", "b").owns("a") // nothing proves that a is alive
	f.pauses("a demo")
	long(f)
	equal(t, "an opening", f.Opening(f.s, f.now), Opening{})
	equal(t, "when the lease times out", f.LeaseExpiresAt(f.s, f.now), Time(0))
	equal(t, "what the holder's wait answers", f.ask("a").Status, "")
	equal(t, "what the holder's try answers", f.try("a").Claim, AlreadyOwner)
	f.resumes()
	equal(t, "an opening", f.Opening(f.s, f.now), Opening{})
	equal(t, "when the lease times out", f.LeaseExpiresAt(f.s, f.now), f.now.Add(f.Policy.OwnerLeaseTTL))
	equal(t, "what the holder's wait answers", f.ask("a").Claim, AlreadyOwner)
	f.now = f.now.Add(f.Policy.OwnerLeaseTTL)
	equal(t, "an opening", f.Opening(f.s, f.now).Cause, OwnerTimeout)

	f = room(t).member("a", "b", "c").owns("a").waits("b").waits("c")
	f.pauses("a demo")
	f.releases() // names b, which gets it when the room goes on
	equal(t, "when the reservation ends", f.ClaimExpiresAt(), Time(0))
	long(f)
	equal(t, "events of a settlement", len(f.settle("c")), 0)
	f.resumes()
	equal(t, "events of a settlement", len(f.settle("c")), 0)
	equal(t, "what c's wait answers", f.try("c").Status, "")
	equal(t, "what b's wait answers", f.try("b").Status, YourTurn)
}

// TestEditsInAPause: no agent may, wherever its files lie; people and whoever only writes its own notes may.
func TestEditsInAPause(t *testing.T) {
	for _, policy := range []Enforce{EnforceStick, EnforceScopes, EnforceWarn, EnforceOff} {
		f := room(t).member("a", "b", "human:ann").owns("a")
		f.Policy.Enforce = policy
		mine := []Reservation{{ID: 1, Agent: "b", Pattern: "src/**"}}
		f.Paused = Pause{By: "human:ann", Reason: "a demo", Since: f.now}
		for name, q := range map[string]Editing{
			"the holder":                    {By: "a", Paths: []string{"src/a.go"}},
			"who has reserved the path":     {By: "b", Paths: []string{"src/a.go"}},
			"an agent outside of the room":  {By: "c", Tree: true},
			"a worker in its own worktree":  {By: "b", Apart: []string{"worktrees/x"}},
			"who changes files in .git":     {By: "a", Paths: []string{".git/config"}},
			"a person":                      {By: "human:ann", Person: true, Paths: []string{"src/a.go"}},
			"who changes nothing in a room": {By: "a"},
		} {
			j := f.MayEdit(q, mine, f.s, f.now)
			against := j.Denied
			if policy == EnforceWarn {
				against = j.Told
			}
			want := !q.Person && (len(q.Apart) > 0 || q.Tree || len(q.Paths) > 0) && policy != EnforceOff
			if got := against != nil; got != want || (j.Denied != nil) != (want && policy.Denies()) {
				t.Errorf("%s under %s: %+v", name, policy, j)
			}
			if want {
				equal(t, name, against.Message, "human:ann paused the room just now")
			}
		}
	}
}

// TestWhoIsToldOfAnEditInAPause: the person who paused the room, once in the pause.
func TestWhoIsToldOfAnEditInAPause(t *testing.T) {
	f := room(t).member("a", "human:ann").owns("a")
	f.pauses("a demo")
	told := f.commit(f.Room, []Event{f.EditTold("a", []string{"x.go"})})
	equal(t, "who is told", told[0].To, "human:ann")
	equal(t, "in which words", told[0].Say(), "a edited x.go while the room was paused")
	equal(t, "in which words to her", told[0].Tell(), "a edited x.go while the room is paused")
	equal(t, "whether a needs to be told again", f.Told("a", told), true)
	f.resumes()
	equal(t, "whether it is old news", f.Overtaken(told[0], "human:ann"), true)
	equal(t, "whether a needs to be told of the next one", f.Told("a", told), false)
	f.now = f.now.Add(time.Second)
	f.pauses("another")
	equal(t, "whether a needs to be told in the next pause", f.Told("a", told), false)
}
