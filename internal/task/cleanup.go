package task

import (
	"context"
	"os"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// Remains is what became of a task's branches and worktree.
type Remains struct {
	Removed []stick.Words `json:"removed,omitempty"`

	// what git ignores, and went with the worktree; a directory ends in a slash
	Ignored []string      `json:"removed_ignored,omitempty"`
	Left    []stick.Words `json:"left,omitempty"` // what stays, and why

	Rescue string   `json:"rescue,omitempty"`  // a copy of what the project keeps: tt rescue restore brings it back
	Kept   []string `json:"rescued,omitempty"` // the files in that copy
}

// addLeft adds something that stays, and why.
func (r *Remains) addLeft(format string, args ...any) {
	r.Left = append(r.Left, stick.Wordsf(format, args...))
}

// runCleanup carries out a cleanup intent and ends it.
func (rp *Repo) runCleanup(ctx context.Context, i store.Intent) (r Remains, err error) {
	c, err := readIntent[cleanupIntent](i)
	if err != nil {
		return r, err
	}
	if r, err = rp.removeRemains(context.WithoutCancel(ctx), c); err != nil {
		return r, err
	}

	outcome := "done"
	if len(r.Left) > 0 {
		outcome = "left: " + string(r.Left[0])
	}

	err = rp.writeOutcome(ctx, func(o *Op) error {
		// Another host may have finished it.
		if _, open, err := o.Tx.Intent(i.ID); err != nil || !open {
			return err
		}
		return o.Tx.EndIntent(i.ID, outcome)
	})
	rp.killPoint("cleanup: done")
	return r, err
}

// removeRemains removes the worktree and the branches of a task, each only with proof that no work is lost.
func (rp *Repo) removeRemains(ctx context.Context, c cleanupIntent) (r Remains, err error) {
	why, err := rp.inUse(ctx, c)
	if err != nil {
		return r, err
	}

	if why != "" {
		r.addLeft("%s", why)
		return r, nil
	}

	// What is about to go is named before it goes.
	worktree, branch := rp.listRemaining(ctx, c.Path, c.Branch)
	ignored := rp.ignoredFiles(ctx, c.Path)
	rp.killPoint("cleanup: proven")

	// Copies come first: after the removal nothing can be copied.
	if why := rp.keepFiles(ctx, c, &r); why != "" {
		r.addLeft("%s", why)
		return r, nil
	}
	rp.killPoint("cleanup: kept")

	// The worktree goes before the branch, because git doesn't delete a branch that is checked out.
	if err := rp.git.RemoveWorktree(ctx, rp.root, c.Path, whyLocked); err != nil {
		r.addLeft("the worktree %s: %s", c.Path, stick.AsError(err))
		return r, nil
	}

	r.Removed, r.Ignored = append(r.Removed, worktree...), ignored
	rp.killPoint("cleanup: worktree")

	// The branch goes only if it is still at the commit that was proven to be merged.
	if err := rp.git.DeleteRef(ctx, rp.root, "refs/heads/"+c.Branch, c.Head); err != nil {
		r.addLeft("the branch %s: %s", c.Branch, stick.AsError(err))
		return r, nil
	}

	r.Removed = append(r.Removed, branch...)
	rp.killPoint("cleanup: branch")

	if c.Remote == "" {
		return r, nil
	}
	if why, err = rp.cleanRemote(ctx, c); err != nil {
		why = stick.Wordsf("the branch %s at %s: %s", c.Branch, c.Remote, stick.AsError(err))
	}
	if why != "" {
		r.addLeft("%s", why)
	}
	return r, nil
}

// listRemaining names the worktree at a path and a branch, as far as they exist.
func (rp *Repo) listRemaining(ctx context.Context, path, name string) (worktree, branch []stick.Words) {
	if _, err := os.Lstat(path); err == nil {
		worktree = append(worktree, stick.Wordsf("the worktree %s", path))
	}
	if _, ok, err := rp.git.Commit(ctx, rp.root, "refs/heads/"+name); ok && err == nil {
		branch = append(branch, stick.Wordsf("the branch %s", name))
	}
	return worktree, branch
}

// ignoredFiles lists the files of a worktree that git ignores, without tt's own.
func (rp *Repo) ignoredFiles(ctx context.Context, path string) []string {
	if _, err := os.Lstat(path); err != nil {
		return nil
	}

	// The list only informs: a failure doesn't stop the cleanup.
	files, _ := rp.git.Ignored(ctx, path)
	return slices.DeleteFunc(files,
		func(f string) bool { return f == core.TaskFileName || f == ".talking-stick/" || rp.isHere(path, f) })
}

// cleanRemote removes a task's branch at the remote, or returns why it stays.
func (rp *Repo) cleanRemote(ctx context.Context, c cleanupIntent) (stick.Words, error) {
	at, err := rp.git.RemoteBranch(ctx, rp.root, c.Remote, c.Branch)
	if err != nil || at == "" {
		return "", err
	}

	// The push below also fails if the branch has moved since.
	if contained, err := rp.canDeleteBranch(ctx, c, at); err != nil || !contained {
		return stick.Wordsf("the branch %s at %s has commits that %s doesn't have", c.Branch, c.Remote, c.Target), err
	}
	return "", rp.git.PushWithLease(ctx, rp.root, c.Remote, c.Branch, "", at)
}

// retryCleanup tries again to clean up after a task that landed.
func (rp *Repo) retryCleanup(ctx context.Context, task stick.Task) Remains {
	c := cleanupIntent{
		Branch: task.Branch, Path: rp.worktreePath(task), Head: task.Head, Target: task.Integration,
		Attempt: task.Attempt, Worker: task.Worker, Pulled: task.PR.Commit,
	}

	if tg, err := rp.readTarget(ctx, task.Integration); err == nil {
		c.Remote = tg.remote

		// Another host has merged it.
		if have, err := rp.git.IsAncestor(ctx, rp.root, task.Head, tg.head()); err == nil && !have {
			// If the fetch fails, the branch and the worktree stay.
			_ = rp.fetchTarget(ctx, &tg)
		}
	}

	r, err := rp.removeRemains(context.WithoutCancel(ctx), c)
	if err != nil {
		r.addLeft("%s", stick.AsError(err))
	}
	return r
}
