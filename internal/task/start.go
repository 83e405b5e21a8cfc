package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// WorkerStartParams says that an agent takes a task on.
type WorkerStartParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID  string `json:"task_id,omitempty"` // empty for the task whose worktree the path lies in
	Attempt int    `json:"attempt,omitempty"` // 0 for the current one
}

// WorkerStartResult tells a worker what it has to do.
type WorkerStartResult struct {
	RoomID   stick.RoomID    `json:"room_id"`
	AgentID  stick.AgentID   `json:"agent_id"`
	TaskID   string          `json:"task_id"`
	State    stick.TaskState `json:"state"`
	Attempt  int             `json:"attempt"`
	Worktree string          `json:"worktree"`
	Branch   string          `json:"branch"`
	Prompt   string          `json:"prompt"` // what to do, and how
	Already  bool            `json:"already,omitempty"`
	Joined   bool            `json:"joined,omitempty"`
}

// WorkerStart binds the caller to a task. Repeated by its worker it answers the same again. It fails with
// [stick.CodeNotFound], [stick.CodeInvalidTransition], [stick.CodeStaleAttempt] and [stick.CodeNotYourTask].
func (ts *Tasks) WorkerStart(ctx context.Context, p WorkerStartParams) (WorkerStartResult, error) {
	var res WorkerStartResult
	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	id, attempt, err := rp.ownTask(p.TaskID, p.Attempt)
	if err != nil {
		return res, err
	}
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
		if err != nil {
			return err
		}
		res = WorkerStartResult{
			RoomID: o.Room.ID, AgentID: o.Me.Agent, TaskID: task.ID, State: task.State, Attempt: task.Attempt, Worktree: rp.worktree(task),
			Branch: task.Branch, Already: ev == nil, Joined: o.Joined, Prompt: prompt(task, rp.worktree(task)),
		}
		if ev != nil {
			o.addTaskEvent(*ev)
			status, _ := ev.TaskStatus()
			res.State = status.State
		}
		return o.Tx.Heartbeat(o.Room.ID, task.ID)
	})
	return res, err
}

// WorkerHeartbeatParams says that a worker works.
type WorkerHeartbeatParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID  string `json:"task_id,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
}

// WorkerHeartbeatResult says how the worker's task stands.
type WorkerHeartbeatResult struct {
	RoomID  stick.RoomID    `json:"room_id"`
	TaskID  string          `json:"task_id"`
	State   stick.TaskState `json:"state"`
	Attempt int             `json:"attempt"`
	Reason  string          `json:"reason,omitempty"` // why it was returned
	Already bool            `json:"already,omitempty"`
}

// WorkerHeartbeat notes that a worker works, where no process of its harness shows it. It fails with
// [stick.CodeStaleAttempt] and [stick.CodeNotYourTask].
func (ts *Tasks) WorkerHeartbeat(ctx context.Context, p WorkerHeartbeatParams) (WorkerHeartbeatResult, error) {
	var res WorkerHeartbeatResult
	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	id, attempt, err := rp.ownTask(p.TaskID, p.Attempt)
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

// WorkerFailParams says that a worker gives up.
type WorkerFailParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID  string `json:"task_id,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Reason  string `json:"reason"`
}

// WorkerFail gives a task up; its branch and worktree stay. It fails with [stick.CodeUsage],
// [stick.CodeInvalidTransition], [stick.CodeStaleAttempt] and [stick.CodeNotYourTask].
func (ts *Tasks) WorkerFail(ctx context.Context, p WorkerFailParams) (WorkerHeartbeatResult, error) {
	var res WorkerHeartbeatResult
	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	id, attempt, err := rp.ownTask(p.TaskID, p.Attempt)
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
