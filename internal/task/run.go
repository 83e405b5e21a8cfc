package task

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// RunTaskParams is a command to run for an attempt at a task, such as a headless agent.
type RunTaskParams struct {
	Caller  core.Caller   `json:"-"`
	RoomID  stick.RoomID  `json:"room_id"`
	Root    string        `json:"root"` // the root of the workspace
	TaskID  string        `json:"task_id"`
	Attempt int           `json:"attempt"`
	Command string        `json:"command"`
	Dir     string        `json:"dir"`     // the worktree
	Starter stick.Process `json:"starter"` // the process that has claimed the command

	Environ []string `json:"-"`
	Begun   func()   `json:"-"` // called once the start of the command is recorded
}

// ClaimRunResult says whether the caller is to start the command.
type ClaimRunResult struct {
	Starter stick.Process // the caller's process, if it is to start the command; else zero
	Run     *RunView      // the command that the attempt has already, if the caller isn't to start it
}

// ClaimRun lets one caller start the command of an attempt. Each attempt has one command. If the process with the
// claim dies before the command starts, another caller gets the claim. It fails with [stick.CodeAlreadyExists] if
// the attempt has a different command, and with [stick.CodeStaleAttempt].
func (ts *Tasks) ClaimRun(ctx context.Context, p RunTaskParams) (res ClaimRunResult, err error) {
	self, err := ts.core.Config.Procs.Self()
	if err != nil {
		return res, err
	}
	return res, ts.updateRun(ctx, p, func(tx *store.Tx, task stick.Task, run store.TaskRun) (store.TaskRun, bool, error) {
		res = ClaimRunResult{}
		if err := requireCurrentAttempt(task, p.Attempt); err != nil {
			return run, false, err
		}
		if ts.unclaimed(run) {
			res.Starter = self
			run.Command, run.Process = p.Command, self
			return run, true, nil
		}
		if run.Command != p.Command {
			return run, false, stick.Errorf(stick.CodeAlreadyExists, "attempt %d of %s has a command already: %s", run.Attempt, task.ID, stick.Clip(run.Command, 160)).
				With("task_id", task.ID).With("attempt", task.Attempt).
				Hintf("an attempt has one command; to start another attempt: %s, then %s",
					stick.Cmd("tt worker cancel <task_id>", task.ID), stick.Cmd("tt worker retry <task_id> --run …", task.ID))
		}
		res.Run = viewRun(run)
		return run, false, nil
	})
}

// unclaimed reports whether a command has neither started nor a living process that is about to start it.
func (ts *Tasks) unclaimed(run store.TaskRun) bool {
	return run.Process.IsZero() || run.StartedAt.IsZero() && ts.core.Config.Procs.Verdict(run.Process) == stick.Gone
}

// requireCurrentAttempt fails with [stick.CodeStaleAttempt] if the attempt is over.
func requireCurrentAttempt(task stick.Task, attempt int) error {
	if task.Attempt != attempt || task.Over() {
		return stick.Errorf(stick.CodeStaleAttempt, "attempt %d of %s is over", attempt, task.ID).With("task_id", task.ID).With("attempt", task.Attempt).
			Hintf("to see how it ended: %s", stick.Cmd("tt worker show <task_id>", task.ID))
	}
	return nil
}

// RunTask runs the command of an attempt in the task's worktree, in its own process group. It returns when the
// command has ended, and records the exit status and the end of the output. The calling process does nothing else.
// It fails with [stick.CodeStaleAttempt] if p.Starter has lost its claim or the attempt is over.
func (ts *Tasks) RunTask(ctx context.Context, p RunTaskParams) error {
	argv := shellOf(p.Command)
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = p.Dir
	c.WaitDelay = 5 * time.Second
	var out tailBuffer
	c.Stdout, c.Stderr = &out, &out
	ownGroup(c)
	self, err := ts.core.Config.Procs.Self()
	if err != nil {
		return err
	}
	err = ts.updateRun(ctx, p, func(_ *store.Tx, task stick.Task, run store.TaskRun) (store.TaskRun, bool, error) {
		if err := requireCurrentAttempt(task, p.Attempt); err != nil {
			return run, false, err
		}
		if !run.StartedAt.IsZero() || run.Process != p.Starter {
			return run, false, stick.Errorf(stick.CodeStaleAttempt, "another process starts the command of %s", task.ID).With("task_id", task.ID)
		}
		c.Env = slices.Concat(p.Environ, slotEnviron(task.Slot))
		run.Process, run.StartedAt = self, stick.At(ts.core.Now())
		return run, true, nil
	})
	if err != nil {
		return err
	}
	if p.Begun != nil {
		p.Begun()
	}
	err = c.Run()
	ended, status := stick.At(ts.core.Now()), 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status = exit.ExitCode(); status < 0 {
			status = 128
		}
	} else if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		status = 127
		out.Write([]byte(err.Error() + "\n"))
	}
	ctx = context.WithoutCancel(ctx)
	db, err := ts.core.Open(ctx, true)
	if err != nil {
		return err
	}
	b, err := db.WriteBlob(out.bytes())
	if err != nil {
		return err
	}
	return ts.updateRun(ctx, p, func(tx *store.Tx, _ stick.Task, run store.TaskRun) (store.TaskRun, bool, error) {
		run.EndedAt, run.Exit, run.Output = ended, status, b.Sum
		return run, true, tx.AddBlob(b)
	})
}

// updateRun changes the record of an attempt's command, and wakes everybody who waits in the room. It does neither
// if change returns false.
func (ts *Tasks) updateRun(ctx context.Context, p RunTaskParams, change func(*store.Tx, stick.Task, store.TaskRun) (store.TaskRun, bool, error)) error {
	place, err := ts.core.Place(core.Where{Path: p.Root})
	if err != nil {
		return err
	}
	db, err := ts.core.Open(ctx, false)
	if err != nil {
		return err
	}
	return db.Update(ctx, func(tx *store.Tx) error {
		r, err := core.FindRoom(tx, core.Where{}, place)
		if err != nil {
			return err
		}
		task, err := taskOf(tx, r.ID, p.TaskID)
		if err != nil {
			return err
		}
		run := store.TaskRun{Task: stick.TaskKey(p.TaskID), Attempt: p.Attempt, Command: p.Command}
		runs, err := tx.Runs(r.ID, p.TaskID)
		if err != nil {
			return err
		}
		for _, is := range runs {
			if is.Attempt == p.Attempt {
				run = is
			}
		}
		run, changed, err := change(tx, task, run)
		if err != nil || !changed {
			return err
		}
		tx.Ring(r.ID)
		return tx.PutRun(r.ID, run)
	})
}

// stopRun asks the running command of a task that is over to end. A command that hasn't started is refused by
// [requireCurrentAttempt] later.
func (rp *repo) stopRun(ctx context.Context, task stick.Task) {
	var runs []store.TaskRun
	err := rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) (err error) {
		runs, err = tx.Runs(r.ID, task.ID)
		return err
	})
	if err != nil {
		return
	}
	for _, run := range runs {
		if run.EndedAt.IsZero() && !run.StartedAt.IsZero() && rp.tasks.core.Config.Procs.Verdict(run.Process) == stick.Alive {
			if p, err := os.FindProcess(run.Process.PID); err == nil {
				_ = endProcess(p) // it may have ended meanwhile
			}
		}
	}
}

// WorkerOutputParams asks for the output of a gate, a check or a worker's command.
type WorkerOutputParams struct {
	Caller core.Caller `json:"-"`
	Sum    string      `json:"sum"` // the sum of the output, or at least its first six digits
}

// WorkerOutputResult is what a command printed, as far as it is kept.
type WorkerOutputResult struct {
	Sum  string `json:"sum"`
	Size int    `json:"size"`
	Text string `json:"text"`
}

// WorkerOutput returns what a gate, a check or a worker's command printed. It fails with [stick.CodeNotFound].
func (ts *Tasks) WorkerOutput(ctx context.Context, p WorkerOutputParams) (WorkerOutputResult, error) {
	missing := stick.Errorf(stick.CodeNotFound, "there is no output %q", stick.Clip(p.Sum, 70)).Hintf("to see the outputs of a task: %s", stick.Cmd("tt worker show <task_id>"))
	db, err := ts.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return WorkerOutputResult{}, missing
	}
	if err != nil {
		return WorkerOutputResult{}, err
	}
	sum, ok := "", false
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		sum, ok, err = tx.FindBlob(p.Sum)
		return err
	})
	if err != nil {
		return WorkerOutputResult{}, err
	}
	if !ok || len(p.Sum) < 6 {
		return WorkerOutputResult{}, missing
	}
	b, err := db.ReadBlob(sum)
	return WorkerOutputResult{Sum: sum, Size: len(b), Text: string(b)}, err
}
