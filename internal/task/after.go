package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// WorkerAfterParams asks that a task waits for other tasks than before.
type WorkerAfterParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string   `json:"task_id"`
	After  []string `json:"after"` // all tasks that it is to wait for; empty for none
}

// WorkerAfterResult is a task that is for later, and what it waits for.
type WorkerAfterResult struct {
	RoomID  stick.RoomID `json:"room_id"`
	Task    TaskView     `json:"task"`
	Already bool         `json:"already,omitempty"`

	Started []runner.StartedTask `json:"started,omitempty"` // the tasks whose commands were started because they are ready
}

// WorkerAfter changes which tasks another one waits for. It fails with [stick.CodeNotFound], with
// [stick.CodeUsage] if the task would wait for itself, and with [stick.CodeInvalidTransition] if it isn't for
// later. If the task is ready now, its command is started.
func (ts *Tasks) WorkerAfter(ctx context.Context, p WorkerAfterParams) (WorkerAfterResult, error) {
	var res WorkerAfterResult
	err := ts.repos.Write(ctx, p.Where, p.Caller, core.MustBeMember, func(o *repository.Op) error {
		if err := o.RequireMemberOrPerson(); err != nil {
			return err
		}

		task, err := repository.TaskOf(o.Tx, o.Room.ID, p.TaskID)
		if err != nil {
			return err
		}

		// The tasks have to exist, and none may wait for itself in a circle.
		find := taskFinder(o.Tx, o.Room.ID)
		after, err := tasks.CheckAfter(task.ID, p.After, find)
		if err != nil {
			return err
		}

		ev, err := tasks.SetAfter(task, o.Me.Agent, after)
		if err != nil {
			return err
		}

		if ev != nil {
			o.AddTaskEvent(*ev)
			if task, err = task.Apply(*ev); err != nil {
				return err
			}
		}

		res = WorkerAfterResult{RoomID: o.Room.ID, Already: ev == nil}
		res.Task, err = viewTask(o.Tx, task, o.Room, o.Probes, o.Me, find)
		return err
	}, nil)
	if err == nil {
		res.Started = ts.startReady(ctx, p.Caller, p.Where)
	}
	return res, err
}
