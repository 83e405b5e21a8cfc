package runner

import (
	"context"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// WorkerRunParams asks to start the command of a worker, such as a headless agent, for the attempt that there
// is.
type WorkerRunParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID  string `json:"task_id"`
	Command string `json:"command,omitempty"` // for the shell; empty for the command of the last run
	Restart string `json:"restart,omitempty"` // as [tasks.ParseRestart] reads it; empty for what the last run has left
	First   bool   `json:"first,omitempty"`   // only if the attempt has no run

	Queue  bool              `json:"-"` // while as many commands run as the project allows, it waits
	Resume *tasks.Resumption `json:"-"` // how it starts again, as WorkerReady of package task says
}

// WorkerRunResult is a run.
type WorkerRunResult struct {
	RoomID  stick.RoomID `json:"room_id"`
	TaskID  string       `json:"task_id"`
	Attempt int          `json:"attempt"`
	Run     RunView      `json:"run"`
	Note    stick.Words  `json:"note,omitempty"` // that the worktree was missing, and was made again
	Already bool         `json:"already,omitempty"`

	// Set if this call has claimed the run. Where it can't start a process, the caller performs RunTask with it.
	Start *RunTaskParams `json:"-"`
}

// WorkerRun claims the next run of a task's command, and starts the process that attends to it. Only one
// caller gets the claim. If the process with the claim dies before the command starts, another caller gets it.
//
// It fails as [tasks.StartRun] does, with [stick.CodeNotFound], [stick.CodeElsewhere] and
// [stick.CodeLanding], and with [stick.CodeSetupFailed] if the worktree had to be set up first.
func (rs *Runs) WorkerRun(ctx context.Context, p WorkerRunParams) (WorkerRunResult, error) {
	res, err := rs.claimNext(ctx, p)
	if err != nil || res.Already || !rs.CanStart() {
		return res, err
	}

	if res.Run.PID, err = rs.start(ctx, *res.Start); err != nil {
		// Without a claim to take back, the command has begun although nobody heard so.
		dropped, derr := rs.DropRun(ctx, *res.Start)
		if derr != nil || dropped || ctx.Err() == nil {
			return res, err
		}
	}

	if !res.Run.Queued {
		res.Run.State = tasks.RunRunning
	}
	return res, nil
}

// claimNext claims the next run of a task's command, and makes what its worktree lacks.
func (rs *Runs) claimNext(ctx context.Context, p WorkerRunParams) (res WorkerRunResult, err error) {
	// A resumption brings its own command and its own number of restarts.
	q := tasks.RunStart{Command: p.Command, First: p.First, Queue: p.Queue}
	if p.Restart != "" {
		times, err := tasks.ParseRestart(p.Restart)
		if err != nil {
			return res, err
		}

		q.Restart = &times
	}

	if r := p.Resume; r != nil {
		q.Command, q.Follows = r.Command, &r.Follows
		q.Restart = &tasks.Restart{OnReturn: r.Restarts, OnFailure: r.Retries}
	}

	rp, err := rs.repos.Open(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}

	task, err := rp.ReadTask(ctx, p.TaskID)
	if err != nil {
		return res, err
	}

	// git and the processes are asked before the transaction.
	var limit time.Duration
	if q.Most, limit, err = readLimits(ctx, rp, task.Integration); err != nil {
		return res, err
	}
	if err := rs.requireNoLeftovers(ctx, rp, p.TaskID); err != nil {
		return res, err
	}

	m, unlock, missing := rp.LockMissingWorktree(ctx, p.TaskID)
	defer unlock()

	self, err := rs.core.Config.Procs.Self()
	if err != nil {
		return res, err
	}

	// The claim comes first. What the worktree lacks is made after it, by the one caller who got it.
	err = rp.Write(ctx, core.MustBeMember, func(o *repository.Op) error {
		res, q.By = WorkerRunResult{}, o.Me.Agent
		if err := rs.claimRun(o, rp, p.TaskID, q, self, missing, &res); err != nil || res.Already {
			return err
		}
		res.Start.Limit = limit
		return nil
	})
	if err != nil || res.Already {
		return res, err
	}
	rp.KillPoint("run: claimed")

	if m != nil {
		res.Note, err = rp.RestoreWorktree(ctx, m)
		return res, err
	}

	unlock()
	return res, rp.FinishSetUp(ctx, p.TaskID)
}

// claimRun gives the next run of a task to the process self. missing is why the worktree can't be made again.
func (rs *Runs) claimRun(
	o *repository.Op, rp *repository.Repo, id string, q tasks.RunStart, self stick.Process, missing error, res *WorkerRunResult,
) error {
	if err := o.RequireMemberOrPerson(); err != nil {
		return err
	}

	task, err := repository.TaskOf(o.Tx, o.Room.ID, id)
	if err == nil {
		err = repository.RequireBranchHere(o.Tx, o.Room, task)
	}
	if err == nil {
		err = o.RequireNotLanding(task.ID)
	}
	if err != nil {
		return err
	}

	verdict := rp.Core.Config.Procs.Verdict

	// Those that wait count, too: a new run must not overtake them.
	active, queued, err := countRunning(o.Tx, o.Room.ID, verdict)
	if err != nil {
		return err
	}

	q.Running = active + queued
	runs, err := o.Tx.Runs(o.Room.ID, task.ID)
	if err != nil {
		return err
	}

	next, existing, err := tasks.StartRun(task, q, runs, verdict)
	*res = WorkerRunResult{RoomID: o.Room.ID, TaskID: task.ID, Attempt: task.Attempt}
	if err == nil && existing != nil {
		res.Already, res.Run = true, rs.ViewRun(*existing)
		return nil
	}

	if err == nil {
		err = missing
	}
	if err != nil {
		return err
	}

	// The claim names this process, so that it lapses if that dies.
	next.Process = self
	path := rp.WorktreePath(task)
	res.Run = rs.ViewRun(next)
	res.Start = &RunTaskParams{
		RoomID: o.Room.ID, Root: rp.Root, TaskID: task.ID, Attempt: task.Attempt, Run: next.Number,
		Slot: task.Slot, Dir: path, Starter: self, Most: q.Most,
	}

	o.Tx.Ring(o.Room.ID)
	return o.Tx.PutRun(o.Room.ID, next)
}

// countRunning counts the commands of a room's tasks that run on this host or are about to, and those that
// wait until fewer run.
func countRunning(
	tx *store.Tx, room stick.RoomID, verdict func(stick.Process) stick.Verdict,
) (active, queued int, err error) {
	last, err := tx.LastRuns(room)
	for _, r := range last {
		// Only what runs on this host counts, because the limit is for one host.
		if v := verdict(r.Process); v != stick.Alive || !r.State(v).Live() {
			continue
		}
		if r.Queued {
			queued++
		} else {
			active++
		}
	}

	return active, queued, err
}

// readLimits reads from the head of a task's integration branch how many commands may run on a host, and for how
// long one may; 0 for any number, and for any time.
func readLimits(ctx context.Context, rp *repository.Repo, integration string) (most int, limit time.Duration, err error) {
	t, err := rp.ReadTarget(ctx, integration)
	if stick.CodeOf(err) == stick.CodeNotFound {
		// A merge tells that the branch is missing.
		return 0, 0, nil
	}

	if err != nil {
		return 0, 0, err
	}

	_, w, err := rp.TaskSettings(ctx, t.Head())
	return w.MaxRunning, w.TimeLimit, err
}

// RequireRoomToRun refuses a new attempt with a command if that couldn't start now. It fails with
// [stick.CodeMaxRunning].
func RequireRoomToRun(ctx context.Context, rp *repository.Repo, task stick.Task) error {
	// Any command will do: the rule is only asked whether there is room.
	q := tasks.RunStart{Command: "-"}
	var err error
	if q.Most, _, err = readLimits(ctx, rp, task.Integration); err != nil || q.Most == 0 {
		return err
	}

	verdict := rp.Core.Config.Procs.Verdict
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) (err error) {
		active, queued, err := countRunning(tx, r.ID, verdict)
		if err != nil {
			return err
		}

		q.Running = active + queued
		task.State = stick.TaskAssigned
		_, _, err = tasks.StartRun(task, q, nil, verdict)
		return err
	})
	return repository.IgnoreNoRoom(err)
}

// requireNoLeftovers refuses another run while processes of one still run whose own process has died. It
// fails with [stick.CodeAlreadyRunning].
func (rs *Runs) requireNoLeftovers(ctx context.Context, rp *repository.Repo, id string) error {
	var lost []tasks.Run
	var task stick.Task
	var room stick.RoomID
	verdict := rp.Core.Config.Procs.Verdict
	err := rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) (err error) {
		// The transaction may run again.
		lost, room = nil, r.ID
		if task, err = repository.TaskOf(tx, r.ID, id); err != nil {
			return err
		}

		runs, err := tx.Runs(r.ID, id)
		for _, run := range runs {
			if run.State(verdict(run.Process)) == tasks.RunLost {
				lost = append(lost, run)
			}
		}

		return err
	})
	if err != nil {
		return err
	}

	// Processes are looked for outside of the transaction.
	for _, run := range lost {
		if left := rs.processesOf(room, task.ID, run); len(left) > 0 {
			return stick.Errorf(stick.CodeAlreadyRunning,
				"the process that ran run %d of %s has died, but what it started is still running: %s",
				run.Number, task.ID, nameProcesses(left)).
				With("task_id", task.ID).With("attempt", run.Attempt).With("run", run.Number).
				With("pid", left[0].ID.PID).
				Hintf("end that first: %s", stick.Cmd("tt task stop <task_id>", task.ID))
		}
	}

	return nil
}

// RestartHint says how the command of a task starts again that is being returned to its worker. It is empty
// if the task has none that has ended.
func (rs *Runs) RestartHint(tx *store.Tx, room stick.RoomID, task stick.Task, cause string) (stick.Hint, error) {
	// The rules are asked about the task as it is going to be.
	runs, err := tx.Runs(room, task.ID)
	task.State, task.Cause, task.StateAt = stick.TaskWorking, cause, tx.Now()
	verdict := rs.core.Config.Procs.Verdict
	if _, ok := tasks.Resume(task, runs, verdict, tx.Now(), false); ok {
		// WorkerReady of package task lists it.
		return tasks.Starts(task.ID), err
	}

	return tasks.Again(task, runs, verdict), err
}

// processesOf finds the processes that a run has started, without the one that attends to it. It doesn't find
// those that have left its process tree, its session and its environment.
func (rs *Runs) processesOf(room stick.RoomID, task string, r tasks.Run) []proc.Info {
	by := proc.Traces{Session: r.Process, Variable: markOf(room, task, r.Attempt), Except: rs.otherRun}

	// Once its process has ended, the session and the number may be somebody else's.
	if !r.EndedAt.IsZero() || r.Process.IsZero() {
		by.Session = stick.Process{}
	} else {
		by.Below = []stick.Process{r.Process}
	}

	return rs.core.Config.Procs.StartedProcesses(by)
}

// requireCurrentAttempt fails with [stick.CodeStaleAttempt] if the attempt is over.
func requireCurrentAttempt(task stick.Task, attempt int) error {
	if task.Attempt != attempt || task.Over() {
		return stick.Errorf(stick.CodeStaleAttempt, "attempt %d of %s is over", attempt, task.ID).
			With("task_id", task.ID).With("attempt", task.Attempt).
			Hintf("to see how it ended: %s", stick.Cmd("tt task show <task_id>", task.ID))
	}
	return nil
}
