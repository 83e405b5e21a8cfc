package stick

import (
	"slices"
	"strings"
)

// TaskState is the state of a task as the log knows it. What is computed from evidence, such as stale or
// stuck, isn't a state.
type TaskState string

// The states of a task.
const (
	TaskAssigned   TaskState = "ASSIGNED"
	TaskWorking    TaskState = "WORKING"
	TaskConflicted TaskState = "CONFLICTED"
	TaskInReview   TaskState = "IN_REVIEW"
	TaskApproved   TaskState = "APPROVED"
	TaskCompleted  TaskState = "COMPLETED"
	TaskFailed     TaskState = "FAILED"

	NoTask TaskState = "" // before it is made
)

// TaskStates lists all states, in the order in which most tasks reach them.
var TaskStates = []TaskState{
	TaskAssigned, TaskWorking, TaskConflicted, TaskInReview, TaskApproved, TaskCompleted, TaskFailed,
}

// Word returns the word for the state in texts. cause is why the task got there: one that was cancelled isn't
// called failed.
func (s TaskState) Word(cause string) Words {
	if s == TaskFailed && cause == CauseCancelled {
		return "CANCELLED"
	}
	return Wordsf("%s", s)
}

// TaskAct is something that can happen to a task.
type TaskAct string

// The acts. An act that a command performs has the command's name.
const (
	ActSpawn    TaskAct = "spawn"
	ActBegin    TaskAct = "begin"
	ActAfter    TaskAct = "after"
	ActEdit     TaskAct = "edit"
	ActStart    TaskAct = "start"
	ActConflict TaskAct = "conflict"
	ActDone     TaskAct = "done"
	ActKeep     TaskAct = "rebase"
	ActMoved    TaskAct = "new commits"
	ActApprove  TaskAct = "approve"
	// ActApproveMerge is also possible where the commit was approved before, and nobody wanted tt to merge it.
	ActApproveMerge TaskAct = "approve --merge"
	ActChanges      TaskAct = "request-changes"
	ActMerge        TaskAct = "merge"
	ActReturn       TaskAct = "return"
	ActLand         TaskAct = "land"
	ActFail         TaskAct = "fail"
	ActCancel       TaskAct = "cancel"
	ActRetry        TaskAct = "retry"
	ActRollback     TaskAct = "rollback"
	ActPull         TaskAct = "pr"
)

// TaskStep is a row of the table of transitions.
type TaskStep struct {
	Act     TaskAct
	From    []TaskState
	To      TaskState // empty if the state stays
	Event   EventType
	Meaning string
}

// TaskSteps is the table of transitions. The rules, the check of the log and the diagram use it.
var TaskSteps = []TaskStep{
	{
		ActSpawn,
		[]TaskState{NoTask},
		TaskAssigned, EventTaskAssigned,
		"a branch and a worktree were made for it, unless it is for later",
	},
	{
		ActBegin,
		[]TaskState{TaskAssigned},
		"",
		EventTaskBegun, "it was for later, and its branch and its worktree were made now",
	},
	{ActAfter, []TaskState{TaskAssigned}, "", EventTaskAfter, "it waits for other tasks than before"},
	{
		ActEdit,
		[]TaskState{TaskAssigned, TaskWorking, TaskConflicted, TaskInReview, TaskFailed},
		"",
		EventTaskEdited, "somebody changed what it is about, or how urgent it is",
	},
	{ActStart, []TaskState{TaskAssigned}, TaskWorking, EventTaskStarted, "an agent took it on"},
	{
		ActStart,
		[]TaskState{TaskWorking, TaskConflicted},
		"",
		EventTaskStarted, "another agent took it on, because the first one is gone",
	},
	{
		ActConflict,
		[]TaskState{TaskWorking, TaskConflicted, TaskInReview, TaskApproved},
		TaskConflicted, EventTaskConflicted,
		"the rebase by `tt task done` stopped at a conflict, and is still in progress",
	},
	{
		ActDone,
		[]TaskState{TaskWorking, TaskConflicted, TaskInReview, TaskApproved},
		TaskInReview, EventTaskReviewRequested,
		"the worker asks for a review of a commit",
	},
	{
		ActKeep,
		[]TaskState{TaskApproved},
		"",
		EventTaskReviewRequested, "its commit makes the same change on a newer base, so the approval stays",
	},
	{
		ActMoved,
		[]TaskState{TaskApproved},
		TaskInReview, EventTaskReviewRequested,
		"the branch has commits that nobody approved",
	},
	{ActApprove, []TaskState{TaskInReview}, TaskApproved, EventTaskApproved, "a reviewer approved one commit"},
	{
		ActApproveMerge,
		[]TaskState{TaskInReview, TaskApproved},
		TaskApproved, EventTaskApproved,
		"a reviewer approved one commit, and tt merges it by itself",
	},
	{
		ActChanges,
		[]TaskState{TaskInReview, TaskApproved},
		TaskWorking, EventTaskChangesRequested,
		"a reviewer asks for changes",
	},
	{ActMerge, []TaskState{TaskApproved}, "", EventTaskMergeStarted, "it is its turn in the merge queue"},
	{
		ActReturn,
		[]TaskState{TaskApproved},
		TaskWorking, EventTaskChangesRequested,
		"it conflicts with the integration branch, the gate is red only with it, or its settings can't be read",
	},
	{
		ActLand,
		[]TaskState{TaskAssigned, TaskWorking, TaskConflicted, TaskInReview, TaskApproved, TaskFailed},
		TaskCompleted, EventTaskCompleted,
		"the integration branch contains it",
	},
	{
		ActFail,
		[]TaskState{TaskAssigned, TaskWorking, TaskConflicted, TaskInReview},
		TaskFailed, EventTaskFailed,
		"the worker gave it up",
	},
	{
		ActCancel,
		[]TaskState{TaskAssigned, TaskWorking, TaskConflicted, TaskInReview, TaskApproved},
		TaskFailed, EventTaskFailed,
		"it was cancelled",
	},
	{
		ActRetry,
		[]TaskState{TaskFailed},
		TaskAssigned, EventTaskRetried,
		"another attempt begins; commands of earlier attempts are refused",
	},
	{
		ActSpawn,
		[]TaskState{TaskFailed},
		TaskAssigned, EventTaskAssigned,
		"a new task has the name of one that was cancelled, and of which nothing was left",
	},
	{ActRollback, []TaskState{TaskCompleted}, TaskFailed, EventTaskRolledBack, "a new commit reverts the merge"},
	{
		ActPull,
		[]TaskState{TaskAssigned, TaskWorking, TaskConflicted, TaskInReview, TaskApproved, TaskCompleted, TaskFailed},
		"", EventTaskPullRequest,
		"its pull request at a forge was opened, or changed there",
	},
}

// Task is a unit of work with a branch and a worktree of its own.
type Task struct {
	ID          string
	State       TaskState
	Attempt     int // counts from 1; earlier attempts can't change the task
	Description string
	Spec        string
	Labels      []string // by which agents choose, in the order of the alphabet
	Priority    Priority
	Branch      string
	Worktree    string   // relative to the workspace's root
	In          Checkout // where its branch and worktree are
	Integration string   // the branch that a merge moves
	Base        string   // the commit that it began at, or was last rebased onto
	Head        string   // the commit that was last offered for review
	Patch       string   // a sum of what Head changes, which doesn't depend on Base
	ChangesGate bool     // Head changes the file that defines the gate
	Worker      AgentID
	Earlier     []AgentID // earlier workers
	SpawnedBy   AgentID
	Approved    string // the commit that was approved
	ApprovedBy  AgentID
	ApprovedSeq int64  // its place in the merge queue
	Result      string // the commit by which it landed; empty if the branch already contained it
	Cause       string // why it was returned, or failed
	Reason      string // the same in words
	CreatedAt   Time
	StateAt     Time     // when it got into its state
	Seq         int64    // its last event
	Later       bool     // nobody has begun it: it has no branch and no worktree
	After       []string // the tasks that have to land before it begins
	// a small number of its own among the tasks that are being worked on in a checkout; [NoSlot] for none
	Slot int
	PR   PullRequest

	// Evidence.
	HeartbeatAt Time
}

// Why a task was returned to its worker, or failed.
const (
	CauseReview     = "review"      // a reviewer asks for changes
	CauseConflict   = "conflict"    // it conflicts with the integration branch
	CauseGate       = "gate"        // the gate is red with it and green without it, or its settings can't be read
	CauseGivenUp    = "given_up"    // its worker gave up
	CauseCancelled  = "cancelled"   // somebody cancelled it
	CauseRolledBack = "rolled_back" // its merge was reverted
)

// Reasoner names the author of a task's reason, by its cause.
func Reasoner(cause string) Words {
	switch cause {
	case CauseReview:
		return "its reviewer"
	case CauseGivenUp:
		return "its worker"
	case CauseCancelled:
		return "whoever cancelled it"
	case CauseRolledBack:
		return "whoever reverted it"
	}
	return "tt" // with what the gate has printed, see [SplitGateReason]
}

// SplitGateReason splits the reason that tt gives when a gate is red: a line of tt's own, and what the gate
// printed, which is the words of whoever wrote what it runs. A reason of another cause is all of somebody else.
func SplitGateReason(cause, reason string) (ours Words, printed string) {
	if cause != CauseGate {
		return "", reason
	}

	first, rest, _ := strings.Cut(reason, "\n")
	return Words(first), strings.ReplaceAll(strings.TrimPrefix(rest, "  "), "\n  ", "\n")
}

// Bounds of a task's texts, in bytes.
const (
	MaxTaskID = 64
	MaxSpec   = 64 << 10
)

// TaskKey returns the key of a task's name. Names that differ only in upper and lower case have one key,
// because some file systems don't distinguish them.
func TaskKey(id string) string { return strings.ToLower(id) }

// Over reports whether the task has ended: it was completed or has failed.
func (t Task) Over() bool { return t.State == TaskCompleted || t.State == TaskFailed }

// Elsewhere reports whether the task's branch and worktree are in another checkout.
func (t Task) Elsewhere(in Checkout) bool { return t.In.IsOther(in) }

// Busy reports whether the task's worker should be working now.
func (t Task) Busy() bool { return t.State == TaskWorking || t.State == TaskConflicted }

// Offered reports whether a commit of the task, its Head, waits for review or was approved.
func (t Task) Offered() bool { return t.State == TaskInReview || t.State == TaskApproved }

// Worked reports whether an agent works on the task or ever has.
func (t Task) Worked(a AgentID) bool {
	return a != "" && (t.Worker == a || slices.Contains(t.Earlier, a))
}

// Authors lists the agents that have worked on the task in any attempt.
func (t Task) Authors() []AgentID {
	if t.Worker == "" {
		return t.Earlier
	}
	return append([]AgentID{t.Worker}, t.Earlier...)
}

// NextStep returns the hint what to do next with a task in this state.
func (t Task) NextStep() Hint {
	switch t.State {
	case TaskAssigned:
		if t.Later && len(t.After) > 0 {
			return Hintf("to see what it waits for: %s", Cmd("tt task show <task_id>", t.ID))
		}
		return Hintf("to start it: %s", Cmd("tt task start --task <task_id>", t.ID))
	case TaskWorking:
		return Hintf("its worker commits, then: %s", Cmd("tt task done --task <task_id>", t.ID))
	case TaskConflicted:
		return Hintf("its worker resolves the conflict and finishes the rebase in %s, then: %s",
			t.Worktree, Cmd("tt task done --skip-rebase --task <task_id>", t.ID))
	case TaskInReview:
		return Hintf("look at it: %s; then %s, or request-changes", Cmd("tt task diff <task_id>",
			t.ID), Cmd("tt task approve <task_id>", t.ID))
	case TaskApproved:
		return Hintf("%s", Cmd("tt task merge <task_id>", t.ID))
	case TaskFailed:
		return Hintf("to begin again: %s", Cmd("tt task retry <task_id>", t.ID))
	}
	if t.Result == "" {
		return Hintf("nothing is left to do: %s contains it", t.Integration)
	}

	return Hintf("nothing is left to do; to revert it: %s", Cmd("tt task rollback <task_id> --reason …", t.ID))
}

// TaskEvent makes the event of a step. It belongs to the attempt that its facts name, or else to the current
// one.
func TaskEvent[F TaskFacts, P interface {
	*F
	setStatus(TaskStatus)
}](t Task, s TaskStep, by, to AgentID, f F) Event {
	attempt := f.status().Attempt
	if attempt == 0 {
		attempt = t.Attempt
	}
	P(&f).setStatus(TaskStatus{s.To, attempt})
	return Event{Type: s.Event, From: by, To: to, Task: t.ID}.WithPayload(TaskPayload[F]{Task: &f})
}

// About returns an event of a task with the room and its current turn filled in.
func (r Room) About(e Event) Event {
	e.Room, e.Turn = r.ID, r.Turn.ID
	return e
}
