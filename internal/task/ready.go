package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
)

// Whoever makes a task ready, or returns it to its worker, starts its command, because no other process of
// ours runs all the time. So the operations that may do so end with startReady, on every surface alike.

// StartReady starts the commands that [Tasks.WorkerReady] lists. A command that can't be started keeps none of
// the others waiting: the list says why it wasn't.
func (ts *Tasks) StartReady(ctx context.Context, p WorkerReadyParams) ([]runner.StartedTask, error) {
	ready, err := ts.WorkerReady(ctx, p)
	started := []runner.StartedTask{}
	for _, t := range ready.Tasks {
		s := runner.StartedTask{ReadyTask: t}
		res, err := ts.startTask(ctx, p, t)
		switch {
		case stick.CodeOf(err) == stick.CodeNothingReady, err == nil && res.Already:
			// Another command has started it.
			continue
		case err != nil:
			e := stick.AsError(err)
			s.Error, s.Why, s.Hint = e.Code, e.Words(), e.Hint.As(p.Caller.AssumedByFlag()).Words()
		default:
			s.Run, s.Queued = res.Run.Run, res.Run.Queued
		}

		started = append(started, s)
	}

	return started, err
}

// startTask starts the command of a task. If nobody has begun the task, it begins it.
func (ts *Tasks) startTask(
	ctx context.Context, p WorkerReadyParams, t runner.ReadyTask,
) (runner.WorkerRunResult, error) {
	q := runner.WorkerRunParams{Caller: p.Caller, Where: p.Where, TaskID: t.TaskID, Resume: t.Resume, Queue: true}
	if t.Resume == nil {
		begun, err := ts.WorkerNext(ctx, WorkerNextParams{
			Caller: p.Caller, Where: p.Where, TaskID: t.TaskID, Unbound: true,
		})
		if err != nil {
			return runner.WorkerRunResult{}, err
		}

		q.Where, q.Command, q.First = core.Where{Path: begun.Worktree}, t.Command, true
	}

	return ts.WorkerRun(ctx, q)
}

// startReady is [Tasks.StartReady] at the end of another operation, which holds no lock any more. That has
// succeeded, whatever comes of the commands: a later call starts what this one can't.
func (ts *Tasks) startReady(ctx context.Context, by core.Caller, w core.Where) []runner.StartedTask {
	if !ts.runs.CanStart() {
		return nil
	}

	started, _ := ts.StartReady(ctx, WorkerReadyParams{Caller: by, Where: w})
	return started
}

// startSpawned starts the command that is to work on a new attempt: at once, or when its task is ready.
func (ts *Tasks) startSpawned(
	ctx context.Context, by core.Caller, w core.Where, command, restart string, res *WorkerSpawnResult,
) error {
	switch {
	case !ts.runs.CanStart():
		return nil
	case res.Task.Later:
		// A task for later may be ready at once.
		res.Started = ts.startReady(ctx, by, w)
		return nil
	case command == "":
		return nil
	}

	run, err := ts.WorkerRun(ctx, runner.WorkerRunParams{
		Caller: by, Where: core.Where{Path: res.Worktree}, TaskID: res.Task.TaskID,
		Command: command, Restart: restart, First: true,
	})

	res.Task.Run, res.Begun = &run.Run, err == nil && !run.Already
	return err
}
