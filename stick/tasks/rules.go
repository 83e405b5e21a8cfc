package tasks

import (
	"strings"

	"talkingstick/stick"
)

// The rules of tasks. Each returns the event that changes the task. Only [stick.Task.Apply] changes the task
// itself: here, in the store and when the log is replayed.

// Call says who acts on a task.
type Call struct {
	By      stick.AgentID
	Person  bool
	Attempt int // the attempt that the caller believes it is working on, 0 if it doesn't say
}

// checkAttempt refuses a caller whose attempt is over. It fails with [stick.CodeStaleAttempt].
func checkAttempt(t stick.Task, c Call) error {
	switch {
	case c.Attempt != 0 && c.Attempt != t.Attempt:
		return errStaleAttempt(t, "attempt %d of %s is over: attempt %d is %s",
			c.Attempt, t.ID, t.Attempt, t.State.Word(t.Cause))
	case c.By == t.Worker && t.Worker != "" && t.Over():
		return errStaleAttempt(t, "attempt %d of %s is over: it is %s", t.Attempt, t.ID, t.State.Word(t.Cause))
	}
	return nil
}

func errStaleAttempt(t stick.Task, format string, args ...any) *stick.Error {
	return withTaskFacts(t, stick.Errorf(stick.CodeStaleAttempt, format, args...)).
		Hintf("stop this work; to see what happened: %s", stick.Cmd("tt task show <task_id>", t.ID))
}

// Mine refuses a caller that isn't the task's worker. A person may act for the worker. It fails with
// [stick.CodeStaleAttempt], [stick.CodeNotYourTask], and [stick.CodeInvalidTransition] if the task has no worker.
func Mine(t stick.Task, c Call) error {
	if err := checkAttempt(t, c); err != nil {
		return err
	}

	switch {
	case c.By == t.Worker && t.Worker != "", c.Person:
		return nil
	case t.Worked(c.By) && t.State == stick.TaskAssigned:
		return errStaleAttempt(t, "%s worked on %s in an earlier attempt; nobody has started attempt %d yet",
			c.By, t.ID, t.Attempt).
			Hintf("stop the earlier work; to start attempt %d: %s",
				t.Attempt, stick.Cmd("tt task start --task <task_id>", t.ID))
	case t.Worked(c.By):
		return errStaleAttempt(t, "%s worked on %s before; attempt %d is %s", c.By, t.ID, t.Attempt, workerOf(t))
	case t.Worker == "":
		return withTaskFacts(t, stick.Errorf(stick.CodeInvalidTransition,
			"nobody has started %s yet", t.ID)).Hintf("%s", t.NextStep())
	}
	return withTaskFacts(t, stick.Errorf(stick.CodeNotYourTask, "%s is the task of %s", t.ID, t.Worker)).
		With("worker", t.Worker).
		Hintf("see the tasks: %s; to tell its worker something: %s",
			stick.Cmd("tt task list"), stick.Cmd("tt msg send <agent> …", t.Worker))
}

func workerOf(t stick.Task) stick.Words {
	if t.Worker == "" {
		return "nobody's"
	}
	return "that of " + stick.AgentName(t.Worker)
}

// Spawning is a request to create a task.
type Spawning struct {
	By          stick.AgentID
	ID          string
	Description string
	Spec        string
	Labels      []string
	Priority    stick.Priority
	Branch      string
	Worktree    string
	In          stick.Checkout // with the branch and the worktree
	Integration string
	Base        string
	Slot        int
	Later       bool     // make no branch and no worktree: somebody begins it later
	After       []string // the tasks that have to land before; see [CheckAfter]
	Attempt     int      // 0 or 1 unless it renews
	Renews      bool     // nothing is left of the task that has the name: see [CanRenew]
}

// Check refuses a request that can't become a task. It fails with [stick.CodeUsage] and [stick.CodeMessageTooLarge].
func (q Spawning) Check() error {
	if err := CheckID(q.ID); err != nil {
		return err
	}

	if err := checkTexts(q.Description, q.Spec); err != nil {
		return err
	}

	_, err := CheckLabels(q.Labels)
	return err
}

// checkTexts refuses texts that can't say what a task is about. It fails with [stick.CodeUsage] and
// [stick.CodeMessageTooLarge].
func checkTexts(description, spec string) error {
	for _, f := range []struct {
		name stick.Words
		text string
		most int
	}{{"description", description, stick.MaxBody}, {"spec", spec, stick.MaxSpec}} {
		if bad := stick.NotText(f.text); bad != "" {
			return stick.BadMessage(string(f.name), "the %s holds %s", f.name, bad)
		}
		if stick.IsLeftBlank(f.text) {
			return stick.BadMessage(string(f.name), "the %s is still a placeholder: %s", f.name,
				strings.TrimSpace(f.text))
		}
		if len(f.text) > f.most {
			return stick.TooLarge(string(f.name), "the "+f.name, len(f.text), f.most)
		}
	}

	return nil
}

// Spawn creates a task. t is the task that already has the name, or the zero Task. It fails with
// [stick.CodeAlreadyExists], and like [Spawning.Check].
func Spawn(t stick.Task, q Spawning) (stick.Event, error) {
	if err := q.Check(); err != nil {
		return stick.Event{}, err
	}

	if t.State != stick.NoTask && (!q.Renews || !CanRenew(t)) {
		e := withTaskFacts(t, stick.Errorf(stick.CodeAlreadyExists, "there is a task %s already, and it is %s",
			t.ID, t.State.Word(t.Cause)))
		if t.State == stick.TaskFailed {
			return stick.Event{}, e.Hintf("to begin it again: %s; to give its name to another task: %s",
				stick.Cmd("tt task retry <task_id>", t.ID), stick.Cmd("tt task cancel <task_id> --delete", t.ID))
		}
		return stick.Event{}, e.Hintf("see it: %s; or give the new task another name",
			stick.Cmd("tt task show <task_id>", t.ID))
	}

	labels, err := CheckLabels(q.Labels)
	if err != nil {
		return stick.Event{}, err
	}

	// A new task has no state yet, and the step leads out of that.
	t.ID = q.ID
	s, err := findStep(t, stick.ActSpawn)
	if err != nil {
		return stick.Event{}, err
	}

	return stick.TaskEvent(t, s, q.By, "", stick.TaskAssignedFacts{
		TaskStatus: stick.TaskStatus{Attempt: t.Attempt + 1}, Description: q.Description, Spec: q.Spec,
		Branch: q.Branch, Worktree: q.Worktree, Integration: q.Integration, Base: q.Base,
		In: q.In, Slot: slotFact(q.Slot, q.Later), After: q.After, Later: q.Later,
		Labels: labels, Priority: q.Priority,
	}), nil
}

// CanRenew reports whether a new task may have the name of this one once nothing of it is left: it was cancelled.
// The log tells both, and the attempts count on, so that a worker of the earlier one is refused.
func CanRenew(t stick.Task) bool {
	return t.State == stick.TaskFailed && t.Cause == stick.CauseCancelled
}

// Start makes the caller the task's worker. If it already is, nothing changes and the event is nil. Somebody
// else may only replace a worker that is away: it has left, was removed, or is gone. Start fails with
// [stick.CodeInvalidTransition], [stick.CodeStaleAttempt] and [stick.CodeNotYourTask].
func Start(t stick.Task, c Call, away bool) (*stick.Event, error) {
	if err := checkAttempt(t, c); err != nil {
		return nil, err
	}

	s, err := findStep(t, stick.ActStart)
	switch {
	case err == nil && t.Later:
		return nil, withTaskFacts(t, stick.Errorf(stick.CodeInvalidTransition,
			"%s hasn't begun, so it has no worktree", t.ID)).
			Hintf("%s", t.NextStep())
	case err != nil && t.Worked(c.By) && !t.Over():
		return nil, nil // the task is in review: there is nothing to start, and the caller is still its worker
	case err != nil:
		return nil, err
	case t.State != stick.TaskAssigned && t.Worker == c.By:
		return nil, nil
	case t.State != stick.TaskAssigned && !away:
		return nil, withTaskFacts(t, stick.Errorf(stick.CodeNotYourTask,
			"%s is the task of %s, who may still be working on it", t.ID, t.Worker)).
			With("worker", t.Worker).
			Hintf("see the tasks: %s; to tell its worker something: %s",
				stick.Cmd("tt task list"), stick.Cmd("tt msg send <agent> …", t.Worker))
	}
	e := stick.TaskEvent(t, s, c.By, "", stick.TaskStartedFacts{})
	return &e, nil
}

// Offering is a commit that a worker offers for review.
type Offering struct {
	Base, Head, Patch string
	GateFiles         []string // those of the gate's own files that it changes
	Checks            []stick.TaskCheck
}

// eventFacts returns what the event of an offer says.
func (q Offering) eventFacts() stick.TaskReviewRequestedFacts {
	return stick.TaskReviewRequestedFacts{
		Base: q.Base, Head: q.Head, Patch: q.Patch, ChangesGate: len(q.GateFiles) > 0,
		Checks: q.Checks, GateFiles: q.GateFiles[:min(len(q.GateFiles), maxGateFiles)],
	}
}

// maxGateFiles is how many of the gate's files the log names.
const maxGateFiles = 20

// Done offers a commit for review. If the commit only moves an approved change to another base, the approval
// stays. If this very commit is already offered, the event is nil. Done fails with [stick.CodeInvalidTransition],
// [stick.CodeStaleAttempt] and [stick.CodeNotYourTask].
func Done(t stick.Task, c Call, q Offering) (*stick.Event, error) {
	if err := Mine(t, c); err != nil {
		return nil, err
	}
	if t.Offered() && t.Head == q.Head && len(q.Checks) == 0 {
		return nil, nil
	}

	f := q.eventFacts()

	// The same change on another base needs no second review.
	act := stick.ActDone
	if t.State == stick.TaskApproved && sameAsApproved(t, q) {
		act, f.Kept = stick.ActKeep, true
	}

	s, err := findStep(t, act)
	if err != nil {
		return nil, err
	}

	e := stick.TaskEvent(t, s, c.By, t.SpawnedBy, f)
	return &e, nil
}

// sameAsApproved reports whether a commit makes the same change as the approved one.
func sameAsApproved(t stick.Task, q Offering) bool {
	return q.Head == t.Approved || q.Patch != "" && q.Patch == t.Patch && t.Head == t.Approved
}

// Conflict records that a rebase stopped at a conflict. It fails like [Done].
func Conflict(t stick.Task, c Call, base string, files []string) (stick.Event, error) {
	if err := Mine(t, c); err != nil {
		return stick.Event{}, err
	}

	s, err := findStep(t, stick.ActConflict)
	if err != nil {
		return stick.Event{}, err
	}

	return stick.TaskEvent(t, s, c.By, "", stick.TaskConflictedFacts{Base: base, Files: files}), nil
}

// Moved records that the branch of an approved task no longer ends at the approved commit. If the new commit
// makes the same change, the approval stays. It fails with [stick.CodeInvalidTransition].
func Moved(t stick.Task, by stick.AgentID, q Offering) (stick.Event, error) {
	f := q.eventFacts()
	act := stick.ActMoved
	if sameAsApproved(t, q) {
		act, f.Kept = stick.ActKeep, true
	}

	s, err := findStep(t, act)
	if err != nil {
		return stick.Event{}, err
	}

	return stick.TaskEvent(t, s, by, t.SpawnedBy, f), nil
}

// Return returns a task that can't land to its worker, with the reason and the blob that holds the report. It
// fails with [stick.CodeInvalidTransition].
func Return(t stick.Task, by stick.AgentID, cause, reason, report string, files []string) (stick.Event, error) {
	s, err := findStep(t, stick.ActReturn)
	if err != nil {
		return stick.Event{}, err
	}

	e := stick.TaskEvent(t, s, by, t.Worker, stick.TaskChangesRequestedFacts{
		Head: t.Approved, Cause: cause, Report: report, Files: files,
	})
	e.Reason = clipBytes(reason, stick.MaxReason)
	return e, nil
}

func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-3], "") + "…"
}

// Land records that the integration branch contains the task. Git decides that, so it follows almost every
// state. It fails with [stick.CodeInvalidTransition] if the task is already completed.
func Land(t stick.Task, by stick.AgentID, head, result string) (stick.Event, error) {
	s, err := findStep(t, stick.ActLand)
	if err != nil {
		return stick.Event{}, err
	}

	// A worker that lands its own task knows that: then whoever wanted the task is told.
	to := t.Worker
	if to == by {
		to = t.SpawnedBy
	}

	f := stick.TaskCompletedFacts{Head: head, Result: result}
	if result == "" && t.PR.HasMerge() {
		f.Pull, f.PullCommit = t.PR.Number, t.PR.Commit
	}

	return stick.TaskEvent(t, s, by, to, f), nil
}

// Fail records that the task's worker gave up. It fails with [stick.CodeUsage], [stick.CodeInvalidTransition],
// [stick.CodeStaleAttempt] and [stick.CodeNotYourTask].
func Fail(t stick.Task, c Call, reason string) (stick.Event, error) {
	if err := Mine(t, c); err != nil {
		return stick.Event{}, err
	}
	return endTask(t, stick.ActFail, c.By, t.SpawnedBy, stick.CauseGivenUp, reason)
}

// NoReason is the reason of a cancellation for which nobody gave one.
const NoReason = "no reason was given"

// Cancel cancels the task; anybody may. If the task has already failed, the event is nil. Cancel fails with
// [stick.CodeUsage] and [stick.CodeInvalidTransition].
func Cancel(t stick.Task, c Call, reason string) (*stick.Event, error) {
	if t.State == stick.TaskFailed {
		return nil, nil
	}
	if strings.TrimSpace(reason) == "" {
		reason = NoReason
	}

	e, err := endTask(t, stick.ActCancel, c.By, t.Worker, stick.CauseCancelled, reason)
	return &e, err
}

func endTask(t stick.Task, act stick.TaskAct, by, to stick.AgentID, cause, reason string) (stick.Event, error) {
	s, err := findStep(t, act)
	if err != nil {
		return stick.Event{}, err
	}
	if strings.TrimSpace(reason) == "" {
		return stick.Event{}, stick.Errorf(stick.CodeUsage, "say why").With("field", "reason").
			Hintf("%s", stick.Cmd("tt task fail …"))
	}

	if err := stick.CheckReason("reason", reason); err != nil {
		return stick.Event{}, err
	}

	e := stick.TaskEvent(t, s, by, to, stick.TaskFailedFacts{Cause: cause})
	e.Reason = reason
	return e, nil
}

// Retry begins another attempt from a commit, in a checkout. One that nobody had begun is for later again,
// and needs neither. It fails with [stick.CodeInvalidTransition].
func Retry(t stick.Task, by stick.AgentID, base string, in stick.Checkout, slot int) (stick.Event, error) {
	s, err := findStep(t, stick.ActRetry)
	if err != nil {
		return stick.Event{}, err
	}

	return stick.TaskEvent(t, s, by, t.Worker, stick.TaskRetriedFacts{
		TaskStatus: stick.TaskStatus{Attempt: t.Attempt + 1}, Base: base, In: in, Slot: slotFact(slot, t.Later),
	}), nil
}

// Rollback records that a commit reverted the merge. It fails with [stick.CodeUsage] and [stick.CodeInvalidTransition].
func Rollback(t stick.Task, by stick.AgentID, result, reason string) (stick.Event, error) {
	s, err := rollbackStep(t)
	if err != nil {
		return stick.Event{}, err
	}

	if err := stick.CheckReason("reason", reason); err != nil {
		return stick.Event{}, err
	}

	e := stick.TaskEvent(t, s, by, t.Worker, stick.TaskRolledBackFacts{Result: result, Cause: stick.CauseRolledBack})
	e.Reason = reason
	return e, nil
}

// rollbackStep returns the step by which a merge is reverted. The task needs a merge of its own: if the branch
// already contained its work, the commit that brought it may have brought others' work as well.
func rollbackStep(t stick.Task) (stick.TaskStep, error) {
	s, err := findStep(t, stick.ActRollback)
	switch {
	case err != nil:
	case t.Result == "" && t.PR.HasMerge():
		err = withTaskFacts(t, stick.Errorf(stick.CodeInvalidTransition,
			"%s was merged at the forge by pull request #%d, so tt has no merge to revert", t.ID, t.PR.Number)).
			Hintf("look at the commit that the forge made (%s), and revert it in a new task: %s",
				stick.Cmd("git show <commit>", stick.ShortCommit(t.PR.Commit)), stick.Cmd("tt task new <task>"))
	case t.Result == "":
		err = withTaskFacts(t, stick.Errorf(stick.CodeInvalidTransition,
			"%s has no merge of its own to revert: %s already contained it",
			t.ID, t.Integration)).
			Hintf("find what brought it there (%s), and revert that in a new task: %s",
				stick.Cmd("git log <branch>", t.Integration), stick.Cmd("tt task new <task>"))
	}
	return s, err
}

// CanRollback refuses a task that hasn't landed by a merge of its own. Callers ask before they change
// anything in git.
func CanRollback(t stick.Task) error { _, err := rollbackStep(t); return err }

// CanRetry refuses a retry of a task that isn't over.
func CanRetry(t stick.Task) error { _, err := findStep(t, stick.ActRetry); return err }
