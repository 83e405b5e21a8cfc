package task

import (
	"cmp"

	"talkingstick/internal/config"
	"talkingstick/stick"
)

// spawnPlan is the branch and worktree that spawn and retry create for a task.
type spawnPlan struct {
	task      stick.Task
	path      string
	base      string
	start     string // the commit at which the branch begins, if it isn't base
	oldHead   string // the commit of the branch, if it must be moved forward to there
	newBranch bool
	newTree   bool
	id, kind  string // of its intent
	begun     bool   // git may have made something of it, or will next
	// Gives the lock of the worktrees back, and may be called again; nil if the plan doesn't have it.
	releaseWorktrees func()
	forNext          bool          // the caller asked for any task that is ready, and becomes its worker
	copied           CopiedFiles   // set by restoreWorktree
	slot             int           // set by carryOutPlan
	worker           config.Worker // the settings by which the worktree is made
}

// unlock gives the lock of the worktrees back, if the plan has it.
func (m spawnPlan) unlock() {
	if m.releaseWorktrees != nil {
		m.releaseWorktrees()
	}
}

// startCommit is the commit at which the branch begins.
func (m spawnPlan) startCommit() string { return cmp.Or(m.start, m.base) }

// storedForm returns the stored form of the plan.
func (m spawnPlan) storedForm() spawnIntent {
	return spawnIntent{
		Task: spawnedTask{m.task.Branch, m.task.ID}, Path: m.path, Base: m.startCommit(),
		NewBranch: m.newBranch, NewTree: m.newTree, Slot: m.slot, Begun: &m.begun, Next: m.forNext,
	}
}

// storeSpawn stores the intent of a plan.
func (o *Op) storeSpawn(m spawnPlan) error {
	return o.storeIntent(m.id, m.kind, m.task, max(m.task.Attempt, 1), m.storedForm())
}
