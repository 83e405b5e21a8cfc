package task

import (
	"cmp"
	"context"
	"os"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// WorkerRetryParams asks for another attempt at a task that failed.
type WorkerRetryParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id"`

	// the command that is going to work on it; for a task for later it is kept until that is ready
	Run string `json:"run,omitempty"`

	// how often that command starts again by itself, as [stick.ParseRestart] reads it
	Restart string `json:"restart,omitempty"`
}

// WorkerRetry starts another attempt at a task that failed: on its branch if that exists, else from the
// integration branch. It fails with [stick.CodeNotFound], [stick.CodeInvalidTransition] and
// [stick.CodeLanding].
func (ts *Tasks) WorkerRetry(ctx context.Context, p WorkerRetryParams) (WorkerSpawnResult, error) {
	var res WorkerSpawnResult
	rp, unlock, err := ts.openLocked(ctx, p.Where, p.Caller, p.TaskID)
	if err != nil {
		return res, err
	}
	defer unlock()

	// Asking twice is safe: the second call shows the attempt that there is.
	task, yes, err := rp.alreadyDone(ctx, p.TaskID, stick.EventTaskRetried, "")
	if err == nil && yes {
		return rp.shownAfterSpawn(ctx, task)
	}
	if err == nil {
		err = task.CanRetry()
	}
	if err != nil {
		return res, err
	}
	if task.Later {
		return rp.retryForLater(ctx, task, p.Run, p.Restart)
	}

	// Everything is checked before the intent is stored.
	m, note, err := rp.planRetry(ctx, task)
	if err == nil && p.Run != "" {
		err = requireRoomToRun(ctx, rp.Repo, task)
	}
	if err != nil {
		return res, err
	}

	res, err = rp.carryOutPlan(ctx, intentRetry, m, func(o *Op, slot int) ([]stick.Event, error) {
		if err := o.requireMemberOrPerson(); err != nil {
			return nil, err
		}

		now, err := taskOf(o.Tx, o.Room.ID, p.TaskID)
		if err != nil {
			return nil, err
		}

		ev, err := now.Retry(o.Me.Agent, m.base, o.Tx.CheckoutOf(o.Room), slot)
		return []stick.Event{ev}, err
	})
	if err != nil {
		return res, err
	}

	res.Note = note
	return res, rp.showTask(ctx, &res)
}

// planRetry chooses the base of another attempt at a task, and finds out which of its branch and worktree
// must be created. note says how to get back work that was reverted. It refuses a worktree that can't be
// used.
func (rp *repo) planRetry(ctx context.Context, task stick.Task) (m spawnPlan, note stick.Words, err error) {
	tg, err := rp.readTarget(ctx, task.Integration)
	if err != nil {
		return m, "", err
	}

	m = spawnPlan{task: task, path: rp.worktreePath(task), base: tg.head()}
	if m.worker, err = rp.acceptedSettings(ctx, tg.head()); err != nil {
		return m, "", err
	}
	if err := rp.requireInside(m.path); err != nil {
		return m, "", err
	}

	branchHead, have, err := rp.git.Commit(ctx, rp.root, "refs/heads/"+task.Branch)
	if err != nil {
		return m, "", err
	}

	// The work of the earlier attempt goes on, wherever it was pushed to.
	at, note, err := rp.retryStart(ctx, task, branchHead, tg)
	if err != nil {
		return m, "", err
	}

	// Its base is where it left the integration branch, not where that branch is now.
	if at != "" {
		if base, err := rp.git.MergeBase(ctx, rp.root, m.base, at); err != nil {
			return m, "", err
		} else if base == at { // it has no commits of its own, so the attempt starts where a new task would
			at = ""
		} else if base != "" {
			m.base = base
		}
	}

	// A branch that is here but behind is moved forward.
	m.start = at
	if have && branchHead != m.startCommit() {
		m.oldHead = branchHead
	}
	if task.Cause == stick.CauseRolledBack && task.Result != "" {
		note = stick.Wordsf("commit %s reverted its merge; to bring that work back, run %s in the worktree",
			shortCommit(task.Result),
			stick.Cmd("git revert <commit>", shortCommit(task.Result)))
	}

	// The plan has the task as it is going to be.
	m.task.Attempt++
	m.task.State, m.task.Base = stick.TaskAssigned, m.base
	_, serr := os.Lstat(m.path)
	m.newBranch, m.newTree = !have, os.IsNotExist(serr)

	if err := rp.requireUsableWorktree(ctx, task, m); err != nil {
		return m, "", err
	}

	return m, note, nil
}

// requireUsableWorktree refuses what lies at the path of a plan, unless that is the task's own worktree, with
// no rebase in progress.
func (rp *repo) requireUsableWorktree(ctx context.Context, task stick.Task, m spawnPlan) error {
	w, ok, err := rp.git.Worktree(ctx, rp.root, m.path)

	switch {
	case err != nil:
		return err
	case m.newTree:
	case ok && m.newBranch:
		return stick.Errorf(stick.CodeNotFound, "the branch %s is gone, but its worktree is still there",
			task.Branch).
			With("branch", task.Branch).With("path", m.path).
			Hintf("restore the branch: %s; or move %s elsewhere",
				stick.Cmd("git branch <branch> <commit>", task.Branch,
					shortCommit(cmp.Or(w.Head, task.Head, task.Base))), m.path)
	case ok && rp.isRebasing(ctx, m.path):
		return stick.Errorf(stick.CodeRebaseConflict, "a rebase of %s is in progress in %s",
			task.Branch, m.path).
			With("path", m.path).
			Hintf("give it up: %s; or resolve it and finish it: %s; then run the same command again",
				stick.Cmd("git -C <path> rebase --abort", m.path), continueCommand(m.path, "rebase"))
	case !ok || w.Branch != task.Branch:
		return stick.Errorf(stick.CodeAlreadyExists, "%s isn't the worktree of %s any more",
			m.path, task.Branch).
			With("path", m.path).
			Hintf("move it elsewhere, or check out %s there", task.Branch)
	}

	return nil
}

// retryStart returns the commit of a task's branch from which another attempt goes on, "" for none.
// branchHead is the commit of the branch here. Of a task in another checkout the branch at the remote counts, and note says so
// if there is none.
func (rp *repo) retryStart(
	ctx context.Context, task stick.Task, branchHead string, tg target,
) (at string, note stick.Words, err error) {
	elsewhere, where, err := rp.isElsewhere(ctx, task)
	switch {
	case err != nil || !elsewhere:
		return branchHead, "", err
	case tg.remote == "":
		return branchHead, stick.Wordsf("what was committed in %s stays there, because %s has no remote",
			where, tg.name), nil
	}

	if at, err = rp.branchCommit(ctx, task); err != nil || at == "" || branchHead == "" || branchHead == at {
		return cmp.Or(at, branchHead), "", err
	}

	// Both are there. The one here must not have commits of its own.
	older, err := rp.git.IsAncestor(ctx, rp.root, branchHead, at)
	if err == nil && !older {
		err = stick.Errorf(stick.CodeAlreadyExists, "the branch %s here has commits that %s doesn't have",
			task.Branch, tg.remote).
			With("branch", task.Branch).
			Hintf("give it another name: %s; then run the same command again",
				stick.Cmd("git branch -m <branch> <new-branch>", task.Branch))
	}

	return at, "", err
}
