package task

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// WorkerNextParams asks for a task that is ready to begin.
type WorkerNextParams struct {
	Caller core.Caller `json:"-"`
	core.Where

	Labels []string `json:"labels,omitempty"` // only tasks that have all of these

	TaskID  string `json:"-"` // only this one, which may have a command; empty for the oldest
	Unbound bool   `json:"-"` // don't make the caller its worker: a command is going to work there
}

// WorkerNextResult is a task that the caller has taken.
type WorkerNextResult struct {
	WorkerStartResult
	Slot *int `json:"slot,omitempty"` // of the worktree
	repository.CopiedFiles
}

// WorkerNext begins the oldest task that is for later and ready: it makes its branch and its worktree, sets
// that up, and makes the caller its worker. Of many callers at once each gets another task. If the caller
// works on a task already, it gets that one again. It fails with [stick.CodeNothingReady], and as
// [Tasks.WorkerSpawn] does.
func (ts *Tasks) WorkerNext(ctx context.Context, p WorkerNextParams) (WorkerNextResult, error) {
	var res WorkerNextResult
	located, err := ts.repos.Locate(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}

	rp := &repo{located, ts}

	// git is asked beside the database: the caller waits only for the slower of the two.
	opened := make(chan error, 1)
	go func() { opened <- rp.AskCheckout(ctx) }()
	ready, current, newest, err := rp.listReady(ctx, p.TaskID, p.Labels)
	if err := <-opened; err != nil {
		return res, cmp.Or(rp.Git.CheckVersion(ctx, rp.Root), err)
	}
	if err != nil {
		return res, err
	}
	if current != nil && !p.Unbound {
		res.WorkerStartResult, err = ts.WorkerStart(ctx, WorkerStartParams{
			Caller: p.Caller, Where: p.Where, TaskID: current.ID,
		})

		res.Slot = repository.SlotOf(*current)
		return res, err
	}

	// The most urgent and oldest first. Others try the same ones at this moment, and each gets another.
	var failed error
	for _, t := range ready {
		res, err := rp.tryBegin(ctx, t.ID, !p.Unbound)

		// The same agent has asked twice at once.
		if busy, ok := errors.AsType[*busyError](err); ok {
			if err := rp.awaitBegin(ctx, busy.task); err != nil {
				return res, err
			}
			return ts.WorkerNext(ctx, p)
		}

		switch stick.CodeOf(err) {
		case "":
			return res, nil
		case stick.CodeLanding, stick.CodeInvalidTransition: // somebody else has taken it
		case stick.CodeAlreadyExists, stick.CodeInvalidPath, stick.CodeGitFailed, stick.CodeNotFound: // this one can't begin, but others may
			if failed == nil {
				failed = err
			}
		default:
			return WorkerNextResult{}, err
		}
	}

	if failed != nil {
		stick.AsError(failed).With("event_seq", newest)
		return res, failed
	}

	return res, errNothingReady(newest)
}

// errNothingReady returns the error for a caller that found no task. newest is the last event that it has
// seen.
func errNothingReady(newest int64) error {
	return stick.Errorf(stick.CodeNothingReady, "no task is ready to begin").With("event_seq", newest).
		Hintf("to see what the tasks wait for: %s; to wait until one is ready: %s",
			stick.Cmd("tt task list"), stick.Cmd("tt task next --wait"))
}

// listReady lists the tasks that are ready, the most urgent and of those the oldest first: those without a command that is going to work
// on them, or only the named one. current is the task that the caller works on, if there
// is one.
func (rp *repo) listReady(
	ctx context.Context, id string, labels []string,
) (ready []readyTask, current *stick.Task, newest int64, err error) {
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) error {
		// The transaction may run again.
		ready, current = nil, nil
		if newest, err = tx.LastSeq(r.ID); err != nil {
			return err
		}

		own, err := tx.OpenTasksOf(r.ID, []stick.AgentID{me.Agent})
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(own, stick.Task.Busy); i >= 0 {
			current = &own[i]
		}

		// Without a name, a task that has a command is left to that.
		ready, err = readyTasks(tx, r.ID)
		ready = slices.DeleteFunc(ready, func(t readyTask) bool {
			if !tasks.HasLabels(stick.Task{Labels: t.Labels}, labels) {
				return true
			}
			return id == "" && t.command != "" || id != "" && stick.TaskKey(t.ID) != stick.TaskKey(id)
		})
		return err
	})
	return ready, current, newest, err
}

// readyTask is a task that is for later and ready.
type readyTask struct {
	store.LaterTask
	command string // that is going to work on it, empty for none; whoever starts that needs the task's lock
}

// readyTasks lists the tasks of a room that are for later and ready, the oldest first.
func readyTasks(tx *store.Tx, room stick.RoomID) (ready []readyTask, err error) {
	// The database names the candidates, and the rules decide.
	later, err := tx.TasksMaybeReady(room)
	if err != nil {
		return nil, err
	}

	find := taskFinder(tx, room)
	for _, l := range later {
		waits, err := tasks.WaitsFor(stick.Task{ID: l.ID, State: stick.TaskAssigned, Later: true, After: l.After}, find)
		if err != nil {
			return nil, err
		}

		if len(waits) > 0 {
			continue
		}

		// A command that was kept for it may be going to work on it.
		kept, err := plannedRun(tx, room, l.ID, l.Attempt)
		if err != nil {
			return nil, err
		}

		ready = append(ready, readyTask{l, kept.Command})
	}

	return ready, nil
}

// tryBegin is [repo.beginTask] if no other command has the task. Else it fails with [stick.CodeLanding].
func (rp *repo) tryBegin(ctx context.Context, id string, bind bool) (WorkerNextResult, error) {
	none := WorkerNextResult{}
	unlock, err := rp.TryLock("task", id)
	if err != nil {
		return none, err
	}

	if unlock == nil {
		return none, stick.Errorf(stick.CodeLanding, "another command is working on %s", id).With("task_id", id)
	}
	defer unlock()

	// An open intent is of a command that died, because this one has the lock.
	now, open, err := rp.readUntaken(ctx, id)
	if open {
		if err := rp.RecoverTask(ctx, id); err != nil {
			return none, err
		}

		now, _, err = rp.readUntaken(ctx, id)
	}

	if err != nil {
		return none, err
	}
	if !now.Later {
		return none, stick.Errorf(stick.CodeInvalidTransition, "%s was begun", id).With("task_id", id)
	}
	return rp.beginTask(ctx, now, bind, bind)
}

// readUntaken reads a task that nobody may have taken, unless somebody left an intent open for it.
func (rp *repo) readUntaken(ctx context.Context, id string) (now stick.Task, open bool, err error) {
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		i, err := repository.OpenIntentOf(tx, r.ID, id)
		if open = i != nil; open || err != nil {
			return err
		}

		now, err = repository.TaskOf(tx, r.ID, id)
		return err
	})
	return now, open, err
}

// busyError says that the caller of next works on a task already, or is about to.
type busyError struct {
	task string // its key
}

func (e *busyError) Error() string { return "the caller has the task " + e.task }

// requireIdle refuses a caller that works on another task, or for which another command is about to begin
// one. It fails with a [*busyError].
func requireIdle(o *repository.Op, task stick.Task) error {
	// A task that the caller works on already.
	own, err := o.Tx.OpenTasksOf(o.Room.ID, []stick.AgentID{o.Me.Agent})
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(own, stick.Task.Busy); i >= 0 {
		return &busyError{stick.TaskKey(own[i].ID)}
	}

	// A task that another command is just beginning for the caller.
	open, err := o.Tx.Intents(o.Room.ID, "")
	for _, i := range open {
		if i.Kind != repository.IntentSpawn || i.Agent != o.Me.Agent || i.Task == stick.TaskKey(task.ID) {
			continue
		}
		if d, err := repository.ReadIntent[repository.SpawnIntent](i); err == nil && d.Next {
			return &busyError{i.Task}
		}
	}

	return err
}

// awaitBegin waits until the command that begins a task has ended, and ends what it left if it died.
func (rp *repo) awaitBegin(ctx context.Context, id string) error {
	rp.KillPoint("next: waits")
	unlock, err := rp.AcquireLock(ctx, "task", id, repository.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	return rp.RecoverTask(ctx, id)
}

// readyAfter lists the tasks that were waiting for one of those that landed, and are ready now.
func readyAfter(ctx context.Context, rp *repository.Repo, landed ...string) (names []string, err error) {
	err = rp.Read(context.WithoutCancel(ctx), func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		names = nil
		ready, err := readyTasks(tx, r.ID)
		for _, t := range ready {
			if t.command == "" &&
				slices.ContainsFunc(landed, func(id string) bool { return slices.Contains(t.After, id) }) {
				names = append(names, t.ID)
			}
		}

		return err
	})
	return names, err
}

// WorkerReadyParams asks for the tasks whose commands are to be started.
type WorkerReadyParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	All bool `json:"all,omitempty"` // also those whose commands were cut off
}

// WorkerReadyResult is the tasks whose commands are to be started.
type WorkerReadyResult struct {
	RoomID stick.RoomID       `json:"room_id"`
	Tasks  []runner.ReadyTask `json:"tasks"`
}

// WorkerReady lists the tasks that are ready and for which spawn has kept a command, and those that have come
// back and whose commands start again, while the process is gone that was to see that. Whoever makes a task
// ready or returns it starts its command. With p.All the list has those as well whose commands were cut off,
// see [tasks.Resume].
func (ts *Tasks) WorkerReady(ctx context.Context, p WorkerReadyParams) (WorkerReadyResult, error) {
	var res WorkerReadyResult
	p.Where = ts.core.Located(p.Where)
	place, err := ts.core.PlaceToRead(p.Where)
	if err != nil {
		return res, err
	}

	err = ts.core.Read(ctx, p.Where, p.Caller, func(tx *store.Tx, probes *core.Probes, r stick.Room, _ core.Identity) error {
		res = WorkerReadyResult{RoomID: r.ID, Tasks: []runner.ReadyTask{}}
		root := r.Path

		// Without a place, the room is named by its id.
		if place != nil {
			root = place.Root
		}

		again, err := ts.listResumable(tx, r, probes, root, p.All)
		if err != nil {
			return err
		}

		res.Tasks = append(res.Tasks, again...)
		ready, err := readyTasks(tx, r.ID)
		for _, t := range ready {
			if t.command != "" {
				res.Tasks = append(res.Tasks, runner.ReadyTask{TaskID: t.ID, Command: t.command})
			}
		}

		return err
	})
	return res, err
}

// listResumable lists the tasks of this checkout whose commands are to start again. It leaves out those on
// which somebody else works, and those for which a command of tt does something now.
func (ts *Tasks) listResumable(
	tx *store.Tx, r stick.Room, probes *core.Probes, root string, all bool,
) (again []runner.ReadyTask, err error) {
	last, err := tx.RunsWithWorkers(r.ID)
	if err != nil {
		return nil, err
	}

	// The locks tell which commands are at work. They need no git.
	rp := ts.repos.RepoAt(root)
	verdict := ts.core.Config.Procs.Verdict

	for _, run := range last {
		if run.State(verdict(run.Process)).Live() {
			continue
		}

		t, err := repository.TaskOf(tx, r.ID, run.Task)
		if err != nil {
			return nil, err
		}

		// A person, a living worker or a command at work decides for itself.
		w, _ := r.Member(t.Worker)
		if t.Worker.Human() || w.Verdict(probes.Probed) == stick.Alive || t.Elsewhere(tx.CheckoutOf(r)) ||
			rp.LockRunner("task", t.ID) != nil {
			continue
		}

		runs, err := tx.Runs(r.ID, t.ID)
		if err != nil {
			return nil, err
		}

		// A set-up that failed waits for somebody who has fixed the cause.
		resumption, ok := tasks.Resume(t, runs, verdict, tx.Now(), all)
		if ok && !all {
			ok, err = repository.CanResumeSetUp(tx, r.ID, t)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			again = append(again, runner.ReadyTask{TaskID: t.ID, Command: resumption.Command, Resume: &resumption})
		}
	}

	return again, nil
}
