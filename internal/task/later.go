package task

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// taskFinder returns a function that finds tasks of a room, and reads each once.
func taskFinder(tx *store.Tx, room stick.RoomID) stick.FindTask {
	type found struct {
		task stick.Task
		ok   bool
	}

	known := map[string]found{}
	return func(id string) (stick.Task, bool, error) {
		// The rules ask for the same task many times.
		key := stick.TaskKey(id)
		if f, seen := known[key]; seen {
			return f.task, f.ok, nil
		}

		t, ok, err := tx.Task(room, id)
		if err == nil {
			known[key] = found{t, ok}
		}
		return t, ok, err
	}
}

// findAmong is [taskFinder] for tasks that were read already.
func findAmong(tasks []stick.Task) stick.FindTask {
	known := make(map[string]stick.Task, len(tasks))
	for _, t := range tasks {
		known[stick.TaskKey(t.ID)] = t
	}
	return func(id string) (stick.Task, bool, error) {
		t, ok := known[stick.TaskKey(id)]
		return t, ok, nil
	}
}

// sameTasks reports whether two lists name the same tasks in the same order.
func sameTasks(a, b []string) bool {
	return slices.EqualFunc(a, b, func(x, y string) bool { return stick.TaskKey(x) == stick.TaskKey(y) })
}

// uniqueTasks returns a list of tasks with each of them once, as [stick.CheckAfter] does.
func uniqueTasks(names []string) (unique []string) {
	for _, n := range names {
		if !slices.ContainsFunc(unique, func(u string) bool { return stick.TaskKey(u) == stick.TaskKey(n) }) {
			unique = append(unique, n)
		}
	}
	return unique
}

// TaskWait is a task that another one waits for.
type TaskWait struct {
	TaskID string          `json:"task_id"`
	State  stick.TaskState `json:"state"`
	Cause  string          `json:"cause,omitempty"` // why it has failed
}

// showWaits adds to the view of a task that is for later what it waits for, and what to do about that.
func (v *TaskView) showWaits(t stick.Task, find stick.FindTask, as string) error {
	// A task that has begun, or is over, waits for nothing.
	waits, err := t.WaitsFor(find)
	if err != nil || !t.Later || t.State != stick.TaskAssigned {
		return err
	}

	v.Later, v.After, v.Ready = true, t.After, len(waits) == 0
	for _, d := range waits {
		v.WaitsFor = append(v.WaitsFor, TaskWait{d.ID, d.State, d.Cause})
	}

	if v.Ready {
		return nil
	}

	v.NextAction = t.WaitStep(waits).As(as).Words()
	if d, ok := stick.Failed(waits); ok {
		v.Warning = stick.Wordsf("it waits for %s, which is %s", d.ID, d.State.Word(d.Cause))
	}
	return nil
}

// spawnForLater creates a task without a branch and a worktree.
func (rp *repo) spawnForLater(
	ctx context.Context, q stick.Spawning, after []string, run, restart string,
) (res WorkerSpawnResult, err error) {
	err = rp.write(ctx, core.JoinsIfNew, func(o *Op) error {
		// There is neither a branch nor a worktree, so one transaction is all, and no intent is needed.
		was, _, err := o.Tx.Task(o.Room.ID, q.ID)
		if err != nil {
			return err
		}
		if q.After, err = stick.CheckAfter(q.ID, after, taskFinder(o.Tx, o.Room.ID)); err != nil {
			return err
		}

		q.By = o.Me.Agent
		ev, err := stick.SpawnTask(was, q)
		if err != nil {
			return err
		}

		o.addTaskEvent(ev)
		res.RoomID, res.AgentID, res.Task.TaskID, res.Joined = o.Room.ID, o.Me.Agent, q.ID, o.Joined
		return planRun(o, q.ID, 1, run, restart)
	})
	if err != nil {
		return res, err
	}
	rp.killPoint("spawn: done")
	return res, rp.showTask(ctx, &res)
}

// planRun keeps the command that is to work on an attempt once that has begun, and how often it starts again
// by itself. run may be empty. It is a run that no process has claimed.
func planRun(o *Op, id string, attempt int, run, restart string) error {
	if run == "" {
		return nil
	}

	r := stick.Run{Task: stick.TaskKey(id), Attempt: attempt, Number: 1, Command: run}
	if restart != "" {
		var err error
		if r.Restarts, err = stick.ParseRestart(restart); err != nil {
			return err
		}
	}

	return o.Tx.PutRun(o.Room.ID, r)
}

// plannedRun returns what [planRun] has kept for an attempt that nobody has begun; zero for nothing.
func plannedRun(tx *store.Tx, room stick.RoomID, id string, attempt int) (stick.Run, error) {
	runs, err := tx.Runs(room, id)
	for _, r := range runs {
		if r.Attempt == attempt {
			return r, err
		}
	}
	return stick.Run{}, err
}

// retryForLater makes a task that nobody had begun, and that was cancelled, wait again.
func (rp *repo) retryForLater(
	ctx context.Context, task stick.Task, run, restart string,
) (res WorkerSpawnResult, err error) {
	err = rp.write(ctx, core.MustBeMember, func(o *Op) error {
		if err := o.requireMemberOrPerson(); err != nil {
			return err
		}

		now, err := taskOf(o.Tx, o.Room.ID, task.ID)
		if err != nil {
			return err
		}

		ev, err := now.Retry(o.Me.Agent, "", stick.Checkout{}, stick.NoSlot)
		if err != nil {
			return err
		}

		o.addTaskEvent(ev)
		res.RoomID, res.AgentID, res.Task.TaskID = o.Room.ID, o.Me.Agent, task.ID

		// Without a command, the one that was kept for the earlier attempt is kept again.
		if run == "" {
			was, err := plannedRun(o.Tx, o.Room.ID, now.ID, now.Attempt)
			if err != nil || was.Command == "" {
				return err
			}

			if restart == "" {
				was.Attempt, was.Number = now.Attempt+1, 1
				return o.Tx.PutRun(o.Room.ID, was)
			}

			run = was.Command
		}

		return planRun(o, task.ID, now.Attempt+1, run, restart)
	})
	if err != nil {
		return res, err
	}
	return res, rp.showTask(ctx, &res)
}

// planBegin plans the branch and the worktree of a task that is for later, from the commit that the task
// begins from now. If nobody else is adding a worktree, it locks them before it looks, until
// [spawnPlan.unlock]. It fails as [Repo.requireRoomFor] and [Repo.acceptedSettings] do.
func (rp *repo) planBegin(ctx context.Context, task stick.Task) (m spawnPlan, err error) {
	m = spawnPlan{task: task, path: rp.worktreePath(task), newBranch: true, newTree: true}
	unlock, err := rp.tryLock("worktrees", theWorktrees)
	if err != nil {
		return m, err
	}

	// With the lock, nothing has to be asked again before git begins.
	if unlock != nil {
		m.begun, m.releaseWorktrees = true, sync.OnceFunc(unlock)
		defer func() {
			if err != nil {
				m.unlock()
			}
		}()
	}

	// Reading the settings and the refs costs a git each, so both run at the same time.
	settings := rp.readSettingsEarly(ctx, task.Integration)
	refs, err := rp.git.Refs(ctx, rp.root, slices.Concat(targetRefs(task.Integration), branchRefs(task.Branch))...)
	early := <-settings

	// The settings may be missing because git is too old.
	if early.commit == "" {
		err = cmp.Or(rp.git.CheckVersion(ctx, rp.root), err)
	}
	if err != nil {
		return m, err
	}

	// The refs that were read answer whether there is room, and where the target is.
	if err := rp.requireRoomAmong(refs, m); err != nil {
		return m, err
	}

	tg, err := rp.targetAmong(ctx, task.Integration, refs)
	if err != nil {
		return m, err
	}

	// The task must not begin without the work that it has waited for.
	lacks, err := rp.lacksAwaited(ctx, task, tg)
	if err == nil && lacks {
		// Nobody waits for a network.
		m.unlock()
		m.begun = false
		err = rp.fetchTarget(ctx, &tg)
	}

	if err != nil {
		return m, err
	}

	m.task.Base, m.base = tg.head(), tg.head()
	m.worker, err = rp.acceptedEarly(ctx, early, tg.head())
	return m, err
}

// earlySettings are the settings of the project at a commit, before it is known whether that one counts.
type earlySettings struct {
	commit string // empty if they couldn't be read
	config.Config
	err error
}

// readSettingsEarly begins to read the settings at the head of a local branch, beside other commands of git:
// each of those costs as much as the rest of a short command of tt.
func (rp *repo) readSettingsEarly(ctx context.Context, branch string) <-chan earlySettings {
	// Room for one, so that the goroutine ends even if nobody receives.
	c := make(chan earlySettings, 1)
	go func() {
		commit, b, _, err := rp.git.ReadFileAt(ctx, rp.root, target{name: branch}.ref(), config.FileName)
		if err != nil {
			commit = ""
		}

		early := earlySettings{commit: commit}
		early.Config, early.err = config.Parse(b)
		c <- early
	}()
	return c
}

// acceptedEarly is [Repo.acceptedSettings] for settings that were read early, if they are those of the
// commit.
func (rp *repo) acceptedEarly(ctx context.Context, early earlySettings, commit string) (config.Worker, error) {
	if early.commit != commit {
		return rp.acceptedSettings(ctx, commit)
	}
	if early.err != nil {
		return early.Worker, early.err
	}
	return early.Worker, rp.requireSetupAccepted(ctx, early.Worker)
}

// lacksAwaited reports whether the target of a task that is for later lacks what the task has waited for.
// That may have landed on another host; a fetch brings it.
func (rp *repo) lacksAwaited(ctx context.Context, task stick.Task, tg target) (bool, error) {
	if tg.remote == "" || len(task.After) == 0 {
		return false, nil
	}

	var results []string
	err := rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		// The transaction may run again.
		results = nil
		for _, id := range task.After {
			t, ok, err := tx.Task(r.ID, id)
			if err != nil {
				return err
			}

			if ok && t.Result != "" {
				results = append(results, t.Result)
			}
		}

		return nil
	})
	if err != nil {
		return false, err
	}

	// One result that is missing is enough.
	for _, commit := range results {
		has, err := rp.git.HasCommit(ctx, rp.root, commit)
		if err == nil && has {
			has, err = rp.git.IsAncestor(ctx, rp.root, commit, tg.head())
		}
		if err != nil || !has {
			return err == nil, err
		}
	}

	return false, nil
}

// beginTask gives a task that is for later its branch and its worktree. With bind the caller becomes its
// worker at the same moment; with next it must have no other task. The caller must hold the task's lock. It
// fails with [stick.CodeInvalidTransition] if somebody has begun the task meanwhile, or it isn't ready, with
// a [*busyError] if the caller has another one, and as [repo.planBegin] and [Repo.setUp] do.
func (rp *repo) beginTask(ctx context.Context, task stick.Task, bind, next bool) (res WorkerNextResult, err error) {
	m, err := rp.planBegin(ctx, task)
	if err != nil {
		return res, err
	}
	defer m.unlock()

	m.forNext = next

	// The function runs twice: before git acts, to refuse, and after it, for the events.
	made, err := rp.carryOutPlan(ctx, intentSpawn, m, func(o *Op, slot int) ([]stick.Event, error) {
		if next {
			if err := requireIdle(o, task); err != nil {
				return nil, err
			}
		}

		now, err := taskOf(o.Tx, o.Room.ID, task.ID)
		if err != nil {
			return nil, err
		}

		// The task may have changed since it was planned.
		waits, err := now.WaitsFor(taskFinder(o.Tx, o.Room.ID))
		if err != nil {
			return nil, err
		}

		begun, err := now.Begin(o.Me.Agent, m.base, o.Tx.CheckoutOf(o.Room), slot, waits)
		if err != nil {
			return nil, err
		}

		events := []stick.Event{begun}
		if now, err = now.Apply(begun); err != nil {
			return nil, err
		}
		if bind {
			started, err := now.Start(o.taskCall(0), false)
			if err != nil {
				return nil, err
			}

			events = append(events, *started)
			if now, err = now.Apply(*started); err != nil {
				return nil, err
			}
		}

		res.WorkerStartResult, res.Slot = rp.startResult(o.Room, o.Me, now, false, feedback{}), slotView(now)
		return events, nil
	})

	res.Joined, res.CopiedFiles = made.Joined, made.CopiedFiles
	return res, err
}
