package queue

import (
	"context"
	"os"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// finishCleanups finishes merges whose command died, and removes what an earlier cleanup had to leave: what
// it did there it returns.
func (mg *merger) finishCleanups(ctx context.Context) (cleaned []CleanedTask, err error) {
	var open []store.Intent
	var tasks []stick.Task
	err = mg.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) (err error) {
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
		if _, err := os.Stat(mg.PlannedPath(t)); err != nil || t.State != stick.TaskCompleted {
			continue
		}
		if unlock, err := mg.AcquireLock(ctx, "task", t.ID, repository.ShortLockWait); err == nil {
			cleaned = append(cleaned, CleanedTask{t.ID, mg.RetryCleanup(ctx, t)})
			unlock()
		}
	}

	// Commands that were interrupted while they merged or cleaned up.
	for _, i := range open {
		if i.Kind != repository.IntentLand && i.Kind != repository.IntentRollback && i.Kind != repository.IntentCleanup {
			continue
		}

		unlock, err := mg.AcquireLock(ctx, "task", i.Task, repository.ShortLockWait)
		if stick.CodeOf(err) == stick.CodeLanding {
			// Another command is working on it.
			continue
		}

		if err != nil {
			return cleaned, err
		}

		err = mg.RecoverTask(ctx, i.Task)
		unlock()

		// A fault of one task or branch doesn't stop the others.
		if err != nil && !othersMayMerge(err) {
			return cleaned, err
		}
	}

	return cleaned, nil
}

// CleanedTask is a task that had landed before, and whose worktree was still there.
type CleanedTask struct {
	TaskID string `json:"task_id"`
	repository.Remains
}
