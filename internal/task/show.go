package task

import (
	"cmp"
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/queue"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
	"talkingstick/stick/diff"
)

// WorkerShowParams asks for one task.
type WorkerShowParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id"`

	skipSeen bool // don't record that the caller has seen the commit
}

// WorkerShowResult is a task with its history.
type WorkerShowResult struct {
	RoomID stick.RoomID `json:"room_id"`
	TaskView
	Path string `json:"path"` // the worktree
	Spec string `json:"spec,omitempty"`

	// the files in which it conflicts with the integration branch
	Conflicts []string            `json:"conflicts,omitempty"`
	Attempts  []stick.TaskAttempt `json:"attempts"`
	Runs      []runner.RunView    `json:"runs"` // of its command in all attempts, the oldest first
	Reviews   []ShownReview       `json:"reviews"`
	Comments  []ShownComment      `json:"comments"` // on lines
	Files     []diff.FileStat     `json:"files"`
	Commits   []string            `json:"commits"`
	Events    []stick.Event       `json:"events"`
	More      bool                `json:"more,omitempty"` // there are older events
}

// ShownReview is a decision on a task, and how independent it was.
type ShownReview struct {
	stick.TaskReview
	BelowAuthor bool   `json:"below_author,omitempty"` // an agent that worked on the task had started the reviewer
	Cause       string `json:"cause,omitempty"`        // gate or conflict: its merge has failed, and no reviewer returned it
}

// WorkerShow returns everything about one task, and records which commit the caller has seen. It fails with
// [stick.CodeNotFound].
func (ts *Tasks) WorkerShow(ctx context.Context, p WorkerShowParams) (WorkerShowResult, error) {
	var res WorkerShowResult
	p.Where = ts.core.Located(p.Where)

	var task stick.Task
	var open []store.Intent
	var shown map[string]*TaskView
	root := ""
	err := ts.core.Read(ctx, p.Where, p.Caller, func(tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity) (err error) {
		if task, err = repository.TaskOf(tx, r.ID, p.TaskID); err != nil {
			return err
		}

		// The view is filled in place, in the same way as the views of a list.
		root, shown = r.Path, map[string]*TaskView{stick.TaskKey(task.ID): &res.TaskView}
		v, err := viewTask(tx, task, r, probes, me, taskFinder(tx, r.ID))
		if err != nil {
			return err
		}

		res = WorkerShowResult{
			RoomID: r.ID, TaskView: v, Spec: task.Spec, Files: []diff.FileStat{}, Commits: []string{},
		}

		if open, _, err = ts.addRunsAndPauses(tx, r, shown, p.Caller.AssumedByFlag()); err != nil {
			return err
		}

		runs, err := tx.Runs(r.ID, task.ID)
		if err != nil {
			return err
		}

		res.Runs = ts.runs.ViewRuns(runs)
		return readHistory(tx, task, me.Agent, &res)
	})
	if err != nil {
		return res, err
	}

	// The caller's own place says best where the workspace is.
	if place, perr := ts.core.PlaceToRead(p.Where); perr == nil && place != nil {
		root = place.Root
	}

	res.Path = repository.LocateWorktree(cmp.Or(res.Checkout, root), task)
	ts.addRunners(root, open, shown)
	branches, gitErr := ts.addBranchState(
		ctx, root, []stick.Task{task}, shown, repository.TargetRefs(task.Integration)...,
	)
	if res.Checkout != "" {
		ts.addPushed(ctx, p, task, &res)
	}

	// What depends on git is added outside of the transaction, as far as git can tell.
	base, head := ts.shownRange(ctx, root, task, res.Branched)
	res.Base = base
	res.markStale(task, head)
	ts.addOutputs(ctx, res.Evidence)
	ts.placeComments(ctx, root, base, head, res.Comments)
	if head != "" && base != "" {
		if files, err := ts.core.Config.Git.Stat(ctx, root, base, head); err == nil {
			if gitErr == nil {
				ts.addGateFiles(ctx, root, &res.TaskView, branches, diff.Paths(files))
			}
			res.Files = conflictsFirst(files, res.Conflicts)
		}
		if commits, err := ts.core.Config.Git.Log(ctx, root, base, head, 100); err == nil {
			res.Commits = append(res.Commits, commits...)
		}
		if !p.skipSeen {
			ts.recordSeen(ctx, p.Where, p.Caller, task.ID, head)
		}
	}

	return res, nil
}

// addPushed adds what the worker of a task in another checkout has pushed, or why that isn't known.
func (ts *Tasks) addPushed(ctx context.Context, p WorkerShowParams, task stick.Task, res *WorkerShowResult) {
	rp, err := ts.openForTask(ctx, p.Where, p.Caller)
	if err == nil {
		res.Branched, err = rp.BranchCommit(ctx, task)
	}
	if err != nil && res.Warning == "" {
		res.Warning = stick.AsError(err).Words()
	}
}

// readHistory adds to res what the log has of the task.
func readHistory(tx *store.Tx, task stick.Task, me stick.AgentID, res *WorkerShowResult) (err error) {
	if res.Conflicts, err = conflictsOf(tx, res.RoomID, task); err != nil {
		return err
	}
	if res.Comments, err = commentsFor(tx, res.RoomID, task, me); err != nil {
		return err
	}

	for _, c := range res.Comments {
		if c.Open() {
			res.OpenComments++
		}
	}

	// A task that isn't over has them in its view already.
	if task.Over() {
		if err := res.addOffers(tx, res.RoomID, task); err != nil {
			return err
		}
	}

	attempts, err := tx.Attempts(res.RoomID, task.ID)
	if err != nil {
		return err
	}
	if res.Reviews, err = shownReviews(tx, res.RoomID, task); err != nil {
		return err
	}

	queued, err := tx.Queue(res.RoomID)
	if err != nil {
		return err
	}

	// Its place in the queue depends on all tasks that wait there.
	views := []TaskView{res.TaskView}
	numberQueues(views, queued)
	res.Queue = views[0].Queue
	res.Attempts = append([]stick.TaskAttempt{}, attempts...)
	events, more, err := tx.Events(store.EventQuery{Room: res.RoomID, Task: task.ID, Limit: 200, Newest: true})
	res.Events, res.More = append([]stick.Event{}, events...), more
	return err
}

// shownReviews returns the decisions on a task. The events that made them say how independent each was.
func shownReviews(tx *store.Tx, room stick.RoomID, task stick.Task) ([]ShownReview, error) {
	reviews, err := reviewsOf(tx, room, task)
	if err != nil {
		return nil, err
	}

	shown := []ShownReview{}
	for _, r := range reviews {
		e, err := tx.Event(room, r.Seq)
		if err != nil {
			return nil, err
		}

		one := ShownReview{TaskReview: r}
		if e != nil {
			one.BelowAuthor, one.Cause = stick.BelowAuthor(*e), failedMergeCause(*e)
		}
		shown = append(shown, one)
	}

	return shown, nil
}

// failedMergeCause says why the merge failed that returned a task; empty if a reviewer has returned it.
func failedMergeCause(e stick.Event) string {
	f, _ := stick.TaskFactsOf[stick.TaskChangesRequestedFacts](e)
	if f.Cause == stick.CauseGate || f.Cause == stick.CauseConflict {
		return f.Cause
	}
	return ""
}

// shownRange returns the commits between which a task's work lies. head is the commit of the branch. If the
// task is completed or the branch is gone, head is the commit that was last offered. base is where the work
// left the branch that it is for: while a rebase is in progress, that is before the commit that the task is
// rebased onto.
func (ts *Tasks) shownRange(ctx context.Context, root string, t stick.Task, branch string) (base, head string) {
	base, head = t.Base, branch
	if t.State == stick.TaskCompleted || head == "" {
		head = t.Head
	}
	if base == "" || head == "" {
		return base, head
	}

	// The recorded base may be newer than where the branch has left.
	if left, err := ts.core.Config.Git.MergeBase(ctx, root, base, head); err == nil && left != "" {
		base = left
	}
	return base, head
}

// conflictsOf returns the files in which a task conflicts with its integration branch, as of the last attempt
// to rebase or merge it.
func conflictsOf(tx *store.Tx, room stick.RoomID, t stick.Task) ([]string, error) {
	if t.State != stick.TaskConflicted && (t.State != stick.TaskWorking || t.Cause != stick.CauseConflict) {
		return nil, nil
	}

	events, _, err := tx.Events(store.EventQuery{
		Room: room, Task: t.ID,
		Types: []stick.EventType{stick.EventTaskConflicted, stick.EventTaskChangesRequested}, Limit: 1,
		Newest: true,
	})
	if err != nil || len(events) == 0 {
		return nil, err
	}

	// A rebase and a merge record their conflicts in different events.
	if f, ok := stick.TaskFactsOf[stick.TaskConflictedFacts](events[0]); ok {
		return f.Files, nil
	}

	f, _ := stick.TaskFactsOf[stick.TaskChangesRequestedFacts](events[0])
	return f.Files, nil
}

// conflictsFirst moves the files in conflict to the front, and keeps the order otherwise.
func conflictsFirst(files []diff.FileStat, conflicts []string) []diff.FileStat {
	rank := func(f diff.FileStat) int {
		if slices.Contains(conflicts, f.Path) {
			return 0
		}
		return 1
	}

	slices.SortStableFunc(files, func(a, b diff.FileStat) int { return rank(a) - rank(b) })
	return files
}

// recordSeen records which commit of a task the caller has seen, if the caller may review. An error is
// ignored: the caller's decision must then name its commit.
func (ts *Tasks) recordSeen(ctx context.Context, w core.Where, by core.Caller, id, head string) {
	_ = ts.repos.Write(ctx, w, by, core.MustBeMemberQuietly, func(o *repository.Op) error {
		if o.RequireMemberOrPerson() != nil {
			return nil
		}
		return o.Tx.RecordSeenHead(o.Room.ID, id, o.Me.Agent, head)
	}, nil)
}

// WorkerDiffParams asks what a task changes.
type WorkerDiffParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id"`
}

// WorkerDiffResult is what a task changes.
type WorkerDiffResult struct {
	RoomID      stick.RoomID    `json:"room_id"`
	TaskID      string          `json:"task_id"`
	State       stick.TaskState `json:"state"`
	Base        string          `json:"base"`
	Head        string          `json:"head"`
	ChangesGate bool            `json:"changes_gate,omitempty"`
	GateFiles   []string        `json:"gate_files,omitempty"` // those of the gate's own files that it changes

	// the files in which it conflicts with the integration branch
	Conflicts []string        `json:"conflicts,omitempty"`
	Comments  []ShownComment  `json:"comments"` // on lines
	Files     []diff.FileStat `json:"files"`
	Diff      string          `json:"diff"`
	Cut       bool            `json:"cut,omitempty"` // the diff is longer than what is shown
}

// maxDiff is how many bytes of a diff are shown.
const maxDiff = 4 << 20

// WorkerDiff returns what a task changes, and records that the caller has seen that commit. It fails with
// [stick.CodeNotFound].
func (ts *Tasks) WorkerDiff(ctx context.Context, p WorkerDiffParams) (WorkerDiffResult, error) {
	res := WorkerDiffResult{Files: []diff.FileStat{}, Comments: []ShownComment{}}
	rp, err := ts.openForTask(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}

	task, err := rp.ReadTask(ctx, p.TaskID)
	if err != nil {
		return res, err
	}

	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) (err error) {
		res.RoomID = r.ID
		if res.Comments, err = commentsFor(tx, r.ID, task, me.Agent); err != nil {
			return err
		}

		res.Conflicts, err = conflictsOf(tx, r.ID, task)
		return err
	})
	if err != nil {
		return res, err
	}

	// The diff is that of the branch now, not of the last offer.
	branch, target, err := rp.ReadBranches(ctx, task)
	if err != nil {
		return res, err
	}

	res.TaskID, res.State = task.ID, task.State
	if res.Base, res.Head = ts.shownRange(ctx, rp.Root, task, branch); res.Head == "" {
		return res, nil
	}
	if res.Files, err = rp.Git.Stat(ctx, rp.Root, res.Base, res.Head); err != nil {
		return res, err
	}

	res.GateFiles, err = queue.GateFilesAmong(ctx, rp.Repo, target.Head(), diff.Paths(res.Files))
	if err != nil {
		return res, err
	}

	res.ChangesGate = len(res.GateFiles) > 0
	ts.placeComments(ctx, rp.Root, res.Base, res.Head, res.Comments)

	res.Files = conflictsFirst(res.Files, res.Conflicts)
	if res.Diff, res.Cut, err = rp.Git.Diff(ctx, rp.Root, res.Base, res.Head, maxDiff); err != nil {
		return res, err
	}
	if res.Cut {
		// The caller hasn't seen all of the commit.
		return res, nil
	}

	rp.tasks.recordSeen(ctx, rp.Where, rp.By, task.ID, res.Head)
	return res, nil
}
