package task

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// WorkerCancelParams asks to cancel a task.
type WorkerCancelParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id"`
	Reason string `json:"reason,omitempty"`
	Delete bool   `json:"delete,omitempty"` // also its branch and worktree: what only they have is kept elsewhere first
}

// WorkerCancelResult is a task that was cancelled.
type WorkerCancelResult struct {
	WorkerReviewResult
	Cause string        `json:"cause"`          // why the task failed: cancelled, unless it had failed before
	Kept  []stick.Words `json:"kept,omitempty"` // what stays, because its removal wasn't asked for

	Free bool `json:"free,omitempty"` // nothing is left of it, so a new task may have its name

	Stopped *runner.StoppedRun `json:"stopped,omitempty"` // the command that was ended
	repository.Remains
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
	cancel := func(o *repository.Op) error {
		if err := o.RequireMemberOrPerson(); err != nil {
			return err
		}
		if task, err = repository.TaskOf(o.Tx, o.Room.ID, p.TaskID); err != nil {
			return err
		}

		ev, err := tasks.Cancel(task, o.TaskCall(0), p.Reason)
		if err != nil {
			return err
		}

		// Cancelling twice is no mistake: the second call changes nothing.
		res.WorkerReviewResult = decisionResult(o, task)
		res.State, res.Cause, res.Already = stick.TaskFailed, task.Cause, ev == nil
		if ev == nil {
			return nil
		}

		res.Cause = stick.CauseCancelled
		if err := o.EndTask(*ev); err != nil {
			return err
		}

		res.Delivery, res.Note, err = tellWorker(o, in, task, "Cancelled",
			"The task "+task.ID+" was cancelled: "+ev.Reason)
		return err
	}

	if err = in.RetryUnseen(ctx, func() error { return rp.Write(ctx, core.MustBeMember, cancel) }); err != nil {
		return res, err
	}

	// The database refuses the worker from here on, so its command has nothing to do any more.
	stopped, note, err := ts.runs.StopRun(ctx, rp.Repo, task.ID)
	res.Stopped = stopped
	res.Note = stick.JoinWords(slices.DeleteFunc([]stick.Words{res.Note, note},
		func(w stick.Words) bool { return w == "" }), "; ")
	if err != nil {
		return res, err
	}

	err = rp.removeCancelled(ctx, task, p.Delete, &res)
	return res, err
}

// removeCancelled removes the branch and the worktree of a task that was cancelled, or says what stays.
func (rp *repo) removeCancelled(ctx context.Context, task stick.Task, remove bool, res *WorkerCancelResult) error {
	if elsewhere, where, err := rp.IsElsewhere(ctx, task); err != nil || elsewhere {
		res.Kept = []stick.Words{"its branch and worktree in " + where}
		return err
	}

	// Whatever there is of that name, tt hasn't made it.
	if task.Later {
		res.Free = res.Cause == stick.CauseCancelled
		return nil
	}

	// Without Delete, or without a branch, nothing is removed.
	at, ok, err := rp.Git.Commit(ctx, rp.Root, "refs/heads/"+task.Branch)
	if err != nil || !ok || !remove {
		worktree, branch := rp.ListRemaining(ctx, rp.WorktreePath(task), task.Branch)
		res.Kept = slices.Concat(branch, worktree)
		res.Free = res.Cause == stick.CauseCancelled && err == nil && len(res.Kept) == 0
		return err
	}

	res.Remains, err = rp.DiscardRemains(context.WithoutCancel(ctx), repository.CleanupIntent{
		Branch: task.Branch, Path: rp.WorktreePath(task), Head: at, Target: task.Integration,
		Worker: task.Worker,
	})
	res.Free = res.Cause == stick.CauseCancelled && err == nil && len(res.Left) == 0
	return err
}
