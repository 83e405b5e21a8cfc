package task

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// RunTaskParams is a command that works on a task.
type RunTaskParams struct {
	Caller  core.Caller   `json:"-"`
	Root    string        `json:"root"` // of the workspace
	TaskID  string        `json:"task_id"`
	Attempt int           `json:"attempt"`
	Command string        `json:"command"`
	Dir     string        `json:"dir"`     // the worktree
	Starter stick.Process `json:"starter"` // who has claimed it, and starts it

	Environ []string `json:"-"`
	Begun   func()   `json:"-"` // is called when the command is noted as begun
}

// ClaimRunResult says whether a command is the caller's to start.
type ClaimRunResult struct {
	Starter stick.Process // the caller, as the one who starts it; nobody when it isn't the caller's
	Run     *RunView      // what the attempt has instead
}

// ClaimRun makes the caller the one who starts the command of an attempt: there is one for each. A claim
// whose process died before the command began is over. It fails with [stick.CodeAlreadyExists] when the
// attempt has another command, and with [stick.CodeStaleAttempt].
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
				Hintf("it has one for each attempt; to give up this one: %s, then %s",
					stick.Cmd("tt worker cancel <task_id>", task.ID), stick.Cmd("tt worker retry <task_id> --run …", task.ID))
		}
		res.Run = viewRun(run)
		return run, false, nil
	})
}

// unclaimed tells whether nobody has begun, or is about to begin, a command.
func (ts *Tasks) unclaimed(run store.TaskRun) bool {
	return run.Process.IsZero() || run.StartedAt.IsZero() && ts.core.Config.Procs.Verdict(run.Process) == stick.Gone
}

// requireCurrentAttempt refuses what belongs to an attempt that is over.
func requireCurrentAttempt(task stick.Task, attempt int) error {
	if task.Attempt != attempt || task.Over() {
		return stick.Errorf(stick.CodeStaleAttempt, "attempt %d of %s is over", attempt, task.ID).With("task_id", task.ID).With("attempt", task.Attempt).
			Hintf("%s tells what became of it", stick.Cmd("tt worker show <task_id>", task.ID))
	}
	return nil
}

// RunTask runs a command in the worktree of a task, in a process group of its own, and notes its end with
// the last of what it printed. It is the life of the process that calls it. It fails with
// [stick.CodeStaleAttempt] when the command isn't its starter's any more.
func (ts *Tasks) RunTask(ctx context.Context, p RunTaskParams) error {
	argv := shellOf(p.Command)
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env = p.Dir, p.Environ
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
			return run, false, stick.Errorf(stick.CodeStaleAttempt, "the command of %s is started by another process", task.ID).With("task_id", task.ID)
		}
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

// updateRun changes what is known of the command of an attempt, and wakes those who look at the room.
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

// stopRun asks the command of a task that is over to end. One that hasn't begun won't.
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
				_ = endProcess(p) // it may have ended by itself meanwhile
			}
		}
	}
}

// WorkerOutputParams asks for the output of a command.
type WorkerOutputParams struct {
	Caller core.Caller `json:"-"`
	Sum    string      `json:"sum"` // or the beginning of it
}

// WorkerOutputResult is what a command printed, as far as it was kept.
type WorkerOutputResult struct {
	Sum  string `json:"sum"`
	Size int    `json:"size"`
	Text string `json:"text"`
}

// WorkerOutput tells what a gate, a worker's command or a piece of evidence printed. It fails with
// [stick.CodeNotFound].
func (ts *Tasks) WorkerOutput(ctx context.Context, p WorkerOutputParams) (WorkerOutputResult, error) {
	missing := stick.Errorf(stick.CodeNotFound, "there is no output %q", stick.Clip(p.Sum, 70)).Hintf("%s tells the outputs of a task", stick.Cmd("tt worker show <task_id>"))
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
