package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// WorkerMergeParams asks to merge approved tasks.
type WorkerMergeParams struct {
	Caller Caller `json:"-"`
	Where
	TaskID string `json:"task_id,omitempty"` // empty for the first in the queue
	All    bool   `json:"all,omitempty"`     // all that are approved, in the order of their approval
}

// WorkerMergeResult says what was merged.
type WorkerMergeResult struct {
	RoomID  stick.RoomID  `json:"room_id"`
	AgentID stick.AgentID `json:"agent_id"`
	Merged  []MergedTask  `json:"merged"`
	Waiting []HeldTask    `json:"waiting"` // approved, and not merged by this call
}

// MergedTask is a task that landed.
type MergedTask struct {
	TaskID  string   `json:"task_id"`
	Branch  string   `json:"branch"` // that it was merged into
	Commit  string   `json:"commit"` // the merge
	Head    string   `json:"head"`   // the commit that was approved
	Gate    string   `json:"gate"`   // green, or none
	Tries   int      `json:"tries"`  // 1, and one more for each time that somebody else was faster
	Left    []string `json:"left,omitempty"`
	Already bool     `json:"already,omitempty"`
	Note    string   `json:"note,omitempty"`
}

// HeldTask is a task that didn't land, and why.
type HeldTask struct {
	TaskID string          `json:"task_id"`
	State  stick.TaskState `json:"state"`
	Error  stick.Code      `json:"error,omitempty"`
	Why    string          `json:"why,omitempty"`
}

// queueWait is how long a merge waits for those before it.
const queueWait = 2 * time.Hour

// WorkerMerge merges approved tasks, one at a time: the gate runs on exactly the commit that the branch
// then moves to. It fails with [stick.CodeInvalidTransition], [stick.CodeReviewStale],
// [stick.CodeRebaseConflict], [stick.CodeGateFailed], [stick.CodeBaseRed], [stick.CodeDirtyTree] and
// [stick.CodeLanding]; with All the first of these that isn't about one task alone.
func (e *Engine) WorkerMerge(ctx context.Context, p WorkerMergeParams) (WorkerMergeResult, error) {
	res := WorkerMergeResult{Merged: []MergedTask{}, Waiting: []HeldTask{}}
	if p.All && p.TaskID != "" {
		return res, stick.Errorf(stick.CodeUsage, "all tasks are meant, or one, not both").With("field", "task_id")
	}
	y, err := e.yard(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	err = y.look(ctx, func(_ *store.Tx, _ *sights, r stick.Room, me identity) error {
		res.RoomID, res.AgentID = r.ID, me.Agent
		return takesPart(r, me)
	})
	if err != nil {
		return res, err
	}
	if p.TaskID != "" {
		task, err := y.task(ctx, p.TaskID)
		if err != nil {
			return res, err
		}
		m, err := y.mergeOne(ctx, task, true)
		if err == nil {
			res.Merged = append(res.Merged, m)
		}
		return res, err
	}
	return y.mergeQueue(ctx, p.All, res)
}

// mergeQueue merges the tasks of the queue in their order, or the first of them. What is wrong with one
// task doesn't keep the others.
func (y *yard) mergeQueue(ctx context.Context, all bool, res WorkerMergeResult) (WorkerMergeResult, error) {
	tried := map[string]bool{}
	if err := y.leftovers(ctx); err != nil {
		return res, err
	}
	for {
		task, ok, err := y.next(ctx, tried)
		if err != nil || !ok {
			return res, err
		}
		tried[task.ID] = true
		m, err := y.mergeOne(ctx, task, false)
		switch code := stick.CodeOf(err); code {
		case "":
			if !m.Already { // by another merge, which reports it
				res.Merged = append(res.Merged, m)
			}
		case stick.CodeRebaseConflict, stick.CodeGateFailed, stick.CodeReviewStale, stick.CodeInvalidTransition, stick.CodeLanding:
			now, terr := y.task(ctx, task.ID)
			if terr != nil {
				return res, terr
			}
			if now.State == stick.TaskCompleted {
				break // by another merge
			}
			res.Waiting = append(res.Waiting, HeldTask{task.ID, now.State, code, stick.AsError(err).Message})
			if !all {
				return res, err
			}
		default:
			return res, err
		}
		if !all {
			return res, nil
		}
	}
}

// next is the first task of the queue that wasn't tried yet.
func (y *yard) next(ctx context.Context, tried map[string]bool) (task stick.Task, ok bool, err error) {
	err = y.look(ctx, func(tx *store.Tx, _ *sights, r stick.Room, _ identity) error {
		queued, err := tx.Queue(r.ID)
		ok = false
		for _, t := range queued {
			if !tried[t.ID] && !ok {
				task, ok = t, true
			}
		}
		return err
	})
	return task, ok, err
}

// mergeOne merges a task. It waits for the merges before it; named says that the caller named it, so that
// it is tried although the queue stands still.
func (y *yard) mergeOne(ctx context.Context, task stick.Task, named bool) (m MergedTask, err error) {
	if task.State != stick.TaskApproved && task.State != stick.TaskCompleted {
		open, err := y.landing(ctx, task.ID)
		if err != nil {
			return m, err
		}
		if !open {
			_, err := task.Merge("", "", "")
			return m, err
		}
	}
	next, err := y.lock(ctx, "branch", task.Integration, queueWait)
	if err != nil {
		return m, err
	}
	defer next()
	unlock, err := y.lock(ctx, "task", stick.TaskKey(task.ID), lockWait)
	if err != nil {
		return m, err
	}
	defer unlock()
	if err := y.recover(ctx, task.ID); err != nil {
		return m, err
	}
	if task, err = y.task(ctx, task.ID); err != nil {
		return m, err
	}
	if task.State == stick.TaskCompleted {
		return MergedTask{
			TaskID: task.ID, Branch: task.Integration, Commit: task.Result, Head: task.Head, Already: true, Left: y.leftOf(ctx, task), Tries: 1,
		}, nil
	}
	if _, err := task.Merge("", "", ""); err != nil {
		return m, err
	}
	l := &landing{yard: y, task: task, named: named}
	if err := l.run(ctx); err != nil {
		return m, err
	}
	m = MergedTask{TaskID: task.ID, Branch: task.Integration, Commit: l.result, Head: l.task.Approved, Gate: "none", Tries: l.tries, Note: l.note}
	if l.gated {
		m.Gate = "green"
	}
	m.Left, err = y.cleanup(ctx, l.clean)
	if err != nil { // it landed all the same
		m.Left = append(m.Left, stick.AsError(err).Message)
	}
	return m, nil
}

// pausing is why the merge queue stands still.
type pausing struct {
	Branch string `json:"branch"`
	Commit string `json:"commit"`
	Report string `json:"report"`
}

func pauseOf(i store.Intent) *QueuePause {
	var p pausing
	if json.Unmarshal(i.Data, &p) != nil {
		return nil
	}
	return &QueuePause{Branch: p.Branch, Commit: p.Commit, Since: i.StartedAt, Report: p.Report}
}

// paused refuses to go on while the branch is at a commit on which the gate was red. A pause that is
// over is ended.
func (l *landing) paused(ctx context.Context) error {
	var open []store.Intent
	err := l.look(ctx, func(tx *store.Tx, _ *sights, r stick.Room, _ identity) (err error) {
		open, err = tx.Intents(r.ID, "-")
		return err
	})
	if err != nil || len(open) == 0 {
		return err
	}
	p := pauseOf(open[0])
	if p != nil && p.Branch == l.tg.name && p.Commit == l.base && !l.named {
		return l.baseRed(p.Report)
	}
	if p != nil && p.Branch == l.tg.name && p.Commit == l.base {
		return nil // it is tried although the queue stands still, and the pause ends when it lands
	}
	return l.commit(ctx, func(t *turn) error { return t.tx.EndIntent(open[0].ID, "over") })
}

func (l *landing) baseRed(report string) error {
	return stick.Errorf(stick.CodeBaseRed, "the gate is red on %s itself, at %s: nothing is merged, and no task is to blame", l.tg.name, short(l.base)).
		With("task_id", l.task.ID).With("branch", l.tg.name).With("commit", l.base).With("report", report).With("left", []string{}).
		Hintf("see what is wrong: tt worker show --output %s; approve a task that mends it, and merge it by name", short(report))
}

// short is the beginning of a sum, enough to tell it from others.
func short(sum string) string { return sum[:min(len(sum), 12)] }

// pause has the queue stand still until the branch moves.
func (l *landing) pause(ctx context.Context, report store.Blob) error {
	id, err := l.newID(ctx)
	if err != nil {
		return err
	}
	err = l.commit(ctx, func(t *turn) error {
		if err := t.tx.AddBlob(report); err != nil {
			return err
		}
		open, err := t.tx.Intents(t.room.ID, "-")
		if err != nil {
			return err
		}
		for _, i := range open {
			if err := t.tx.EndIntent(i.ID, "over"); err != nil {
				return err
			}
		}
		if err := t.intend(id, intentPause, stick.Task{}, 0, pausing{l.tg.name, l.base, report.Sum}); err != nil {
			return err
		}
		return t.tx.EndIntent(l.id, "base red")
	})
	if err != nil {
		return err
	}
	return l.baseRed(report.Sum)
}

// message is that of the commit by which a task lands.
func (l *landing) message() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Merge task %s", l.task.ID)
	if first, _, _ := strings.Cut(strings.TrimSpace(l.task.Description), "\n"); first != "" {
		fmt.Fprintf(&b, ": %s", stick.Clip(first, 100))
	}
	fmt.Fprintf(&b, "\n\nTask: %s\nCommit: %s\n", l.task.ID, l.task.Approved)
	if l.task.Worker != "" {
		fmt.Fprintf(&b, "Worker: %s\n", l.task.Worker)
	}
	fmt.Fprintf(&b, "Reviewed-by: %s\n", l.task.ApprovedBy)
	return b.String()
}
