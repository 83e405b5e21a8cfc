package model

import "slices"

// State is the state of a task.
type State string

// The states.
const (
	NoTask     State = ""
	Assigned   State = "ASSIGNED"
	Working    State = "WORKING"
	Conflicted State = "CONFLICTED"
	InReview   State = "IN_REVIEW"
	Approved   State = "APPROVED"
	Completed  State = "COMPLETED"
	Failed     State = "FAILED"
)

// Tasks are the tasks of a room by their names.
type Tasks map[string]*Task

// Task is one task. Commits and changes are names; two commits with the same change differ in their base
// only.
type Task struct {
	State    State
	Attempt  int
	Worker   string
	Workers  map[string]bool // of all attempts
	ForLater bool            // it has no branch and no worktree
	After    []string        // the tasks that have to land before it begins

	Branch, Change        string // the commit that its branch is at, and what that changes
	Offered, OfferedMakes string // the commit that was offered for review, and what that changes
	Approved              string // the commit that was approved
	Merged                bool   // it landed by a merge of its own
}

// Caller is who acts on a task.
type Caller struct {
	Name    string
	Person  bool
	Attempt int // the attempt that the caller names, 0 for none
}

// Same is what a command comes to that was done already: it changes nothing, and isn't refused.
const Same Refusal = "same"

// isIn reports whether a task is in one of some states.
func (t *Task) isIn(states ...State) bool { return slices.Contains(states, t.State) }

func (t *Task) isOver() bool { return t.isIn(Completed, Failed) }

// checkAttempt refuses a caller whose attempt is over.
func (t *Task) checkAttempt(c Caller) Refusal {
	if c.Attempt != 0 && c.Attempt != t.Attempt {
		return "stale_attempt"
	}

	// The worker of a task that is over has no attempt any more.
	if c.Name == t.Worker && t.isOver() {
		return "stale_attempt"
	}
	return Accepted
}

// checkWorker refuses everybody but the worker, and people, who may act for it.
func (t *Task) checkWorker(c Caller) Refusal {
	switch refusal := t.checkAttempt(c); {
	case refusal != Accepted:
		return refusal
	case c.Person || c.Name == t.Worker:
		return Accepted
	case t.Workers[c.Name]:
		return "stale_attempt"
	case t.Worker == "":
		return "invalid_transition"
	}
	return "not_your_task"
}

// CheckAfter says whether a task may wait for others.
func (ts Tasks) CheckAfter(id string, after []string) Refusal {
	for _, other := range after {
		switch {
		case other == id:
			return "usage"
		case ts[other] == nil:
			return "not_found"
		}
	}

	// No task may wait for itself through others.
	for _, other := range after {
		if ts.waitsFor(other, id, map[string]bool{}) {
			return "usage"
		}
	}

	return Accepted
}

// waitsFor reports whether a task waits for another, at once or through others. One that was begun waits for
// none.
func (ts Tasks) waitsFor(id, other string, seen map[string]bool) bool {
	t := ts[id]
	if t == nil || !t.ForLater || seen[id] {
		return false
	}

	// A task that was seen before ends a circle.
	seen[id] = true
	return slices.ContainsFunc(t.After, func(a string) bool { return a == other || ts.waitsFor(a, other, seen) })
}

// Waits lists the tasks that have to land before a task can begin.
func (ts Tasks) Waits(id string) (waits []string) {
	t := ts[id]
	if !t.ForLater || t.State != Assigned {
		return nil
	}

	for _, other := range t.After {
		if ts[other].State != Completed {
			waits = append(waits, other)
		}
	}
	return waits
}

// Spawn makes a task.
func (ts Tasks) Spawn(id string, later bool, after []string) Refusal {
	if refusal := ts.CheckAfter(id, after); refusal != Accepted {
		return refusal
	}
	if ts[id] != nil {
		return "already_exists"
	}

	ts[id] = &Task{State: Assigned, Attempt: 1, Workers: map[string]bool{}, ForLater: later, After: after}
	return Accepted
}

// Begin gives a task that is for later its branch.
func (ts Tasks) Begin(id string) Refusal {
	t := ts[id]
	if t.State != Assigned || !t.ForLater || len(ts.Waits(id)) > 0 {
		return "invalid_transition"
	}

	t.ForLater = false
	return Accepted
}

// SetAfter lets a task wait for other ones.
func (ts Tasks) SetAfter(id string, after []string) Refusal {
	if refusal := ts.CheckAfter(id, after); refusal != Accepted {
		return refusal
	}

	t := ts[id]
	switch {
	case t.State != Assigned || !t.ForLater:
		return "invalid_transition"
	case slices.Equal(t.After, after):
		return Same
	}

	t.After = after
	return Accepted
}

// Start makes the caller the worker. isWorkerAway is whether the worker so far is gone or has left.
func (t *Task) Start(c Caller, isWorkerAway bool) Refusal {
	if refusal := t.checkAttempt(c); refusal != Accepted {
		return refusal
	}

	switch t.State {
	case InReview, Approved:
		// One who worked on it has offered it before.
		if t.Workers[c.Name] {
			return Same
		}
		return "invalid_transition"
	case Assigned:
		if t.ForLater {
			return "invalid_transition"
		}
		t.State = Working
	case Working, Conflicted:
		if t.Worker == c.Name {
			return Same
		}

		// A worker that is there keeps its task.
		if !isWorkerAway {
			return "not_your_task"
		}
	default:
		return "invalid_transition"
	}

	t.Worker = c.Name
	t.Workers[c.Name] = true
	return Accepted
}

// Done offers the commit that the branch is at.
func (t *Task) Done(c Caller) Refusal {
	if refusal := t.checkWorker(c); refusal != Accepted {
		return refusal
	}

	// The same commit again changes nothing.
	switch {
	case t.isIn(InReview, Approved) && t.Offered == t.Branch:
		return Same
	case !t.isIn(Working, Conflicted, InReview, Approved):
		return "invalid_transition"
	}

	t.offerCommit()
	return Accepted
}

// offerCommit offers the commit that the branch is at. The same change on a newer base keeps its approval.
func (t *Task) offerCommit() {
	isSame := t.Branch == t.Approved || t.Change == t.OfferedMakes && t.Offered == t.Approved
	if t.State == Approved && isSame {
		t.Approved = t.Branch
	} else {
		t.State, t.Approved = InReview, ""
	}

	t.Offered, t.OfferedMakes = t.Branch, t.Change
}

// Move finds that the branch of an approved task has moved.
func (t *Task) Move() Refusal {
	if t.State != Approved {
		return "invalid_transition"
	}

	t.offerCommit()
	return Accepted
}

// Conflict records that a rebase stopped.
func (t *Task) Conflict(c Caller) Refusal {
	if refusal := t.checkWorker(c); refusal != Accepted {
		return refusal
	}
	if !t.isIn(Working, Conflicted, InReview, Approved) {
		return "invalid_transition"
	}

	t.State, t.Approved = Conflicted, ""
	return Accepted
}

// Approve approves the commit that was offered; seen is the one that the reviewer saw.
func (t *Task) Approve(c Caller, seen string, override bool) Refusal {
	refusal := t.checkApproval(c, seen, override)

	switch {
	case t.State == Approved && refusal == Accepted:
		return Same
	case t.State != InReview:
		return "invalid_transition"
	case refusal != Accepted:
		return refusal
	}

	t.State, t.Approved = Approved, t.Offered
	return Accepted
}

func (t *Task) checkApproval(c Caller, seen string, override bool) Refusal {
	switch {
	case override && !c.Person:
		return "person_only"
	case t.Workers[c.Name] && !override:
		return "author_cannot_review"
	case t.Branch != t.Offered, seen != t.Offered:
		return "review_stale"
	}
	return Accepted
}

// RequestChanges returns the task to its worker. The reviewer saw the commit that was offered, or a newer
// one.
func (t *Task) RequestChanges(c Caller, seen string) Refusal {
	switch {
	case !t.isIn(InReview, Approved):
		return "invalid_transition"
	case t.Workers[c.Name]:
		return "author_cannot_review"
	case seen == "" || seen != t.Offered && seen != t.Branch:
		return "review_stale"
	}

	t.State, t.Approved = Working, ""
	return Accepted
}

// Merge begins a landing, which ends with Land or Return.
func (t *Task) Merge() Refusal {
	if t.State != Approved {
		return "invalid_transition"
	}
	return Accepted
}

// Return returns a task that can't land to its worker.
func (t *Task) Return() Refusal {
	if t.State != Approved {
		return "invalid_transition"
	}
	t.State, t.Approved = Working, ""
	return Accepted
}

// Land records that the integration branch contains the task, by a merge of its own or otherwise.
func (t *Task) Land(merged bool) Refusal {
	if t.State == Completed {
		return "invalid_transition"
	}

	t.State, t.Merged = Completed, merged
	return Accepted
}

// Fail gives a task up.
func (t *Task) Fail(c Caller) Refusal {
	if refusal := t.checkWorker(c); refusal != Accepted {
		return refusal
	}
	if !t.isIn(Assigned, Working, Conflicted, InReview) {
		return "invalid_transition"
	}

	t.State = Failed
	return Accepted
}

// Cancel cancels a task, which anybody may.
func (t *Task) Cancel() Refusal {
	switch t.State {
	case Failed:
		return Same
	case Completed:
		return "invalid_transition"
	}

	t.State = Failed
	return Accepted
}

// Retry begins another attempt.
func (t *Task) Retry() Refusal {
	if t.State != Failed {
		return "invalid_transition"
	}

	// The workers of all attempts stay known: they can't review.
	*t = Task{State: Assigned, Attempt: t.Attempt + 1, Workers: t.Workers, ForLater: t.ForLater, After: t.After}
	return Accepted
}

// Rollback records that a commit reverted the merge.
func (t *Task) Rollback() Refusal {
	if t.State != Completed || !t.Merged {
		return "invalid_transition"
	}
	t.State = Failed
	return Accepted
}
