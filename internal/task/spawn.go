package task

import (
	"context"
	"path"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// WorkerSpawnParams asks for a new task.
type WorkerSpawnParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID      string `json:"task_id"`
	Description string `json:"description,omitempty"`
	Spec        string `json:"spec,omitempty"`
	Base        string `json:"base,omitempty"` // a commit; empty for the integration branch

	Later bool     `json:"later,omitempty"` // make no branch and no worktree: somebody begins it later
	After []string `json:"after,omitempty"` // the tasks that have to land before it begins; it is for later, too

	// the command that is going to work on it; for a task for later it is kept until that is ready
	Run string `json:"run,omitempty"`

	// how often that command starts again by itself, as [stick.ParseRestart] reads it
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
	CopiedFiles
	Joined  bool `json:"joined,omitempty"`
	Already bool `json:"already,omitempty"`

	Started []StartedTask `json:"started,omitempty"` // the tasks whose commands were started because they are ready
}

// WorkerSpawn creates a task: with a branch and a worktree, which the project's command sets up, or for
// later. If the caller isn't a member, it joins the room. It fails with [stick.CodeUsage],
// [stick.CodeAlreadyExists], [stick.CodeNotFound], [stick.CodeConfigChanged], and as joining a room does. A
// failure undoes everything that it created, but for [stick.CodeSetupFailed]: then there is the task.
func (ts *Tasks) WorkerSpawn(ctx context.Context, p WorkerSpawnParams) (WorkerSpawnResult, error) {
	var res WorkerSpawnResult
	q := stick.Spawning{
		ID: p.TaskID, Description: p.Description, Spec: p.Spec, Later: p.Later || len(p.After) > 0,
		Slot: stick.NoSlot,
	}

	if err := q.Check(); err != nil {
		return res, err
	}
	if q.Later && p.Base != "" {
		return res, stick.Errorf(stick.CodeUsage, "tt chooses the base of a task for later when somebody begins it").
			With("field", "base").
			Hintf("leave out --base")
	}

	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	if err := rp.git.Identity(ctx, rp.root); err != nil {
		return res, err
	}

	// There is no task yet, so lockTask can't be used.
	unlock, err := rp.acquireLock(ctx, "task", p.TaskID, lockWait)
	if err != nil {
		return res, err
	}
	defer unlock()

	if err := rp.recoverTask(ctx, p.TaskID); err != nil {
		return res, err
	}

	// A repeated call shows the task. Any other task of this name is in the way.
	if was, yes, err := rp.alreadyDone(ctx, p.TaskID, stick.EventTaskAssigned, ""); err == nil {
		if yes && was.Description == p.Description && was.Spec == p.Spec && was.Later == q.Later &&
			sameTasks(was.After, uniqueTasks(p.After)) {
			return rp.shownAfterSpawn(ctx, was)
		}

		_, err := stick.SpawnTask(was, q)
		return res, err
	}

	// Everything is checked before the intent is stored.
	m, err := rp.planSpawn(ctx, &q, p.Base)
	if err == nil && p.Run != "" && !q.Later {
		err = requireRoomToRun(ctx, rp.Repo, m.task)
	}
	if err != nil {
		return res, err
	}
	if q.Later {
		return rp.spawnForLater(ctx, q, p.After, p.Run, p.Restart)
	}

	res, err = rp.carryOutPlan(ctx, intentSpawn, m, func(o *Op, slot int) ([]stick.Event, error) {
		was, _, err := o.Tx.Task(o.Room.ID, p.TaskID)
		if err != nil {
			return nil, err
		}

		q.By, q.In, q.Slot = o.Me.Agent, o.Tx.CheckoutOf(o.Room), slot
		ev, err := stick.SpawnTask(was, q)
		return []stick.Event{ev}, err
	})
	if err != nil {
		return res, err
	}
	rp.killPoint("spawn: done")
	return res, rp.showTask(ctx, &res)
}

// carryOutPlan creates what a plan says, between an intent of this kind and the events that record makes;
// then the project's command sets a new worktree up. record also decides before anything is created whether
// the task may begin. A failure undoes everything that was created, except if it is [stick.CodeSetupFailed].
func (rp *repo) carryOutPlan(
	ctx context.Context, kind string, m spawnPlan, record func(o *Op, slot int) ([]stick.Event, error),
) (res WorkerSpawnResult, err error) {
	id, err := rp.newID(ctx)
	if err != nil {
		return res, err
	}

	// The intent has the slot, so that nobody else gets it while git works.
	m.id, m.kind = id, kind
	err = rp.write(ctx, core.JoinsIfNew, func(o *Op) (err error) {
		if m.slot, err = o.freeSlot(m.task); err != nil {
			return err
		}
		if _, err := record(o, m.slot); err != nil {
			return err
		}

		res.Joined = o.Joined
		return o.storeSpawn(m)
	})
	if err != nil {
		return res, err
	}
	defer rp.serveIntent(ctx, id)()
	rp.killPoint(kind + ": intended")

	// git acts between two transactions. A failure is undone at once, a crash by the next command.
	if res.CopiedFiles, err = rp.createWorktree(ctx, &m); err != nil {
		return res, rp.undoFailedSpawn(ctx, m, err)
	}
	rp.killPoint(kind + ": made")

	setup, err := rp.planSetup(ctx, m)
	if err != nil {
		return res, rp.undoFailedSpawn(ctx, m, err)
	}

	err = rp.writeOutcome(ctx, func(o *Op) error {
		// The task begins, the intent ends and the set-up is due in one transaction.
		events, err := record(o, m.slot)
		if err != nil {
			return err
		}

		for _, ev := range events {
			o.addTaskEvent(ev)
		}

		res.RoomID, res.AgentID, res.Task.TaskID, res.Worktree = o.Room.ID, o.Me.Agent, m.task.ID, m.path
		if err := o.Tx.EndIntent(id, "done"); err != nil {
			return err
		}
		return o.beginSetup(setup)
	})
	if err != nil {
		return res, rp.undoFailedSpawn(ctx, m, err)
	}
	return res, rp.setUp(ctx, setup)
}

// showTask adds the task as it is now to the result.
func (rp *repo) showTask(ctx context.Context, res *WorkerSpawnResult) error {
	shown, err := rp.tasks.WorkerShow(context.WithoutCancel(ctx), WorkerShowParams{
		Caller: rp.by, Where: rp.where, TaskID: res.Task.TaskID, skipSeen: true,
	})
	res.Task = shown.TaskView
	return err
}

// shownAfterSpawn returns the result of a spawn or retry that the caller repeats. If the worktree is missing,
// it is made again.
func (rp *repo) shownAfterSpawn(ctx context.Context, task stick.Task) (WorkerSpawnResult, error) {
	m, err := rp.planRestore(ctx, task)
	if err != nil {
		return WorkerSpawnResult{}, err
	}

	// The worktree is there, but its set-up may have failed at the first call.
	if m == nil {
		if err := rp.setUpAgain(ctx, task); err != nil {
			return WorkerSpawnResult{}, err
		}
	}

	note, err := rp.restoreWorktree(ctx, m)
	if err != nil {
		return WorkerSpawnResult{}, err
	}

	shown, err := rp.tasks.WorkerShow(context.WithoutCancel(ctx), WorkerShowParams{
		Caller: rp.by, Where: rp.where, TaskID: task.ID, skipSeen: true,
	})
	if err != nil {
		return WorkerSpawnResult{}, err
	}

	res := WorkerSpawnResult{
		RoomID: shown.RoomID, Worktree: rp.worktreePath(task), Task: shown.TaskView, Note: note,
		Already: true,
	}

	if m != nil {
		res.CopiedFiles = m.copied
	}
	if task.Later {
		res.Worktree = "" // it has none
	}
	return res, rp.read(ctx, func(_ *store.Tx, _ *core.Probes, _ stick.Room, me core.Identity) error {
		res.AgentID = me.Agent
		return nil
	})
}

// planSpawn chooses the branch and the worktree of a new task, and completes q. It fails with
// [stick.CodeAlreadyExists] if one of them exists, and as [Repo.requireInside] does.
func (rp *repo) planSpawn(ctx context.Context, q *stick.Spawning, base string) (m spawnPlan, err error) {
	name, err := rp.integrationBranch(ctx)
	if err != nil {
		return m, err
	}

	t, err := rp.readTarget(ctx, name)
	if err != nil {
		return m, err
	}

	// The project says where worktrees lie, and what its branches are called.
	w, err := rp.acceptedSettings(ctx, t.head())
	if err != nil {
		return m, err
	}

	q.Integration, q.Base, q.Worktree, q.Branch = name, t.head(), path.Join(w.Dir, q.ID), w.Prefix+q.ID
	if q.Later {
		q.Base = ""
	}
	if base != "" {
		commit, ok, err := rp.git.Commit(ctx, rp.root, base)
		if err != nil {
			return m, err
		}

		if !ok {
			return m, stick.Errorf(stick.CodeNotFound, "there is no commit %q", stick.Clip(base, 60)).
				With("base", stick.Clip(base, 60)).
				Hintf("name a commit or a branch of this repository")
		}

		q.Base = commit
	}

	task := stick.Task{
		ID: q.ID, Branch: q.Branch, Worktree: q.Worktree, Integration: name, Base: q.Base,
		Description: q.Description, Spec: q.Spec, Slot: stick.NoSlot,
	}

	m = spawnPlan{task: task, path: rp.worktreePath(task), base: q.Base, newBranch: true, newTree: true, worker: w}
	return m, rp.requireRoomFor(ctx, m)
}
