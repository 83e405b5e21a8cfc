package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// WorkerRetryParams asks for another attempt at a task that failed.
type WorkerRetryParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id"`

	// the command that is going to work on it; for a task for later it is kept until that is ready
	Run string `json:"run,omitempty"`

	// how often that command starts again by itself, as [tasks.ParseRestart] reads it
	Restart string `json:"restart,omitempty"`
}

// WorkerRetry starts another attempt at a task that failed: on its branch if that exists, else from the
// integration branch. Then it starts the command that is to work on it. It fails with [stick.CodeNotFound], [stick.CodeInvalidTransition] and
// [stick.CodeLanding].
func (ts *Tasks) WorkerRetry(ctx context.Context, p WorkerRetryParams) (WorkerSpawnResult, error) {
	res, err := ts.createAttempt(ctx, p)
	if err == nil {
		err = ts.startSpawned(ctx, p.Caller, p.Where, p.Run, p.Restart, &res)
	}
	return res, err
}

// createAttempt is [Tasks.WorkerRetry] without the command.
func (ts *Tasks) createAttempt(ctx context.Context, p WorkerRetryParams) (WorkerSpawnResult, error) {
	var res WorkerSpawnResult
	rp, unlock, err := ts.openLocked(ctx, p.Where, p.Caller, p.TaskID)
	if err != nil {
		return res, err
	}
	defer unlock()

	// Asking twice is safe: the second call shows the attempt that there is.
	task, yes, err := rp.IsRepeated(ctx, p.TaskID, stick.EventTaskRetried, "")
	if err == nil && yes {
		return rp.shownAfterSpawn(ctx, task)
	}
	if err == nil {
		err = tasks.CanRetry(task)
	}
	if err != nil {
		return res, err
	}
	if task.Later {
		return rp.retryForLater(ctx, task, p.Run, p.Restart)
	}

	// Everything is checked before the intent is stored.
	m, note, err := rp.PlanRetry(ctx, task)
	if err == nil && p.Run != "" {
		err = runner.RequireRoomToRun(ctx, rp.Repo, task)
	}
	if err != nil {
		return res, err
	}

	made, err := rp.CarryOutPlan(ctx, repository.IntentRetry, m, func(o *repository.Op, slot int) ([]stick.Event, error) {
		if err := o.RequireMemberOrPerson(); err != nil {
			return nil, err
		}

		now, err := repository.TaskOf(o.Tx, o.Room.ID, p.TaskID)
		if err != nil {
			return nil, err
		}

		ev, err := tasks.Retry(now, o.Me.Agent, m.Base, o.Tx.CheckoutOf(o.Room), slot)
		return []stick.Event{ev}, err
	})
	res = madeResult(made, m)
	if err != nil {
		return res, err
	}

	res.Note = note
	return res, rp.showTask(ctx, &res)
}
