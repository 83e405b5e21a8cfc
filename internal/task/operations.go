package task

import "context"

// The operations that rooms of their own perform. Surfaces call them here, beside all others.

// WorkerMerge merges approved tasks, as [Queue.WorkerMerge] does.
func (ts *Tasks) WorkerMerge(ctx context.Context, p WorkerMergeParams) (WorkerMergeResult, error) {
	return ts.queue.WorkerMerge(ctx, p)
}

// WorkerRollback reverts a merged task, as [Queue.WorkerRollback] does.
func (ts *Tasks) WorkerRollback(ctx context.Context, p WorkerRollbackParams) (WorkerRollbackResult, error) {
	return ts.queue.WorkerRollback(ctx, p)
}

// WorkerRun claims the next run of a task's command, as [Runs.WorkerRun] does.
func (ts *Tasks) WorkerRun(ctx context.Context, p WorkerRunParams) (WorkerRunResult, error) {
	return ts.runs.WorkerRun(ctx, p)
}

// RunTask runs the command of an attempt, as [Runs.RunTask] does.
func (ts *Tasks) RunTask(ctx context.Context, p RunTaskParams) error {
	return ts.runs.RunTask(ctx, p)
}

// DropRun takes the claim on a run back, as [Runs.DropRun] does.
func (ts *Tasks) DropRun(ctx context.Context, p RunTaskParams) (dropped bool, err error) {
	return ts.runs.DropRun(ctx, p)
}

// WorkerStop ends the command of a task's worker, as [Runs.WorkerStop] does.
func (ts *Tasks) WorkerStop(ctx context.Context, p WorkerStopParams) (WorkerStopResult, error) {
	return ts.runs.WorkerStop(ctx, p)
}

// WorkerLogs returns what a worker's command has written, as [Runs.WorkerLogs] does.
func (ts *Tasks) WorkerLogs(ctx context.Context, p WorkerLogsParams) (WorkerLogsResult, error) {
	return ts.runs.WorkerLogs(ctx, p)
}

// WorkerPR opens the pull request of a task or reads it again, as [Requests.WorkerPR] does.
func (ts *Tasks) WorkerPR(ctx context.Context, p WorkerPRParams) (WorkerPRResult, error) {
	return ts.requests.WorkerPR(ctx, p)
}
