package repository

import (
	"cmp"
	"context"
	"os"

	"talkingstick/stick"
)

// PlanRetry chooses the base of another attempt at a task, and finds out which of its branch and worktree
// must be created. note says how to get back work that was reverted. It refuses a worktree that can't be
// used.
func (rp *Repo) PlanRetry(ctx context.Context, task stick.Task) (m Plan, note stick.Words, err error) {
	tg, err := rp.ReadTarget(ctx, task.Integration)
	if err != nil {
		return m, "", err
	}

	m = Plan{Task: task, Path: rp.WorktreePath(task), Base: tg.Head()}
	if m.worker, err = rp.acceptedSettings(ctx, tg.Head()); err != nil {
		return m, "", err
	}
	if err := rp.RequireInside(m.Path); err != nil {
		return m, "", err
	}

	branchHead, have, err := rp.Git.Commit(ctx, rp.Root, "refs/heads/"+task.Branch)
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
		if base, err := rp.Git.MergeBase(ctx, rp.Root, m.Base, at); err != nil {
			return m, "", err
		} else if base == at { // it has no commits of its own, so the attempt starts where a new task would
			at = ""
		} else if base != "" {
			m.Base = base
		}
	}

	// A branch that is here but behind is moved forward.
	m.start = at
	if have && branchHead != m.startCommit() {
		m.oldHead = branchHead
	}
	if task.Cause == stick.CauseRolledBack && task.Result != "" {
		note = stick.Wordsf("commit %s reverted its merge; to bring that work back, run %s in the worktree",
			ShortCommit(task.Result),
			stick.Cmd("git revert <commit>", ShortCommit(task.Result)))
	}

	// The plan has the task as it is going to be.
	m.Task.Attempt++
	m.Task.State, m.Task.Base = stick.TaskAssigned, m.Base
	_, serr := os.Lstat(m.Path)
	m.newBranch, m.newTree = !have, os.IsNotExist(serr)

	if err := rp.requireUsableWorktree(ctx, task, m); err != nil {
		return m, "", err
	}

	return m, note, nil
}

// requireUsableWorktree refuses what lies at the path of a plan, unless that is the task's own worktree, with
// no rebase in progress.
func (rp *Repo) requireUsableWorktree(ctx context.Context, task stick.Task, m Plan) error {
	w, ok, err := rp.Git.Worktree(ctx, rp.Root, m.Path)

	switch {
	case err != nil:
		return err
	case m.newTree:
	case ok && m.newBranch:
		return stick.Errorf(stick.CodeNotFound, "the branch %s is gone, but its worktree is still there",
			task.Branch).
			With("branch", task.Branch).With("path", m.Path).
			Hintf("restore the branch: %s; or move %s elsewhere",
				stick.Cmd("git branch <branch> <commit>", task.Branch,
					ShortCommit(cmp.Or(w.Head, task.Head, task.Base))), m.Path)
	case ok && rp.isRebasing(ctx, m.Path):
		return stick.Errorf(stick.CodeRebaseConflict, "a rebase of %s is in progress in %s",
			task.Branch, m.Path).
			With("path", m.Path).
			Hintf("give it up: %s; or resolve it and finish it: %s; then run the same command again",
				stick.Cmd("git -C <path> rebase --abort", m.Path), ContinueCommand(m.Path, "rebase"))
	case !ok || w.Branch != task.Branch:
		return stick.Errorf(stick.CodeAlreadyExists, "%s isn't the worktree of %s any more",
			m.Path, task.Branch).
			With("path", m.Path).
			Hintf("move it elsewhere, or check out %s there", task.Branch)
	}

	return nil
}

// retryStart returns the commit of a task's branch from which another attempt goes on, "" for none.
// branchHead is the commit of the branch here. Of a task in another checkout the branch at the remote counts, and note says so
// if there is none.
func (rp *Repo) retryStart(
	ctx context.Context, task stick.Task, branchHead string, tg Target,
) (at string, note stick.Words, err error) {
	elsewhere, where, err := rp.IsElsewhere(ctx, task)
	switch {
	case err != nil || !elsewhere:
		return branchHead, "", err
	case tg.Remote == "":
		return branchHead, stick.Wordsf("what was committed in %s stays there, because %s has no remote",
			where, tg.Name), nil
	}

	if at, err = rp.BranchCommit(ctx, task); err != nil || at == "" || branchHead == "" || branchHead == at {
		return cmp.Or(at, branchHead), "", err
	}

	// Both are there. The one here must not have commits of its own.
	older, err := rp.Git.IsAncestor(ctx, rp.Root, branchHead, at)
	if err == nil && !older {
		err = stick.Errorf(stick.CodeAlreadyExists, "the branch %s here has commits that %s doesn't have",
			task.Branch, tg.Remote).
			With("branch", task.Branch).
			Hintf("give it another name: %s; then run the same command again",
				stick.Cmd("git branch -m <branch> <new-branch>", task.Branch))
	}

	return at, "", err
}

// ContinueCommand returns the command that finishes a rebase, a merge or the like whose conflicts are
// resolved. No editor opens for the message: an agent's shell has no terminal for one.
func ContinueCommand(worktree, what string) stick.Command {
	return stick.Cmd("git -C <path> -c core.editor=true "+what+" --continue", worktree)
}
