package task

import (
	"cmp"
	"context"
	"sync"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
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
	Note     stick.Words     `json:"note,omitempty"` // that the worktree was missing, and was made again
	Already  bool            `json:"already,omitempty"`
	Joined   bool            `json:"joined,omitempty"`
}

// WorkerStart makes the caller the worker of a task. If the worker repeats it, it returns the same result. It
// fails with [stick.CodeNotFound], [stick.CodeInvalidTransition], [stick.CodeStaleAttempt],
// [stick.CodeNotYourTask] and [stick.CodeLanding].
func (ts *Tasks) WorkerStart(ctx context.Context, p WorkerStartParams) (WorkerStartResult, error) {
	var res WorkerStartResult
	rp, id, attempt, err := ts.openForWorker(ctx, p.Where, p.Caller, p.TaskID, p.Attempt)
	if err != nil {
		return res, err
	}
	if begun, err := rp.beginToStart(ctx, id, attempt); begun != nil || err != nil {
		if err == nil {
			res = begun.WorkerStartResult
		}
		return res, err
	}

	// A worktree that can't be made again is an error only if the caller may start the task.
	m, unlock, missing := rp.LockMissingWorktree(ctx, id)
	unlock = sync.OnceFunc(unlock)
	defer unlock()

	err = rp.Write(ctx, core.JoinsIfNew, func(o *repository.Op) error {
		task, err := repository.TaskOf(o.Tx, o.Room.ID, id)
		if err != nil {
			return err
		}
		if err := o.RequireNotLanding(task.ID); err != nil {
			return err
		}

		// Another agent may take the task on once its worker is gone.
		w, ok := o.Room.Member(task.Worker)
		workerGone := !ok || w.State != stick.Joined || w.Verdict(o.Probes.Probed) == stick.Gone
		ev, err := tasks.Start(task, o.TaskCall(attempt), workerGone)
		if err == nil {
			err = missing
		}
		if err != nil {
			return err
		}

		// The prompt repeats what reviewers have asked for.
		comments, err := commentsOn(o.Tx, o.Room.ID, task)
		if err != nil {
			return err
		}

		reviews, err := reviewsOf(o.Tx, o.Room.ID, task)
		if err != nil {
			return err
		}

		res = rp.startResult(o.Room, o.Me, task, ev == nil, feedback{reviews, openComments(comments)})
		res.Joined = o.Joined
		if ev != nil {
			o.AddTaskEvent(*ev)
			status, _ := ev.TaskStatus()
			res.State = status.State
		}

		return o.Tx.Heartbeat(o.Room.ID, task.ID)
	})
	if err != nil {
		return res, err
	}
	if m != nil {
		res.Note, err = rp.RestoreWorktree(ctx, m)
		return res, err
	}

	unlock()
	return res, rp.FinishSetUp(ctx, id)
}

// startResult returns the result of a start.
func (rp *repo) startResult(
	r stick.Room, me core.Identity, task stick.Task, already bool, notes feedback,
) WorkerStartResult {
	return WorkerStartResult{
		RoomID: r.ID, AgentID: me.Agent, TaskID: task.ID, State: task.State, Attempt: task.Attempt,
		Worktree: rp.WorktreePath(task),
		Branch:   task.Branch, Already: already,
		Prompt: workerPrompt(task, notes, rp.WorktreePath(task), me.Caller.AssumedByFlag()),
	}
}

// beginToStart begins a task that is for later, with the caller as its worker. It returns nil if the task
// isn't for later.
func (rp *repo) beginToStart(ctx context.Context, id string, attempt int) (*WorkerNextResult, error) {
	task, err := rp.ReadTask(ctx, id)
	if err != nil || !task.Later || task.Over() {
		return nil, repository.IgnoreNoRoom(err)
	}

	unlock, err := rp.LockTask(ctx, task.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()

	// Somebody may have begun it before the lock was free.
	if task, err = rp.ReadTask(ctx, id); err != nil || !task.Later || attempt != 0 && attempt != task.Attempt {
		return nil, err
	}

	res, err := rp.beginTask(ctx, task, true, false)
	return &res, err
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

// WorkerHeartbeat records that a worker is working. A worker needs it only if tt can't see its process. It
// fails with [stick.CodeStaleAttempt] and [stick.CodeNotYourTask].
func (ts *Tasks) WorkerHeartbeat(ctx context.Context, p WorkerHeartbeatParams) (WorkerHeartbeatResult, error) {
	var res WorkerHeartbeatResult
	rp, id, attempt, err := ts.openForWorker(ctx, p.Where, p.Caller, p.TaskID, p.Attempt)
	if err != nil {
		return res, err
	}

	err = rp.Write(ctx, core.MustBeMember, func(o *repository.Op) error {
		task, err := repository.TaskOf(o.Tx, o.Room.ID, id)
		if err == nil {
			err = tasks.Mine(task, o.TaskCall(attempt))
		}
		if err != nil {
			return err
		}

		res = WorkerHeartbeatResult{
			RoomID: o.Room.ID, TaskID: task.ID, State: task.State, Attempt: task.Attempt,
			Reason: task.Reason,
		}

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
	rp, id, attempt, err := ts.openForWorker(ctx, p.Where, p.Caller, p.TaskID, p.Attempt)
	if err != nil {
		return res, err
	}

	err = rp.Write(ctx, core.MustBeMember, func(o *repository.Op) error {
		task, err := repository.TaskOf(o.Tx, o.Room.ID, id)
		if err != nil {
			return err
		}
		if err := o.RequireNotLanding(task.ID); err != nil {
			return err
		}
		if yes, err := repository.RepeatsLast(o.Tx, o.Room.ID, o.Me, task, stick.EventTaskFailed, p.Reason); err != nil || yes {
			res = WorkerHeartbeatResult{
				RoomID: o.Room.ID, TaskID: task.ID, State: task.State, Attempt: task.Attempt,
				Reason: task.Reason, Already: true,
			}

			return err
		}

		// Whoever names a task here means that one, and not a reason.
		if _, isTask, err := o.Tx.Task(o.Room.ID, p.Reason); err != nil || isTask {
			return cmp.Or(err, errReasonIsTask(p.Reason))
		}

		ev, err := tasks.Fail(task, o.TaskCall(attempt), p.Reason)
		if err != nil {
			return err
		}

		res = WorkerHeartbeatResult{
			RoomID: o.Room.ID, TaskID: task.ID, State: stick.TaskFailed, Attempt: task.Attempt,
			Reason: p.Reason,
		}

		return o.EndTask(ev)
	})
	return res, err
}

// errReasonIsTask refuses the name of a task as the reason for giving up another one.
func errReasonIsTask(named string) error {
	return stick.Errorf(stick.CodeUsage, "%s is a task, and no reason", named).With("field", "reason").
		Hintf("to give up that task: %s", stick.Cmd("tt task fail --task <task_id> <reason>", named))
}
