package task

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// WorkerSpawnParams asks for a new task.
type WorkerSpawnParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID      string   `json:"task_id"`
	Description string   `json:"description,omitempty"`
	Spec        string   `json:"spec,omitempty"`
	Labels      []string `json:"labels,omitempty"`   // by which agents choose
	Priority    string   `json:"priority,omitempty"` // high, normal or low; empty for normal
	Base        string   `json:"base,omitempty"`     // a commit; empty for the integration branch

	Later bool     `json:"later,omitempty"` // make no branch and no worktree: somebody begins it later
	After []string `json:"after,omitempty"` // the tasks that have to land before it begins; it is for later, too

	// the command that is going to work on it; for a task for later it is kept until that is ready
	Run string `json:"run,omitempty"`

	// how often that command starts again by itself, as [tasks.ParseRestart] reads it
	Restart string `json:"restart,omitempty"`
}

// WorkerSpawnResult is a new task, or a task with a new attempt.
type WorkerSpawnResult struct {
	RoomID   stick.RoomID  `json:"room_id"`
	AgentID  stick.AgentID `json:"agent_id"`
	Worktree string        `json:"worktree"`
	Task     TaskView      `json:"task"`

	// that the worktree was made again, or how to get back the work of the earlier attempt
	Note stick.Words `json:"note,omitempty"`
	repository.CopiedFiles
	Joined  bool `json:"joined,omitempty"`
	Already bool `json:"already,omitempty"`

	Started []runner.StartedTask `json:"started,omitempty"` // the tasks whose commands were started because they are ready

	Begun bool `json:"-"` // this call has started Task.Run
}

// WorkerSpawn creates a task: with a branch and a worktree, which the project's command sets up, or for
// later. Then it starts the command that is to work on it. If the caller isn't a member, it joins the room. It fails with [stick.CodeUsage],
// [stick.CodeAlreadyExists], [stick.CodeNotFound], [stick.CodeConfigChanged], and as joining a room does. A
// failure undoes everything that it created, but for [stick.CodeSetupFailed]: then there is the task.
func (ts *Tasks) WorkerSpawn(ctx context.Context, p WorkerSpawnParams) (WorkerSpawnResult, error) {
	res, err := ts.createTask(ctx, p)
	if err == nil {
		err = ts.startSpawned(ctx, p.Caller, p.Where, p.Run, p.Restart, &res)
	}
	return res, err
}

// createTask is [Tasks.WorkerSpawn] without the command.
func (ts *Tasks) createTask(ctx context.Context, p WorkerSpawnParams) (WorkerSpawnResult, error) {
	var res WorkerSpawnResult
	q, err := readSpawning(p)
	if err != nil {
		return res, err
	}

	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	if err := rp.Git.Identity(ctx, rp.Root); err != nil {
		return res, err
	}

	// There is no task yet, so lockTask can't be used.
	unlock, err := rp.AcquireLock(ctx, "task", p.TaskID, repository.LockWait)
	if err != nil {
		return res, err
	}
	defer unlock()

	if err := rp.RecoverTask(ctx, p.TaskID); err != nil {
		return res, err
	}

	// A repeated call shows the task. Any other task of this name is in the way.
	if was, yes, err := rp.IsRepeated(ctx, p.TaskID, stick.EventTaskAssigned, ""); err == nil {
		if yes && isSpawnedAs(was, q, p.After) {
			return rp.shownAfterSpawn(ctx, was)
		}

		if q.Renews, err = rp.isNameFree(ctx, was); err != nil {
			return res, err
		}
		q.Attempt = was.Attempt + 1
		if _, err := tasks.Spawn(was, q); err != nil {
			return res, err
		}
	}

	// Everything is checked before the intent is stored.
	m, err := rp.PlanSpawn(ctx, &q, p.Base)
	if err == nil && p.Run != "" && !q.Later {
		err = runner.RequireRoomToRun(ctx, rp.Repo, m.Task)
	}
	if err != nil {
		return res, err
	}
	if q.Later {
		return rp.spawnForLater(ctx, q, p.After, p.Run, p.Restart)
	}

	made, err := rp.CarryOutPlan(ctx, repository.IntentSpawn, m, func(o *repository.Op, slot int) ([]stick.Event, error) {
		was, _, err := o.Tx.Task(o.Room.ID, p.TaskID)
		if err != nil {
			return nil, err
		}

		q.By, q.In, q.Slot = o.Me.Agent, o.Tx.CheckoutOf(o.Room), slot
		ev, err := tasks.Spawn(was, q)
		return []stick.Event{ev}, err
	})
	res = madeResult(made, m)
	if err != nil {
		return res, err
	}
	rp.KillPoint("spawn: done")
	return res, rp.showTask(ctx, &res)
}

// readSpawning returns what a caller asks for. It fails with [stick.CodeUsage] and [stick.CodeMessageTooLarge].
func readSpawning(p WorkerSpawnParams) (q tasks.Spawning, err error) {
	q = tasks.Spawning{
		ID: p.TaskID, Description: p.Description, Spec: p.Spec, Later: p.Later || len(p.After) > 0,
		Labels: p.Labels, Slot: stick.NoSlot,
	}

	if q.Priority, err = tasks.ParsePriority(p.Priority); err != nil {
		return q, err
	}
	if err := q.Check(); err != nil {
		return q, err
	}
	if q.Later && p.Base != "" {
		return q, stick.Errorf(stick.CodeUsage, "a task for later gets its base only when somebody begins it").
			With("field", "base").
			Hintf("leave out --base")
	}

	return q, nil
}

// isSpawnedAs reports whether a task is what was asked for.
func isSpawnedAs(t stick.Task, q tasks.Spawning, after []string) bool {
	labels, _ := tasks.CheckLabels(q.Labels)
	if t.Description != q.Description || t.Spec != q.Spec || t.Later != q.Later {
		return false
	}
	if !slices.Equal(t.Labels, labels) || t.Priority != q.Priority {
		return false
	}
	return sameTasks(t.After, uniqueTasks(after))
}

// madeResult returns the result for the worktree of a plan. If the task wasn't recorded, it says only what
// has become of the caller and of files.
func madeResult(made repository.MadeWorktree, m repository.Plan) WorkerSpawnResult {
	res := WorkerSpawnResult{Joined: made.Joined, CopiedFiles: made.CopiedFiles}
	if made.Room != "" {
		res.RoomID, res.AgentID, res.Task.TaskID, res.Worktree = made.Room, made.By, m.Task.ID, m.Path
	}
	return res
}

// showTask adds the task as it is now to the result.
func (rp *repo) showTask(ctx context.Context, res *WorkerSpawnResult) error {
	shown, err := rp.tasks.WorkerShow(context.WithoutCancel(ctx), WorkerShowParams{
		Caller: rp.By, Where: rp.Where, TaskID: res.Task.TaskID, skipSeen: true,
	})
	res.Task = shown.TaskView
	return err
}

// shownAfterSpawn returns the result of a spawn or retry that the caller repeats. If the worktree is missing,
// it is made again.
func (rp *repo) shownAfterSpawn(ctx context.Context, task stick.Task) (WorkerSpawnResult, error) {
	m, err := rp.PlanRestore(ctx, task)
	if err != nil {
		return WorkerSpawnResult{}, err
	}

	// The worktree is there, but its set-up may have failed at the first call.
	if m == nil {
		if err := rp.SetUpAgain(ctx, task); err != nil {
			return WorkerSpawnResult{}, err
		}
	}

	note, err := rp.RestoreWorktree(ctx, m)
	if err != nil {
		return WorkerSpawnResult{}, err
	}

	shown, err := rp.tasks.WorkerShow(context.WithoutCancel(ctx), WorkerShowParams{
		Caller: rp.By, Where: rp.Where, TaskID: task.ID, skipSeen: true,
	})
	if err != nil {
		return WorkerSpawnResult{}, err
	}

	res := WorkerSpawnResult{
		RoomID: shown.RoomID, Worktree: rp.WorktreePath(task), Task: shown.TaskView, Note: note,
		Already: true,
	}

	if m != nil {
		res.CopiedFiles = m.Copied
	}
	if task.Later {
		res.Worktree = "" // it has none
	}
	return res, rp.Read(ctx, func(_ *store.Tx, _ *core.Probes, _ stick.Room, me core.Identity) error {
		res.AgentID = me.Agent
		return nil
	})
}
