package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/pull"
	"talkingstick/internal/task/queue"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
)

// The operations that rooms of their own perform. Surfaces call them here, beside all others.

// The parameters and results of operations on the commands of workers.
type (
	WorkerRunParams  = runner.WorkerRunParams
	WorkerRunResult  = runner.WorkerRunResult
	RunTaskParams    = runner.RunTaskParams
	WorkerStopParams = runner.WorkerStopParams
	WorkerStopResult = runner.WorkerStopResult
	WorkerLogsParams = runner.WorkerLogsParams
	WorkerLogsResult = runner.WorkerLogsResult
)

// The parameters and results of operations on the merge queue.
type (
	WorkerMergeParams    = queue.WorkerMergeParams
	WorkerMergeResult    = queue.WorkerMergeResult
	WorkerRollbackParams = queue.WorkerRollbackParams
	WorkerRollbackResult = queue.WorkerRollbackResult
	HeldTask             = queue.HeldTask
	LanderOrder          = queue.LanderOrder
	LanderParams         = queue.LanderParams
)

// The parameters and the result of the operation on pull requests.
type (
	WorkerPRParams = pull.WorkerPRParams
	WorkerPRResult = pull.WorkerPRResult
)

// WorkerMerge merges approved tasks, as [queue.Queue.WorkerMerge] does, and starts the commands of the tasks
// that waited for them, and of those that it returned.
func (ts *Tasks) WorkerMerge(ctx context.Context, p queue.WorkerMergeParams) (queue.WorkerMergeResult, error) {
	res, err := ts.queue.WorkerMerge(ctx, p)

	// Some may have landed before one failed.
	if err == nil || len(res.Merged) > 0 || isReturned(err) {
		res.Started = ts.startReady(ctx, p.Caller, p.Where)
	}
	return res, err
}

// RunLander merges what is to be merged by itself, as [queue.Queue.RunLander] does, and starts the commands of
// the tasks that waited for it.
func (ts *Tasks) RunLander(ctx context.Context, p LanderParams) error {
	p.Landed = func(ctx context.Context, by core.Caller) {
		ts.startReady(ctx, by, core.Where{Path: p.Root})
	}
	return ts.queue.RunLander(ctx, p)
}

// KeepLanding starts the processes again that merge by themselves in rooms, as [queue.Queue.KeepLanding] does.
func (ts *Tasks) KeepLanding(rooms []stick.RoomID) { ts.queue.KeepLanding(rooms) }

// isReturned reports whether a merge failed because it has returned tasks to their workers.
func isReturned(err error) bool {
	switch stick.CodeOf(err) {
	case stick.CodeGateFailed, stick.CodeRebaseConflict, stick.CodeTasksReturned:
		return true
	}
	return false
}

// WorkerRollback reverts a merged task, as [queue.Queue.WorkerRollback] does.
func (ts *Tasks) WorkerRollback(ctx context.Context, p queue.WorkerRollbackParams) (queue.WorkerRollbackResult, error) {
	return ts.queue.WorkerRollback(ctx, p)
}

// WorkerRun starts the command of a task, as [runner.Runs.WorkerRun] does.
func (ts *Tasks) WorkerRun(ctx context.Context, p runner.WorkerRunParams) (runner.WorkerRunResult, error) {
	return ts.runs.WorkerRun(ctx, p)
}

// RunTask runs the command of an attempt, as [runner.Runs.RunTask] does.
func (ts *Tasks) RunTask(ctx context.Context, p runner.RunTaskParams) error {
	return ts.runs.RunTask(ctx, p)
}

// DropRun takes the claim on a run back, as [runner.Runs.DropRun] does.
func (ts *Tasks) DropRun(ctx context.Context, p runner.RunTaskParams) (dropped bool, err error) {
	return ts.runs.DropRun(ctx, p)
}

// WorkerStop ends the command of a task's worker, as [runner.Runs.WorkerStop] does.
func (ts *Tasks) WorkerStop(ctx context.Context, p runner.WorkerStopParams) (runner.WorkerStopResult, error) {
	return ts.runs.WorkerStop(ctx, p)
}

// WorkerLogs returns what a worker's command has written, as [runner.Runs.WorkerLogs] does.
func (ts *Tasks) WorkerLogs(ctx context.Context, p runner.WorkerLogsParams) (runner.WorkerLogsResult, error) {
	return ts.runs.WorkerLogs(ctx, p)
}

// WorkerPR opens the pull request of a task or reads it again, as [pull.Requests.WorkerPR] does. If the task
// was merged there, it starts the commands of the tasks that waited for it.
func (ts *Tasks) WorkerPR(ctx context.Context, p pull.WorkerPRParams) (pull.WorkerPRResult, error) {
	res, err := ts.requests.WorkerPR(ctx, p)
	if res.State == stick.TaskCompleted {
		res.Started = ts.startReady(ctx, p.Caller, p.Where)
	}
	return res, err
}
