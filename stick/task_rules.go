package stick

import (
	"strings"
)

// The rules of tasks. Each returns the event that changes the task. Only [Task.Apply] changes the task
// itself: here, in the store and when the log is replayed.

// TaskCall says who acts on a task.
type TaskCall struct {
	By      AgentID
	Person  bool
	Attempt int // the attempt that the caller believes it is working on, 0 if it doesn't say
}

// checkAttempt refuses a caller whose attempt is over. It fails with [CodeStaleAttempt].
func (t Task) checkAttempt(c TaskCall) error {
	switch {
	case c.Attempt != 0 && c.Attempt != t.Attempt:
		return t.errStaleAttempt("attempt %d of %s is over: attempt %d is %s",
			c.Attempt, t.ID, t.Attempt, t.State.Word(t.Cause))
	case c.By == t.Worker && t.Worker != "" && t.Over():
		return t.errStaleAttempt("attempt %d of %s is over: it is %s", t.Attempt, t.ID, t.State.Word(t.Cause))
	}
	return nil
}

func (t Task) errStaleAttempt(format string, args ...any) *Error {
	return t.withTaskFacts(Errorf(CodeStaleAttempt, format, args...)).
		Hintf("stop this work; %s tells what happened", Cmd("tt task show <task_id>", t.ID))
}

// Mine refuses a caller that isn't the task's worker. A person may act for the worker. It fails with
// [CodeStaleAttempt], [CodeNotYourTask], and [CodeInvalidTransition] if the task has no worker.
func (t Task) Mine(c TaskCall) error {
	if err := t.checkAttempt(c); err != nil {
		return err
	}

	switch {
	case c.By == t.Worker && t.Worker != "", c.Person:
		return nil
	case t.Worked(c.By) && t.State == TaskAssigned:
		return t.errStaleAttempt("%s worked on %s in an earlier attempt; nobody has started attempt %d yet",
			c.By, t.ID, t.Attempt).
			Hintf("stop the earlier work; to start attempt %d: %s",
				t.Attempt, Cmd("tt task start --task <task_id>", t.ID))
	case t.Worked(c.By):
		return t.errStaleAttempt("%s worked on %s before; attempt %d is %s", c.By, t.ID, t.Attempt, workerOf(t))
	case t.Worker == "":
		return t.withTaskFacts(Errorf(CodeInvalidTransition,
			"nobody has started %s yet", t.ID)).Hintf("%s", t.NextStep())
	}
	return t.withTaskFacts(Errorf(CodeNotYourTask, "%s is the task of %s", t.ID, t.Worker)).With("worker", t.Worker).
		Hintf("%s lists the tasks; to tell its worker something: %s",
			Cmd("tt task list"), Cmd("tt msg send <agent> …", t.Worker))
}

func workerOf(t Task) Words {
	if t.Worker == "" {
		return "nobody's"
	}
	return "that of " + agentName(t.Worker)
}

// Spawning is a request to create a task.
type Spawning struct {
	By          AgentID
	ID          string
	Description string
	Spec        string
	Branch      string
	Worktree    string
	In          Checkout // with the branch and the worktree
	Integration string
	Base        string
	Slot        int
	Later       bool     // make no branch and no worktree: somebody begins it later
	After       []string // the tasks that have to land before; see [CheckAfter]
}

// Check refuses a request that can't become a task. It fails with [CodeUsage] and [CodeMessageTooLarge].
func (q Spawning) Check() error {
	if err := CheckTaskID(q.ID); err != nil {
		return err
	}

	for _, f := range []struct {
		name Words
		text string
		most int
	}{{"description", q.Description, MaxBody}, {"spec", q.Spec, MaxSpec}} {
		if bad := notText(f.text); bad != "" {
			return badMessage(string(f.name), "the %s holds %s", f.name, bad)
		}
		if isLeftBlank(f.text) {
			return badMessage(string(f.name), "the %s is the blank of a printed command: %s", f.name, strings.TrimSpace(f.text))
		}
		if len(f.text) > f.most {
			return tooLarge(string(f.name), "the "+f.name, len(f.text), f.most)
		}
	}

	return nil
}

// SpawnTask creates a task. t is the task that already has the name, or the zero Task. It fails with
// [CodeAlreadyExists], and like [Spawning.Check].
func SpawnTask(t Task, q Spawning) (Event, error) {
	if err := q.Check(); err != nil {
		return Event{}, err
	}

	if t.State != noTask {
		e := t.withTaskFacts(Errorf(CodeAlreadyExists, "there is a task %s already, and it is %s",
			t.ID, t.State.Word(t.Cause)))
		if t.State == TaskFailed {
			return Event{}, e.Hintf("to begin it again: %s", Cmd("tt task retry <task_id>", t.ID))
		}
		return Event{}, e.Hintf("%s; a new task needs a name of its own", Cmd("tt task show <task_id>", t.ID))
	}

	// A new task has no state yet, and the step leads out of that.
	t.ID = q.ID
	s, err := t.findStep(ActSpawn)
	if err != nil {
		return Event{}, err
	}

	return taskEvent(t, s, q.By, "", TaskAssignedFacts{
		TaskStatus: TaskStatus{Attempt: 1}, Description: q.Description, Spec: q.Spec,
		Branch: q.Branch, Worktree: q.Worktree, Integration: q.Integration, Base: q.Base,
		In: q.In, Slot: slotFact(q.Slot, q.Later), After: q.After, Later: q.Later,
	}), nil
}

// Start makes the caller the task's worker. If it already is, nothing changes and the event is nil. Somebody
// else may only replace a worker that is away: it has left, was removed, or is gone. Start fails with
// [CodeInvalidTransition], [CodeStaleAttempt] and [CodeNotYourTask].
func (t Task) Start(c TaskCall, away bool) (*Event, error) {
	if err := t.checkAttempt(c); err != nil {
		return nil, err
	}

	s, err := t.findStep(ActStart)
	switch {
	case err == nil && t.Later:
		return nil, t.withTaskFacts(Errorf(CodeInvalidTransition, "nobody has begun %s, and it has no worktree", t.ID)).
			Hintf("%s", t.NextStep())
	case err != nil && t.Worked(c.By) && !t.Over():
		return nil, nil // the task is in review: there is nothing to start, and the caller is still its worker
	case err != nil:
		return nil, err
	case t.State != TaskAssigned && t.Worker == c.By:
		return nil, nil
	case t.State != TaskAssigned && !away:
		return nil, t.withTaskFacts(Errorf(CodeNotYourTask, "%s is the task of %s, who isn't gone", t.ID, t.Worker)).
			With("worker", t.Worker).
			Hintf("%s lists the tasks; to tell its worker something: %s",
				Cmd("tt task list"), Cmd("tt msg send <agent> …", t.Worker))
	}
	e := taskEvent(t, s, c.By, "", TaskStartedFacts{})
	return &e, nil
}

// Offering is a commit that a worker offers for review.
type Offering struct {
	Base, Head, Patch string
	GateFiles         []string // those of the gate's own files that it changes
	Checks            []TaskCheck
}

// eventFacts returns what the event of an offer says.
func (q Offering) eventFacts() TaskReviewRequestedFacts {
	return TaskReviewRequestedFacts{
		Base: q.Base, Head: q.Head, Patch: q.Patch, ChangesGate: len(q.GateFiles) > 0,
		Checks: q.Checks, GateFiles: q.GateFiles[:min(len(q.GateFiles), maxGateFiles)],
	}
}

// maxGateFiles is how many of the gate's files the log names.
const maxGateFiles = 20

// Done offers a commit for review. If the commit only moves an approved change to another base, the approval
// stays. If this very commit is already offered, the event is nil. Done fails with [CodeInvalidTransition],
// [CodeStaleAttempt] and [CodeNotYourTask].
func (t Task) Done(c TaskCall, q Offering) (*Event, error) {
	if err := t.Mine(c); err != nil {
		return nil, err
	}
	if t.Offered() && t.Head == q.Head && len(q.Checks) == 0 {
		return nil, nil
	}

	f := q.eventFacts()

	// The same change on another base needs no second review.
	act := ActDone
	if t.State == TaskApproved && t.sameAsApproved(q) {
		act, f.Kept = ActKeep, true
	}

	s, err := t.findStep(act)
	if err != nil {
		return nil, err
	}

	e := taskEvent(t, s, c.By, t.SpawnedBy, f)
	return &e, nil
}

// sameAsApproved reports whether a commit makes the same change as the approved one.
func (t Task) sameAsApproved(q Offering) bool {
	return q.Head == t.Approved || q.Patch != "" && q.Patch == t.Patch && t.Head == t.Approved
}

// Conflict records that a rebase stopped at a conflict. It fails like [Task.Done].
func (t Task) Conflict(c TaskCall, base string, files []string) (Event, error) {
	if err := t.Mine(c); err != nil {
		return Event{}, err
	}

	s, err := t.findStep(ActConflict)
	if err != nil {
		return Event{}, err
	}

	return taskEvent(t, s, c.By, "", TaskConflictedFacts{Base: base, Files: files}), nil
}

// Moved records that the branch of an approved task no longer ends at the approved commit. If the new commit
// makes the same change, the approval stays. It fails with [CodeInvalidTransition].
func (t Task) Moved(by AgentID, q Offering) (Event, error) {
	f := q.eventFacts()
	act := ActMoved
	if t.sameAsApproved(q) {
		act, f.Kept = ActKeep, true
	}

	s, err := t.findStep(act)
	if err != nil {
		return Event{}, err
	}

	return taskEvent(t, s, by, t.SpawnedBy, f), nil
}

// Return returns a task that can't land to its worker, with the reason and the blob that holds the report. It
// fails with [CodeInvalidTransition].
func (t Task) Return(by AgentID, cause, reason, report string, files []string) (Event, error) {
	s, err := t.findStep(ActReturn)
	if err != nil {
		return Event{}, err
	}

	e := taskEvent(t, s, by, t.Worker, TaskChangesRequestedFacts{
		Head: t.Approved, Cause: cause, Report: report, Files: files,
	})
	e.Reason = clipBytes(reason, maxReason)
	return e, nil
}

func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-3], "") + "…"
}

// Land records that the integration branch contains the task. Git decides that, so it follows almost every
// state. It fails with [CodeInvalidTransition] if the task is already completed.
func (t Task) Land(by AgentID, head, result string) (Event, error) {
	s, err := t.findStep(ActLand)
	if err != nil {
		return Event{}, err
	}

	// A worker that lands its own task knows that: then whoever wanted the task is told.
	to := t.Worker
	if to == by {
		to = t.SpawnedBy
	}

	f := TaskCompletedFacts{Head: head, Result: result}
	if result == "" && t.PR.HasMerge() {
		f.Pull, f.PullCommit = t.PR.Number, t.PR.Commit
	}

	return taskEvent(t, s, by, to, f), nil
}

// Fail records that the task's worker gave up. It fails with [CodeUsage], [CodeInvalidTransition],
// [CodeStaleAttempt] and [CodeNotYourTask].
func (t Task) Fail(c TaskCall, reason string) (Event, error) {
	if err := t.Mine(c); err != nil {
		return Event{}, err
	}
	return t.endTask(ActFail, c.By, t.SpawnedBy, CauseGivenUp, reason)
}

// NoReason is the reason of a cancellation for which nobody gave one.
const NoReason = "no reason was given"

// Cancel cancels the task; anybody may. If the task has already failed, the event is nil. Cancel fails with
// [CodeUsage] and [CodeInvalidTransition].
func (t Task) Cancel(c TaskCall, reason string) (*Event, error) {
	if t.State == TaskFailed {
		return nil, nil
	}
	if strings.TrimSpace(reason) == "" {
		reason = NoReason
	}

	e, err := t.endTask(ActCancel, c.By, t.Worker, CauseCancelled, reason)
	return &e, err
}

func (t Task) endTask(act TaskAct, by, to AgentID, cause, reason string) (Event, error) {
	s, err := t.findStep(act)
	if err != nil {
		return Event{}, err
	}
	if strings.TrimSpace(reason) == "" {
		return Event{}, Errorf(CodeUsage, "say why").With("field", "reason").Hintf("%s", Cmd("tt task fail …"))
	}

	if err := checkReason("reason", reason); err != nil {
		return Event{}, err
	}

	e := taskEvent(t, s, by, to, TaskFailedFacts{Cause: cause})
	e.Reason = reason
	return e, nil
}

// Retry begins another attempt from a commit, in a checkout. One that nobody had begun is for later again,
// and needs neither. It fails with [CodeInvalidTransition].
func (t Task) Retry(by AgentID, base string, in Checkout, slot int) (Event, error) {
	s, err := t.findStep(ActRetry)
	if err != nil {
		return Event{}, err
	}

	return taskEvent(t, s, by, t.Worker, TaskRetriedFacts{
		TaskStatus: TaskStatus{Attempt: t.Attempt + 1}, Base: base, In: in, Slot: slotFact(slot, t.Later),
	}), nil
}

// Rollback records that a commit reverted the merge. It fails with [CodeUsage] and [CodeInvalidTransition].
func (t Task) Rollback(by AgentID, result, reason string) (Event, error) {
	s, err := t.rollbackStep()
	if err != nil {
		return Event{}, err
	}

	if err := checkReason("reason", reason); err != nil {
		return Event{}, err
	}

	e := taskEvent(t, s, by, t.Worker, TaskRolledBackFacts{Result: result, Cause: CauseRolledBack})
	e.Reason = reason
	return e, nil
}

// rollbackStep returns the step by which a merge is reverted. The task needs a merge of its own: if the branch
// already contained its work, the commit that brought it may have brought others' work as well.
func (t Task) rollbackStep() (TaskStep, error) {
	s, err := t.findStep(ActRollback)
	switch {
	case err != nil:
	case t.Result == "" && t.PR.HasMerge():
		err = t.withTaskFacts(Errorf(CodeInvalidTransition,
			"%s was merged at the forge by pull request #%d, so tt has no merge to revert", t.ID, t.PR.Number)).
			Hintf("look at the commit that the forge made (%s), and revert it in a new task: %s",
				Cmd("git show <commit>", shortCommit(t.PR.Commit)), Cmd("tt task new <task>"))
	case t.Result == "":
		err = t.withTaskFacts(Errorf(CodeInvalidTransition,
			"%s has no merge of its own to revert: %s already contained it",
			t.ID, t.Integration)).
			Hintf("find what brought it there (%s), and revert that in a new task: %s",
				Cmd("git log <branch>", t.Integration), Cmd("tt task new <task>"))
	}
	return s, err
}

// CanRollback refuses a task that hasn't landed by a merge of its own. Callers ask before they change
// anything in git.
func (t Task) CanRollback() error { _, err := t.rollbackStep(); return err }

// CanRetry refuses a retry of a task that isn't over.
func (t Task) CanRetry() error { _, err := t.findStep(ActRetry); return err }
