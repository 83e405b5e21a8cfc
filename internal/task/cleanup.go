package task

import (
	"context"
	"os"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
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
func (rp *repo) runCleanup(ctx context.Context, i store.Intent) (r Remains, err error) {
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

	err = rp.writeOutcome(ctx, func(o *op) error {
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
func (rp *repo) removeRemains(ctx context.Context, c cleanupIntent) (r Remains, err error) {
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
func (rp *repo) listRemaining(ctx context.Context, path, name string) (worktree, branch []stick.Words) {
	if _, err := os.Lstat(path); err == nil {
		worktree = append(worktree, stick.Wordsf("the worktree %s", path))
	}
	if _, ok, err := rp.git.Commit(ctx, rp.root, "refs/heads/"+name); ok && err == nil {
		branch = append(branch, stick.Wordsf("the branch %s", name))
	}
	return worktree, branch
}

// ignoredFiles lists the files of a worktree that git ignores, without tt's own.
func (rp *repo) ignoredFiles(ctx context.Context, path string) []string {
	if _, err := os.Lstat(path); err != nil {
		return nil
	}

	// The list only informs: a failure doesn't stop the cleanup.
	files, _ := rp.git.Ignored(ctx, path)
	return slices.DeleteFunc(files,
		func(f string) bool { return f == core.TaskFileName || f == ".talking-stick/" || rp.isHere(path, f) })
}

// cleanRemote removes a task's branch at the remote, or returns why it stays.
func (rp *repo) cleanRemote(ctx context.Context, c cleanupIntent) (stick.Words, error) {
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

// inUse returns why the worktree and the branch of a task must stay. It returns "" if they can go: the target
// contains the work, nothing is uncommitted or in progress, and no process works there.
func (rp *repo) inUse(ctx context.Context, c cleanupIntent) (stick.Words, error) {
	at, ok, err := rp.git.Commit(ctx, rp.root, "refs/heads/"+c.Branch)
	if err != nil {
		return "", err
	}

	// Commits that the target lacks are somebody's work.
	if ok {
		contained, err := rp.canDeleteBranch(ctx, c, at)
		if err != nil {
			return "", err
		}

		if !contained {
			return stick.Wordsf("the branch %s has commits that %s doesn't have", c.Branch, c.Target), nil
		}
	}

	if err := rp.requireInside(c.Path); err != nil {
		return stick.AsError(err).Words(), nil
	}
	if _, err := os.Stat(c.Path); os.IsNotExist(err) {
		return "", nil
	}

	// The directory may be something else by now: another repository, or the main checkout by a link.
	co, err := rp.git.Checkout(ctx, c.Path)
	if err != nil || co.Top == rp.root || co.Common != rp.common {
		return stick.Wordsf("%s isn't the worktree of %s any more", c.Path, c.Branch), nil
	}
	if what := git.OperationInProgress(co.GitDir); what != "" {
		return stick.Wordsf("a %s is in progress in %s", what, c.Path), nil
	}

	// Without proof that nobody works there, the worktree stays.
	pids, visible := rp.tasks.core.Config.Procs.Inside(c.Path)
	if len(pids) > 0 {
		return stick.Wordsf("process %d is working in %s", pids[0], c.Path), nil
	}
	if !visible && rp.isAlive(ctx, c.Worker) {
		return stick.Wordsf("%s is alive, and tt can't see whether it works in %s", c.Worker, c.Path), nil
	}

	// Uncommitted changes, or another commit, would be lost.
	s, err := rp.git.Snapshot(ctx, c.Path)
	if err != nil {
		return "", err
	}

	if s.DirtyCount > 0 || s.Head != c.Head {
		return stick.Wordsf("%s has uncommitted changes, or is at another commit", c.Path), nil
	}
	return "", nil
}

// canDeleteBranch reports whether a task's branch can be deleted without losing a commit: it is at the commit
// that landed, and the target contains that commit, or one by which a forge made the same change.
func (rp *repo) canDeleteBranch(ctx context.Context, c cleanupIntent, at string) (bool, error) {
	if at != c.Head {
		return false, nil
	}

	tg, err := rp.readTarget(ctx, c.Target)
	if err != nil {
		return false, err
	}

	// A merge by tt keeps the commits. A forge may have squashed or rebased them.
	contained, err := rp.git.IsAncestor(ctx, rp.root, at, tg.head())
	if err != nil || contained || c.Pulled == "" {
		return contained, err
	}
	return rp.sameChange(ctx, c.Pulled, at, tg.head())
}

// isAlive reports whether a process proves that a member is alive. If the room can't be read, it returns
// true, so that nothing is removed.
func (rp *repo) isAlive(ctx context.Context, a stick.AgentID) (yes bool) {
	err := rp.read(ctx, func(_ *store.Tx, probes *core.Probes, r stick.Room, _ core.Identity) error {
		m, _ := r.Member(a)
		yes = m.Verdict(probes.Probed) == stick.Alive
		return nil
	})
	return yes || err != nil
}

// retryCleanup tries again to clean up after a task that landed.
func (rp *repo) retryCleanup(ctx context.Context, task stick.Task) Remains {
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

// finishCleanups finishes merges whose command died, and removes what an earlier cleanup had to leave: what
// it did there it returns.
func (rp *repo) finishCleanups(ctx context.Context) (cleaned []CleanedTask, err error) {
	var open []store.Intent
	var tasks []stick.Task
	err = rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) (err error) {
		if open, err = tx.Intents(r.ID, ""); err != nil {
			return err
		}

		tasks, err = tx.Tasks(r.ID)
		return err
	})
	if err != nil {
		return nil, err
	}

	// Worktrees of merged tasks, which an earlier cleanup had to leave.
	for _, t := range tasks {
		if _, err := os.Stat(rp.worktreePath(t)); err != nil || t.State != stick.TaskCompleted {
			continue
		}
		if unlock, err := rp.acquireLock(ctx, "task", t.ID, shortLockWait); err == nil {
			cleaned = append(cleaned, CleanedTask{t.ID, rp.retryCleanup(ctx, t)})
			unlock()
		}
	}

	// Commands that were interrupted while they merged or cleaned up.
	for _, i := range open {
		if i.Kind != intentLand && i.Kind != intentRollback && i.Kind != intentCleanup {
			continue
		}

		unlock, err := rp.acquireLock(ctx, "task", i.Task, shortLockWait)
		if stick.CodeOf(err) == stick.CodeLanding {
			// Another command is working on it.
			continue
		}

		if err != nil {
			return cleaned, err
		}

		err = rp.recoverTask(ctx, i.Task)
		unlock()

		// A fault of one task or branch doesn't stop the others.
		if err != nil && !othersMayMerge(err) {
			return cleaned, err
		}
	}

	return cleaned, nil
}
