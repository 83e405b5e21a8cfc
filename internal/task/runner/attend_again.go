package runner

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/tasks"
)

// leaveQueue begins a queued run if fewer commands run than the project allows. mayBegin is false if it can't
// begin any more.
func (rs *Runs) leaveQueue(
	ctx context.Context, p RunTaskParams, run tasks.Run,
) (next *tasks.Run, mayBegin bool, err error) {
	err = rs.updateRuns(ctx, p, func(tx *store.Tx, task stick.Task, runs []tasks.Run) (*tasks.Run, error) {
		next = nil
		last := runs[len(runs)-1]

		// A stop, another attempt or the end of the task takes the run out of the queue.
		mayBegin = task.Attempt == run.Attempt && !task.Over() && last.Number == run.Number &&
			last.Process == run.Process && last.EndedAt.IsZero()
		if !mayBegin {
			return nil, nil
		}

		n, _, err := countRunning(tx, p.RoomID, rs.core.Config.Procs.Verdict)
		if err != nil || n >= p.Most {
			return nil, err
		}

		last.Queued, last.StartedAt, last.TaskAt = false, max(tx.Now(), 1), task.StateAt
		next = &last
		return next, nil
	})
	if err != nil {
		return nil, !isGone(err), err
	}
	return next, mayBegin, nil
}

// awaitRun calls begin now, and then each time that something happens in the room, until a run has begun. It
// returns nil if none is going to. While begin fails, it goes on to wait: the cause may go. after is the run
// that has ended, whose output tells of that.
func (rs *Runs) awaitRun(
	ctx context.Context, p RunTaskParams, after tasks.Run, begin func() (next *tasks.Run, mayBegin bool, err error),
) *tasks.Run {
	var watch *store.Watch
	defer func() {
		if watch != nil {
			watch.Close()
		}
	}()

	// Without a watch the channel is nil, and the net below is what wakes.
	var rung <-chan struct{}
	net, lastProblem := bell.NewNet(rand.Float64), ""

	for {
		// The database may be away at first, so each turn tries to watch it until that succeeds.
		if db, err := rs.core.Open(ctx, false); err == nil && watch == nil {
			if watch, err = db.Watch(p.RoomID); err == nil {
				rung = watch.C
			}
		}

		next, mayBegin, err := begin()
		if ctx.Err() != nil || !mayBegin {
			return nil
		}
		if err == nil && next != nil {
			return next
		}

		// After a failure it waits for a time, and not only for what happens.
		var due <-chan time.Time
		if later, ok := errors.AsType[*laterError](err); ok {
			due, err = time.After(max(0, later.at.Go().Sub(rs.core.Now()))), nil
		}
		if err != nil {
			// The same problem is said once, not at each try.
			if why := stick.AsError(err).Message; why != lastProblem {
				lastProblem = why
				appendOutput(rs.outputDir(p.RoomID, after),
					"[tt: the command can't start again: "+why+"; tt goes on trying]\n")
			}
			rs.core.KillPoint("run: can't start")
		}

		if watch != nil && err != nil {
			watch.Missed()
		}
		if watch != nil {
			watch.ReleaseForSleep()
		}

		// The net wakes this process now and then, in case that no ring does.
		for more := net.Next(); more > 0; {
			select {
			case <-rung:
				net.Reset()
				more = 0
			case <-time.After(more):
				if more = 0; watch != nil {
					more = watch.SleepOn(net)
				}
			case <-due:
				more = 0
			case <-ctx.Done():
				more = 0
			}
		}
	}
}

// laterError says that a command starts again at a time.
type laterError struct{ at stick.Time }

func (e *laterError) Error() string { return "the command starts again at " + e.at.Go().String() }

// retryLater returns a [*laterError] for a time, nil for none.
func retryLater(at stick.Time) error {
	if at.IsZero() {
		return nil
	}
	return &laterError{at}
}

// isGone reports whether an error says that a task, its room or the database is no more.
func isGone(err error) bool {
	switch stick.CodeOf(err) {
	case stick.CodeStaleAttempt, stick.CodeNotFound, stick.CodeNoRoom:
		return true
	}
	return err == store.ErrAbsent
}

// runAgain begins the next run if the task has come back since run began, or the run has failed, and as many commands as the project
// allows don't run already. mayBegin is false if that can't happen any more.
func (rs *Runs) runAgain(
	ctx context.Context, p RunTaskParams, run tasks.Run,
) (next *tasks.Run, mayBegin bool, err error) {
	db, err := rs.core.Open(ctx, false)
	if err != nil {
		return nil, !isGone(err), err
	}

	var again tasks.StartAgain
	integration := ""
	err = db.View(ctx, func(tx *store.Tx) error {
		task, runs, err := p.readRuns(tx)
		if err == nil {
			again = run.StartsAgain(task, runs, tasks.RunEnded, tx.Now())
			integration = task.Integration
		}

		return err
	})
	if err != nil {
		return nil, !isGone(err), err
	}
	if again.Now == "" {
		return nil, again.Ever, retryLater(again.At)
	}

	// The project's settings and the worktree are read outside of the transaction.
	rp, err := rs.repos.Open(ctx, core.Where{Path: p.Root}, p.workerCaller(run))
	if err != nil {
		return nil, true, err
	}

	q := tasks.RunStart{By: run.By}
	if q.Most, _, err = readLimits(ctx, rp, integration); err != nil {
		return nil, true, err
	}
	if err := rp.EnsureWorktree(ctx, p.TaskID); err != nil {
		return nil, true, err
	}

	verdict := rs.core.Config.Procs.Verdict
	err = rs.updateRuns(ctx, p, func(tx *store.Tx, task stick.Task, runs []tasks.Run) (*tasks.Run, error) {
		next = nil

		// The task may have changed while git was asked.
		again = run.StartsAgain(task, runs, tasks.RunEnded, tx.Now())
		if mayBegin = again.Ever; again.Now == "" {
			return nil, nil
		}

		active, queued, err := countRunning(tx, p.RoomID, verdict)
		if err != nil {
			return nil, err
		}

		q.Running = active + queued
		started, _, err := tasks.StartRun(task, q, runs, verdict)
		if err != nil {
			return nil, err
		}

		// The same process attends to the next run.
		started.Process, started.StartedAt = run.Process, max(tx.Now(), 1)
		again.UseUp(&started)
		next = &started
		return next, nil
	})

	if stick.CodeOf(err) == stick.CodeMaxRunning {
		// The end of another one rings.
		return nil, true, nil
	}

	if err != nil {
		return nil, mayBegin, err
	}
	return next, mayBegin, nil
}

// workerCaller is the caller that the command of a run would be.
func (p RunTaskParams) workerCaller(run tasks.Run) core.Caller {
	return core.Caller{
		Harness:   harness.WorkerName,
		SessionID: edits.TaskMark{Room: p.RoomID, Task: p.TaskID, Attempt: run.Attempt}.String(),
		Process:   run.Process, Proof: stick.ProvesSession,
	}
}
