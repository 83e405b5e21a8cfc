package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// WorkerStartParams asks to become the worker of a task.
type WorkerStartParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID  string `json:"task_id,omitempty"` // empty for the task in whose worktree the path lies
	Attempt int    `json:"attempt,omitempty"` // 0 for the current one
}

// WorkerStartResult tells a worker what to do.
type WorkerStartResult struct {
	RoomID   stick.RoomID    `json:"room_id"`
	AgentID  stick.AgentID   `json:"agent_id"`
	TaskID   string          `json:"task_id"`
	State    stick.TaskState `json:"state"`
	Attempt  int             `json:"attempt"`
	Worktree string          `json:"worktree"`
	Branch   string          `json:"branch"`
	Prompt   string          `json:"prompt"`         // what to do, and how
	Note     string          `json:"note,omitempty"` // that the worktree was missing, and was made again
	Already  bool            `json:"already,omitempty"`
	Joined   bool            `json:"joined,omitempty"`
}

// WorkerStart makes the caller the worker of a task. If the worker repeats it, it returns the same result. It fails
// with [stick.CodeNotFound], [stick.CodeInvalidTransition], [stick.CodeStaleAttempt], [stick.CodeNotYourTask] and
// [stick.CodeLanding].
func (ts *Tasks) WorkerStart(ctx context.Context, p WorkerStartParams) (WorkerStartResult, error) {
	var res WorkerStartResult
	rp, id, attempt, err := ts.openOwn(ctx, p.Where, p.Caller, p.TaskID, p.Attempt)
	if err != nil {
		return res, err
	}
	m, unlock, missing := rp.missingWorktree(ctx, id)
	defer unlock()
	err = rp.write(ctx, core.JoinsIfNew, func(o *op) error {
		task, err := taskOf(o.Tx, o.Room.ID, id)
		if err != nil {
			return err
		}
		if err := o.requireNotLanding(task.ID); err != nil {
			return err
		}
		w, ok := o.Room.Member(task.Worker)
		away := !ok || w.State != stick.Joined || w.Verdict(o.Probes.Probed) == stick.Gone
		ev, err := task.Start(o.taskCall(attempt), away)
		if err == nil {
			err = missing
		}
		if err != nil {
			return err
		}
		res = WorkerStartResult{
			RoomID: o.Room.ID, AgentID: o.Me.Agent, TaskID: task.ID, State: task.State, Attempt: task.Attempt, Worktree: rp.worktree(task),
			Branch: task.Branch, Already: ev == nil, Joined: o.Joined, Prompt: prompt(task, rp.worktree(task), p.Caller.Flag()),
		}
		if ev != nil {
			o.addTaskEvent(*ev)
			status, _ := ev.TaskStatus()
			res.State = status.State
		}
		return o.Tx.Heartbeat(o.Room.ID, task.ID)
	})
	if err != nil {
		return res, err
	}
	res.Note, err = rp.restore(ctx, m)
	return res, err
}

// WorkerHeartbeatParams says that a worker is still working.
type WorkerHeartbeatParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID  string `json:"task_id,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
}

// WorkerHeartbeatResult is the state of the worker's task.
type WorkerHeartbeatResult struct {
	RoomID  stick.RoomID    `json:"room_id"`
	TaskID  string          `json:"task_id"`
	State   stick.TaskState `json:"state"`
	Attempt int             `json:"attempt"`
	Reason  string          `json:"reason,omitempty"` // why the task was returned or has failed
	Already bool            `json:"already,omitempty"`
}

// WorkerHeartbeat records that a worker is working. A worker needs it only if tt can't see its process. It fails
// with [stick.CodeStaleAttempt] and [stick.CodeNotYourTask].
func (ts *Tasks) WorkerHeartbeat(ctx context.Context, p WorkerHeartbeatParams) (WorkerHeartbeatResult, error) {
	var res WorkerHeartbeatResult
	rp, id, attempt, err := ts.openOwn(ctx, p.Where, p.Caller, p.TaskID, p.Attempt)
	if err != nil {
		return res, err
	}
	err = rp.write(ctx, core.MustBeMember, func(o *op) error {
		task, err := taskOf(o.Tx, o.Room.ID, id)
		if err == nil {
			err = task.Mine(o.taskCall(attempt))
		}
		if err != nil {
			return err
		}
		res = WorkerHeartbeatResult{RoomID: o.Room.ID, TaskID: task.ID, State: task.State, Attempt: task.Attempt, Reason: task.Reason}
		return o.Tx.Heartbeat(o.Room.ID, task.ID)
	})
	return res, err
}

// WorkerFailParams says why a worker gives up its task.
type WorkerFailParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID  string `json:"task_id,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Reason  string `json:"reason"`
}

// WorkerFail gives up a task. Its branch and worktree stay. It fails with [stick.CodeUsage],
// [stick.CodeInvalidTransition], [stick.CodeStaleAttempt], [stick.CodeNotYourTask] and [stick.CodeLanding].
func (ts *Tasks) WorkerFail(ctx context.Context, p WorkerFailParams) (WorkerHeartbeatResult, error) {
	var res WorkerHeartbeatResult
	rp, id, attempt, err := ts.openOwn(ctx, p.Where, p.Caller, p.TaskID, p.Attempt)
	if err != nil {
		return res, err
	}
	err = rp.write(ctx, core.MustBeMember, func(o *op) error {
		task, err := taskOf(o.Tx, o.Room.ID, id)
		if err != nil {
			return err
		}
		if err := o.requireNotLanding(task.ID); err != nil {
			return err
		}
		if yes, err := sameAsLast(o.Tx, o.Room.ID, o.Me, task, stick.EventTaskFailed, p.Reason); err != nil || yes {
			res = WorkerHeartbeatResult{RoomID: o.Room.ID, TaskID: task.ID, State: task.State, Attempt: task.Attempt, Reason: task.Reason, Already: true}
			return err
		}
		ev, err := task.Fail(o.taskCall(attempt), p.Reason)
		if err != nil {
			return err
		}
		res = WorkerHeartbeatResult{RoomID: o.Room.ID, TaskID: task.ID, State: stick.TaskFailed, Attempt: task.Attempt, Reason: p.Reason}
		return o.endTask(ev)
	})
	return res, err
}
