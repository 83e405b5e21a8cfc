package task

import (
	"cmp"
	"context"
	"path"

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

// planSpawn chooses the branch and the worktree of a new task, and completes q. It fails with
// [stick.CodeAlreadyExists] if one of them exists, and as [Repo.requireInside] does.
func (rp *Repo) planSpawn(ctx context.Context, q *stick.Spawning, base string) (m spawnPlan, err error) {
	name, err := rp.integrationBranch(ctx)
	if err != nil {
		return m, err
	}

	t, err := rp.readTarget(ctx, name)
	if err != nil {
		return m, err
	}

	// The project says where worktrees lie, and what its branches are called.
	w, err := rp.acceptedSettings(ctx, t.head())
	if err != nil {
		return m, err
	}

	q.Integration, q.Base, q.Worktree, q.Branch = name, t.head(), path.Join(w.Dir, q.ID), w.Prefix+q.ID
	if q.Later {
		q.Base = ""
	}
	if base != "" {
		commit, ok, err := rp.git.Commit(ctx, rp.root, base)
		if err != nil {
			return m, err
		}

		if !ok {
			return m, stick.Errorf(stick.CodeNotFound, "there is no commit %q", stick.Clip(base, 60)).
				With("base", stick.Clip(base, 60)).
				Hintf("name a commit or a branch of this repository")
		}

		q.Base = commit
	}

	task := stick.Task{
		ID: q.ID, Branch: q.Branch, Worktree: q.Worktree, Integration: name, Base: q.Base,
		Description: q.Description, Spec: q.Spec, Slot: stick.NoSlot,
	}

	m = spawnPlan{task: task, path: rp.worktreePath(task), base: q.Base, newBranch: true, newTree: true, worker: w}
	return m, rp.requireRoomFor(ctx, m)
}
