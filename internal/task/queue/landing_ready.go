package queue

import (
	"context"
	"os"

	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// requireReadableSettings refuses a result whose settings can't be read: after it nothing could be merged,
// not even the repair. A revert that makes them readable again takes its gate from the result: it is in the
// ground that is returned.
func (l landing) requireReadableSettings(ctx context.Context, g ground, commit string) (ground, error) {
	gate, worker, err := l.TaskSettings(ctx, commit)
	if l.revertReason != "" {
		if g.unreadable {
			g.gate, g.worker = gate, worker
		}
		return g, err
	}

	// Readable settings, or a failure that the task isn't to blame for.
	if stick.CodeOf(err) != stick.CodeProjectConfig {
		return g, err
	}

	e := stick.AsError(err)
	reason := stick.Wordsf("After this task, nothing could be merged into %s any more: %s. %s.",
		g.target.Name, e, e.Hint)
	restart, err := l.returnTask(ctx, "", returned{cause: stick.CauseGate, reason: string(reason)})
	if err != nil {
		return g, err
	}
	next := stick.Hintf("wait for its worker, which was told to repair the file; to see how far it is: %s",
		stick.Cmd("tt task show <task_id>", l.task.ID))
	return g, e.With("task_id", l.task.ID).Hintf("%s", withRestart(next, restart))
}

// requireNoFilesInTheWay refuses a result that can't be checked out because untracked files lie in its way.
// It is called before the gate, which may take long.
func (l landing) requireNoFilesInTheWay(ctx context.Context, target repository.Target, commit string) error {
	at := target.Checkout
	if at == "" || target.Local == "" {
		return nil
	}

	files, err := l.Git.UntrackedOverwritten(ctx, at, target.Local, commit)
	if err != nil || len(files) == 0 {
		return err
	}
	return stick.Errorf(stick.CodeDirtyTree,
		"%s, where %s is checked out, has untracked files that the merge would overwrite: %s",
		at, target.Name, stick.Names(files, repository.MostNamed)).With("task_id", l.task.ID).With("path", at).With("left", files).
		Hintf("move them elsewhere, and try again")
}

// requireCleanCheckout refuses if the branch is checked out in a place that has uncommitted changes, that is
// missing, or that the caller may not change.
func (l landing) requireCleanCheckout(ctx context.Context, target repository.Target) error {
	at := target.Checkout
	if at == "" || target.Local == "" {
		return nil
	}
	if _, err := os.Stat(at); err != nil {
		return stick.Errorf(stick.CodeDirtyTree, "%s is checked out in %s, a locked worktree that is missing",
			target.Name, at).
			With("task_id", l.task.ID).With("path", at).With("left", []string{}).
			Hintf("connect its disk again; or if the worktree is gone for good: %s, then %s",
				stick.Cmd("git worktree unlock <path>", at), stick.Cmd("git worktree prune"))
	}

	// Untracked files are checked against the result, by requireNoFilesInTheWay.
	tracked, err := l.Git.TrackedChanges(ctx, at)
	if err != nil {
		return err
	}

	if len(tracked) > 0 {
		return repository.DirtyError(stick.Wordsf("%s, where %s is checked out,", at, target.Name), tracked, len(tracked)).
			With("task_id", l.task.ID).With("path", at).
			Hintf("commit or undo them there, and try again; to see whose "+
				"they are: %s", stick.Cmd("tt changes"))
	}

	return l.mayMove(ctx, at)
}

// requireApprovedCommit refuses a task whose branch isn't at the approved commit, and puts it back in review.
// If the branch makes the same changes on the base as before, such as after a rebase, the approval is kept: the
// task that is returned has it.
func (l landing) requireApprovedCommit(ctx context.Context, base string) (stick.Task, error) {
	at, err := l.BranchCommit(ctx, l.task)
	if err != nil || at == l.task.Approved {
		return l.task, err
	}

	if at == "" {
		// The merge needs only the commit, not the branch.
		return l.task, nil
	}

	// The branch has moved since the approval: what it changes now decides.
	q := tasks.Offering{Head: at}
	if q.Base, err = l.Git.MergeBase(ctx, l.Root, base, at); err != nil {
		return l.task, err
	}
	err = CompleteOffer(ctx, l.Repo, l.task, base, &q)
	if err != nil && stick.CodeOf(err) != stick.CodeInvalidTransition {
		if q.Base == "" {
			return l.task, stick.AsError(err).
				Hintf("its worker has to rebase it; ask: %s", stick.Cmd("tt msg send <agent> …", l.task.Worker))
		}

		return l.task, err
	}

	kept := false
	err = l.WriteOutcome(ctx, func(o *repository.Op) error {
		task, err := repository.TaskOf(o.Tx, o.Room.ID, l.task.ID)
		if err != nil {
			return err
		}

		ev, err := tasks.Moved(task, o.Me.Agent, q)
		if err != nil {
			return err
		}

		o.AddTaskEvent(ev)
		facts, _ := stick.TaskFactsOf[stick.TaskReviewRequestedFacts](ev)
		kept = facts.Kept
		return nil
	})
	if err != nil {
		return l.task, err
	}
	if !kept {
		return l.task, stick.Errorf(stick.CodeReviewStale,
			"%s has commits that nobody approved: it is at %s, but the approval was for %s", l.task.Branch,
			repository.ShortCommit(at), repository.ShortCommit(l.task.Approved)).
			With("task_id", l.task.ID).With("seen", l.task.Approved).With("head", at).
			Hintf("review what is new: %s, then %s", stick.Cmd("tt task diff <task_id>", l.task.ID),
				stick.Cmd("tt task approve <task_id>", l.task.ID))
	}

	// The approval now holds for the new commit.
	return l.ReadTask(ctx, l.task.ID)
}

// requireReachable refuses to land a task whose commit only another checkout has, and fetches it otherwise.
func (l landing) requireReachable(ctx context.Context, target repository.Target) error {
	elsewhere, where, err := l.IsElsewhere(ctx, l.task)
	switch {
	case err != nil || !elsewhere:
		return err
	case target.Remote == "":
		return repository.NoRemoteError(l.task, where)
	case l.revertReason != "":
		return nil
	}

	return l.FetchTaskCommit(ctx, target.Remote, l.task, l.task.Approved)
}
