package engine

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// TaskView is a task as it is shown.
type TaskView struct {
	TaskID      string          `json:"task_id"`
	State       stick.TaskState `json:"state"`
	Attempt     int             `json:"attempt"`
	Liveness    string          `json:"liveness,omitempty"` // of its worker: alive, quiet, STALE, STUCK; of a task that somebody is expected to be at
	Warning     string          `json:"warning,omitempty"`  // a reason for a person to look at it
	Description string          `json:"description,omitempty"`
	Worker      stick.AgentID   `json:"worker,omitempty"`
	SpawnedBy   stick.AgentID   `json:"spawned_by"`
	Branch      string          `json:"branch"`
	Worktree    string          `json:"worktree"` // from the workspace's root
	Integration string          `json:"integration"`
	Base        string          `json:"base"`
	Head        string          `json:"head,omitempty"`         // the commit that was last offered for review
	Branched    string          `json:"branch_head,omitempty"`  // where the branch is now; empty when there is none
	ChangesGate bool            `json:"changes_gate,omitempty"` // it changes the file that says how it is judged
	Approved    string          `json:"approved,omitempty"`     // the commit that was approved
	ApprovedBy  stick.AgentID   `json:"approved_by,omitempty"`
	Queue       int             `json:"queue,omitempty"`  // its place in the merge queue, from 1
	Result      string          `json:"result,omitempty"` // the commit by which it landed
	Cause       string          `json:"cause,omitempty"`  // why it was returned or failed: review, conflict, gate, given_up, cancelled, rolled_back
	Reason      string          `json:"reason,omitempty"`
	Doing       string          `json:"doing,omitempty"` // what a command does for it now, or did when it died: spawn, done, land, cleanup, …
	Run         *RunView        `json:"run,omitempty"`
	CreatedAt   stick.Time      `json:"created_at"`
	StateAt     stick.Time      `json:"state_at"`
	SeenAt      stick.Time      `json:"last_seen_at"` // the last sign of its worker
	NextAction  string          `json:"next_action"`
}

// RunView is the command that was started for a task.
type RunView struct {
	Command   string     `json:"command"`
	PID       int        `json:"pid"`
	StartedAt stick.Time `json:"started_at"`
	EndedAt   stick.Time `json:"ended_at"`
	Exit      *int       `json:"exit"` // null while it runs, and when nobody saw its end
	Output    string     `json:"output,omitempty"`
}

// How long a worker may be silent.
const (
	quietAfter = 30 * time.Second // shows
	staleAfter = 2 * time.Minute  // warns
	stuckAfter = 20 * time.Minute // although it is alive
)

// WorkerStatusParams asks for the tasks of a room.
type WorkerStatusParams struct {
	Caller Caller `json:"-"`
	Where
	All bool `json:"all,omitempty"` // completed ones that are older than a day, too
}

// WorkerStatusResult is how the tasks of a room stand.
type WorkerStatusResult struct {
	RoomID stick.RoomID `json:"room_id"`
	Tasks  []TaskView   `json:"tasks"`
	Hidden int          `json:"hidden,omitempty"` // over for more than a day
	Paused *QueuePause  `json:"paused,omitempty"` // why nothing is merged
}

// QueuePause says why the merge queue stands still.
type QueuePause struct {
	Branch string     `json:"branch"`
	Commit string     `json:"commit"` // on which the gate is red
	Since  stick.Time `json:"since"`
	Report string     `json:"report,omitempty"` // the output of the gate
}

// hideAfter is for how long a task that is over stays in the list.
const hideAfter = 24 * time.Hour

// WorkerStatus tells how the tasks of a room stand. It writes nothing. It fails with
// [stick.CodeNoRoom].
func (e *Engine) WorkerStatus(ctx context.Context, p WorkerStatusParams) (WorkerStatusResult, error) {
	res := WorkerStatusResult{Tasks: []TaskView{}}
	var root string
	var tasks []stick.Task
	var shown map[string]*TaskView
	err := e.look(ctx, p.Where, p.Caller, func(tx *store.Tx, s *sights, r stick.Room, _ identity) error {
		res = WorkerStatusResult{RoomID: r.ID, Tasks: []TaskView{}}
		root, shown = r.Path, map[string]*TaskView{}
		all, err := tx.Tasks(r.ID)
		if err != nil {
			return err
		}
		tasks = tasks[:0]
		for _, t := range all {
			if t.Over() && !p.All && tx.Now().Sub(t.StateAt) > hideAfter {
				res.Hidden++
				continue
			}
			tasks = append(tasks, t)
			res.Tasks = append(res.Tasks, showTask(t, r, s, tx.Now()))
		}
		for i := range res.Tasks {
			shown[stick.TaskKey(res.Tasks[i].TaskID)] = &res.Tasks[i]
		}
		return e.doings(tx, r, shown, &res.Paused)
	})
	if err != nil {
		return res, err
	}
	queue(res.Tasks, tasks)
	e.branches(ctx, root, p.Where, tasks, shown)
	return res, nil
}

// showTask makes a task visible, as far as the database knows it.
func showTask(t stick.Task, r stick.Room, s *sights, now stick.Time) TaskView {
	v := TaskView{
		TaskID: t.ID, State: t.State, Attempt: t.Attempt, Description: t.Description, Worker: t.Worker, SpawnedBy: t.SpawnedBy, Branch: t.Branch,
		Worktree: t.Worktree, Integration: t.Integration, Base: t.Base, Head: t.Head, ChangesGate: t.ChangesGate, Approved: t.Approved,
		ApprovedBy: t.ApprovedBy, Result: t.Result, Cause: t.Cause, Reason: t.Reason, CreatedAt: t.CreatedAt, StateAt: t.StateAt, NextAction: t.NextStep(),
	}
	if !t.Busy() {
		return v
	}
	w, _ := r.Member(t.Worker)
	v.SeenAt = max(t.HeartbeatAt, w.LastSeenAt, t.StateAt)
	silent := now.Sub(v.SeenAt)
	if busy := now.Sub(w.BusySince); !w.BusySince.IsZero() && busy < 4*stuckAfter {
		silent = 0 // a tool call is in progress
	}
	v.Liveness, v.Warning = liveness(t, w.Verdict(s.Sight), silent)
	return v
}

// liveness judges a worker by what its process shows and by how long it has been silent.
func liveness(t stick.Task, v stick.Verdict, silent time.Duration) (string, string) {
	switch {
	case v == stick.Gone:
		return "STALE", "its worker is gone; another agent can take it on: tt worker start --task " + t.ID
	case v == stick.Alive && silent > stuckAfter:
		return "STUCK", "its worker is alive and did nothing for " + stick.Age(silent)
	case v == stick.Alive || silent <= quietAfter:
		return "alive", ""
	case silent <= staleAfter:
		return "STALE", ""
	}
	return "STALE", "nothing was heard of its worker for " + stick.Age(silent)
}

// doings adds what commands do for the tasks now.
func (e *Engine) doings(tx *store.Tx, r stick.Room, shown map[string]*TaskView, paused **QueuePause) error {
	open, err := tx.Intents(r.ID, "")
	if err != nil {
		return err
	}
	for _, i := range open {
		if v := shown[i.Task]; v != nil {
			v.Doing = i.Kind
		}
		if i.Kind == intentPause {
			*paused = pauseOf(i)
		}
	}
	runs, err := tx.Runs(r.ID, "")
	if err != nil {
		return err
	}
	for _, run := range runs {
		v := shown[run.Task]
		if v == nil || v.Attempt != run.Attempt {
			continue
		}
		e.showRun(v, run)
	}
	return nil
}

func (e *Engine) showRun(v *TaskView, run store.TaskRun) {
	v.Run = &RunView{Command: run.Command, PID: run.Process.PID, StartedAt: run.StartedAt, EndedAt: run.EndedAt, Output: run.Output}
	busy := v.State == stick.TaskAssigned || v.State == stick.TaskWorking || v.State == stick.TaskConflicted
	switch {
	case !run.EndedAt.IsZero():
		v.Run.Exit = &run.Exit
		if busy {
			v.Liveness, v.Warning = "STALE", "the command that was started for it has ended with "+itoa(run.Exit)
		}
	case e.cfg.Procs.Verdict(run.Process) == stick.Gone:
		if busy {
			v.Liveness, v.Warning = "STALE", "the command that was started for it is gone"
		}
	case v.State == stick.TaskAssigned:
		v.Liveness = "alive"
	}
}

// queue numbers the approved tasks.
func queue(views []TaskView, tasks []stick.Task) {
	waiting := slices.DeleteFunc(slices.Clone(tasks), func(t stick.Task) bool { return t.State != stick.TaskApproved })
	slices.SortFunc(waiting, func(a, b stick.Task) int { return int(max(-1, min(1, a.ApprovedSeq-b.ApprovedSeq))) })
	for n, t := range waiting {
		for i := range views {
			if views[i].TaskID == t.ID {
				views[i].Queue = n + 1
			}
		}
	}
}

// branches adds where the branches are now, and whether workers that seem to do nothing commit. Without
// git the rest is shown all the same.
func (e *Engine) branches(ctx context.Context, root string, w Where, tasks []stick.Task, shown map[string]*TaskView) {
	if len(tasks) == 0 {
		return
	}
	if p, err := e.placeSeen(w); err == nil && p != nil {
		root = p.Root
	}
	refs, err := e.cfg.Git.Refs(ctx, root, "refs/heads/feat/")
	if err != nil {
		return
	}
	at := map[string]git.Ref{}
	for _, r := range refs {
		at[r.Name] = r
	}
	now := stick.At(e.now())
	for _, t := range tasks {
		v, r := shown[stick.TaskKey(t.ID)], at["refs/heads/"+t.Branch]
		v.Branched = r.Commit
		if v.Liveness == "STUCK" && now.Sub(r.Committed) <= stuckAfter {
			v.Liveness, v.Warning = "alive", ""
		}
		offered := t.State == stick.TaskInReview || t.State == stick.TaskApproved
		if offered && r.Commit != "" && r.Commit != t.Head {
			v.Warning = "its branch has moved since it was offered for review"
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// WorkerShowParams asks for one task.
type WorkerShowParams struct {
	Caller Caller `json:"-"`
	Where
	TaskID string `json:"task_id"`

	unseen bool // it isn't a reviewer that looks
}

// WorkerShowResult is a task with its history.
type WorkerShowResult struct {
	RoomID stick.RoomID `json:"room_id"`
	TaskView
	Path     string              `json:"path"` // of the worktree
	Spec     string              `json:"spec,omitempty"`
	Attempts []stick.TaskAttempt `json:"attempts"`
	Reviews  []stick.TaskReview  `json:"reviews"`
	Evidence []ShownEvidence     `json:"evidence"`
	Files    []stick.FileStat    `json:"files"`
	Commits  []string            `json:"commits"`
	Events   []stick.Event       `json:"events"`
	More     bool                `json:"more,omitempty"` // older events are hidden
}

// ShownEvidence is a piece of evidence, and its output as far as it is short.
type ShownEvidence struct {
	stick.TaskEvidence
	Text string `json:"text,omitempty"`
}

// maxShown is how much of an output is shown with its task.
const maxShown = 4 << 10

// WorkerShow tells all of one task, and notes which of its commits the caller has seen. It fails with
// [stick.CodeNotFound].
func (e *Engine) WorkerShow(ctx context.Context, p WorkerShowParams) (WorkerShowResult, error) {
	var res WorkerShowResult
	var task stick.Task
	root := ""
	err := e.look(ctx, p.Where, p.Caller, func(tx *store.Tx, s *sights, r stick.Room, _ identity) (err error) {
		if task, err = taskOf(tx, r.ID, p.TaskID); err != nil {
			return err
		}
		root = r.Path
		res = WorkerShowResult{RoomID: r.ID, TaskView: showTask(task, r, s, tx.Now()), Spec: task.Spec, Evidence: []ShownEvidence{}, Files: []stick.FileStat{}, Commits: []string{}}
		if err := e.doings(tx, r, map[string]*TaskView{stick.TaskKey(task.ID): &res.TaskView}, new(*QueuePause)); err != nil {
			return err
		}
		attempts, err := tx.Attempts(r.ID, task.ID)
		if err != nil {
			return err
		}
		reviews, err := tx.Reviews(r.ID, task.ID)
		if err != nil {
			return err
		}
		queued, err := tx.Queue(r.ID)
		if err != nil {
			return err
		}
		for n, q := range queued {
			if q.ID == task.ID {
				res.Queue = n + 1
			}
		}
		res.Attempts, res.Reviews = append([]stick.TaskAttempt{}, attempts...), append([]stick.TaskReview{}, reviews...)
		events, more, err := tx.Events(store.EventQuery{Room: r.ID, Task: task.ID, Limit: 200, Newest: true})
		res.Events, res.More = append([]stick.Event{}, events...), more
		return err
	})
	if err != nil {
		return res, err
	}
	if place, perr := e.placeSeen(p.Where); perr == nil && place != nil {
		root = place.Root
	}
	res.Path = filepath.Join(root, filepath.FromSlash(task.Worktree))
	e.branches(ctx, root, p.Where, []stick.Task{task}, map[string]*TaskView{stick.TaskKey(task.ID): &res.TaskView})
	e.shownEvidence(ctx, &res)
	base, head := shownRange(task, res.Branched)
	if head != "" && base != "" {
		if files, err := e.cfg.Git.Stat(ctx, root, base, head); err == nil {
			res.Files = files
		}
		if commits, err := e.cfg.Git.Log(ctx, root, base, head, 100); err == nil {
			res.Commits = append(res.Commits, commits...)
		}
		if !p.unseen {
			e.saw(ctx, p.Where, p.Caller, task.ID, head)
		}
	}
	return res, nil
}

// shownRange is what is shown of a task's work: the commit that waits for a verdict or landed, else
// where the branch is.
func shownRange(t stick.Task, branch string) (base, head string) {
	head = branch
	if t.State == stick.TaskCompleted || head == "" {
		head = t.Head
	}
	return t.Base, head
}

// saw notes which commit of a task the caller has seen. Who isn't a member reviews nothing, except people.
// Where it can't be noted, a verdict has to name its commit.
func (e *Engine) saw(ctx context.Context, w Where, by Caller, id, head string) {
	_ = e.act(ctx, w, by, justBeats, func(t *turn) error {
		if t.takesPart() != nil {
			return nil
		}
		return t.tx.Saw(t.room.ID, id, t.me.Agent, head)
	}, saved)
}

// shownEvidence adds the newest evidence.
func (e *Engine) shownEvidence(ctx context.Context, res *WorkerShowResult) {
	db, err := e.open(ctx, false)
	if err != nil {
		return
	}
	for _, ev := range slices.Backward(res.Events) {
		f := ev.Facts().Task
		if f == nil || ev.Type != stick.EventTaskReviewRequested || len(f.Evidence) == 0 {
			continue
		}
		for _, x := range f.Evidence {
			s := ShownEvidence{TaskEvidence: x}
			if b, err := db.ReadBlob(x.Output); err == nil {
				s.Text = string(b[max(0, len(b)-maxShown):])
			}
			res.Evidence = append(res.Evidence, s)
		}
		return
	}
}

// WorkerDiffParams asks what a task changes.
type WorkerDiffParams struct {
	Caller Caller `json:"-"`
	Where
	TaskID string `json:"task_id"`
}

// WorkerDiffResult is what a task changes.
type WorkerDiffResult struct {
	RoomID      stick.RoomID     `json:"room_id"`
	TaskID      string           `json:"task_id"`
	State       stick.TaskState  `json:"state"`
	Base        string           `json:"base"`
	Head        string           `json:"head"`
	ChangesGate bool             `json:"changes_gate,omitempty"`
	Files       []stick.FileStat `json:"files"`
	Diff        string           `json:"diff"`
	Cut         bool             `json:"cut,omitempty"` // there is more of it
}

// maxDiff is how much of a difference is shown.
const maxDiff = 4 << 20

// WorkerDiff tells what a task changes, and notes that the caller has seen that commit. It fails with
// [stick.CodeNotFound].
func (e *Engine) WorkerDiff(ctx context.Context, p WorkerDiffParams) (WorkerDiffResult, error) {
	res := WorkerDiffResult{Files: []stick.FileStat{}}
	y, err := e.yard(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	task, err := y.task(ctx, p.TaskID)
	if err != nil {
		return res, err
	}
	err = y.look(ctx, func(_ *store.Tx, _ *sights, r stick.Room, _ identity) error {
		res.RoomID = r.ID
		return nil
	})
	if err != nil {
		return res, err
	}
	branch, _, err := y.git.Commit(ctx, y.root, "refs/heads/"+task.Branch)
	if err != nil {
		return res, err
	}
	res.TaskID, res.State, res.ChangesGate = task.ID, task.State, task.ChangesGate
	if res.Base, res.Head = shownRange(task, branch); res.Head == "" {
		return res, nil
	}
	if res.Files, err = y.git.Stat(ctx, y.root, res.Base, res.Head); err != nil {
		return res, err
	}
	if res.Diff, res.Cut, err = y.git.Diff(ctx, y.root, res.Base, res.Head, maxDiff); err != nil {
		return res, err
	}
	if res.Cut {
		return res, nil // what isn't shown isn't seen
	}
	y.e.saw(ctx, y.w, y.by, task.ID, res.Head)
	return res, nil
}
