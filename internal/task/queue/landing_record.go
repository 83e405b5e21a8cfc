package queue

import (
	"cmp"
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// returnConflict returns a task with a conflict to its worker, and makes the error for it. A revert with a
// conflict only fails.
func (l *landing) returnConflict(ctx context.Context, files []string) error {
	what := stick.Names(files, repository.MostNamed)
	if l.revertReason == "" {
		reason := stick.Wordsf("It conflicts with %s in %s. To start the rebase, run tt task done.",
			l.target.Name, stick.Names(files, len(files)))
		if err := l.returnTask(ctx, stick.CauseConflict, string(reason), store.Blob{}, files); err != nil {
			return err
		}
	}

	e := stick.Errorf(stick.CodeRebaseConflict, "%s conflicts with %s in %s", l.task.ID, l.target.Name, what).
		With("task_id", l.task.ID).With("files", files).With("left", []string{})
	if l.revertReason != "" {
		return e.Hintf("later commits changed the same lines; revert it by hand in a new task: %s",
			stick.Cmd("tt task new <task>"))
	}

	next := stick.Hintf("its worker got a message, and must rebase it; to see how far it is: %s",
		stick.Cmd("tt task show <task_id>", l.task.ID))
	return e.Hintf("%s", l.returnedHint(next))
}

// returnTask returns the task to its worker, with a message. report is the output of a red gate, or empty.
func (l *landing) returnTask(ctx context.Context, cause, reason string, report store.Blob, files []string) error {
	return l.WriteOutcome(ctx, func(o *repository.Op) error {
		task, err := repository.TaskOf(o.Tx, o.Room.ID, l.task.ID)
		if err != nil {
			return err
		}

		// The report is stored in the transaction that names it.
		if report.Sum != "" {
			if err := o.Tx.AddBlob(report); err != nil {
				return err
			}
		}

		ev, err := task.Return(o.Me.Agent, cause, reason, report.Sum, files)
		if err != nil {
			return err
		}

		o.AddTaskEvent(ev)
		l.queue.config.TellWorker(o, task, "Not merged", ev.Reason)

		// Its command may start again by itself, which the hint then says.
		if l.restartHint, err = l.queue.config.Runs.RestartHint(o.Tx, o.Room.ID, task, cause); err != nil || l.id == "" {
			return err
		}
		return o.Tx.EndIntent(l.id, "returned")
	})
}

// returnedHint is the hint of a task that was returned. If its command has ended, that says how to start it
// again.
func (l *landing) returnedHint(h stick.Hint) stick.Hint {
	if len(l.restartHint) == 0 {
		return h
	}
	return stick.Hintf("%s; %s", h, l.restartHint)
}

// storeIntent stores the intent to land. From here on the task can't be cancelled.
func (l *landing) storeIntent(ctx context.Context, tree string) error {
	kind := repository.IntentLand
	if l.revertReason != "" {
		kind = repository.IntentRollback
	}
	return l.Write(ctx, core.MustBeMember, func(o *repository.Op) error {
		// The room may have been paused since the command began.
		if err := o.Room.MayLand(o.Me.Agent, o.Me.Person(), o.Tx.Now()); err != nil {
			return err
		}

		task, err := repository.TaskOf(o.Tx, o.Room.ID, l.task.ID)
		if err != nil {
			return err
		}

		if l.revertReason != "" {
			if err := task.CanRollback(); err != nil {
				return err
			}
		} else {
			ev, err := task.Merge(o.Me.Agent, l.base, l.result)
			if err != nil {
				return err
			}

			// The result was made of another commit than the one that is approved now.
			if task.Approved != l.task.Approved {
				return stick.Errorf(stick.CodeReviewStale, "%s was reviewed again meanwhile", task.ID).
					With("task_id", task.ID).Hintf("%s", stick.Cmd("tt task show <task_id>"))
			}

			o.AddTaskEvent(ev)
		}

		return o.StoreIntent(l.id, kind, task, task.Attempt, repository.LandIntent{
			Branch: l.target.Name, Remote: l.target.Remote, Base: l.base, Head: task.Approved,
			Result: l.result, Checkout: l.target.Checkout, Tree: tree, Revert: l.revertReason,
		})
	})
}

// recordLanded records that the branch contains the task, or its revert. After a merge it also stores the
// intent to clean up.
func (l *landing) recordLanded(ctx context.Context, intent string) error {
	id, err := l.NewID(ctx)
	if err != nil {
		return err
	}
	return l.WriteOutcome(ctx, func(o *repository.Op) error {
		task, err := repository.TaskOf(o.Tx, o.Room.ID, l.task.ID)
		if err != nil {
			return err
		}

		if intent != "" {
			if _, open, err := o.Tx.Intent(intent); err != nil {
				return err
			} else if open { // else another host has taken over
				if err := o.Tx.EndIntent(intent, "landed"); err != nil {
					return err
				}
			}
		}

		// Another host was faster. Its record counts.
		if l.isRecorded(task) {
			return nil
		}

		// The branch has moved, so a pause because of its old head is over.
		if open, err := o.Tx.Intents(o.Room.ID, ""); err != nil {
			return err
		} else if err := endPause(o, open, l.target.Name); err != nil {
			return err
		}

		if l.revertReason != "" {
			ev, err := task.Rollback(o.Me.Agent, l.result, l.revertReason)
			if err != nil {
				return err
			}

			o.AddTaskEvent(ev)
			return nil
		}

		ev, err := task.Land(o.Me.Agent, l.task.Approved, l.result)
		if err != nil {
			return err
		}
		if err := o.EndTask(ev); err != nil {
			return err
		}

		// The worktree is in another checkout, which cleans up itself.
		if task.Elsewhere(o.Tx.CheckoutOf(o.Room)) {
			l.ownerCheckout = repository.NameCheckout(o.Tx, task.In)
			return nil
		}

		// The intent to clean up is stored with the landing: a crash in between loses neither.
		l.dueCleanup, err = repository.NewIntent(id, repository.IntentCleanup, o.Room.ID, task, task.Attempt, o.Me.Agent, repository.CleanupIntent{
			Branch: task.Branch, Path: l.WorktreePath(task), Head: l.task.Approved,
			Target: l.target.Name, Remote: l.target.Remote, Attempt: task.Attempt, Worker: task.Worker,
			Pulled: l.forgeCommit,
		})
		if err != nil {
			return err
		}

		l.dueCleanup.In = task.In
		return o.Tx.PutIntent(l.dueCleanup)
	})
}

// isRecorded reports whether the log says already that the task has landed, or was reverted: then another
// host has finished it.
func (l *landing) isRecorded(task stick.Task) bool {
	if l.revertReason != "" {
		return task.Cause == stick.CauseRolledBack && task.Result == l.result
	}
	return task.State == stick.TaskCompleted && task.Head == l.task.Approved
}

// cleanUpLanded removes what is left of a task that has landed. Of one in another checkout only the branch at
// the remote can go.
func (l *landing) cleanUpLanded(ctx context.Context) (r repository.Remains, err error) {
	if l.ownerCheckout == "" {
		return l.RunCleanup(ctx, l.dueCleanup)
	}

	why, err := l.CleanRemote(context.WithoutCancel(ctx), repository.CleanupIntent{
		Branch: l.task.Branch, Head: l.task.Approved, Target: l.target.Name, Remote: l.target.Remote,
		Pulled: l.forgeCommit,
	})

	if why != "" {
		r.AddLeft("%s", why)
	}

	r.AddLeft("its branch and worktree in %s: the next tt task merge there removes them", l.ownerCheckout)
	return r, err
}

// RecordMerged records that a forge has merged a task into the branch of tg. cleanUp removes what is left of
// the task, as after a merge by tt.
func (q *Queue) RecordMerged(
	ctx context.Context, rp *repository.Repo, task stick.Task, tg repository.Target,
) (cleanUp func(context.Context) (repository.Remains, error), err error) {
	l := &landing{merger: &merger{Repo: rp, queue: q}, task: task, target: tg, forgeCommit: task.PR.Commit}
	l.task.Approved = cmp.Or(task.Head, task.PR.Head)
	return l.cleanUpLanded, l.recordLanded(ctx, "")
}
