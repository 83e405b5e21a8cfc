package queue

import (
	"cmp"
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// returnConflict returns a task with a conflict to its worker, and makes the error for it. A revert with a
// conflict only fails.
func (l landing) returnConflict(ctx context.Context, branch string, files []string) error {
	what := stick.Names(files, repository.MostNamed)
	e := stick.Errorf(stick.CodeRebaseConflict, "%s conflicts with %s in %s", l.task.ID, branch, what).
		With("task_id", l.task.ID).With("files", files).With("left", []string{})
	if l.revertReason != "" {
		return e.Hintf("revert it by hand in a new task, because later commits changed the same lines: %s",
			stick.Cmd("tt task new <task>"))
	}

	reason := stick.Wordsf("It conflicts with %s in %s. To start the rebase, run tt task done.",
		branch, stick.Names(files, len(files)))
	restart, err := l.returnTask(ctx, "", returned{cause: stick.CauseConflict, reason: string(reason), files: files})
	if err != nil {
		return err
	}

	next := stick.Hintf("wait for its worker, which was told to rebase it; to see how far it is: %s",
		stick.Cmd("tt task show <task_id>", l.task.ID))
	return e.Hintf("%s", withRestart(next, restart))
}

// returned says why a task goes back to its worker.
type returned struct {
	cause, reason string
	report        store.Blob // the output of a red gate, or empty
	files         []string   // those with a conflict
}

// returnTask returns the task to its worker, with a message, and ends the intent under which it was to land, if
// there is one yet. It returns how the task's command starts again; empty if it has none that has ended.
func (l landing) returnTask(ctx context.Context, intent string, why returned) (restart stick.Hint, err error) {
	err = l.WriteOutcome(ctx, func(o *repository.Op) error {
		task, err := repository.TaskOf(o.Tx, o.Room.ID, l.task.ID)
		if err != nil {
			return err
		}

		// The report is stored in the transaction that names it.
		if why.report.Sum != "" {
			if err := o.Tx.AddBlob(why.report); err != nil {
				return err
			}
		}

		ev, err := tasks.Return(task, o.Me.Agent, why.cause, why.reason, why.report.Sum, why.files)
		if err != nil {
			return err
		}

		o.AddTaskEvent(ev)
		l.queue.config.TellWorker(o, task, "Not merged", ev.Reason)

		// Its command may start again by itself, which the hint then says.
		restart, err = l.queue.config.Runs.RestartHint(o.Tx, o.Room.ID, task, why.cause)
		if err != nil || intent == "" {
			return err
		}
		return o.Tx.EndIntent(intent, "returned")
	})
	return restart, err
}

// withRestart adds to the hint of a task that was returned how its command starts again, if that has ended.
func withRestart(h, restart stick.Hint) stick.Hint {
	if len(restart) == 0 {
		return h
	}
	return stick.Hintf("%s; %s", h, restart)
}

// storeIntent stores the intent to land. From here on the task can't be cancelled.
func (l landing) storeIntent(ctx context.Context, id string, c candidate) error {
	kind := repository.IntentLand
	if l.revertReason != "" {
		kind = repository.IntentRollback
	}
	return l.Write(ctx, core.MustBeMember, func(o *repository.Op) error {
		// The room may have been paused since the command began.
		if err := mayLand(o.Room, o.Me, o.Tx.Now()); err != nil {
			return err
		}

		task, err := repository.TaskOf(o.Tx, o.Room.ID, l.task.ID)
		if err != nil {
			return err
		}

		if l.revertReason != "" {
			if err := tasks.CanRollback(task); err != nil {
				return err
			}
		} else {
			ev, err := tasks.Merge(task, o.Me.Agent, c.base, c.commit)
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

		return o.StoreIntent(id, kind, task, task.Attempt, repository.LandIntent{
			Branch: c.target.Name, Remote: c.target.Remote, Base: c.base, Head: task.Approved,
			Result: c.commit, Tip: c.tip, Checkout: c.target.Checkout, Tree: c.tree, Revert: l.revertReason,
		})
	})
}

// dueCleanup is what is to be removed of a task that has landed.
type dueCleanup struct {
	intent store.Intent // the cleanup to run; stored with the landing

	// Where the task's branch and worktree are, if that is another checkout: then only the branch at the remote
	// can go.
	elsewhere stick.Words
	remote    repository.CleanupIntent
}

// arrival is how a branch has got a task, or its revert.
type arrival struct {
	intent string // the one under which it landed; empty without
	target repository.Target
	commit string // the merge commit or the revert; empty if the branch has got the task without tt
	pulled string // the commit by which a forge merged it; empty without
}

// recordLanded records that the branch contains the task, or its revert. After a merge it also stores the
// intent to clean up.
func (l landing) recordLanded(ctx context.Context, a arrival) (due dueCleanup, err error) {
	id, err := l.NewID(ctx)
	if err != nil {
		return due, err
	}

	// Files are looked at before the transaction.
	worktree := l.WorktreePath(l.task)
	err = l.WriteOutcome(ctx, func(o *repository.Op) error {
		// The transaction may run again.
		due = dueCleanup{}
		task, err := repository.TaskOf(o.Tx, o.Room.ID, l.task.ID)
		if err != nil {
			return err
		}

		if a.intent != "" {
			if _, open, err := o.Tx.Intent(a.intent); err != nil {
				return err
			} else if open { // else another host has taken over
				if err := o.Tx.EndIntent(a.intent, "landed"); err != nil {
					return err
				}
			}
		}

		// Another host was faster. Its record counts.
		if l.isRecorded(task, a.commit) {
			return nil
		}

		// The branch has moved, so a pause because of its old head is over.
		if open, err := o.Tx.Intents(o.Room.ID, ""); err != nil {
			return err
		} else if err := endPause(o, open, a.target.Name); err != nil {
			return err
		}

		if l.revertReason != "" {
			ev, err := tasks.Rollback(task, o.Me.Agent, a.commit, l.revertReason)
			if err != nil {
				return err
			}

			o.AddTaskEvent(ev)
			return nil
		}

		ev, err := tasks.Land(task, o.Me.Agent, l.task.Approved, a.commit)
		if err != nil {
			return err
		}
		if err := o.EndTask(ev); err != nil {
			return err
		}

		all := repository.CleanupIntent{
			Branch: task.Branch, Path: worktree, Head: l.task.Approved,
			Target: a.target.Name, Remote: a.target.Remote, Attempt: task.Attempt, Worker: task.Worker,
			Pulled: a.pulled,
		}

		// The worktree is in another checkout, which cleans up itself.
		if task.Elsewhere(o.Tx.CheckoutOf(o.Room)) {
			due.elsewhere, due.remote = repository.NameCheckout(o.Tx, task.In), all
			return nil
		}

		// The intent to clean up is stored with the landing: a crash in between loses neither.
		due.intent, err = repository.NewIntent(id, repository.IntentCleanup, o.Room.ID, task, task.Attempt, o.Me.Agent, all)
		if err != nil {
			return err
		}

		due.intent.In = task.In
		return o.Tx.PutIntent(due.intent)
	})
	return due, err
}

// isRecorded reports whether the log says already that the task has landed, or was reverted: then another
// host has finished it.
func (l landing) isRecorded(task stick.Task, commit string) bool {
	if l.revertReason != "" {
		return task.Cause == stick.CauseRolledBack && task.Result == commit
	}
	return task.State == stick.TaskCompleted && task.Head == l.task.Approved
}

// cleanUp removes what is left of a task that has landed. Of one in another checkout only the branch at the
// remote can go.
func (mg *merger) cleanUp(ctx context.Context, due dueCleanup) (r repository.Remains, err error) {
	if due.elsewhere == "" {
		return mg.RunCleanup(ctx, due.intent)
	}

	why, err := mg.CleanRemote(context.WithoutCancel(ctx), due.remote)
	if why != "" {
		r.AddLeft("%s", why)
	}

	r.AddLeft("its branch and worktree in %s: the next tt task merge there removes them", due.elsewhere)
	return r, err
}

// RecordMerged records that a forge has merged a task into the branch of tg. cleanUp removes what is left of
// the task, as after a merge by tt.
func (q *Queue) RecordMerged(
	ctx context.Context, rp *repository.Repo, task stick.Task, tg repository.Target,
) (cleanUp func(context.Context) (repository.Remains, error), err error) {
	mg := &merger{Repo: rp, queue: q}
	l := landing{merger: mg, task: task}
	l.task.Approved = cmp.Or(task.Head, task.PR.Head)
	due, err := l.recordLanded(ctx, arrival{target: tg, pulled: task.PR.Commit})
	return func(ctx context.Context) (repository.Remains, error) { return mg.cleanUp(ctx, due) }, err
}
