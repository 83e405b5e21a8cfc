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
			// Without it the branch and the worktree stay.
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

// WorkerCancelParams asks to cancel a task.
type WorkerCancelParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id"`
	Reason string `json:"reason,omitempty"`
	Delete bool   `json:"delete,omitempty"` // also its branch and worktree, if the integration branch contains the work
}

// WorkerCancelResult is a task that was cancelled.
type WorkerCancelResult struct {
	WorkerReviewResult
	Cause string        `json:"cause"`          // why the task failed: cancelled, unless it had failed before
	Kept  []stick.Words `json:"kept,omitempty"` // what stays, because its removal wasn't asked for

	Stopped *StoppedRun `json:"stopped,omitempty"` // the command that was ended
	Remains
}

// WorkerCancel cancels a task. Its worker gets a message, and its later commands are refused. The branch
// stays unless Delete is set. It fails with [stick.CodeInvalidTransition] and [stick.CodeLanding].
func (ts *Tasks) WorkerCancel(ctx context.Context, p WorkerCancelParams) (WorkerCancelResult, error) {
	var res WorkerCancelResult
	rp, unlock, err := ts.openLocked(ctx, p.Where, p.Caller, p.TaskID)
	if err != nil {
		return res, err
	}
	defer unlock()

	var task stick.Task

	// The message to the worker needs to know how it is reached, which is probed outside of the transaction.
	in := ts.core.Inboxes()
	cancel := func(o *op) error {
		if err := o.requireMemberOrPerson(); err != nil {
			return err
		}
		if task, err = taskOf(o.Tx, o.Room.ID, p.TaskID); err != nil {
			return err
		}

		ev, err := task.Cancel(o.taskCall(0), p.Reason)
		if err != nil {
			return err
		}

		// Cancelling twice is no mistake: the second call changes nothing.
		res.WorkerReviewResult = o.decisionResult(task)
		res.State, res.Cause, res.Already = stick.TaskFailed, task.Cause, ev == nil
		if ev == nil {
			return nil
		}

		res.Cause = stick.CauseCancelled
		if err := o.endTask(*ev); err != nil {
			return err
		}

		res.Delivery, res.Note, err = o.tellWorker(in, task, "Cancelled",
			"The task "+task.ID+" was cancelled: "+ev.Reason)
		return err
	}

	if err = in.Seen(ctx, func() error { return rp.write(ctx, core.MustBeMember, cancel) }); err != nil {
		return res, err
	}

	// The database refuses the worker from here on, so its command has nothing to do any more.
	stopped, note, err := rp.stopRun(ctx, task.ID)
	res.Stopped = stopped
	res.Note = stick.JoinWords(slices.DeleteFunc([]stick.Words{res.Note, note},
		func(w stick.Words) bool { return w == "" }), "; ")
	if err != nil {
		return res, err
	}
	if elsewhere, where, err := rp.isElsewhere(ctx, task); err != nil || elsewhere {
		res.Kept = []stick.Words{"its branch and worktree in " + where}
		return res, err
	}

	// Whatever there is of that name, tt hasn't made it.
	if task.Later {
		return res, nil
	}

	// Without Delete, or without a branch, nothing is removed.
	at, ok, err := rp.git.Commit(ctx, rp.root, "refs/heads/"+task.Branch)
	if err != nil || !ok || !p.Delete {
		worktree, branch := rp.listRemaining(ctx, rp.worktreePath(task), task.Branch)
		res.Kept = slices.Concat(branch, worktree)
		return res, err
	}

	res.Remains, err = rp.removeRemains(ctx, cleanupIntent{
		Branch: task.Branch, Path: rp.worktreePath(task), Head: at, Target: task.Integration,
		Worker: task.Worker,
	})
	return res, err
}

// WorkerRollbackParams asks to revert a merged task.
type WorkerRollbackParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id"`
	Reason string `json:"reason"`

	Waits func(on string, r Runner) `json:"-"` // called when it begins to wait for another command
	Shows func(GateRun)             `json:"-"` // called when a gate begins to run; may be nil
}

// WorkerRollbackResult is the commit that reverts a merged task.
type WorkerRollbackResult struct {
	RoomID stick.RoomID    `json:"room_id"`
	TaskID string          `json:"task_id"`
	State  stick.TaskState `json:"state"`
	Branch string          `json:"branch"`
	Commit string          `json:"commit"`
	Gate   string          `json:"gate"`
	Note   stick.Words     `json:"note,omitempty"`

	Already bool `json:"already,omitempty"`
}

// WorkerRollback reverts a merged task by a new commit, which must pass the gate as a merge must. It fails as
// [Tasks.WorkerMerge] does, and with [stick.CodeUsage] without a reason.
func (ts *Tasks) WorkerRollback(ctx context.Context, p WorkerRollbackParams) (WorkerRollbackResult, error) {
	var res WorkerRollbackResult
	if p.Reason == "" {
		return res, stick.Errorf(stick.CodeUsage, "say why you revert it").With("field", "reason").
			Hintf("%s", stick.Cmd("tt task rollback <task_id> --reason …", stick.Clip(p.TaskID, 64)))
	}

	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}

	task, err := rp.readTask(ctx, p.TaskID)
	if err != nil {
		return res, err
	}

	rp.onWait, rp.onGate = p.Waits, p.Shows

	// The branch's lock comes before the task's, as in a merge: so no two commands wait for each other.
	unlockBranch, err := rp.acquireLock(ctx, "branch", task.Integration, queueWait)
	if err != nil {
		return res, err
	}
	defer unlockBranch()

	unlock, err := rp.lockTask(ctx, task.ID)
	if err != nil {
		return res, err
	}
	defer unlock()

	err = rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) (err error) {
		res.RoomID = r.ID
		if err := requireMemberOrPerson(r, me); err != nil {
			return err
		}
		if task, err = taskOf(tx, r.ID, p.TaskID); err != nil {
			return err
		}
		if res.Already, err = sameAsLast(tx, r.ID, me, task, stick.EventTaskRolledBack, p.Reason); err != nil ||
			res.Already {
			return err
		}

		// Only whether it may be reverted: there is no commit yet.
		_, err = task.Rollback(me.Agent, "-", p.Reason)
		return err
	})
	if err != nil {
		return res, err
	}
	if res.Already {
		res.TaskID, res.State, res.Branch, res.Commit = task.ID, task.State, task.Integration, task.Result
		return res, nil
	}

	l := &landing{repo: rp, task: task, byName: true, revertReason: p.Reason}
	if err := l.landTask(ctx); err != nil {
		return res, err
	}

	res.TaskID, res.State, res.Branch, res.Commit, res.Gate, res.Note = task.ID, stick.TaskFailed, l.target.name, l.result, "none", l.note
	if l.gatePassed {
		res.Gate = "green"
	}
	return res, nil
}
