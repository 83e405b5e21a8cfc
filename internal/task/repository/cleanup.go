package repository

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
	Tips    []string      `json:"tips,omitempty"` // the refs that keep commits of the branch which nothing else has

	Rescue string   `json:"rescue,omitempty"`  // a copy of what the project keeps: tt rescue restore brings it back
	Kept   []string `json:"rescued,omitempty"` // the files in that copy
}

// AddLeft adds something that stays, and why.
func (r *Remains) AddLeft(format string, args ...any) {
	r.Left = append(r.Left, stick.Wordsf(format, args...))
}

// RunCleanup carries out a cleanup intent and ends it.
func (rp *Repo) RunCleanup(ctx context.Context, i store.Intent) (r Remains, err error) {
	c, err := ReadIntent[CleanupIntent](i)
	if err != nil {
		return r, err
	}
	if r, err = rp.RemoveRemains(context.WithoutCancel(ctx), c); err != nil {
		return r, err
	}

	outcome := "done"
	if len(r.Left) > 0 {
		outcome = "left: " + string(r.Left[0])
	}

	err = rp.WriteOutcome(ctx, func(o *Op) error {
		// Another host may have finished it.
		if _, open, err := o.Tx.Intent(i.ID); err != nil || !open {
			return err
		}
		return o.Tx.EndIntent(i.ID, outcome)
	})
	rp.KillPoint("cleanup: done")
	return r, err
}

// RemoveRemains removes the worktree and the branches of a task, each only with proof that no work is lost.
func (rp *Repo) RemoveRemains(ctx context.Context, c CleanupIntent) (r Remains, err error) {
	why, err := rp.inUse(ctx, c)
	if err != nil {
		return r, err
	}

	if why != "" {
		r.AddLeft("%s", why)
		return r, nil
	}

	// What is about to go is named before it goes.
	worktree, branch := rp.ListRemaining(ctx, c.Path, c.Branch)
	ignored := rp.ignoredFiles(ctx, c)
	rp.KillPoint("cleanup: proven")

	// Copies come first: after the removal nothing can be copied.
	if why := rp.keepFiles(ctx, c, &r); why != "" {
		r.AddLeft("%s", why)
		return r, nil
	}
	rp.KillPoint("cleanup: kept")

	// The worktree goes before the branch, because git doesn't delete a branch that is checked out.
	if err := rp.Git.RemoveWorktree(ctx, rp.Root, c.Path, whyLocked); err != nil {
		r.AddLeft("the worktree %s: %s", c.Path, stick.AsError(err))
		return r, nil
	}

	r.Removed, r.Ignored = append(r.Removed, worktree...), ignored
	rp.KillPoint("cleanup: worktree")

	// The branch goes only if it is still at the commit that was proven to be merged.
	if err := rp.Git.DeleteRef(ctx, rp.Root, "refs/heads/"+c.Branch, c.Head); err != nil {
		r.AddLeft("the branch %s: %s", c.Branch, stick.AsError(err))
		return r, nil
	}

	r.Removed = append(r.Removed, branch...)
	rp.KillPoint("cleanup: branch")

	if c.Remote == "" {
		return r, nil
	}
	if why, err = rp.CleanRemote(ctx, c); err != nil {
		why = stick.Wordsf("the branch %s at %s: %s", c.Branch, c.Remote, stick.AsError(err))
	}
	if why != "" {
		r.AddLeft("%s", why)
	}
	return r, nil
}

// ListRemaining names the worktree at a path and a branch, as far as they exist.
func (rp *Repo) ListRemaining(ctx context.Context, path, name string) (worktree, branch []stick.Words) {
	if _, err := os.Lstat(path); err == nil {
		worktree = append(worktree, stick.Wordsf("the worktree %s", path))
	}
	if _, ok, err := rp.Git.Commit(ctx, rp.Root, "refs/heads/"+name); ok && err == nil {
		branch = append(branch, stick.Wordsf("the branch %s", name))
	}
	return worktree, branch
}

// ignoredFiles lists the files of a worktree that git ignores, without tt's own and those that the room's
// checkout has just so, such as the copies that the worktree was made with.
func (rp *Repo) ignoredFiles(ctx context.Context, c CleanupIntent) []string {
	if _, err := os.Lstat(c.Path); err != nil {
		return nil
	}

	// The list only informs: a failure doesn't stop the cleanup.
	files, _ := rp.Git.Ignored(ctx, c.Path)
	here := rp.newHereFinder(c)
	return slices.DeleteFunc(files,
		func(f string) bool { return f == core.TaskFileName || f == ".talking-stick/" || here.hasPath(f) })
}

// CleanRemote removes a task's branch at the remote, or returns why it stays.
func (rp *Repo) CleanRemote(ctx context.Context, c CleanupIntent) (stick.Words, error) {
	at, err := rp.Git.RemoteBranch(ctx, rp.Root, c.Remote, c.Branch)
	if err != nil || at == "" {
		return "", err
	}

	// The push below also fails if the branch has moved since.
	if contained, err := rp.canDeleteBranch(ctx, c, at); err != nil || !contained {
		return stick.Wordsf("the branch %s at %s has commits that %s doesn't have", c.Branch, c.Remote, c.Target), err
	}
	return "", rp.Git.PushWithLease(ctx, rp.Root, c.Remote, c.Branch, "", at)
}

// RetryCleanup tries again to clean up after a task that landed.
func (rp *Repo) RetryCleanup(ctx context.Context, task stick.Task) Remains {
	c := CleanupIntent{
		Branch: task.Branch, Path: rp.WorktreePath(task), Head: task.Head, Target: task.Integration,
		Attempt: task.Attempt, Worker: task.Worker, Pulled: task.PR.Commit,
	}

	if tg, err := rp.ReadTarget(ctx, task.Integration); err == nil {
		c.Remote = tg.Remote

		// Another host has merged it.
		if have, err := rp.Git.IsAncestor(ctx, rp.Root, task.Head, tg.Head()); err == nil && !have {
			// If the fetch fails, the branch and the worktree stay.
			_ = rp.FetchTarget(ctx, &tg)
		}
	}

	r, err := rp.RemoveRemains(context.WithoutCancel(ctx), c)
	if err != nil {
		r.AddLeft("%s", stick.AsError(err))
	}
	return r
}
