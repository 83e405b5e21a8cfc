package repository

import (
	"cmp"
	"context"
	"path"

	"talkingstick/internal/config"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// Plan is the branch and worktree that spawn and retry create for a task.
type Plan struct {
	Task      stick.Task
	Path      string
	Base      string
	start     string // the commit at which the branch begins, if it isn't base
	oldHead   string // the commit of the branch, if it must be moved forward to there
	newBranch bool
	newTree   bool
	id, kind  string // of its intent
	begun     bool   // git may have made something of it, or will next
	// Gives the lock of the worktrees back, and may be called again; nil if the plan doesn't have it.
	releaseWorktrees func()
	ForNext          bool          // the caller asked for any task that is ready, and becomes its worker
	Copied           CopiedFiles   // set by restoreWorktree
	slot             int           // set by carryOutPlan
	worker           config.Worker // the settings by which the worktree is made
}

// Unlock gives the lock of the worktrees back, if the plan has it.
func (m Plan) Unlock() {
	if m.releaseWorktrees != nil {
		m.releaseWorktrees()
	}
}

// startCommit is the commit at which the branch begins.
func (m Plan) startCommit() string { return cmp.Or(m.start, m.Base) }

// storedForm returns the stored form of the plan.
func (m Plan) storedForm() SpawnIntent {
	return SpawnIntent{
		Task: spawnedTask{m.Task.Branch, m.Task.ID}, Path: m.Path, Base: m.startCommit(),
		NewBranch: m.newBranch, NewTree: m.newTree, Slot: m.slot, Begun: &m.begun, Next: m.ForNext,
	}
}

// storeSpawn stores the intent of a plan.
func (o *Op) storeSpawn(m Plan) error {
	return o.StoreIntent(m.id, m.kind, m.Task, max(m.Task.Attempt, 1), m.storedForm())
}

// PlanSpawn chooses the branch and the worktree of a new task, and completes q. It fails with
// [stick.CodeAlreadyExists] if one of them exists, and as [Repo.RequireInside] does.
func (rp *Repo) PlanSpawn(ctx context.Context, q *tasks.Spawning, base string) (m Plan, err error) {
	t, err := rp.ReadIntegration(ctx)
	if err != nil {
		return m, err
	}

	// The project says where worktrees lie, and what its branches are called.
	w, err := rp.acceptedSettings(ctx, t.Head())
	if err != nil {
		return m, err
	}

	dir, err := rp.NameDirectory(w)
	if err != nil {
		return m, err
	}

	q.Integration, q.Base, q.Worktree, q.Branch = t.Name, t.Head(), path.Join(dir, q.ID), w.Prefix+q.ID
	if q.Later {
		q.Base = ""
	}
	if base != "" {
		commit, ok, err := rp.Git.Commit(ctx, rp.Root, base)
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
		ID: q.ID, Branch: q.Branch, Worktree: q.Worktree, Integration: t.Name, Base: q.Base,
		Description: q.Description, Spec: q.Spec, Slot: stick.NoSlot, Attempt: q.Attempt,
	}

	m = Plan{Task: task, Path: rp.PlannedPath(task), Base: q.Base, newBranch: true, newTree: true, worker: w}
	return m, rp.requireRoomFor(ctx, m)
}
