package runner

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/internal/task/command"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/tasks"
)

// RunTaskParams is a run to start, as [Runs.WorkerRun] has claimed it.
type RunTaskParams struct {
	Caller  core.Caller   `json:"-"`
	RoomID  stick.RoomID  `json:"room_id"`
	Root    string        `json:"root"` // the main checkout: the worktree may go while the command runs
	TaskID  string        `json:"task_id"`
	Attempt int           `json:"attempt"`
	Run     int           `json:"run"`
	Slot    int           `json:"slot"`    // of the task
	Dir     string        `json:"dir"`     // the worktree
	Starter stick.Process `json:"starter"` // the process that has claimed the run
	Most    int           `json:"most"`    // how many commands may run on this host; 0 for any number

	Limit time.Duration `json:"limit,omitempty"` // for how long the command may run; 0 for any time

	Environ []string `json:"-"` // of the command, without the mark of its task
	Begun   func()   `json:"-"` // called once the start of the command is recorded, or that it waits for others to end
	Alone   bool     `json:"-"` // the calling process does nothing else, so everything below it belongs to the run
}

// markOf is the variable that marks what the command of an attempt runs.
func markOf(room stick.RoomID, task string, attempt int) string {
	return harness.TaskEnv + "=" + edits.TaskMark{Room: room, Task: task, Attempt: attempt}.String()
}

const (
	// stopGrace is how long processes that are asked to end have for it. Then they are killed.
	stopGrace = 10 * time.Second
	// settleTime is how long what a command has left behind may go on after it, such as git's own upkeep.
	settleTime = 5 * time.Second
)

// RunTask runs the command of an attempt in the task's worktree, in a process group of its own, and keeps its
// output. When the command has ended, RunTask ends what the command has left behind, and records how it
// ended. If the run is to start again by itself, RunTask waits until the task comes back, at no cost, and
// starts the next run. If the run is queued, RunTask first waits until fewer commands run. If ctx ends, it
// ends the command.
//
// It fails with [stick.CodeStaleAttempt] if p.Starter has lost its claim, somebody has stopped the run before
// it began, or the attempt is over.
func (rs *Runs) RunTask(ctx context.Context, p RunTaskParams) error {
	rs.core.KillPoint("run: attends")

	run, err := rs.beginRun(ctx, p)
	if err != nil {
		return err
	}

	if p.Begun != nil {
		p.Begun()
	}

	next := &run
	if run.Queued {
		next = rs.awaitRun(ctx, p, run, func() (*tasks.Run, bool, error) { return rs.leaveQueue(ctx, p, run) })
	}

	for next != nil {
		if run, err = rs.attendRun(ctx, p, *next); err != nil {
			return err
		}

		rs.cleanUpLanded(ctx, p, run)
		if run.Restarts+run.Retries == 0 {
			return nil
		}

		next = rs.awaitRun(ctx, p, run, func() (*tasks.Run, bool, error) { return rs.runAgain(ctx, p, run) })
	}

	return nil
}

// cleanUpLanded removes the worktree of a task that landed while its command ran: the merge had to leave it, because
// a process worked there. What fails is left to the next merge, which tries again.
func (rs *Runs) cleanUpLanded(ctx context.Context, p RunTaskParams, run tasks.Run) {
	rp, err := rs.repos.Open(ctx, core.Where{Path: p.Root}, p.workerCaller(run))
	if err != nil {
		return
	}

	task, err := rp.ReadTask(ctx, p.TaskID)
	if err != nil || task.State != stick.TaskCompleted || task.Attempt != p.Attempt {
		return
	}
	if _, err := os.Lstat(rp.WorktreePath(task)); err != nil {
		return
	}

	// A merge that is just being recorded cleans up after it, under this lock.
	unlock, err := rp.LockTask(ctx, p.TaskID)
	if err != nil {
		return
	}
	defer unlock()
	rp.RetryCleanup(ctx, task)
}

// beginRun records that the calling process starts the command now or, if the run is queued, as soon as it
// may.
func (rs *Runs) beginRun(ctx context.Context, p RunTaskParams) (begun tasks.Run, err error) {
	self, err := rs.core.Config.Procs.Self()
	if err != nil {
		return begun, err
	}
	return begun, rs.updateRuns(ctx, p, func(tx *store.Tx, task stick.Task, runs []tasks.Run) (*tasks.Run, error) {
		if err := requireCurrentAttempt(task, p.Attempt); err != nil {
			return nil, err
		}

		run := runs[len(runs)-1]

		// Only the process that holds the claim on this very run may begin it.
		if run.Attempt != p.Attempt || run.Number != p.Run || run.Process != p.Starter ||
			!run.StartedAt.IsZero() || !run.EndedAt.IsZero() {
			return nil, errNotBegun(task, run, p)
		}

		// From here on the run is this process's. A queued one starts later.
		run.Process = self
		if !run.Queued {
			run.StartedAt, run.TaskAt = max(tx.Now(), 1), task.StateAt
		}

		begun = run
		return &run, nil
	})
}

// errNotBegun says why a claimed run doesn't begin.
func errNotBegun(task stick.Task, last tasks.Run, p RunTaskParams) *stick.Error {
	why := stick.Wordsf("another process starts the command of %s", task.ID)
	if last.Attempt == p.Attempt && last.Number == p.Run && !last.StopAt.IsZero() {
		why = stick.Wordsf("%s has stopped run %d of %s before it began", last.StoppedBy, p.Run, task.ID)
	}
	return stick.Errorf(stick.CodeStaleAttempt, "%s", why).With("task_id", task.ID).With("attempt", p.Attempt).
		With("run", p.Run).
		Hintf("to see its state: %s", stick.Cmd("tt task show <task_id>", task.ID))
}

// DropRun takes a claim back, also when ctx has ended, so that its run never begins and another caller may
// start one. It doesn't start by itself either. dropped is false if the run has begun, or was stopped.
func (rs *Runs) DropRun(ctx context.Context, p RunTaskParams) (dropped bool, err error) {
	err = rs.updateRuns(context.WithoutCancel(ctx), p, func(tx *store.Tx, _ stick.Task, runs []tasks.Run) (*tasks.Run, error) {
		run := runs[len(runs)-1]
		dropped = run.Attempt == p.Attempt && run.Number == p.Run && run.Process == p.Starter &&
			run.StartedAt.IsZero() && run.EndedAt.IsZero()
		if !dropped {
			return nil, nil
		}

		run.Process, run.Queued, run.StopAt, run.StoppedBy = stick.Process{}, false, max(tx.Now(), 1), run.By
		return &run, nil
	})
	return dropped, err
}

// attendRun runs the command of a run that has begun, and records its end.
func (rs *Runs) attendRun(ctx context.Context, p RunTaskParams, run tasks.Run) (tasks.Run, error) {
	rs.core.KillPoint("run: begun")

	rs.dropOldOutput(p.RoomID)
	out := newOutput(rs.outputDir(p.RoomID, run))
	run.Exit, run.Signal, run.Limited = rs.executeCommand(ctx, p, run, out)
	out.closePart()
	rs.core.KillPoint("run: ended")

	// The command has ended, whatever becomes of the caller: the record isn't cancelled with it.
	ended := run
	err := untilRecorded(func() (err error) {
		ended, err = rs.recordEnd(context.WithoutCancel(ctx), p, run, out.tail.Bytes())
		if err != nil {
			rs.core.KillPoint("run: end not recorded")
		}
		return err
	})
	return ended, err
}

// recordTime is how long a process tries to record the end of its command. Nobody else knows how that has
// ended.
const recordTime = time.Hour

// untilRecorded calls record until it succeeds, the record isn't this process's any more, or [recordTime] has
// passed. The disk may be full for a while, or the database's server away.
func untilRecorded(record func() error) error {
	began, pause := time.Now(), 100*time.Millisecond
	for {
		err := record()
		if err == nil || isGone(err) || time.Since(began) > recordTime {
			return err
		}

		time.Sleep(pause)
		pause = min(2*pause, time.Minute)
	}
}

// recordEnd records how a run has ended. output is the end of its output.
func (rs *Runs) recordEnd(ctx context.Context, p RunTaskParams, ended tasks.Run, output []byte) (tasks.Run, error) {
	db, err := rs.core.Open(ctx, false)
	if err != nil {
		return ended, err
	}

	// The blob is written before the transaction, which may run again.
	b, err := db.WriteBlob(output)
	if err != nil {
		return ended, err
	}
	return ended, rs.updateRuns(ctx, p, func(tx *store.Tx, task stick.Task, runs []tasks.Run) (*tasks.Run, error) {
		run := runs[len(runs)-1]

		// A stop may have recorded the end already, and another run may have begun since.
		if run.Attempt != ended.Attempt || run.Number != ended.Number || run.Process != ended.Process ||
			!run.EndedAt.IsZero() {
			return nil, stick.Errorf(stick.CodeStaleAttempt,
				"another process has recorded the end of run %d of %s", ended.Number, p.TaskID).
				With("task_id", p.TaskID)
		}

		run.EndedAt, run.Exit, run.Signal, run.Output = max(tx.Now(), 1), ended.Exit, ended.Signal, b.Sum
		run.Limited = ended.Limited
		run.RetryAt = run.RetryTime(task, runs)
		ended = run
		return &run, tx.AddBlob(b)
	})
}

// updateRuns changes the last run of a task, and wakes everybody who waits in the room. It does neither if
// change returns nil.
func (rs *Runs) updateRuns(
	ctx context.Context, p RunTaskParams, change func(*store.Tx, stick.Task, []tasks.Run) (*tasks.Run, error),
) error {
	db, err := rs.core.Open(ctx, false)
	if err != nil {
		return err
	}
	return db.Update(ctx, func(tx *store.Tx) error {
		task, runs, err := p.readRuns(tx)
		if err != nil {
			return err
		}

		run, err := change(tx, task, runs)
		if err != nil || run == nil {
			return err
		}

		// Whoever waits for the run wakes, and reads what is stored here.
		tx.Ring(p.RoomID)
		return tx.PutRun(p.RoomID, *run)
	})
}

// readRuns reads the task, which has runs, and these.
func (p RunTaskParams) readRuns(tx *store.Tx) (task stick.Task, runs []tasks.Run, err error) {
	if _, err := tx.Room(p.RoomID); err != nil {
		return task, nil, err
	}
	if task, err = repository.TaskOf(tx, p.RoomID, p.TaskID); err != nil {
		return task, nil, err
	}
	if runs, err = tx.Runs(p.RoomID, p.TaskID); err == nil && len(runs) == 0 {
		err = requireCurrentAttempt(task, 0)
	}
	return task, runs, err
}

// executeCommand runs the command until it and what it has started have ended.
func (rs *Runs) executeCommand(
	ctx context.Context, p RunTaskParams, run tasks.Run, out *outputWriter,
) (exit int, signal string, limited bool) {
	if ctx.Err() != nil {
		// It was stopped before it started.
		return -1, "", false
	}

	argv := command.ShellArguments(run.Command)
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Env = p.Dir, slices.Concat(p.Environ, repository.SlotEnviron(p.Slot),
		[]string{markOf(p.RoomID, p.TaskID, run.Attempt)})
	command.SetOwnGroup(c)
	failed := func(err error) (int, string, bool) {
		fmt.Fprintln(out, err)
		return 127, "", false
	}

	// The command writes into a pipe, not a file: so it is seen when all its writers have closed it.
	r, w, err := os.Pipe()
	if err != nil {
		return failed(err)
	}

	c.Stdout, c.Stderr = w, w
	adopted := beginAdoption(p.Alone)
	err = adopted.startCommand(c)

	// The command has its own copy of the writing end, and only it may keep the pipe open.
	w.Close()
	if err != nil {
		r.Close()
		adopted.close()
		return failed(err)
	}
	rs.core.KillPoint("run: started")

	// One goroutine keeps the output, another one waits for the command.
	silent, ended := copyOutput(out, r), make(chan struct{})

	// This goroutine ends with the command.
	go func() {
		defer close(ended)

		// What c.ProcessState says is enough, so the error isn't needed.
		_ = c.Wait()
	}()

	find := func() []proc.Info { return rs.processesBelow(p, run, c.Process.Pid) }
	e := processEnder{procs: rs.core.Config.Procs, find: find, commandEnded: ended, command: c}

	// What the command has left behind has a moment to end by itself, unless the caller stops the run.
	select {
	case <-ctx.Done():
	case <-limitOf(p):
		limited = true
		fmt.Fprintf(out, "[tt: [worker] time_limit is over, after %s; tt ends the command]\n", stick.Age(p.Limit))
	case <-ended:
		e.awaitEnd(settleTime, ctx.Done())
	}

	// Nothing of the run goes on after this.
	e.endAll(rs.grace)
	<-ended
	adopted.close()

	select {
	case <-silent:
	case <-time.After(time.Second): // a process that can't be found has it open
		r.Close()
		<-silent
	}

	r.Close()
	exit, signal = command.ExitStatus(c.ProcessState)
	return exit, signal, limited
}

// limitOf returns what tells that the command has run for as long as it may; nil if it may for any time.
func limitOf(p RunTaskParams) <-chan time.Time {
	if p.Limit <= 0 {
		return nil
	}
	return time.After(p.Limit)
}

// copyOutput begins to keep what is read from r. The channel is closed when nobody can write any more, or
// when r is closed.
func copyOutput(out io.Writer, r io.Reader) (silent <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)

		_, _ = io.CopyBuffer(out, struct{ io.Reader }{r}, make([]byte, 64<<10))
	}()
	return done
}

// processesBelow finds what a command of the calling process has started.
func (rs *Runs) processesBelow(p RunTaskParams, run tasks.Run, leader int) []proc.Info {
	procs := rs.core.Config.Procs
	by := proc.Traces{Variable: markOf(p.RoomID, p.TaskID, run.Attempt), Except: rs.otherRun}

	// A process that does nothing else owns all that is below it, and its session.
	if self, err := procs.Self(); err == nil && p.Alone {
		by.Below, by.Session = []stick.Process{self}, self
	}

	found := procs.StartedProcesses(by)
	for i, f := range found {
		if f.ID.PID == leader {
			// Who waits for it knows when it has ended.
			return append(found[:i], found[i+1:]...)
		}
	}

	return found
}

// otherRun reports whether a process belongs to somebody else although a run has started it: to a run that
// was started in this one, or to us.
func (rs *Runs) otherRun(p proc.Info) bool {
	self, err := rs.core.Config.Procs.Self()
	return err == nil && p.ID == self || len(p.Args) > 0 && p.Args[0] == harness.RunnerName
}
