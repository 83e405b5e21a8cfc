package repository

import (
	"context"

	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// recoverDone ends an interrupted done. If its rebase stopped at a conflict, the task becomes conflicted.
// Otherwise nothing was lost, and the worker runs done again.
func (rp *Repo) recoverDone(ctx context.Context, i store.Intent) error {
	d, err := ReadIntent[DoneIntent](i)
	if err != nil {
		return err
	}

	// Only a rebase that stopped at a conflict has left something to resolve.
	files := []string(nil)
	if rp.isRebasing(ctx, d.Path) {
		if files, err = rp.Git.Unmerged(ctx, d.Path); err != nil {
			return err
		}
	}

	return rp.WriteOutcome(ctx, func(o *Op) error {
		if len(files) > 0 {
			task, err := TaskOf(o.Tx, o.Room.ID, i.Task)
			if err != nil {
				return err
			}
			if ev, err := tasks.Conflict(task, tasks.Call{By: task.Worker}, d.Onto, files); err == nil &&
				task.State != stick.TaskConflicted {
				o.AddTaskEvent(ev)
			}
		}

		return o.Tx.EndIntent(i.ID, "cut off")
	})
}
