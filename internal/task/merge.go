package task

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// WorkerMergeParams asks to merge approved tasks.
type WorkerMergeParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id,omitempty"` // empty for the first in the queues that can be merged
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
	Commit  string   `json:"commit"` // the merge; empty when the branch contained the task already
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
// [stick.CodeLanding]; without a task's name only if nothing could be merged, and with All the first of these that
// isn't about one task alone.
func (ts *Tasks) WorkerMerge(ctx context.Context, p WorkerMergeParams) (WorkerMergeResult, error) {
	res := WorkerMergeResult{Merged: []MergedTask{}, Waiting: []HeldTask{}}
	if p.All && p.TaskID != "" {
		return res, stick.Errorf(stick.CodeUsage, "all tasks are meant, or one, not both").With("field", "task_id")
	}
	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	err = rp.read(ctx, func(_ *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) error {
		res.RoomID, res.AgentID = r.ID, me.Agent
		return requireMemberOrPerson(r, me)
	})
	if err != nil {
		return res, err
	}
	if p.TaskID != "" {
		task, err := rp.task(ctx, p.TaskID)
		if err != nil {
			return res, err
		}
		m, _, err := rp.mergeOne(ctx, task, true)
		if err == nil {
			res.Merged = append(res.Merged, m)
		}
		return res, err
	}
	return rp.mergeQueue(ctx, p.All, res)
}

// mergeQueue merges the tasks of the queues in their order, or the first one that can be merged. Each branch has
// a queue of its own: one that stands still doesn't keep the others, nor does what is wrong with one task.
func (rp *repo) mergeQueue(ctx context.Context, all bool, res WorkerMergeResult) (WorkerMergeResult, error) {
	tried, halted := map[string]bool{}, map[string]error{} // tasks; branches, and why
	var held error
	if err := rp.finishCleanups(ctx); err != nil {
		return res, err
	}
	for all || len(res.Merged) == 0 {
		task, ok, err := rp.nextQueued(ctx, tried, halted)
		if err != nil {
			return res, res.withError(err)
		}
		if !ok {
			break
		}
		tried[task.ID] = true
		m, stands, err := rp.mergeOne(ctx, task, false)
		if err == nil {
			if !m.Already { // by another merge, which reports it
				res.Merged = append(res.Merged, m)
			}
			continue
		}
		if !stopsQueue(err) {
			return res, res.withError(err)
		}
		now, terr := rp.task(ctx, task.ID)
		if terr != nil {
			return res, terr
		}
		if now.State == stick.TaskCompleted {
			continue // by another merge
		}
		if stands {
			halted[task.Integration] = err
		}
		res.Waiting = append(res.Waiting, HeldTask{task.ID, now.State, stick.CodeOf(err), stick.AsError(err).Message})
		if !all && now.State != stick.TaskApproved {
			return res, err // it was its turn, and it went back
		}
		if held == nil && (stands || !all || stick.CodeOf(err) == stick.CodeGitFailed) {
			held = err
		}
	}
	if err := rp.listHeld(ctx, tried, halted, &res); err != nil {
		return res, err
	}
	if len(res.Merged) > 0 {
		held = nil // it is told with what was merged
	}
	return res, held
}

// stopsQueue tells whether a failure is one of a task or of its branch, so that others may be merged all the same.
func stopsQueue(err error) bool {
	switch stick.CodeOf(err).Info().Exit {
	case stick.ExitInternal, stick.ExitBusy, stick.ExitInterrupted:
		return false
	case stick.ExitEnvironment:
		return stick.CodeOf(err) == stick.CodeGitFailed
	}
	return true
}

// withError is an interruption of merges after some of which came to their end.
func (res WorkerMergeResult) withError(err error) error {
	if stick.CodeOf(err) == stick.CodeCanceled && len(res.Merged) > 0 {
		e := *stick.AsError(err)
		e.Message = fmt.Sprintf("%s; merged before: %d", e.Message, len(res.Merged))
		return &e
	}
	return err
}

// nextQueued is the first task that wasn't tried yet, in the queue of a branch that doesn't stand still.
func (rp *repo) nextQueued(ctx context.Context, tried map[string]bool, halted map[string]error) (task stick.Task, ok bool, err error) {
	err = rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		queued, err := tx.Queue(r.ID)
		ok = false
		for _, t := range queued {
			if !tried[t.ID] && halted[t.Integration] == nil && !ok {
				task, ok = t, true
			}
		}
		return err
	})
	return task, ok, err
}

// listHeld notes the tasks that weren't tried, because one before them can't land for a reason that holds for
// the whole branch.
func (rp *repo) listHeld(ctx context.Context, tried map[string]bool, halted map[string]error, res *WorkerMergeResult) error {
	if len(halted) == 0 {
		return nil
	}
	return rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		queued, err := tx.Queue(r.ID)
		for _, t := range queued {
			if why := halted[t.Integration]; why != nil && !tried[t.ID] {
				res.Waiting = append(res.Waiting, HeldTask{t.ID, t.State, stick.CodeOf(why), stick.AsError(why).Message})
			}
		}
		return err
	})
}

// mergeOne merges a task. It waits for the merges before it; named says that the caller named it, so that
// it is tried although the queue stands still.
func (rp *repo) mergeOne(ctx context.Context, task stick.Task, named bool) (m MergedTask, halted bool, err error) {
	if task.State != stick.TaskApproved && task.State != stick.TaskCompleted {
		open, err := rp.isLanding(ctx, task.ID)
		if err != nil {
			return m, false, err
		}
		if !open {
			_, err := task.Merge("", "", "")
			return m, false, err
		}
	}
	unlockBranch, err := rp.lock(ctx, "branch", task.Integration, queueWait)
	if err != nil {
		return m, false, err
	}
	defer unlockBranch()
	unlock, err := rp.lock(ctx, "task", stick.TaskKey(task.ID), lockWait)
	if err != nil {
		return m, false, err
	}
	defer unlock()
	if err := rp.recover(ctx, task.ID); err != nil {
		return m, false, err
	}
	if task, err = rp.task(ctx, task.ID); err != nil {
		return m, false, err
	}
	if task.State == stick.TaskCompleted {
		return MergedTask{
			TaskID: task.ID, Branch: task.Integration, Commit: task.Result, Head: task.Head, Already: true, Left: rp.retryCleanup(ctx, task), Tries: 1,
			Note: containedNote(task.Result),
		}, false, nil
	}
	if _, err := task.Merge("", "", ""); err != nil {
		return m, false, err
	}
	l := &landing{repo: rp, task: task, byName: named}
	if err := l.run(ctx); err != nil {
		return m, l.queueHalted, err
	}
	m = MergedTask{TaskID: task.ID, Branch: task.Integration, Commit: l.result, Head: l.task.Approved, Gate: "none", Tries: l.tries, Note: l.note}
	if l.gated {
		m.Gate = "green"
	}
	left, err := rp.cleanup(ctx, l.dueCleanup)
	m.Left = append(l.left, left...)
	if err != nil { // it landed all the same
		m.Left = append(m.Left, stick.AsError(err).Message)
	}
	return m, false, nil
}

// containedNote says of a task that landed how it did, if it wasn't by a commit of its own.
func containedNote(result string) string {
	if result == "" {
		return containedAlready
	}
	return ""
}

// queueTask is what stands for the queue of a branch where an intent has its task: no task can have that name.
func queueTask(branch string) stick.Task {
	sum := sha256.Sum256([]byte(branch))
	return stick.Task{ID: "queue/" + hex.EncodeToString(sum[:8])}
}

// pauseOf is the pause that an intent is, or nil.
func pauseOf(i store.Intent) *QueuePause {
	if i.Kind != intentPause {
		return nil
	}
	p, err := readIntent[pauseIntent](i)
	if err != nil {
		return nil
	}
	return &QueuePause{Branch: p.Branch, Commit: p.Commit, Since: i.StartedAt, Report: p.Report}
}

// requireNotPaused refuses to go on while the branch is at a commit on which the gate was red. A pause that is
// over is ended.
func (l *landing) requireNotPaused(ctx context.Context) error {
	var p *QueuePause
	err := l.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		open, err := tx.Intents(r.ID, "")
		p = nil
		for _, i := range open {
			if q := pauseOf(i); q != nil && q.Branch == l.target.name {
				p = q
			}
		}
		return err
	})
	switch {
	case err != nil || p == nil:
		return err
	case p.Commit == l.base && !l.byName:
		return l.errBaseRed(p.Report)
	case p.Commit == l.base:
		return nil // it is tried although the queue stands still, and the pause ends when it lands
	}
	return l.writeOutcome(ctx, func(o *op) error {
		open, err := o.Tx.Intents(o.Room.ID, "")
		if err != nil {
			return err
		}
		return o.endPause(open, l.target.name)
	})
}

// endPause ends the pause of a branch's queue, if it is among what is open.
func (o *op) endPause(open []store.Intent, branch string) error {
	for _, i := range open {
		if p := pauseOf(i); p != nil && p.Branch == branch {
			if err := o.Tx.EndIntent(i.ID, "over"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *landing) errBaseRed(report string) error {
	return stick.Errorf(stick.CodeBaseRed, "the gate is red on %s itself, at %s: nothing is merged, and no task is to blame", l.target.name, shortCommit(l.base)).
		With("task_id", l.task.ID).With("branch", l.target.name).With("commit", l.base).With("report", report).With("left", []string{}).
		Hintf("see what is wrong: %s; approve a task that mends it, and merge it by name", stick.Cmd("tt worker show --output <sum>", shortCommit(report)))
}

// shortCommit is the beginning of a sum, enough to tell it from others.
func shortCommit(sum string) string { return sum[:min(len(sum), 12)] }

// pause has the queue stand still until the branch moves.
func (l *landing) pause(ctx context.Context, report store.Blob) error {
	id, err := l.newID(ctx)
	if err != nil {
		return err
	}
	err = l.writeOutcome(ctx, func(o *op) error {
		if err := o.Tx.AddBlob(report); err != nil {
			return err
		}
		open, err := o.Tx.Intents(o.Room.ID, "")
		if err != nil {
			return err
		}
		if err := o.endPause(open, l.target.name); err != nil {
			return err
		}
		if err := o.storeIntent(id, intentPause, queueTask(l.target.name), 0, pauseIntent{l.target.name, l.base, report.Sum}); err != nil {
			return err
		}
		return o.Tx.EndIntent(l.id, "base red")
	})
	if err != nil {
		return err
	}
	return l.errBaseRed(report.Sum)
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
