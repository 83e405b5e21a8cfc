package repository

import (
	"context"
	"slices"
	"strconv"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// SlotEnv is the environment variable that tells a project's commands the slot of their worktree, so that
// ports and databases of several worktrees don't meet.
const SlotEnv = "TT_SLOT"

// SlotEnviron returns the environment variable of a slot.
func SlotEnviron(slot int) []string {
	if slot == stick.NoSlot {
		return nil
	}
	return []string{SlotEnv + "=" + strconv.Itoa(slot)}
}

// freeSlot returns the slot for a task that gets a worktree here: the one that it had, if nobody else has it,
// or else the lowest that is free.
func (o *Op) freeSlot(task stick.Task) (int, error) {
	in := o.Tx.CheckoutOf(o.Room)

	// Slots of tasks that have a worktree, and of those that are getting one.
	used, err := o.Tx.Slots(o.Room.ID, in)
	if err != nil {
		return 0, err
	}

	open, err := o.Tx.Intents(o.Room.ID, "")
	if err != nil {
		return 0, err
	}

	// Worktrees that others are making at this moment.
	for _, i := range open {
		if (i.Kind != IntentSpawn && i.Kind != IntentRetry) || i.In != in || i.Task == stick.TaskKey(task.ID) {
			continue
		}
		if d, err := ReadIntent[SpawnIntent](i); err == nil {
			used = append(used, d.Slot)
		}
	}

	if task.Slot != stick.NoSlot && !slices.Contains(used, task.Slot) {
		return task.Slot, nil
	}
	return tasks.FreeSlot(used), nil
}

// setupTimeout is how long the set-up of a worktree may take.
const setupTimeout = 30 * time.Minute

// worktreeSetup is the project's command that sets a worktree up.
type worktreeSetup struct {
	id      string // of its intent
	task    stick.Task
	attempt int
	path    string
	command string
	slot    int
}

// SetupView is how the set-up of an attempt's worktree went.
type SetupView struct {
	Command   string     `json:"command"`
	StartedAt stick.Time `json:"started_at"`
	EndedAt   stick.Time `json:"ended_at"`
	Exit      *int       `json:"exit"` // null while it runs, and if it was interrupted; -1 if it took too long
	Output    string     `json:"output,omitempty"`
}

// Failed says why the worktree isn't set up, "" if it is or is being set up.
func (v *SetupView) Failed(doing string) stick.Words {
	switch {
	case v == nil || doing == IntentSetup:
		return ""
	case v.Exit == nil:
		return "its set-up was interrupted"
	case *v.Exit == -1:
		return "its set-up took too long"
	case *v.Exit != 0:
		return stick.Wordsf("its set-up has failed with exit status %d", *v.Exit)
	}

	return ""
}

func ViewSetup(s store.TaskSetup) *SetupView {
	v := &SetupView{Command: s.Command, StartedAt: s.StartedAt, EndedAt: s.EndedAt, Output: s.Output}
	if !s.EndedAt.IsZero() {
		v.Exit = &s.Exit
	}
	return v
}

// wasSetUp reports whether the worktree of a plan was there before, and its last set-up went well, for the
// same slot.
func (rp *Repo) wasSetUp(ctx context.Context, m Plan) (ok bool, err error) {
	if m.newTree || m.slot != m.Task.Slot {
		return false, nil
	}

	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		// The last attempt that was set up counts.
		setups, err := tx.Setups(r.ID, m.Task.ID)

		// Without any set-up, there was nothing to do.
		last := store.TaskSetup{EndedAt: 1}

		for _, s := range setups {
			if s.Attempt >= last.Attempt {
				last = s
			}
		}

		ok = !last.EndedAt.IsZero() && last.Exit == 0
		return err
	})
	return ok, err
}

// planSetup returns the set-up of a worktree that a plan needs, nil if it needs none.
func (rp *Repo) planSetup(ctx context.Context, m Plan) (*worktreeSetup, error) {
	if m.worker.Setup == "" {
		return nil, nil
	}
	if ok, err := rp.wasSetUp(ctx, m); ok || err != nil {
		return nil, err
	}

	id, err := rp.NewID(ctx)
	return &worktreeSetup{
		id: id, task: m.Task, attempt: max(m.Task.Attempt, 1), path: m.Path, command: m.worker.Setup,
		slot: m.slot,
	}, err
}

// beginSetup records that a worktree is about to be set up; s may be nil.
func (o *Op) beginSetup(s *worktreeSetup) error {
	if s == nil {
		return nil
	}

	err := o.Tx.PutSetup(o.Room.ID, store.TaskSetup{
		Task: stick.TaskKey(s.task.ID), Attempt: s.attempt, Command: s.command, StartedAt: o.Tx.Now(),
	})
	if err != nil {
		return err
	}
	return o.StoreIntent(s.id, IntentSetup, s.task, s.attempt, setupIntent{s.path, s.command})
}

// setUp runs the project's command in a worktree, and records how it ended; s may be nil. What it changed in
// the worktree stays, however it ends. It fails with [stick.CodeSetupFailed].
func (rp *Repo) setUp(ctx context.Context, s *worktreeSetup) error {
	if s == nil {
		return nil
	}
	defer rp.ServeIntent(ctx, s.id)()
	rp.KillPoint("setup: begun")

	outcome, err := rp.RunShell(ctx, s.path, s.command, setupTimeout, SlotEnviron(s.slot), nil)
	if err != nil {
		// If this fails, the next command ends the intent.
		_ = rp.WriteOutcome(ctx, func(o *Op) error { return o.Tx.EndIntent(s.id, "interrupted") })
		return err
	}
	rp.KillPoint("setup: ran")

	// What it printed is kept, also if it went well.
	db, err := rp.Core.Open(ctx, true)
	if err != nil {
		return err
	}

	report, err := db.WriteBlob(outcome.Output)
	if err != nil {
		return err
	}

	// isWorker says whether the caller is the worker of the task.
	isWorker := false
	err = rp.WriteOutcome(ctx, func(o *Op) error {
		if err := o.Tx.AddBlob(report); err != nil {
			return err
		}

		now, err := TaskOf(o.Tx, o.Room.ID, s.task.ID)
		if err != nil {
			return err
		}

		isWorker = now.Worker == o.Me.Agent
		setups, err := o.Tx.Setups(o.Room.ID, s.task.ID)
		if err != nil {
			return err
		}

		// The row of this attempt was stored by beginSetup.
		for _, was := range setups {
			if was.Attempt == s.attempt {
				was.EndedAt, was.Exit, was.Output = o.Tx.Now(), outcome.Exit, report.Sum
				if err := o.Tx.PutSetup(o.Room.ID, was); err != nil {
					return err
				}
			}
		}

		return o.Tx.EndIntent(s.id, "done")
	})
	if err != nil || outcome.Exit == 0 {
		return err
	}

	e := stick.Errorf(stick.CodeSetupFailed, "the set-up of the worktree of %s failed (%s): %s", s.task.ID,
		outcome.DescribeExit(), stick.Clip(s.command, 160)).
		With("task_id", s.task.ID).With("path", s.path).With("report", report.Sum).
		With("left", []string{"the task " + s.task.ID, "its worktree " + s.path})

	// The task and its worktree are there, so the set-up alone can run again.
	output := stick.Cmd("tt task show --output <sum>", ShortCommit(report.Sum))

	// Starting the task would make the caller its worker, so that isn't proposed.
	if !isWorker {
		return e.Hintf("see what it printed: %s; when you have fixed it, run the same command again", output)
	}
	return e.Hintf("see what it printed: %s; when you have fixed it, run it again: %s", output,
		stick.Cmd("tt task start --task <task_id>", s.task.ID))
}

// SetUpAgain sets the worktree of a task up again if that failed or was interrupted. The caller must hold the
// task's lock. It fails as [Repo.setUp] and [Repo.RequireAccepted] do.
func (rp *Repo) SetUpAgain(ctx context.Context, task stick.Task) error {
	if ok, err := rp.isSetUp(ctx, task); ok || err != nil {
		return err
	}

	// The command is read anew: whoever fixed the cause may have changed it.
	tg, err := rp.ReadTarget(ctx, task.Integration)
	if err != nil {
		return err
	}

	w, err := rp.acceptedSettings(ctx, tg.Head())
	if err != nil {
		return err
	}

	s, err := rp.planSetup(ctx, Plan{
		Task: task, Path: rp.WorktreePath(task), newTree: true, slot: task.Slot, worker: w,
	})
	if err != nil || s == nil {
		return err
	}
	if err := rp.Write(ctx, core.MustBeMember, func(o *Op) error { return o.beginSetup(s) }); err != nil {
		return err
	}
	return rp.setUp(ctx, s)
}

// CanResumeSetUp reports whether the worktree of a task is set up, or its set-up was interrupted. One that
// failed waits for somebody who has fixed the cause.
func CanResumeSetUp(tx *store.Tx, room stick.RoomID, task stick.Task) (bool, error) {
	setups, err := tx.Setups(room, task.ID)
	return !slices.ContainsFunc(setups, func(s store.TaskSetup) bool {
		return s.Attempt == task.Attempt && !s.EndedAt.IsZero() && s.Exit != 0
	}), err
}

// isSetUp reports whether there is nothing to do about the set-up of a task's worktree: it has none, or it
// went well.
func (rp *Repo) isSetUp(ctx context.Context, task stick.Task) (ok bool, err error) {
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		setups, err := tx.Setups(r.ID, task.ID)
		ok = !slices.ContainsFunc(setups, func(s store.TaskSetup) bool {
			return s.Attempt == task.Attempt && (s.EndedAt.IsZero() || s.Exit != 0)
		})

		ok = ok || task.Elsewhere(tx.CheckoutOf(r)) || task.Later || task.State != stick.TaskAssigned && !task.Busy()
		return err
	})
	return ok, err
}

// FinishSetUp sets the worktree of a task up if an earlier set-up failed or was interrupted.
func (rp *Repo) FinishSetUp(ctx context.Context, id string) error {
	task, err := rp.ReadTask(ctx, id)
	if err != nil {
		return err
	}
	if ok, err := rp.isSetUp(ctx, task); ok || err != nil {
		return err
	}

	// Only a set-up that is due needs the lock.
	unlock, err := rp.LockTask(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()

	return rp.SetUpAgain(ctx, task)
}

// SlotOf returns the slot of a task as it is shown: nil for none.
func SlotOf(t stick.Task) *int {
	if t.Slot == stick.NoSlot || t.Over() {
		return nil
	}
	return &t.Slot
}
