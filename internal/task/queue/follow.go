package queue

import (
	"context"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// followLook is how often whoever follows a lander looks whether its process still lives: its end rings no bell.
const followLook = 2 * time.Second

// follower waits until tasks have landed that tt merges by itself.
type follower struct {
	*merger
	params  WorkerMergeParams
	pending []string            // the tasks that haven't landed yet
	told    map[string]struct{} // the reasons that the caller has heard
	res     WorkerMergeResult
	back    []string // the tasks that came back
}

// followLander waits until the lander is done with the task that the caller has named, or with all that it is
// to merge. If none runs, it starts one. It fails with [stick.CodeTasksReturned] and [stick.CodeTasksLeft].
func (mg *merger) followLander(
	ctx context.Context, p WorkerMergeParams, res WorkerMergeResult,
) (WorkerMergeResult, error) {
	f := &follower{merger: mg, params: p, told: map[string]struct{}{}, res: res}
	if err := f.readPending(ctx); err != nil || len(f.pending) == 0 {
		return f.res, err
	}

	db, err := f.Core.Open(ctx, false)
	if err != nil {
		return f.res, err
	}

	watch, err := db.Watch(res.RoomID)
	if err != nil {
		return f.res, err
	}
	defer watch.Close()

	if err := f.ensureLander(); err != nil {
		return f.res, err
	}
	return f.res, f.followUntilDone(ctx, watch)
}

// followUntilDone waits until nothing is pending, or nothing goes on.
func (f *follower) followUntilDone(ctx context.Context, watch *store.Watch) error {
	started := time.Now()
	for {
		// The process is asked before the tasks: what it did before its end is seen then.
		now := ReadLanding(f.Repo)
		if err := f.settlePending(ctx); err != nil {
			return err
		}
		if len(f.pending) == 0 {
			return f.outcomeError()
		}

		switch held := f.heldOf(now); {
		case now.Runner != nil:
			f.tellHeld(held)
		case len(held) == len(f.pending):
			f.res.Waiting = held
			return f.outcomeError()
		case time.Since(started) > tasks.LanderPause:
			// It has died.
			if err := f.ensureLander(); err != nil {
				return err
			}
			started = time.Now()
		}

		watch.ReleaseForSleep()
		select {
		case <-watch.C:
		case <-time.After(followLook):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readPending reads which tasks the caller waits for.
func (f *follower) readPending(ctx context.Context) error {
	wanted, err := f.listWanted(ctx)
	if err != nil {
		return err
	}

	if f.params.TaskID == "" {
		for _, t := range wanted {
			f.pending = append(f.pending, t.ID)
		}
		return nil
	}

	task, err := f.ReadTask(ctx, f.params.TaskID)
	if err != nil {
		return err
	}

	isWanted := slices.ContainsFunc(wanted, func(t stick.Task) bool { return t.ID == task.ID })
	switch {
	case isWanted || task.State == stick.TaskCompleted:
		f.pending = []string{task.ID}
		return nil
	case task.State == stick.TaskApproved:
		return stick.Errorf(stick.CodeInvalidTransition, "nobody has asked that %s is merged by itself", task.ID).
			With("task_id", task.ID).With("state", task.State).
			Hintf("merge it now: %s; or have tt do so: %s", stick.Cmd("tt task merge <task_id>", task.ID),
				stick.Cmd("tt task approve <task_id> --merge", task.ID))
	case isBackFromMerge(task):
		// It came back before the caller began to wait, who is told the same.
		return errReturned([]string{task.ID})
	}

	_, err = tasks.Merge(task, "", "", "")
	return err
}

// isBackFromMerge reports whether a merge gave the task back to its worker, who hasn't offered it again since.
func isBackFromMerge(t stick.Task) bool {
	isWithWorker := t.State == stick.TaskWorking || t.State == stick.TaskConflicted
	return isWithWorker && (t.Cause == stick.CauseGate || t.Cause == stick.CauseConflict)
}

// ensureLander has a lander begin, unless one runs.
func (f *follower) ensureLander() error {
	if f.LockRunner(repository.QueueLock, "") != nil {
		return nil
	}
	if err := f.queue.StoreEnviron(f.Repo, nil); err != nil {
		return err
	}

	if note := f.queue.WakeLander(f.Repo, f.res.RoomID, true); note != "" {
		return stick.Errorf(stick.CodeTasksLeft, "%s", note).
			With("tasks", f.pending).Hintf("merge what is approved: %s", stick.Cmd("tt task merge --all"))
	}
	return nil
}

// settlePending moves what has landed or come back out of what is pending.
func (f *follower) settlePending(ctx context.Context) error {
	return f.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		var pending, back []string
		var merged []MergedTask
		for _, id := range f.pending {
			t, err := repository.TaskOf(tx, r.ID, id)
			if err != nil {
				return err
			}

			switch t.State {
			case stick.TaskApproved:
				pending = append(pending, id)
			case stick.TaskCompleted:
				merged = append(merged, MergedTask{
					TaskID: t.ID, Branch: t.Integration, Commit: t.Result, Head: t.Head, Tries: 1,
				})
			default:
				back = append(back, id)
			}
		}

		f.pending, f.back = pending, append(f.back, back...)
		f.res.Merged = append(f.res.Merged, merged...)
		return nil
	})
}

// heldOf returns why pending tasks are held up.
func (f *follower) heldOf(l Landing) (held []HeldTask) {
	for _, h := range l.Held {
		if slices.Contains(f.pending, h.TaskID) {
			held = append(held, h)
		}
	}
	return held
}

// tellHeld tells the caller once why a task has to wait.
func (f *follower) tellHeld(held []HeldTask) {
	for _, h := range held {
		key := h.TaskID + "\x00" + string(h.Why)
		if _, known := f.told[key]; known || f.params.Held == nil {
			continue
		}

		f.told[key] = struct{}{}
		f.params.Held(h)
	}
}

// outcomeError returns the error for tasks that came back, or that are left.
func (f *follower) outcomeError() error {
	switch {
	case len(f.back) > 0:
		return errReturned(f.back)
	case len(f.pending) > 0:
		return errLeft(f.pending)
	}
	return nil
}

// errLeft returns the error for tasks that are approved, and couldn't be merged.
func errLeft(ids []string) error {
	verb := stick.Words("is")
	if len(ids) > 1 {
		verb = "are"
	}
	return stick.Errorf(stick.CodeTasksLeft, "%s %s approved, and couldn't be merged now: %s",
		stick.Count(len(ids), "task"), verb, stick.Names(ids, repository.MostNamed)).
		With("tasks", ids).
		Hintf("see why above; when that is mended: %s", stick.Cmd("tt task merge --all"))
}
