package task

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// taskFinder returns a function that finds tasks of a room, and reads each once.
func taskFinder(tx *store.Tx, room stick.RoomID) tasks.Find {
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
func findAmong(tasks []stick.Task) tasks.Find {
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

// uniqueTasks returns a list of tasks with each of them once, as [tasks.CheckAfter] does.
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
func (v *TaskView) showWaits(t stick.Task, find tasks.Find, as string) error {
	// A task that has begun, or is over, waits for nothing.
	waits, err := tasks.WaitsFor(t, find)
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

	v.NextAction = tasks.WaitStep(t, waits).As(as).Words()
	if d, ok := tasks.Failed(waits); ok {
		v.Warning = stick.Wordsf("it waits for %s, which is %s", d.ID, d.State.Word(d.Cause))
	}
	return nil
}

// spawnForLater creates a task without a branch and a worktree.
func (rp *repo) spawnForLater(
	ctx context.Context, q tasks.Spawning, after []string, run, restart string,
) (res WorkerSpawnResult, err error) {
	err = rp.Write(ctx, core.JoinsIfNew, func(o *repository.Op) error {
		// There is neither a branch nor a worktree, so one transaction is all, and no intent is needed.
		was, _, err := o.Tx.Task(o.Room.ID, q.ID)
		if err != nil {
			return err
		}
		if q.After, err = tasks.CheckAfter(q.ID, after, taskFinder(o.Tx, o.Room.ID)); err != nil {
			return err
		}

		q.By = o.Me.Agent
		ev, err := tasks.Spawn(was, q)
		if err != nil {
			return err
		}

		o.AddTaskEvent(ev)
		res.RoomID, res.AgentID, res.Task.TaskID, res.Joined = o.Room.ID, o.Me.Agent, q.ID, o.Joined
		return planRun(o, q.ID, max(q.Attempt, 1), run, restart)
	})
	if err != nil {
		return res, err
	}
	rp.KillPoint("spawn: done")
	return res, rp.showTask(ctx, &res)
}

// planRun keeps the command that is to work on an attempt once that has begun, and how often it starts again
// by itself. run may be empty. It is a run that no process has claimed.
func planRun(o *repository.Op, id string, attempt int, run, restart string) error {
	if run == "" {
		return nil
	}

	r := tasks.Run{Task: stick.TaskKey(id), Attempt: attempt, Number: 1, Command: run}
	if restart != "" {
		often, err := tasks.ParseRestart(restart)
		if err != nil {
			return err
		}
		r.Restarts, r.Retries = often.OnReturn, often.OnFailure
	}

	return o.Tx.PutRun(o.Room.ID, r)
}

// plannedRun returns what [planRun] has kept for an attempt that nobody has begun; zero for nothing.
func plannedRun(tx *store.Tx, room stick.RoomID, id string, attempt int) (tasks.Run, error) {
	runs, err := tx.Runs(room, id)
	for _, r := range runs {
		if r.Attempt == attempt {
			return r, err
		}
	}
	return tasks.Run{}, err
}

// retryForLater makes a task that nobody had begun, and that was cancelled, wait again.
func (rp *repo) retryForLater(
	ctx context.Context, task stick.Task, run, restart string,
) (res WorkerSpawnResult, err error) {
	err = rp.Write(ctx, core.MustBeMember, func(o *repository.Op) error {
		if err := o.RequireMemberOrPerson(); err != nil {
			return err
		}

		now, err := repository.TaskOf(o.Tx, o.Room.ID, task.ID)
		if err != nil {
			return err
		}

		ev, err := tasks.Retry(now, o.Me.Agent, "", stick.Checkout{}, stick.NoSlot)
		if err != nil {
			return err
		}

		o.AddTaskEvent(ev)
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

// beginTask gives a task that is for later its branch and its worktree. With bind the caller becomes its
// worker at the same moment; with next it must have no other task. The caller must hold the task's lock. It
// fails with [stick.CodeInvalidTransition] if somebody has begun the task meanwhile, or it isn't ready, with
// a [*busyError] if the caller has another one, and as [repository.Repo.PlanBegin] and [repository.Repo.setUp] do.
func (rp *repo) beginTask(ctx context.Context, task stick.Task, bind, next bool) (res WorkerNextResult, err error) {
	m, err := rp.PlanBegin(ctx, task)
	if err != nil {
		return res, err
	}
	defer m.Unlock()

	m.ForNext = next

	// The function runs twice: before git acts, to refuse, and after it, for the events.
	made, err := rp.CarryOutPlan(ctx, repository.IntentSpawn, m, func(o *repository.Op, slot int) ([]stick.Event, error) {
		if next {
			if err := requireIdle(o, task); err != nil {
				return nil, err
			}
		}

		now, err := repository.TaskOf(o.Tx, o.Room.ID, task.ID)
		if err != nil {
			return nil, err
		}

		// The task may have changed since it was planned.
		waits, err := tasks.WaitsFor(now, taskFinder(o.Tx, o.Room.ID))
		if err != nil {
			return nil, err
		}

		begun, err := tasks.Begin(now, o.Me.Agent, m.Base, o.Tx.CheckoutOf(o.Room), slot, waits)
		if err != nil {
			return nil, err
		}

		events := []stick.Event{begun}
		if now, err = now.Apply(begun); err != nil {
			return nil, err
		}
		if bind {
			started, err := tasks.Start(now, o.TaskCall(0), false)
			if err != nil {
				return nil, err
			}

			events = append(events, *started)
			if now, err = now.Apply(*started); err != nil {
				return nil, err
			}
		}

		res.WorkerStartResult, res.Slot = rp.startResult(o.Room, o.Me, now, false, feedback{}), repository.SlotOf(now)
		return events, nil
	})

	res.Joined, res.CopiedFiles = made.Joined, made.CopiedFiles
	return res, err
}
