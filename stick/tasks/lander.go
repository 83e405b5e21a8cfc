package tasks

import (
	"time"

	"talkingstick/stick"
)

// LanderPause is how long tt waits, at least, before it starts the process again that merges by itself.
const LanderPause = time.Minute

// LanderDue reports whether the process that merges by itself is to be started: there is something for it to do
// and none runs, and the last start is long enough ago. The next command that writes to the room asks.
func LanderDue(wanted, runs bool, started, now stick.Time) bool {
	if !wanted || runs {
		return false
	}
	return now.Sub(started) >= LanderPause
}

// HeldLanding is a merge that the process that merges by itself has tried in vain. The task is approved still.
type HeldLanding struct {
	Task     string `json:"task"`     // its key
	Approval int64  `json:"approval"` // the event of the approval
	Head     string `json:"head"`     // the commit that the integration branch was at
}

// TriesAgain reports whether a merge that was held is worth another try: it was approved again since, or its
// branch has moved.
func (h HeldLanding) TriesAgain(t stick.Task, head string) bool {
	return h.Approval != t.ApprovedSeq || h.Head != head
}

// WaitsForOthers reports whether a merge failed only because of what somebody does now: there are uncommitted
// changes where the branch is checked out, somebody has the stick, the room is paused, or another command works
// on the task. It is tried again as soon as something happens.
func WaitsForOthers(code stick.Code) bool {
	switch code {
	case stick.CodeDirtyTree, stick.CodeNotYourTurn, stick.CodeEditDenied, stick.CodeReservationConflict,
		stick.CodeReservationStale, stick.CodePaused, stick.CodeLanding:
		return true
	}
	return false
}
