package queue

import (
	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
)

// WorkerMergeParams asks to merge approved tasks.
type WorkerMergeParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id,omitempty"` // empty for the first task in the queues that can be merged
	All    bool   `json:"all,omitempty"`     // all approved tasks, in the order of their approval

	// Wait merges nothing: it follows the process that merges by itself, which it starts where none runs.
	Wait bool           `json:"wait,omitempty"`
	Held func(HeldTask) `json:"-"` // called with each task that has to wait, and why; may be nil

	Waits func(on string, r repository.Runner) `json:"-"` // called when it begins to wait for another command
	Shows func(GateRun)                        `json:"-"` // called when a gate begins to run; may be nil
}

// WorkerMergeResult says which tasks were merged, and which were not.
type WorkerMergeResult struct {
	RoomID  stick.RoomID  `json:"room_id"`
	AgentID stick.AgentID `json:"agent_id"`
	Merged  []MergedTask  `json:"merged"`
	Waiting []HeldTask    `json:"waiting"` // approved, but not merged by this call

	InReview []string `json:"in_review,omitempty"` // the tasks that nobody has approved, if there was nothing to merge

	Cleaned []CleanedTask `json:"cleaned,omitempty"` // what became of worktrees that earlier merges had to leave

	Ready []string `json:"ready,omitempty"` // the tasks that waited for a merged one, and can begin now
	// the tasks whose commands were started because they are ready
	Started []runner.StartedTask `json:"started,omitempty"`
}

// MergedTask is a task that landed.
type MergedTask struct {
	TaskID  string      `json:"task_id"`
	Branch  string      `json:"branch"` // the branch that it was merged into
	Commit  string      `json:"commit"` // the merge commit; empty if the branch contained the task already
	Head    string      `json:"head"`   // the commit that was approved
	Gate    string      `json:"gate"`   // green, or none; empty if another process has merged it
	Tries   int         `json:"tries"`  // how many times the merge began: again each time the branch moved meanwhile
	Already bool        `json:"already,omitempty"`
	Note    stick.Words `json:"note,omitempty"`
	repository.Remains
}

// HeldTask is a task that didn't land, and why.
type HeldTask struct {
	TaskID string          `json:"task_id"`
	State  stick.TaskState `json:"state"`
	Error  stick.Code      `json:"error,omitempty"`
	Why    stick.Words     `json:"why,omitempty"`
	Next   stick.Words     `json:"next_action,omitempty"` // if it was returned to its worker
}
