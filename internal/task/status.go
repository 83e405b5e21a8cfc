package task

import (
	"context"
	"path"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/internal/task/queue"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// TaskView is a task as it is shown.
type TaskView struct {
	TaskID  string          `json:"task_id"`
	State   stick.TaskState `json:"state"`
	Attempt int             `json:"attempt"`

	// of its worker: alive, STALE or STUCK; empty if nobody has to be working on it
	Liveness    string         `json:"liveness,omitempty"`
	Warning     stick.Words    `json:"warning,omitempty"` // why a person should check on it
	Description string         `json:"description,omitempty"`
	Labels      []string       `json:"labels,omitempty"`
	Priority    stick.Priority `json:"priority"` // high, normal or low
	Worker      stick.AgentID  `json:"worker,omitempty"`
	SpawnedBy   stick.AgentID  `json:"spawned_by"`
	Branch      string         `json:"branch"`
	Worktree    string         `json:"worktree"` // relative to the workspace's root

	// the host that has its branch and worktree, if that isn't this one
	Host string `json:"host,omitempty"`

	// the clone that has its branch and worktree, if that isn't this one
	Checkout    string `json:"checkout,omitempty"`
	Integration string `json:"integration"`
	Base        string `json:"base"`
	Head        string `json:"head,omitempty"` // the commit that was last offered for review

	// the commit of the branch now; empty if there is none
	Branched     string        `json:"branch_head,omitempty"`
	ChangesGate  bool          `json:"changes_gate,omitempty"`  // it changes files of the gate itself
	GateFiles    []string      `json:"gate_files,omitempty"`    // which
	Evidence     []ShownCheck  `json:"evidence"`                // the newest checks that its worker ran
	OpenComments int           `json:"open_comments,omitempty"` // of reviewers on lines, that aren't resolved
	Approved     string        `json:"approved,omitempty"`      // the commit that was approved
	ApprovedBy   stick.AgentID `json:"approved_by,omitempty"`

	// whoever approved it was started by an agent that worked on the task
	BelowAuthor bool `json:"below_author,omitempty"`
	Queue       int  `json:"queue,omitempty"`  // its place in the merge queue of its branch, from 1
	Merges      bool `json:"merges,omitempty"` // it is approved, and tt merges it by itself

	// the merge commit; empty if the branch contained the task already
	Result     string `json:"result,omitempty"`
	RevertedBy string `json:"reverted_by,omitempty"` // the commit that reverted its merge

	// why it was returned or failed: review, conflict, gate, given_up, cancelled, rolled_back
	Cause  string `json:"cause,omitempty"`
	Reason string `json:"reason,omitempty"`

	// what a command is doing for it, or was doing when it died: spawn, done, land, cleanup, …
	Doing  string             `json:"doing,omitempty"`
	Runner *repository.Runner `json:"runner,omitempty"` // the process of that command
	Run    *runner.RunView    `json:"run,omitempty"`
	Later  bool               `json:"later,omitempty"` // nobody has begun it: it has no branch and no worktree
	Ready  bool               `json:"ready,omitempty"` // it is for later, and can begin now

	// of a task for later: the tasks that have to land before it begins
	After    []string   `json:"after,omitempty"`
	WaitsFor []TaskWait `json:"waits_for,omitempty"` // those of them that haven't landed

	// the number of its worktree, which the commands there find in TT_SLOT
	Slot *int `json:"slot,omitempty"`

	// how much its worker has changed; only where it was asked for
	Changed    *Changed              `json:"changed,omitempty"`
	Setup      *repository.SetupView `json:"setup,omitempty"` // the project's command that set its worktree up
	CreatedAt  stick.Time            `json:"created_at"`
	StateAt    stick.Time            `json:"state_at"`
	SeenAt     stick.Time            `json:"last_seen_at"` // the last sign of its worker
	NextAction stick.Words           `json:"next_action"`
	stick.PullRequest
}

// How long a worker may be silent.
const (
	quietAfter = 30 * time.Second // then it is STALE, unless its process is alive
	staleAfter = 2 * time.Minute  // then there is also a warning
	stuckAfter = 20 * time.Minute // then it is STUCK if its process is alive
)

// WorkerStatusParams asks for the tasks of a room.
type WorkerStatusParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Labels []string `json:"labels,omitempty"` // only tasks that have all of these
	All    bool     `json:"all,omitempty"`    // also tasks that ended more than a day ago
	Begin  bool     `json:"-"`                // where there are no tasks, whether they could be made, which asks git
	Stat   bool     `json:"-"`                // how much each worker has changed, which costs three commands of git for each
}

// WorkerStatusResult is the tasks of a room and their state, the newest first.
type WorkerStatusResult struct {
	RoomID stick.RoomID       `json:"room_id"`
	Tasks  []TaskView         `json:"tasks"`             // the newest first
	Hidden int                `json:"hidden,omitempty"`  // how many tasks ended more than a day ago and aren't listed
	CutOff []string           `json:"cut_off,omitempty"` // the tasks whose commands died with the processes that attended to them
	Paused []queue.QueuePause `json:"paused,omitempty"`  // the merge queues that are paused, and why

	// there are no tasks, and no branch so far that they could be merged into
	NeedsInit bool `json:"-"`
}

// hideAfter is how long a task stays in the list after it has ended.
const hideAfter = 24 * time.Hour

// WorkerStatus lists the tasks of a room and their state, the newest first. It writes nothing. It fails with
// [stick.CodeNoRoom].
func (ts *Tasks) WorkerStatus(ctx context.Context, p WorkerStatusParams) (WorkerStatusResult, error) {
	res := WorkerStatusResult{Tasks: []TaskView{}}
	p.Where = ts.core.Located(p.Where)

	var root string
	var listed, queued []stick.Task
	var open []store.Intent
	var shown map[string]*TaskView
	err := ts.core.Read(ctx, p.Where, p.Caller, func(tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity) error {
		res = WorkerStatusResult{RoomID: r.ID, Tasks: []TaskView{}}
		root, shown = r.Path, map[string]*TaskView{}
		all, err := tx.Tasks(r.ID)
		if err != nil {
			return err
		}
		comments, err := tx.OpenComments(r.ID)
		if err != nil {
			return err
		}

		// Tasks that ended long ago are only counted.
		listed, queued = listed[:0], all
		find := findAmong(all)

		for _, t := range all {
			if !tasks.HasLabels(t, p.Labels) {
				continue
			}
			if t.Over() && !p.All && tx.Now().Sub(t.StateAt) > hideAfter {
				res.Hidden++
				continue
			}

			listed = append(listed, t)
			v, err := viewTask(tx, t, r, probes, me, find)
			if err != nil {
				return err
			}

			v.OpenComments = comments[stick.TaskKey(t.ID)]
			res.Tasks = append(res.Tasks, v)
		}

		// Pointers into the list, which doesn't grow any more.
		for i := range res.Tasks {
			shown[stick.TaskKey(res.Tasks[i].TaskID)] = &res.Tasks[i]
		}

		open, res.Paused, err = ts.addRunsAndPauses(tx, r, shown, p.Caller.AssumedByFlag())
		return err
	})
	if err != nil {
		return res, err
	}

	// Locks, processes and git are asked outside of the transaction.
	if p, err := ts.core.PlaceToRead(p.Where); err == nil && p != nil {
		root = p.Root
	}

	ts.addRunners(root, open, shown)
	numberQueues(res.Tasks, queued)
	res.NeedsInit = p.Begin && len(res.Tasks) == 0 && ts.needsInit(ctx, p)
	_, _ = ts.addBranchState(ctx, root, listed, shown)
	if p.Stat {
		ts.addChanged(ctx, root, listed, shown)
	}

	for _, t := range listed {
		v := shown[stick.TaskKey(t.ID)]
		v.markStale(t, v.Branched)
	}

	res.CutOff = cutOffAmong(res.Tasks)

	// The newest comes first.
	slices.Reverse(res.Tasks)
	return res, nil
}

// needsInit reports whether the repository lacks the branch that tasks are merged into. Where nobody can tell,
// it doesn't.
func (ts *Tasks) needsInit(ctx context.Context, p WorkerStatusParams) bool {
	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return false
	}

	_, err = rp.ReadIntegration(ctx)
	return stick.CodeOf(err) == stick.CodeNotFound
}

// viewTask returns the view of a task, as far as the database has it.
func viewTask(
	tx *store.Tx, t stick.Task, r stick.Room, probes *core.Probes, me core.Identity, find tasks.Find,
) (TaskView, error) {
	v := viewTaskRow(t, r, probes, me, tx.Now())
	if err := v.showWaits(t, find, me.Caller.AssumedByFlag()); err != nil {
		return v, err
	}
	if t.Elsewhere(tx.CheckoutOf(r)) {
		v.Host, v.Checkout = repository.NameOfHost(tx, t.In), t.In.Path
	}

	// The event of the approval says how independent it was.
	if t.Approved != "" {
		approvals, _, err := tx.Events(store.EventQuery{
			Room: r.ID, Task: t.ID, Types: []stick.EventType{stick.EventTaskApproved}, Limit: 1,
			Newest: true,
		})
		if err != nil {
			return v, err
		}

		v.BelowAuthor = slices.ContainsFunc(approvals, stick.BelowAuthor)
		v.Merges = t.State == stick.TaskApproved && slices.ContainsFunc(approvals, stick.MergesByItself)
	}

	if !t.Over() {
		if err := v.addOffers(tx, r.ID, t); err != nil {
			return v, err
		}
	}

	if t.Cause != stick.CauseRolledBack {
		return v, nil
	}

	// The row has the commit that reverted the task. The one that merged it is in the log.
	v.Result, v.RevertedBy = "", t.Result
	landings, _, err := tx.Events(store.EventQuery{
		Room: r.ID, Task: t.ID, Types: []stick.EventType{stick.EventTaskCompleted}, Limit: 1,
		Newest: true,
	})
	if err == nil && len(landings) > 0 {
		f, _ := stick.TaskFactsOf[stick.TaskCompletedFacts](landings[0])
		v.Result = f.Result
	}

	return v, err
}

// viewTaskRow returns the view of a task, as far as its row has it. The next step is as its reader has to run
// it, see [stick.Hint.As]. While the worker is at work, the step is the worker's, who may have another name.
func viewTaskRow(t stick.Task, r stick.Room, probes *core.Probes, me core.Identity, now stick.Time) TaskView {
	as, next := me.Caller.AssumedByFlag(), t.NextStep()
	if !t.Busy() || t.Worker == me.Agent {
		next = next.As(as)
	}

	v := TaskView{
		TaskID: t.ID, State: t.State, Attempt: t.Attempt, Description: t.Description, Worker: t.Worker,
		Labels: t.Labels, Priority: t.Priority,
		SpawnedBy: t.SpawnedBy, Branch: t.Branch,
		Worktree: t.Worktree, Integration: t.Integration, Base: t.Base, Head: t.Head,
		ChangesGate: t.ChangesGate, Approved: t.Approved,
		ApprovedBy: t.ApprovedBy, Result: t.Result, Cause: t.Cause, Reason: t.Reason,
		CreatedAt: t.CreatedAt, StateAt: t.StateAt, NextAction: next.Words(),
		PullRequest: t.PR,
		Slot:        repository.SlotOf(t),
		Evidence:    []ShownCheck{},
	}

	// People show no signs of life.
	if !t.Busy() || t.Worker.Human() {
		return v
	}

	// The newest sign of life counts, whatever it was.
	w, _ := r.Member(t.Worker)
	v.SeenAt = max(t.HeartbeatAt, w.LastSeenAt, t.StateAt)
	silent := now.Sub(v.SeenAt)
	if busy := now.Sub(w.BusySince); !w.BusySince.IsZero() && busy < 4*stuckAfter {
		// A tool call is in progress.
		silent = 0
	}

	// A worker that is gone or silent needs another step than the task's usual one.
	v.Liveness, v.Warning = livenessOf(w.Verdict(probes.Probed), silent)
	switch {
	case w.Verdict(probes.Probed) == stick.Gone:
		v.NextAction = stick.Hintf("another agent takes it on: %s", stick.Cmd("tt task start --task <task_id>", t.ID)).As(as).Words()
	case v.Liveness == "STALE" && v.Warning != "":
		v.NextAction = repository.StartOverHint("if it doesn't come back", t.ID).As(as).Words()
	}

	return v
}

// livenessOf returns the liveness of a worker and a warning, from the verdict on its process and the time for
// which it has been silent.
func livenessOf(v stick.Verdict, silent time.Duration) (string, stick.Words) {
	switch {
	case v == stick.Gone:
		return "STALE", "its worker is gone"
	case v == stick.Alive && silent > stuckAfter:
		return "STUCK", "its worker is alive, but has done nothing for " + stick.Age(silent)
	case v == stick.Alive || silent <= quietAfter:
		return "alive", ""
	case silent <= staleAfter:
		return "STALE", ""
	}

	return "STALE", "its worker has shown no sign of life for " + stick.Age(silent)
}

// numberQueues sets the places of the approved tasks in the merge queues of their branches.
func numberQueues(views []TaskView, all []stick.Task) {
	// Each branch has its own queue, by urgency, then in the order of the approvals.
	waiting := slices.DeleteFunc(slices.Clone(all), func(t stick.Task) bool { return t.State != stick.TaskApproved })
	slices.SortFunc(waiting, tasks.CompareQueued)
	before := map[string]int{}

	for _, t := range waiting {
		before[t.Integration]++
		for i := range views {
			if views[i].TaskID == t.ID {
				views[i].Queue = before[t.Integration]
			}
		}
	}
}

// addBranchState adds the current commits of the tasks' branches. A worker that seemed stuck counts as alive
// if it has committed lately. If git can't be asked, the views stay without this. It returns what it has read, and
// with it the refs that the caller needs besides.
func (ts *Tasks) addBranchState(
	ctx context.Context, root string, tasks []stick.Task, shown map[string]*TaskView, also ...string,
) ([]git.Branch, error) {
	if len(tasks) == 0 {
		return nil, nil
	}

	// One git reads all branches, from the few directories that they lie in.
	var dirs []string
	for _, t := range tasks {
		if dir := path.Dir("refs/heads/"+t.Branch) + "/"; !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}

	branches, err := ts.core.Config.Git.Branches(ctx, root, append(dirs, also...)...)
	if err != nil {
		return nil, err
	}

	at := map[string]git.Branch{}
	for _, b := range branches {
		at[b.Name] = b
	}

	now := stick.At(ts.core.Now())
	for _, t := range tasks {
		v, r := shown[stick.TaskKey(t.ID)], at["refs/heads/"+t.Branch]
		if v.Checkout != "" {
			// A branch of that name here isn't the task's.
			continue
		}

		v.Branched = r.Commit
		if v.Liveness == "STUCK" && now.Sub(r.Committed) <= stuckAfter {
			v.Liveness, v.Warning = "alive", ""
		}
		if t.Offered() && r.Commit != "" && r.Commit != t.Head {
			v.Warning = "its branch has moved since it was offered for review: the worker must run tt task done again"
		}
	}

	return branches, nil
}
