package tasks_test

import (
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/tasks"
)

// TestLanderDue: one process at most, and at most one start a minute.
func TestLanderDue(t *testing.T) {
	now := stick.At(time.Unix(1000, 0))
	for _, c := range []struct {
		name         string
		wanted, runs bool
		started      stick.Time
		want         bool
	}{
		{"never started", true, false, 0, true},
		{"a minute ago", true, false, now.Add(-time.Minute), true},
		{"just started", true, false, now.Add(-time.Minute + time.Millisecond), false},
		{"one runs", true, true, 0, false},
		{"nothing to merge", false, false, 0, false},
	} {
		sticktest.Equal(t, c.name, tasks.LanderDue(c.wanted, c.runs, c.started, now), c.want)
	}
}

// TestHeldLanding: what has failed for a reason of its own is tried again when something has changed.
func TestHeldLanding(t *testing.T) {
	held := tasks.HeldLanding{Task: "t-1", Approval: 7, Head: "A"}
	sticktest.Equal(t, "nothing new", held.TriesAgain(stick.Task{ApprovedSeq: 7}, "A"), false)
	sticktest.Equal(t, "approved again", held.TriesAgain(stick.Task{ApprovedSeq: 8}, "A"), true)
	sticktest.Equal(t, "the branch has moved", held.TriesAgain(stick.Task{ApprovedSeq: 7}, "B"), true)

	for code, waits := range map[stick.Code]bool{
		stick.CodeDirtyTree: true, stick.CodePaused: true, stick.CodeNotYourTurn: true, stick.CodeLanding: true,
		stick.CodeGitFailed: false, stick.CodeBaseRed: false, stick.CodeGateFailed: false,
	} {
		sticktest.Equal(t, string(code), tasks.WaitsForOthers(code), waits)
	}
}
