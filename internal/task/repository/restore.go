package repository

import (
	"context"
	"os"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// PlanRestore plans to make the worktree of a task again if somebody has deleted it. The plan is nil if there
// is nothing to do. It fails with [stick.CodeNotFound] if the branch doesn't have all that git knows of the
// worktree. The caller must hold the task's lock.
func (rp *Repo) PlanRestore(ctx context.Context, task stick.Task) (*Plan, error) {
	path := rp.WorktreePath(task)
	if _, err := os.Lstat(path); !os.IsNotExist(err) || task.Over() || task.Later {
		return nil, nil
	}

	if err := rp.CheckMoved(ctx, task); err != nil {
		return nil, err
	}

	// Making one takes a newer git than looking at a task.
	if err := rp.Git.CheckVersion(ctx, rp.Root); err != nil {
		return nil, err
	}

	// Only the branch is left of the work, so it has to have all of it.
	at, ok, err := rp.Git.Commit(ctx, rp.Root, "refs/heads/"+task.Branch)
	if err != nil {
		return nil, err
	}

	if !ok {
		return nil, errWorktreeMissing(task, path, "and so is its branch")
	}

	clean, err := rp.Git.IsRecordClean(ctx, rp.Common, path, task.Branch)
	if err != nil {
		return nil, err
	}

	if !clean {
		return nil, errWorktreeMissing(task, path, "and it had a rebase in progress, or staged changes")
	}
	if err := rp.RequireInside(path); err != nil {
		return nil, err
	}

	tg, err := rp.ReadTarget(ctx, task.Integration)
	if err != nil {
		return nil, err
	}

	w, err := rp.acceptedSettings(ctx, tg.Head())
	return &Plan{Task: task, Path: path, Base: at, newTree: true, slot: task.Slot, worker: w}, err
}

// errWorktreeMissing returns the error for a worktree that can't be made again without a loss.
func errWorktreeMissing(task stick.Task, path string, why stick.Words) error {
	return stick.Errorf(stick.CodeNotFound, "the worktree of %s is missing, %s: %s", task.ID, why, path).
		With("task_id", task.ID).With("path", path).
		Hintf("put it back where it was; or give up what isn't committed, and start over: %s, then %s",
			stick.Cmd("tt task cancel <task_id>", task.ID), stick.Cmd("tt task retry <task_id>", task.ID))
}

// RestoreWorktree makes the worktree of a task again, as planned. It returns what to tell the caller. The
// caller must be a member.
func (rp *Repo) RestoreWorktree(ctx context.Context, m *Plan) (note stick.Words, err error) {
	if m == nil {
		return "", nil
	}

	id, err := rp.NewID(ctx)
	if err != nil {
		return "", err
	}

	// The intent is that of a retry: undoing removes the worktree, and keeps the branch.
	m.id, m.kind = id, IntentRetry
	err = rp.Write(ctx, core.MustBeMember, func(o *Op) error { return o.storeSpawn(*m) })
	if err != nil {
		return "", err
	}
	defer rp.ServeIntent(ctx, id)()
	rp.KillPoint("restore: intended")

	if m.Copied, err = rp.createWorktree(ctx, m); err != nil {
		return "", rp.undoFailedSpawn(ctx, *m, err)
	}
	rp.KillPoint("restore: made")

	// The end of this intent and the begin of the next one are one transaction.
	setup, err := rp.planSetup(ctx, *m)
	if err != nil {
		return "", err
	}

	err = rp.WriteOutcome(ctx, func(o *Op) error {
		if err := o.Tx.EndIntent(id, "done"); err != nil {
			return err
		}
		return o.beginSetup(setup)
	})
	if err != nil {
		return "", err
	}
	if err := rp.setUp(ctx, setup); err != nil {
		return "", err
	}
	return stick.Wordsf("the worktree was missing; tt made it again from %s, at %s: it lacks what wasn't committed",
		m.Task.Branch, ShortCommit(m.Base)), nil
}

// LockMissingWorktree locks a task whose worktree is missing or was being made by a command that died, and
// plans how to make it again.
func (rp *Repo) LockMissingWorktree(ctx context.Context, id string) (m *Plan, unlock func(), err error) {
	var task stick.Task
	var open *store.Intent
	unlock = func() {}
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) (err error) {
		if task, err = TaskOf(tx, r.ID, id); err == nil {
			err = RequireBranchHere(tx, r, task)
		}
		if err == nil {
			open, err = OpenIntentOf(tx, r.ID, id)
		}
		return err
	})
	if err != nil {
		return nil, unlock, err
	}

	// Most often the worktree is there, and no lock is needed.
	path := rp.WorktreePath(task)
	_, lerr := os.Lstat(path)
	busy := open != nil && (open.Kind == IntentRetry || open.Kind == IntentSpawn || open.Kind == IntentSetup)
	isThere := lerr == nil && !busy && !task.Over()
	if isThere {
		if err := requireOwnCheckout(task, path); err != nil {
			return nil, unlock, err
		}
	}

	if !os.IsNotExist(lerr) && !busy || task.Over() {
		return nil, unlock, nil
	}

	// Under the lock the task is read again: the command before may have made the worktree.
	held, err := rp.LockTask(ctx, id)
	if err != nil {
		return nil, unlock, err
	}
	if task, err = rp.ReadTask(ctx, id); err == nil {
		m, err = rp.PlanRestore(ctx, task)
	}
	return m, held, err
}

// requireOwnCheckout fails with [stick.CodeNotFound] if something else than a checkout is where the worktree of a task
// was. In a plain directory there, git would commit to the branch of the checkout around it.
func requireOwnCheckout(task stick.Task, path string) error {
	tree, ok := workspace.FindCheckout(path, workspace.Env{})
	if !ok || tree.Top != path {
		return errWorktreeMissing(task, path, "and something else is in its place")
	}
	return nil
}

// EnsureWorktree makes the worktree of a task again if somebody has deleted it, and goes on with a set-up
// that was interrupted. It fails with [stick.CodeSetupFailed] if the set-up has failed: somebody has to fix
// the cause first.
func (rp *Repo) EnsureWorktree(ctx context.Context, id string) error {
	m, unlock, err := rp.LockMissingWorktree(ctx, id)
	defer unlock()
	if err != nil {
		return err
	}

	// Somebody has deleted the worktree: making it again also sets it up.
	if m != nil {
		_, err = rp.RestoreWorktree(ctx, m)
		return err
	}

	unlock()

	// The worktree is there. A set-up that failed isn't tried again without a person.
	may := false
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		task, err := TaskOf(tx, r.ID, id)
		if err == nil {
			may, err = CanResumeSetUp(tx, r.ID, task)
		}
		return err
	})
	if err == nil && !may {
		err = stick.Errorf(stick.CodeSetupFailed, "the set-up of the worktree of %s has failed", id).With("task_id", id)
	}
	if err != nil {
		return err
	}
	return rp.FinishSetUp(ctx, id)
}
