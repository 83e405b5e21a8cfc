package scene

import "talkingstick/internal/task"

// The operations on tasks, like those of the engine in operations.go.

// WorkerApprove is the operation of that name.
func (a *Actor) WorkerApprove(p task.WorkerApproveParams) Answer[task.WorkerReviewResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerApprove", a.Tasks.WorkerApprove, p)
}

// WorkerCancel is the operation of that name.
func (a *Actor) WorkerCancel(p task.WorkerCancelParams) Answer[task.WorkerCancelResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerCancel", a.Tasks.WorkerCancel, p)
}

// WorkerContext is the operation of that name.
func (a *Actor) WorkerContext(p task.WorkerContextParams) Answer[task.WorkerContextResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerContext", a.Tasks.WorkerContext, p)
}

// WorkerDiff is the operation of that name.
func (a *Actor) WorkerDiff(p task.WorkerDiffParams) Answer[task.WorkerDiffResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerDiff", a.Tasks.WorkerDiff, p)
}

// WorkerDone is the operation of that name.
func (a *Actor) WorkerDone(p task.WorkerDoneParams) Answer[task.WorkerDoneResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerDone", a.Tasks.WorkerDone, p)
}

// WorkerExport is the operation of that name.
func (a *Actor) WorkerExport(p task.WorkerExportParams) Answer[task.WorkerExportResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerExport", a.Tasks.WorkerExport, p)
}

// WorkerFail is the operation of that name.
func (a *Actor) WorkerFail(p task.WorkerFailParams) Answer[task.WorkerHeartbeatResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerFail", a.Tasks.WorkerFail, p)
}

// WorkerHeartbeat is the operation of that name.
func (a *Actor) WorkerHeartbeat(p task.WorkerHeartbeatParams) Answer[task.WorkerHeartbeatResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerHeartbeat", a.Tasks.WorkerHeartbeat, p)
}

// WorkerComment is the operation of that name.
func (a *Actor) WorkerComment(p task.WorkerCommentParams) Answer[task.WorkerCommentResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerComment", a.Tasks.WorkerComment, p)
}

// WorkerInit is the operation of that name.
func (a *Actor) WorkerInit(p task.WorkerInitParams) Answer[task.WorkerInitResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerInit", a.Tasks.WorkerInit, p)
}

// WorkerMerge is the operation of that name.
func (a *Actor) WorkerMerge(p task.WorkerMergeParams) Answer[task.WorkerMergeResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerMerge", a.Tasks.WorkerMerge, p)
}

// WorkerPR is the operation of that name.
func (a *Actor) WorkerPR(p task.WorkerPRParams) Answer[task.WorkerPRResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerPR", a.Tasks.WorkerPR, p)
}

// WorkerNext is the operation of that name.
func (a *Actor) WorkerNext(p task.WorkerNextParams) Answer[task.WorkerNextResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerNext", a.Tasks.WorkerNext, p)
}

// NextReview is the operation of that name.
func (a *Actor) NextReview(p task.NextReviewParams) Answer[task.NextReviewResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "NextReview", a.Tasks.NextReview, p)
}

// WorkerAfter is the operation of that name.
func (a *Actor) WorkerAfter(p task.WorkerAfterParams) Answer[task.WorkerAfterResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerAfter", a.Tasks.WorkerAfter, p)
}

// WorkerEdit is the operation of that name.
func (a *Actor) WorkerEdit(p task.WorkerEditParams) Answer[task.WorkerEditResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerEdit", a.Tasks.WorkerEdit, p)
}

// WorkerReady is the operation of that name.
func (a *Actor) WorkerReady(p task.WorkerReadyParams) Answer[task.WorkerReadyResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerReady", a.Tasks.WorkerReady, p)
}

// StartReady is the operation of that name.
func (a *Actor) StartReady(p task.WorkerReadyParams) Answer[[]task.StartedTask] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "StartReady", a.Tasks.StartReady, p)
}

// WorkerOutput is the operation of that name.
func (a *Actor) WorkerOutput(p task.WorkerOutputParams) Answer[task.WorkerOutputResult] {
	p.Caller = a.By
	return runOperation(a, "WorkerOutput", a.Tasks.WorkerOutput, p)
}

// WorkerRequestChanges is the operation of that name.
func (a *Actor) WorkerRequestChanges(p task.WorkerRequestChangesParams) Answer[task.WorkerReviewResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerRequestChanges", a.Tasks.WorkerRequestChanges, p)
}

// WorkerRetry is the operation of that name.
func (a *Actor) WorkerRetry(p task.WorkerRetryParams) Answer[task.WorkerSpawnResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerRetry", a.Tasks.WorkerRetry, p)
}

// WorkerRollback is the operation of that name.
func (a *Actor) WorkerRollback(p task.WorkerRollbackParams) Answer[task.WorkerRollbackResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerRollback", a.Tasks.WorkerRollback, p)
}

// WorkerShow is the operation of that name.
func (a *Actor) WorkerShow(p task.WorkerShowParams) Answer[task.WorkerShowResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerShow", a.Tasks.WorkerShow, p)
}

// WorkerRun is the operation of that name.
func (a *Actor) WorkerRun(p task.WorkerRunParams) Answer[task.WorkerRunResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerRun", a.Tasks.WorkerRun, p)
}

// WorkerStop is the operation of that name.
func (a *Actor) WorkerStop(p task.WorkerStopParams) Answer[task.WorkerStopResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerStop", a.Tasks.WorkerStop, p)
}

// WorkerLogs is the operation of that name.
func (a *Actor) WorkerLogs(p task.WorkerLogsParams) Answer[task.WorkerLogsResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerLogs", a.Tasks.WorkerLogs, p)
}

// WorkerSpawn is the operation of that name.
func (a *Actor) WorkerSpawn(p task.WorkerSpawnParams) Answer[task.WorkerSpawnResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerSpawn", a.Tasks.WorkerSpawn, p)
}

// WorkerStart is the operation of that name.
func (a *Actor) WorkerStart(p task.WorkerStartParams) Answer[task.WorkerStartResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerStart", a.Tasks.WorkerStart, p)
}

// WorkerStatus is the operation of that name.
func (a *Actor) WorkerStatus(p task.WorkerStatusParams) Answer[task.WorkerStatusResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WorkerStatus", a.Tasks.WorkerStatus, p)
}
