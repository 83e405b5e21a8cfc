package stick

import (
	"slices"
	"strings"
)

// TaskState says how a task stands. What is computed from evidence (stale, stuck) is no state.
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

	noTask TaskState = "" // before it is made
)

// TaskStates are all states, in the order of the way that most tasks go.
var TaskStates = []TaskState{TaskAssigned, TaskWorking, TaskConflicted, TaskInReview, TaskApproved, TaskCompleted, TaskFailed}

// TaskAct is something that happens to a task.
type TaskAct string

// The acts. Those of the commands have their names.
const (
	ActSpawn    TaskAct = "spawn"
	ActStart    TaskAct = "start"
	ActConflict TaskAct = "conflict"
	ActDone     TaskAct = "done"
	ActKeep     TaskAct = "rebase"
	ActMoved    TaskAct = "new commits"
	ActApprove  TaskAct = "approve"
	ActChanges  TaskAct = "request-changes"
	ActMerge    TaskAct = "merge"
	ActReturn   TaskAct = "return"
	ActLand     TaskAct = "land"
	ActFail     TaskAct = "fail"
	ActCancel   TaskAct = "cancel"
	ActRetry    TaskAct = "retry"
	ActRollback TaskAct = "rollback"
)

// TaskStep is a row of the table of transitions.
type TaskStep struct {
	Act     TaskAct
	From    []TaskState
	To      TaskState // empty when the state stays
	Event   EventType
	Meaning string
}

// TaskSteps is the table of transitions. Guards, the log and the diagram are made from it.
var TaskSteps = []TaskStep{
	{ActSpawn, []TaskState{noTask}, TaskAssigned, EventTaskAssigned, "a branch and a worktree were made for it"},
	{ActStart, []TaskState{TaskAssigned}, TaskWorking, EventTaskStarted, "an agent took it on"},
	{ActStart, []TaskState{TaskWorking, TaskConflicted}, "", EventTaskStarted, "another agent took it on, because the first one is gone"},
	{ActConflict, []TaskState{TaskWorking, TaskConflicted, TaskInReview, TaskApproved}, TaskConflicted, EventTaskConflicted, "done: the rebase stopped at a conflict, and is left in progress"},
	{ActDone, []TaskState{TaskWorking, TaskConflicted, TaskInReview, TaskApproved}, TaskInReview, EventTaskReviewRequested, "the worker asks for a review of a commit"},
	{ActKeep, []TaskState{TaskApproved}, "", EventTaskReviewRequested, "done: the same change on a newer base keeps its approval"},
	{ActMoved, []TaskState{TaskApproved}, TaskInReview, EventTaskReviewRequested, "the branch has commits that nobody approved"},
	{ActApprove, []TaskState{TaskInReview}, TaskApproved, EventTaskApproved, "a reviewer approved one commit"},
	{ActChanges, []TaskState{TaskInReview, TaskApproved}, TaskWorking, EventTaskChangesRequested, "a reviewer asks for changes"},
	{ActMerge, []TaskState{TaskApproved}, "", EventTaskMergeStarted, "it is its turn in the merge queue"},
	{ActReturn, []TaskState{TaskApproved}, TaskWorking, EventTaskChangesRequested, "it conflicts with the integration branch, or its own gate is red or can't be read"},
	{ActLand, []TaskState{TaskAssigned, TaskWorking, TaskConflicted, TaskInReview, TaskApproved, TaskFailed}, TaskCompleted, EventTaskCompleted, "the integration branch contains it"},
	{ActFail, []TaskState{TaskAssigned, TaskWorking, TaskConflicted, TaskInReview}, TaskFailed, EventTaskFailed, "the worker gave it up"},
	{ActCancel, []TaskState{TaskAssigned, TaskWorking, TaskConflicted, TaskInReview, TaskApproved}, TaskFailed, EventTaskFailed, "it was called off"},
	{ActRetry, []TaskState{TaskFailed}, TaskAssigned, EventTaskRetried, "another attempt begins; the attempts before it are fenced off"},
	{ActRollback, []TaskState{TaskCompleted}, TaskFailed, EventTaskRolledBack, "a new commit takes the merge back"},
}

// Task is a unit of work with a branch and a worktree of its own.
type Task struct {
	ID          string
	State       TaskState
	Attempt     int // counts from 1; an older one changes nothing any more
	Description string
	Spec        string
	Branch      string
	Worktree    string // from the workspace's root
	Integration string // the branch that a merge moves
	Base        string // the commit that it began from, or was last rebased onto
	Head        string // the commit that was last offered for review
	Patch       string // a sum of what Head changes, whatever it is based on
	ChangesGate bool   // Head changes the file that says how it is judged
	Worker      AgentID
	Earlier     []AgentID // who worked on it before
	SpawnedBy   AgentID
	Approved    string // the commit that was approved
	ApprovedBy  AgentID
	ApprovedSeq int64  // its place in the merge queue
	Result      string // the commit by which it landed; empty when the branch contained it already
	Cause       string // why it was returned, or failed
	Reason      string // the same in words
	CreatedAt   Time
	StateAt     Time  // since when it is in its state
	Seq         int64 // its last event

	// Evidence.
	HeartbeatAt Time
}

// Why a task was returned to its worker, or failed.
const (
	CauseReview     = "review"      // a reviewer asks for changes
	CauseConflict   = "conflict"    // it can't be merged
	CauseGate       = "gate"        // its own gate is red, or can't be read
	CauseGivenUp    = "given_up"    // by its worker
	CauseCancelled  = "cancelled"   // called off
	CauseRolledBack = "rolled_back" // its merge was taken back
)

// FileStat is how much of a file a task changes.
type FileStat struct {
	Path    string `json:"path"`    // from the workspace's root
	Added   int    `json:"added"`   // lines; -1 for a file that isn't text
	Deleted int    `json:"deleted"` // likewise
}

// Bounds of a task's texts, in bytes.
const (
	MaxTaskID = 64
	MaxSpec   = 64 << 10
)

// isTaskID reports whether a name has only what the name of a task has, and begins as one does.
func isTaskID(id string) bool {
	for i, c := range id {
		alnum := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alnum && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return id != ""
}

// CheckTaskID refuses a name that can't be that of a task, a branch and a directory alike.
func CheckTaskID(id string) error {
	bad := func(why string) *Error {
		return Errorf(CodeUsage, "%q can't be the name of a task: %s", clip(id, 80), why).With("field", "task_id").
			Hintf("a letter or a digit, then up to 63 more of letters, digits, dots, underscores and hyphens")
	}
	switch {
	case id == "":
		return bad("it is empty")
	case len(id) > MaxTaskID || !isTaskID(id):
		return bad("it holds something else than letters, digits, dots, underscores and hyphens, or is too long")
	case strings.Contains(id, ".."), strings.HasSuffix(id, "."), strings.HasSuffix(strings.ToLower(id), ".lock"):
		return bad("git allows no branch of that name")
	}
	return nil
}

// TaskKey is what makes a task's name unique: file systems may not tell capitals.
func TaskKey(id string) string { return strings.ToLower(id) }

// Over reports whether nothing more is expected of the task.
func (t Task) Over() bool { return t.State == TaskCompleted || t.State == TaskFailed }

// Busy reports whether a worker is expected to be at it.
func (t Task) Busy() bool { return t.State == TaskWorking || t.State == TaskConflicted }

// Worked reports whether an agent has ever worked on the task.
func (t Task) Worked(a AgentID) bool {
	return a != "" && (t.Worker == a || slices.Contains(t.Earlier, a))
}

// step finds the transition of an act from the state in which the task is. It fails with
// [CodeInvalidTransition].
func (t Task) step(act TaskAct) (TaskStep, error) {
	var from []string
	for _, s := range TaskSteps {
		if s.Act != act {
			continue
		}
		if slices.Contains(s.From, t.State) {
			if s.To == "" {
				s.To = t.State
			}
			return s, nil
		}
		for _, f := range s.From {
			from = append(from, string(f))
		}
	}
	return TaskStep{}, t.facts(Errorf(CodeInvalidTransition, "%s is %s: %s needs %s", t.ID, t.State, act, strings.Join(from, " or ")).
		Hintf("%s", t.NextStep()))
}

// NextStep says what is done next with a task in this state, and by whom.
func (t Task) NextStep() Hint {
	switch t.State {
	case TaskAssigned:
		return Hintf("in %s: %s", t.Worktree, Cmd("tt worker start"))
	case TaskWorking:
		return Hintf("its worker commits, then: %s", Cmd("tt worker done"))
	case TaskConflicted:
		return Hintf("its worker resolves the conflict: %s, then %s", Cmd("git rebase --continue"), Cmd("tt worker done --skip-rebase"))
	case TaskInReview:
		return Hintf("look at it: %s; then %s, or request-changes", Cmd("tt worker diff <task_id>", t.ID), Cmd("tt worker approve <task_id>", t.ID))
	case TaskApproved:
		return Hintf("%s", Cmd("tt worker merge <task_id>", t.ID))
	case TaskFailed:
		return Hintf("to begin again: %s", Cmd("tt worker retry <task_id>", t.ID))
	}
	return Hintf("nothing is left to do; %s shows its history", Cmd("tt worker show <task_id>", t.ID))
}

// facts adds how the task stands to an error.
func (t Task) facts(e *Error) *Error {
	return e.With("task_id", t.ID).With("state", t.State).With("attempt", t.Attempt)
}

// taskEvent makes the event of a step. Its facts say of which attempt it is, unless it is the one that
// the task is in.
func taskEvent[F TaskFacts, P interface {
	*F
	setStatus(TaskStatus)
}](t Task, s TaskStep, by, to AgentID, f F) Event {
	attempt := f.status().Attempt
	if attempt == 0 {
		attempt = t.Attempt
	}
	P(&f).setStatus(TaskStatus{s.To, attempt})
	return Event{Type: s.Event, From: by, To: to, Task: t.ID}.with(TaskPayload[F]{Task: &f})
}

// About makes an event of a task one of the room as it is now.
func (r Room) About(e Event) Event {
	e.Room, e.Turn = r.ID, r.Turn.ID
	return e
}
