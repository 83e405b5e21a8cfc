package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// RunTaskParams is a command that works on a task.
type RunTaskParams struct {
	Caller  Caller `json:"-"`
	Root    string `json:"root"` // of the workspace
	TaskID  string `json:"task_id"`
	Attempt int    `json:"attempt"`
	Command string `json:"command"`
	Dir     string `json:"dir"` // the worktree
	Environ []string
}

// RunTask runs a command in the worktree of a task, in a process group of its own, and notes its end with
// the last of what it printed. It is the life of the process that calls it.
func (e *Engine) RunTask(ctx context.Context, p RunTaskParams) error {
	argv := shellOf(p.Command)
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env = p.Dir, p.Environ
	c.WaitDelay = 5 * time.Second
	var out tail
	c.Stdout, c.Stderr = &out, &out
	ownGroup(c)
	self, err := e.cfg.Procs.Self()
	if err != nil {
		return err
	}
	run := store.TaskRun{Task: stick.TaskKey(p.TaskID), Attempt: p.Attempt, Command: p.Command, Process: self, StartedAt: stick.At(e.now())}
	if err := e.noteRun(ctx, p, run, nil); err != nil {
		return err
	}
	err = c.Run()
	run.EndedAt = stick.At(e.now())
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if run.Exit = exit.ExitCode(); run.Exit < 0 {
			run.Exit = 128
		}
	} else if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		run.Exit = 127
		out.Write([]byte(err.Error() + "\n"))
	}
	ctx = context.WithoutCancel(ctx)
	db, err := e.open(ctx, true)
	if err != nil {
		return err
	}
	b, err := db.WriteBlob(out.bytes())
	if err != nil {
		return err
	}
	run.Output = b.Sum
	return e.noteRun(ctx, p, run, &b)
}

// noteRun stores how a command stands, and wakes those who look at the room.
func (e *Engine) noteRun(ctx context.Context, p RunTaskParams, run store.TaskRun, output *store.Blob) error {
	place, err := e.place(Where{Path: p.Root})
	if err != nil {
		return err
	}
	db, err := e.open(ctx, false)
	if err != nil {
		return err
	}
	return db.Update(ctx, func(tx *store.Tx) error {
		r, err := find(tx, Where{}, place)
		if err != nil {
			return err
		}
		task, err := taskOf(tx, r.ID, p.TaskID)
		if err != nil {
			return err
		}
		if task.Attempt != run.Attempt && output == nil {
			return stick.Errorf(stick.CodeStaleAttempt, "attempt %d of %s is over", run.Attempt, task.ID)
		}
		if output != nil {
			if err := tx.AddBlob(*output); err != nil {
				return err
			}
		}
		tx.Ring(r.ID)
		return tx.PutRun(r.ID, run)
	})
}

// stopRun asks the command of a task that is over to end.
func (y *yard) stopRun(ctx context.Context, task stick.Task) {
	var runs []store.TaskRun
	err := y.look(ctx, func(tx *store.Tx, _ *sights, r stick.Room, _ identity) (err error) {
		runs, err = tx.Runs(r.ID, task.ID)
		return err
	})
	if err != nil {
		return
	}
	for _, run := range runs {
		if run.EndedAt.IsZero() && run.Process.PID != 0 && y.e.cfg.Procs.Verdict(run.Process) == stick.Alive {
			if p, err := os.FindProcess(run.Process.PID); err == nil {
				_ = endProcess(p) // it may have ended by itself meanwhile
			}
		}
	}
}

// WorkerOutputParams asks for the output of a command.
type WorkerOutputParams struct {
	Caller Caller `json:"-"`
	Sum    string `json:"sum"` // or the beginning of it
}

// WorkerOutputResult is what a command printed, as far as it was kept.
type WorkerOutputResult struct {
	Sum  string `json:"sum"`
	Size int    `json:"size"`
	Text string `json:"text"`
}

// WorkerOutput tells what a gate, a worker's command or a piece of evidence printed. It fails with
// [stick.CodeNotFound].
func (e *Engine) WorkerOutput(ctx context.Context, p WorkerOutputParams) (WorkerOutputResult, error) {
	missing := stick.Errorf(stick.CodeNotFound, "there is no output %q", stick.Clip(p.Sum, 70)).Hintf("tt worker show <task> tells the outputs of a task")
	db, err := e.open(ctx, false)
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
