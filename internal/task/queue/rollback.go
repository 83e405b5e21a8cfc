package queue

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// WorkerRollbackParams asks to revert a merged task.
type WorkerRollbackParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id"`
	Reason string `json:"reason"`

	Waits func(on string, r repository.Runner) `json:"-"` // called when it begins to wait for another command
	Shows func(GateRun)                        `json:"-"` // called when a gate begins to run; may be nil
}

// WorkerRollbackResult is the commit that reverts a merged task.
type WorkerRollbackResult struct {
	RoomID stick.RoomID    `json:"room_id"`
	TaskID string          `json:"task_id"`
	State  stick.TaskState `json:"state"`
	Branch string          `json:"branch"`
	Commit string          `json:"commit"`
	Gate   string          `json:"gate"`
	Note   stick.Words     `json:"note,omitempty"`

	Already bool `json:"already,omitempty"`
}

// WorkerRollback reverts a merged task by a new commit, which must pass the gate as a merge must. It fails as
// [Queue.WorkerMerge] does, and with [stick.CodeUsage] without a reason.
func (q *Queue) WorkerRollback(ctx context.Context, p WorkerRollbackParams) (WorkerRollbackResult, error) {
	var res WorkerRollbackResult
	if p.Reason == "" {
		return res, stick.Errorf(stick.CodeUsage, "say why you revert it").With("field", "reason").
			Hintf("%s", stick.Cmd("tt task rollback <task_id> --reason …", stick.Clip(p.TaskID, 64)))
	}

	mg, err := q.openMerger(ctx, p.Where, p.Caller, p.Shows)
	if err != nil {
		return res, err
	}

	task, err := mg.ReadTask(ctx, p.TaskID)
	if err != nil {
		return res, err
	}

	mg.OnWait = p.Waits

	// The branch's lock comes before the task's, as in a merge: so no two commands wait for each other.
	unlockBranch, err := mg.AcquireLock(ctx, "branch", task.Integration, queueWait)
	if err != nil {
		return res, err
	}
	defer unlockBranch()

	unlock, err := mg.LockTask(ctx, task.ID)
	if err != nil {
		return res, err
	}
	defer unlock()

	err = mg.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) (err error) {
		res.RoomID = r.ID
		if err := repository.RequireMemberOrPerson(r, me); err != nil {
			return err
		}
		if task, err = repository.TaskOf(tx, r.ID, p.TaskID); err != nil {
			return err
		}
		if res.Already, err = repository.RepeatsLast(tx, r.ID, me, task, stick.EventTaskRolledBack, p.Reason); err != nil ||
			res.Already {
			return err
		}

		// Only whether it may be reverted: there is no commit yet.
		_, err = tasks.Rollback(task, me.Agent, "-", p.Reason)
		return err
	})
	if err != nil {
		return res, err
	}
	if res.Already {
		res.TaskID, res.State, res.Branch, res.Commit = task.ID, task.State, task.Integration, task.Result
		return res, nil
	}

	l := landing{merger: mg, task: task, byName: true, revertReason: p.Reason}
	done, _, err := l.landTask(ctx)
	if err != nil {
		return res, err
	}

	res.TaskID, res.State, res.Branch, res.Commit = task.ID, stick.TaskFailed, done.target.Name, done.commit
	res.Gate, res.Note = done.gate.name(), done.note
	return res, nil
}
