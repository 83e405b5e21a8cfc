package runner

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/internal/task/command"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// WorkerStopParams asks to end the command of a task's worker.
type WorkerStopParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id"`
}

// WorkerStopResult says what was ended.
type WorkerStopResult struct {
	RoomID stick.RoomID `json:"room_id"`
	TaskID string       `json:"task_id"`
	State  string       `json:"state"` // of the task, which stays
	StoppedRun
	NextAction stick.Words `json:"next_action,omitempty"`
	Already    bool        `json:"already,omitempty"`
}

// StoppedRun is a run that was stopped.
type StoppedRun struct {
	Run   RunView        `json:"run"`
	Ended []EndedProcess `json:"ended"`          // what ran, the process that attends to the command first
	Left  []EndedProcess `json:"left,omitempty"` // what couldn't be ended
}

// EndedProcess names a process.
type EndedProcess struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

func endedProcesses(all []proc.Info) []EndedProcess {
	out := []EndedProcess{}
	for _, p := range all {
		out = append(out, EndedProcess{p.ID.PID, p.Comm})
	}
	return out
}

// WorkerStop ends the command of a task's worker, and keeps the task. It asks all processes of the run to
// end, kills after ten seconds those that haven't, and returns when the end is recorded. The run doesn't
// start again by itself. It fails with [stick.CodeNotFound] if the task has no run, and with
// [stick.CodeElsewhere] if that is on another host. See
// docs/decisions/worktrees-and-runs.md#what-a-stop-ends.
func (rs *Runs) WorkerStop(ctx context.Context, p WorkerStopParams) (res WorkerStopResult, err error) {
	rp, err := rs.repos.OpenForTask(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}

	s := runStop{Repo: rp, runs: rs, id: p.TaskID}
	if err := s.recordStop(ctx); err != nil {
		return res, err
	}

	res.StoppedRun, err = s.endProcesses(ctx)
	res.RoomID, res.TaskID, res.State, res.Already = s.room, s.task.ID, string(s.task.State.Word(s.task.Cause)), s.already
	if err == nil && len(res.Left) == 0 {
		res.NextAction = tasks.Again(s.task, []tasks.Run{s.run}, rs.core.Config.Procs.Verdict).As(p.Caller.AssumedByFlag()).Words()
	}
	return res, err
}

// runStop is a stop of a task's last run.
type runStop struct {
	*repository.Repo
	runs *Runs
	id   string

	room    stick.RoomID
	task    stick.Task
	run     tasks.Run
	state   tasks.RunState // before the stop
	already bool           // it had ended
}

// recordStop records that the run is to end. A run that hasn't begun never does then.
func (s *runStop) recordStop(ctx context.Context) error {
	verdict := s.Core.Config.Procs.Verdict
	err := s.Write(ctx, core.MustBeMember, func(o *repository.Op) (err error) {
		if err := o.RequireMemberOrPerson(); err != nil {
			return err
		}

		s.room = o.Room.ID
		if s.task, err = repository.TaskOf(o.Tx, o.Room.ID, s.id); err != nil {
			return err
		}

		runs, err := o.Tx.Runs(o.Room.ID, s.task.ID)
		if err != nil {
			return err
		}

		if len(runs) == 0 {
			return stick.Errorf(stick.CodeNotFound, "tt has started no command for %s", s.task.ID).
				With("task_id", s.task.ID).
				Hintf("to see its state: %s", stick.Cmd("tt task show <task_id>", s.task.ID))
		}

		// The processes can be ended only on their own host.
		if err := repository.RequireBranchHere(o.Tx, o.Room, s.task); err != nil {
			return err
		}

		s.run = runs[len(runs)-1]

		// A run that has ended, but whose process waits to start the next one, still has to be stopped.
		v := verdict(s.run.Process)
		s.state = s.run.State(v)
		waits := s.state == tasks.RunEnded && s.run.Restarts+s.run.Retries > 0 && v != stick.Gone
		s.already = !waits && (s.state == tasks.RunEnded || s.state == tasks.RunDropped)
		if s.state == tasks.RunRunning && v == stick.Unknown {
			return stick.Errorf(stick.CodeElsewhere,
				"process %d, which runs the command of %s, can't be seen from here", s.run.Process.PID,
				s.task.ID).
				With("task_id", s.task.ID).With("pid", s.run.Process.PID).
				Hintf("run %s where it was started, outside this container or sandbox",
					stick.Cmd("tt task stop <task_id>", s.task.ID))
		}

		if s.already {
			return nil
		}

		// From here on the run doesn't start again, even if this process dies.
		s.run.Restarts, s.run.Retries, s.run.RetryAt = 0, 0, 0
		if s.run.StopAt.IsZero() && s.state != tasks.RunEnded {
			s.run.StopAt, s.run.StoppedBy = max(o.Tx.Now(), 1), o.Me.Agent
		}
		if s.state == tasks.RunClaimed {
			s.run.EndedAt, s.run.Exit = max(o.Tx.Now(), 1), -1
		}

		o.Tx.Ring(o.Room.ID)
		return o.Tx.PutRun(o.Room.ID, s.run)
	})
	s.KillPoint("stop: intended")
	return err
}

// endProcesses ends what runs, and waits until that is recorded. It completes even if the caller is cancelled
// meanwhile, except that it doesn't wait then.
func (s *runStop) endProcesses(ctx context.Context) (res StoppedRun, err error) {
	rs := s.runs

	// They are found before anybody is asked to end: later they may have lost their parent.
	found := rs.processesOf(s.room, s.task.ID, s.run)
	res = StoppedRun{Ended: []EndedProcess{}}

	switch s.state {
	case tasks.RunRunning:
		res.Ended = append([]EndedProcess{{s.run.Process.PID, "tt"}}, endedProcesses(found)...)
		if err := s.endRunner(ctx); err != nil {
			return res, err
		}
	case tasks.RunLost:
		res.Ended = endedProcesses(found)
	}

	// The process that attends to the run has most often recorded its end.
	if err := s.reloadRun(ctx); err != nil {
		return res, err
	}
	if s.state == tasks.RunRunning || s.state == tasks.RunLost {
		// The process that attends to it has died, or doesn't react.
		if s.run.EndedAt.IsZero() {
			// A failure means that it has ended by now.
			_ = rs.core.Config.Procs.Send(s.run.Process, os.Kill)
			s.KillPoint("stop: killed")
		}

		e := processEnder{procs: rs.core.Config.Procs, find: func() []proc.Info { return s.findRunning(found) }}
		res.Left = endedProcesses(e.endAll(rs.grace))
	}
	s.KillPoint("stop: ended")

	if s.run.EndedAt.IsZero() && (s.state == tasks.RunLost || s.state == tasks.RunRunning) {
		err = s.recordLost(ctx)
	}

	res.Run = rs.ViewRun(s.run)
	return res, err
}

// findRunning finds what the run has started, and what of found lives on: once the process above it has
// ended, that may have no trace.
func (s *runStop) findRunning(found []proc.Info) []proc.Info {
	procs := s.Core.Config.Procs
	now := s.runs.processesOf(s.room, s.task.ID, s.run)
	for _, f := range found {
		if !slices.ContainsFunc(now, func(p proc.Info) bool { return p.ID == f.ID }) &&
			procs.Verdict(f.ID) == stick.Alive {
			now = append(now, f)
		}
	}

	return now
}

// endRunner asks the process that attends to the command to end it, and waits until that is recorded, or the
// process has died, or doesn't react.
func (s *runStop) endRunner(ctx context.Context) error {
	db, err := s.Core.Open(ctx, false)
	if err != nil {
		return err
	}

	// The watch comes first, so that a record right after the request isn't missed.
	watch, err := db.Watch(s.room)
	if err != nil {
		return err
	}
	defer watch.Close()

	procs := s.Core.Config.Procs
	death, err := procs.Watch(s.run.Process)
	if err != nil {
		// It has just died.
		return nil
	}
	defer death.Close()

	command.AskToEnd(procs, s.run.Process)
	s.KillPoint("stop: asked")

	// Time for the process to end what runs, to kill it, and to record that.
	limit := time.After(2*s.runs.grace + killTime + settleTime)
	for {
		if err := s.reloadRun(ctx); err != nil || !s.run.EndedAt.IsZero() {
			return err
		}

		watch.ReleaseForSleep()
		select {
		case <-watch.C:
		case <-death.C:
			return nil
		case <-limit:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reloadRun reads the run again.
func (s *runStop) reloadRun(ctx context.Context) error {
	return s.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		runs, err := tx.Runs(r.ID, s.task.ID)
		for _, run := range runs {
			if run.Attempt == s.run.Attempt && run.Number == s.run.Number {
				s.run = run
			}
		}

		return err
	})
}

// recordLost records the end of a run whose own process can't do it any more.
func (s *runStop) recordLost(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	kept := output{dir: s.runs.outputDir(s.room, s.run)}

	// Nobody saw how the command ended.
	ended := s.run
	ended.Exit = -1
	ended, err := s.runs.recordEnd(ctx, RunTaskParams{
		RoomID: s.room, TaskID: s.task.ID,
	}, ended, kept.lastBytes(command.MaxOutput))

	// Another stop was faster.
	if stick.CodeOf(err) == stick.CodeStaleAttempt {
		return s.reloadRun(ctx)
	}

	s.run = ended
	return err
}

// StopRun ends the command of a task that is over, as [Runs.WorkerStop] does. It returns nil if there was
// nothing to end, and says in note what it couldn't do.
func (rs *Runs) StopRun(ctx context.Context, rp *repository.Repo, id string) (ended *StoppedRun, note stick.Words, err error) {
	s := runStop{Repo: rp, runs: rs, id: id}
	err = s.recordStop(ctx)
	switch stick.CodeOf(err) {
	case stick.CodeNotFound:
		return nil, "", nil
	case stick.CodeElsewhere:
		return nil, stick.AsError(err).Words() + "; if its command runs, it isn't ended, but tt refuses what it does for the task", nil
	}

	if err != nil || s.already {
		return nil, "", err
	}

	res, err := s.endProcesses(ctx)
	if errors.Is(err, context.Canceled) {
		// It may be the command itself that cancels its task.
		err = nil
	}

	if len(res.Ended) == 0 {
		return nil, "", err
	}
	return &res, "", err
}
