package stick_test

import (
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/talk"
)

func TestPauseIsAPersons(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
	_, _, err := f.Pause("a", false, "a demo", f.Now)
	sticktest.Refused(t, err, stick.CodePersonOnly, nil)
	_, _, err = f.Resume("a", false, f.Probed, f.Now)
	sticktest.Refused(t, err, stick.CodePersonOnly, nil)

	_, _, err = f.Pause("human:ann", true, "  ", f.Now)
	sticktest.Refused(t, err, stick.CodeUsage, map[string]any{"field": "reason"})
	_, _, err = f.Pause("human:ann", true, "a \x00", f.Now)
	sticktest.Refused(t, err, stick.CodeUsage, map[string]any{"field": "reason"})
	sticktest.Equal(t, "events of a resume without a pause", len(f.Resumes()), 0)

	since := f.Now
	first := f.Pauses(" a demo ")
	sticktest.Equal(t, "who is told", len(first[0].Receipts()), 2)
	sticktest.Equal(t, "the pause", f.Paused, stick.Pause{By: "human:ann", Reason: "a demo", Since: since})

	f.Now = f.Now.Add(time.Minute)
	sticktest.Equal(t, "events of the same pause again", len(f.Pauses("a demo")), 0)
	f.Pauses("lunch")
	sticktest.Equal(t, "the pause with another reason", f.Paused, stick.Pause{
		By: "human:ann", Reason: "lunch", Since: since,
	})
	sticktest.Equal(t, "whether the first reason is old news", talk.Overtaken(f.Room, first[0], "a"), true)

	resumed := f.Resumes()[0]
	sticktest.Equal(t, "what is said of it", resumed.Say(), "human:ann resumed the room, which was paused for 1 min")
	sticktest.Equal(t, "the pause", f.Paused, stick.Pause{})
	sticktest.Equal(t, "whether its end is news", talk.Overtaken(f.Room, resumed, "b"), false)

	f.Releases().Waits("b")
	f.Owns("b")
	sticktest.Equal(t, "whether its end is news after the next grant", talk.Overtaken(f.Room, resumed, "b"), true)

	closed := f.Releases().Room
	closed.Closed = true
	_, _, err = closed.Pause("human:ann", true, "x", f.Now)
	sticktest.Refused(t, err, stick.CodeRoomClosed, nil)

	_, _, err = closed.Resume("human:ann", true, f.Probed, f.Now)
	sticktest.Refused(t, err, stick.CodeRoomClosed, nil)
}

// TestPause_GrantsNothing: not by a claim, nor a takeover, nor on a person's word; and it is refused
// with what to do.
func TestPause_GrantsNothing(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b", "human:ann")
	f.Pauses("a demo")
	for _, by := range []stick.AgentID{"a", "human:ann"} {
		sticktest.Equal(t, "what a try of "+string(by)+" answers", f.Peeks(by).Status, "")
		for _, operator := range []bool{false, true} {
			_, err := f.TryTake(stick.Take{By: by, Reason: "now", Operator: operator})
			sticktest.Refused(t, err, stick.CodePaused, map[string]any{"paused": f.Paused})
		}
	}

	_, err := f.Takes("a")
	sticktest.Equal(t, "the hint for an agent", stick.AsError(err).Hint.String(), "wait until the pause ends: tt wait")
	_, err = f.Takes("human:ann")
	sticktest.Equal(t, "the hint for a person", stick.AsError(err).Hint.String(), "end the pause: tt resume")

	err = f.MayLand("a", false, f.Now)
	sticktest.Refused(t, err, stick.CodePaused, nil)
	sticktest.Equal(t, "the hint for who merges", stick.AsError(err).Hint.String(), "wait until the pause ends: tt wait --park")
	if err := f.MayLand("human:ann", true, f.Now); err != nil {
		t.Errorf("a person may not merge: %v", err)
	}

	// the first that waits is named when the pause ends, not the first that asks
	f.Waits("b")
	f.Waits("a")
	sticktest.Equal(t, "when the wait has to check again", f.Deadline("b"), -1)
	sticktest.Equal(t, "the next one", f.Resumes()[1].To, "a")
	sticktest.Equal(t, "what b's wait answers", f.Peeks("b").Status, "")
	sticktest.Equal(t, "what a's wait answers", f.Peeks("a").Status, stick.YourTurn)
}

// TestPause_StopsClocks: whatever ran out meanwhile begins anew when the room goes on.
func TestPause_StopsClocks(t *testing.T) {
	long := func(f *sticktest.Fixture) { f.Now = f.Now.Add(24 * time.Hour) }

	f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a") // nothing proves that a is alive
	f.Pauses("a demo")
	long(f)
	sticktest.Equal(t, "an opening", f.Opening(f.Probed, f.Now), stick.Opening{})
	sticktest.Equal(t, "when the lease times out", f.LeaseExpiresAt(f.Probed, f.Now), stick.Time(0))
	sticktest.Equal(t, "what the holder's wait answers", f.Asks("a").Status, "")
	sticktest.Equal(t, "what the holder's try answers", f.Peeks("a").Claim, stick.AlreadyOwner)

	f.Resumes()
	sticktest.Equal(t, "an opening", f.Opening(f.Probed, f.Now), stick.Opening{})
	sticktest.Equal(t, "when the lease times out", f.LeaseExpiresAt(f.Probed, f.Now), f.Now.Add(f.Policy.OwnerLeaseTTL))
	sticktest.Equal(t, "what the holder's wait answers", f.Asks("a").Claim, stick.AlreadyOwner)

	f.Now = f.Now.Add(f.Policy.OwnerLeaseTTL)
	sticktest.Equal(t, "an opening", f.Opening(f.Probed, f.Now).Cause, stick.OwnerTimeout)

	f = sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("b").Waits("c")
	f.Pauses("a demo")
	f.Releases() // names b, which gets it when the room goes on
	sticktest.Equal(t, "when the reservation ends", f.ClaimExpiresAt(), stick.Time(0))

	long(f)
	sticktest.Equal(t, "events of a settlement", len(f.Settles("c")), 0)
	f.Resumes()
	sticktest.Equal(t, "events of a settlement", len(f.Settles("c")), 0)
	sticktest.Equal(t, "what c's wait answers", f.Peeks("c").Status, "")
	sticktest.Equal(t, "what b's wait answers", f.Peeks("b").Status, stick.YourTurn)
}

// TestEditsInAPause: no agent may, wherever its files lie; people and whoever only writes its own notes may.
func TestEditsInAPause(t *testing.T) {
	for _, policy := range []stick.Enforce{
		stick.EnforceStick, stick.EnforceScopes, stick.EnforceWarn, stick.EnforceOff,
	} {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "human:ann").Owns("a")
		f.Policy.Enforce = policy
		mine := []stick.Reservation{{ID: 1, Agent: "b", Pattern: "src/**"}}
		f.Paused = stick.Pause{By: "human:ann", Reason: "a demo", Since: f.Now}

		for name, q := range map[string]edits.Editing{
			"the holder":                    {By: "a", Paths: []string{"src/a.go"}},
			"who has reserved the path":     {By: "b", Paths: []string{"src/a.go"}},
			"an agent outside of the room":  {By: "c", Tree: true},
			"a worker in its own worktree":  {By: "b", Apart: []string{"worktrees/x"}},
			"who changes files in .git":     {By: "a", Paths: []string{".git/config"}},
			"a person":                      {By: "human:ann", Person: true, Paths: []string{"src/a.go"}},
			"who changes nothing in a room": {By: "a"},
		} {
			j := edits.MayEdit(f.Room, q, mine, f.Probed, f.Now)
			against := j.Denied
			if policy == stick.EnforceWarn {
				against = j.Told
			}
			want := !q.Person && (len(q.Apart) > 0 || q.Tree || len(q.Paths) > 0) && policy != stick.EnforceOff
			if got := against != nil; got != want || (j.Denied != nil) != (want && policy.Denies()) {
				t.Errorf("%s under %s: %+v", name, policy, j)
			}

			if want {
				sticktest.Equal(t, name, against.Message, "human:ann paused the room just now")
			}
		}
	}
}

// TestPause_EditIsTold: the person who paused the room, once in the pause.
func TestPause_EditIsTold(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "human:ann").Owns("a")
	f.Pauses("a demo")
	told := f.Commit(f.Room, []stick.Event{edits.EditTold(f.Room, "a", []string{"x.go"})})
	sticktest.Equal(t, "who is told", told[0].To, "human:ann")
	sticktest.Equal(t, "in which words", told[0].Say(), "a edited x.go while the room was paused")
	sticktest.Equal(t, "in which words to her", told[0].Tell(), "a edited x.go while the room is paused")
	sticktest.Equal(t, "whether a needs to be told again", edits.Told(f.Room, "a", told), true)

	f.Resumes()
	sticktest.Equal(t, "whether it is old news", talk.Overtaken(f.Room, told[0], "human:ann"), true)
	sticktest.Equal(t, "whether a needs to be told of the next one", edits.Told(f.Room, "a", told), false)
	f.Now = f.Now.Add(time.Second)
	f.Pauses("another")
	sticktest.Equal(t, "whether a needs to be told in the next pause", edits.Told(f.Room, "a", told), false)
}
