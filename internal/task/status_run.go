package task

import (
	"cmp"
	"context"
	"slices"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/internal/task/queue"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// addRunsAndPauses adds to the views what commands are doing for the tasks. It returns the open intents, and
// the queues that are paused.
func (ts *Tasks) addRunsAndPauses(
	tx *store.Tx, r stick.Room, shown map[string]*TaskView, as string,
) (open []store.Intent, paused []queue.QueuePause, err error) {
	if open, err = tx.Intents(r.ID, ""); err != nil {
		return nil, nil, err
	}

	for _, i := range open {
		if v := shown[i.Task]; v != nil {
			v.Doing = i.Kind

			// The locks here say nothing about a command in another checkout.
			if i.In.IsOther(tx.CheckoutOf(r)) {
				runner, err := repository.RunnerOfIntent(tx, i)
				if err != nil {
					return nil, nil, err
				}

				v.Runner = &runner
			}
		}

		if p := queue.PauseOf(i); p != nil {
			paused = append(paused, *p)
		}
	}

	setups, err := tx.Setups(r.ID, "")
	if err != nil {
		return open, paused, err
	}

	for _, s := range setups {
		if v := shown[s.Task]; v != nil && v.Attempt == s.Attempt {
			v.showSetup(s, as)
		}
	}

	last, err := tx.LastRuns(r.ID)
	if err != nil {
		return open, paused, err
	}

	for _, run := range last {
		v := shown[run.Task]
		if v == nil || v.Attempt != run.Attempt {
			continue
		}

		ts.showRun(v, run, as)
	}

	return open, paused, nil
}

// showSetup adds to the view of a task how its worktree was set up, and what to do if that went wrong.
func (v *TaskView) showSetup(s store.TaskSetup, as string) {
	v.Setup = repository.ViewSetup(s)
	if why := v.Setup.Failed(v.Doing); why != "" &&
		(v.State == stick.TaskAssigned || v.State == stick.TaskWorking || v.State == stick.TaskConflicted) {
		v.Warning = why
		words := "to run it again: %s"
		if v.State == stick.TaskAssigned {
			words = "whoever begins the task runs it again: %s"
		}

		v.NextAction = stick.Hintf(words, stick.Cmd("tt task start --task <task_id>", v.TaskID)).As(as).Words()
	}
}

// showRun adds the last run of the attempt to the view of its task, and what it says about the worker's
// liveness.
func (ts *Tasks) showRun(v *TaskView, run tasks.Run, as string) {
	r := ts.runs.ViewRun(run)
	v.Run = &r
	if v.Later {
		if v.Ready {
			v.NextAction = stick.Hintf("its command starts with the next %s", stick.Cmd("tt task merge")).As(as).Words()
		}
		return
	}

	if r.State == tasks.RunDropped {
		v.Run = nil
	}

	// The command is at work, even before it has made itself the worker.
	if r.State.Live() {
		if v.State == stick.TaskAssigned {
			v.Liveness = "alive"
		}
		return
	}

	if v.State != stick.TaskAssigned && v.State != stick.TaskWorking && v.State != stick.TaskConflicted {
		return
	}

	// Somebody has to be working on the task, and its command has ended.
	v.Liveness, v.Warning = "STALE", "its command "+r.StateText()
	t := stick.Task{ID: v.TaskID, State: v.State, Attempt: v.Attempt, Cause: v.Cause, StateAt: v.StateAt}
	v.NextAction = tasks.Again(t, []tasks.Run{run}, ts.core.Config.Procs.Verdict).As(as).Words()
}

// isCutOff reports whether the task's command died with the process that attended to it, while the task is with its
// worker here. [Tasks.StartReady] starts all of these again.
func (v TaskView) isCutOff() bool {
	if v.Run == nil || v.Run.State != tasks.RunLost || v.Checkout != "" {
		return false
	}
	return v.Liveness == "STALE"
}

// cutOffAmong lists the tasks whose commands were cut off.
func cutOffAmong(views []TaskView) (names []string) {
	for _, v := range views {
		if v.isCutOff() {
			names = append(names, v.TaskID)
		}
	}
	return names
}

// addRunners adds to the views the processes that work on their tasks here, or were interrupted at it. root
// is the workspace's.
func (ts *Tasks) addRunners(root string, open []store.Intent, shown map[string]*TaskView) {
	rp := ts.repos.RepoAt(root)
	showLandings(rp, shown, stick.At(ts.core.Now()))
	for _, i := range open {
		v := shown[i.Task]
		if v == nil || v.Runner != nil {
			continue
		}

		// Without a holder of the lock, the command of the intent has died.
		if v.Runner = rp.LockRunner("task", i.Task); v.Runner == nil {
			v.Runner = &repository.Runner{PID: i.PID, Since: i.StartedAt, State: repository.RunnerGone}
		}
	}
}

// addGateFiles adds to a view of a task which of the gate's own files it changes, given the paths that it changes
// and the branches as they are. If git can't be asked, the view keeps what was so when the task was offered.
func (ts *Tasks) addGateFiles(ctx context.Context, root string, v *TaskView, branches []git.Branch, changed []string) {
	rp := ts.repos.RepoAt(root)
	t, err := rp.TargetAmong(ctx, v.Integration, git.RefsOf(branches))
	if err != nil && stick.CodeOf(err) != stick.CodeNotFound {
		return
	}

	if files, err := queue.GateFilesAmong(ctx, rp, t.Head(), changed); err == nil {
		v.GateFiles, v.ChangesGate = files, len(files) > 0
	}
}

// landerStart is how long the process that merges by itself may take until it is seen.
const landerStart = 10 * time.Second

// showLandings adds to the views of tasks that tt merges by itself what goes on. Where nothing does, a person
// has to know.
func showLandings(rp *repository.Repo, shown map[string]*TaskView, at stick.Time) {
	var merging []*TaskView
	for _, v := range shown {
		if v.Merges {
			merging = append(merging, v)
		}
	}

	// The locks and files are read only where they say something.
	if len(merging) == 0 {
		return
	}

	now := queue.ReadLanding(rp)
	for _, v := range merging {
		follow := stick.Cmd("tt task merge <task_id> --wait", v.TaskID)
		i := slices.IndexFunc(now.Held, func(h queue.HeldTask) bool { return h.TaskID == v.TaskID })
		switch {
		case i >= 0:
			v.Warning = "its merge is held up: " + now.Held[i].Why
			v.NextAction = cmp.Or(now.Held[i].Next, stick.Hintf("to try again: %s", follow).Words())
		case now.Runner == nil && at.Sub(v.StateAt) > landerStart:
			v.Warning = "the process that merges it has ended"
			v.NextAction = stick.Hintf("to start it again: %s", follow).Words()
		default:
			v.NextAction = stick.Hintf("wait: tt merges it by itself; to follow that: %s", follow).Words()
		}
	}
}
