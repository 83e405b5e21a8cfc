package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// queueWait is how long a merge waits for other merges into the same branch.
const queueWait = 2 * time.Hour

// WorkerMerge merges approved tasks, one at a time. The gate runs on exactly the commit that the branch then
// moves to. It fails with [stick.CodeInvalidTransition], [stick.CodeReviewStale], [stick.CodeRebaseConflict],
// [stick.CodeGateFailed], [stick.CodeBaseRed], [stick.CodeDirtyTree], [stick.CodeLanding] and
// [stick.CodePaused]. Without a task's name it fails only if it merged nothing. With All it tries the other
// tasks, too, when one of them fails: Waiting says which and why. It fails with [stick.CodeTasksReturned] if
// it sent tasks back, and with [stick.CodeTasksLeft] if it left approved ones.
func (q *Queue) WorkerMerge(ctx context.Context, p WorkerMergeParams) (WorkerMergeResult, error) {
	res := WorkerMergeResult{Merged: []MergedTask{}, Waiting: []HeldTask{}}
	if p.All && p.TaskID != "" {
		return res, stick.Errorf(stick.CodeUsage, "name one task, or ask for all of them, not both").
			With("field", "task_id")
	}

	mg, err := q.openMerger(ctx, p.Where, p.Caller, p.Shows)
	if err != nil {
		return res, err
	}

	mg.OnWait = p.Waits
	err = mg.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) error {
		res.RoomID, res.AgentID = r.ID, me.Agent
		if err := mayLand(r, me, tx.Now()); err != nil {
			// Refuse before a gate runs for nothing.
			return err
		}

		return repository.RequireMemberOrPerson(r, me)
	})
	if err != nil {
		return res, err
	}

	if p.Wait {
		return mg.followLander(ctx, p, res)
	}

	// A named task is merged or fails alone.
	if p.TaskID != "" {
		task, err := mg.ReadTask(ctx, p.TaskID)
		if err != nil {
			return res, err
		}

		m, _, err := mg.mergeOne(ctx, task, true)
		if err == nil {
			res.Merged = append(res.Merged, m)
			res.Ready, err = q.ListReady(ctx, mg.Repo, task.ID)
		}

		return res, err
	}

	res, err = mg.mergeQueue(ctx, p.All, res)
	if len(res.Merged) > 0 {
		// They have landed, whether or not the others are known.
		res.Ready, _ = q.ListReady(ctx, mg.Repo, mergedIDs(res.Merged)...)
	}

	return res, err
}

// mayLand refuses to merge in a paused room. What tt does by itself isn't done by a person, whoever wanted it.
func mayLand(r stick.Room, me core.Identity, now stick.Time) error {
	return r.MayLand(me.Agent, me.Person() && me.Caller.Behalf == "", now)
}

// mergeQueue merges the tasks of all queues in order, or only the first one that can be merged. Each
// integration branch has its own queue. A queue that is paused doesn't stop the others, nor does a fault of
// one task.
func (mg *merger) mergeQueue(ctx context.Context, all bool, res WorkerMergeResult) (WorkerMergeResult, error) {
	// Tasks by id; the branches on which nothing can land now, and why.
	tried, halted := map[string]bool{}, map[string]error{}
	var held error
	var returned []string
	var err error
	if res.Cleaned, err = mg.finishCleanups(ctx); err != nil {
		return res, err
	}

	by := mg.By
	for all || len(res.Merged) == 0 {
		// The queue is read again each time: a gate takes long, and others approve meanwhile.
		queued, err := mg.listQueued(ctx, tried, halted)
		if err != nil {
			return res, res.withError(err)
		}

		if len(queued) == 0 {
			break
		}
		if !all {
			queued = queued[:1]
		}

		results, err := mg.mergeNext(ctx, queued, func(stick.Task) core.Caller { return by })
		for _, r := range results {
			tried[r.task.ID] = true
			failed, err := mg.noteResult(ctx, r, halted, &res, &returned)
			if err != nil {
				return res, res.withError(err)
			}
			if !failed {
				continue
			}

			if !all && len(returned) > 0 {
				// The first task of the queue was returned to its worker.
				return res, r.err
			}

			// The first cause is the error, if nothing was merged.
			if held == nil && (r.halted || !all || stick.CodeOf(r.err) == stick.CodeGitFailed) {
				held = r.err
			}
		}
		if err != nil {
			return res, res.withError(err)
		}
	}

	// The answer names also those that were never tried.
	if err := mg.listHeld(ctx, tried, halted, &res); err != nil {
		return res, err
	}

	err = mg.queueError(ctx, &res, len(tried), returned, held)
	if err == nil && all {
		err = res.requireNoneLeft()
	}
	return res, err
}

// requireNoneLeft fails if tasks are left that are approved.
func (res WorkerMergeResult) requireNoneLeft() error {
	var left []string
	for _, h := range res.Waiting {
		if h.State == stick.TaskApproved {
			left = append(left, h.TaskID)
		}
	}

	if len(left) == 0 {
		return nil
	}
	return errLeft(left)
}

// noteResult adds to res what has become of a task, and notes if its branch is halted or the task came back. failed
// says that it hasn't landed. It fails with the error of the task if that is none of the task or its branch alone.
func (mg *merger) noteResult(
	ctx context.Context, r trainResult, halted map[string]error, res *WorkerMergeResult, returned *[]string,
) (failed bool, err error) {
	if r.err == nil {
		// Another merge may have landed it, and reports it then.
		if !r.merged.Already {
			res.Merged = append(res.Merged, r.merged)
		}
		return false, nil
	}

	if !othersMayMerge(r.err) {
		return true, r.err
	}

	// The failure may have returned the task, or another command has landed it.
	now, err := mg.ReadTask(ctx, r.task.ID)
	if err != nil || now.State == stick.TaskCompleted {
		return false, err
	}

	// Nothing else can land on this branch, but there may be others.
	if r.halted {
		halted[r.task.Integration] = r.err
	}

	res.Waiting = append(res.Waiting, mg.heldTask(now, r.err))
	if now.State != stick.TaskApproved {
		*returned = append(*returned, r.task.ID)
	}
	return true, nil
}

// queueError returns the error for a run of the queue, nil if something was merged and nothing was returned.
// If there was nothing to merge, it adds to res the tasks that wait for review.
func (mg *merger) queueError(
	ctx context.Context, res *WorkerMergeResult, tried int, returned []string, held error,
) error {
	switch {
	case len(returned) > 0:
		return errReturned(returned)
	case len(res.Merged) > 0:
		// res.Waiting says why the others weren't merged.
		return nil
	case tried == 0:
		return mg.listInReview(ctx, res)
	}
	return held
}

// heldTask says why a task wasn't merged, and what its worker has to do if it was returned.
func (mg *merger) heldTask(now stick.Task, err error) HeldTask {
	held := HeldTask{TaskID: now.ID, State: now.State, Error: stick.CodeOf(err), Why: stick.AsError(err).Words()}
	if tasks.Returned(now) {
		held.Next = stick.AsError(err).Hint.As(mg.By.AssumedByFlag()).Words()
	}
	return held
}

// errReturned returns the error for tasks that couldn't be merged and aren't in the queue any more.
func errReturned(ids []string) error {
	return stick.Errorf(stick.CodeTasksReturned, "%s came back without being merged: %s",
		stick.Count(len(ids), "task"), stick.Names(ids, len(ids))).
		With("returned", ids).With("left", []string{}).
		Hintf("to see why, and what to do: %s", stick.Cmd("tt task show <task_id>", ids[0]))
}

// listInReview adds to res the tasks that wait for review.
func (mg *merger) listInReview(ctx context.Context, res *WorkerMergeResult) error {
	return mg.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		tasks, err := tx.OpenTasks(r.ID)
		res.InReview = nil
		for _, t := range tasks {
			if t.State == stick.TaskInReview {
				res.InReview = append(res.InReview, t.ID)
			}
		}

		return err
	})
}

// othersMayMerge reports whether a failure concerns only a task or its branch, so that tasks of other
// branches may still be merged.
func othersMayMerge(err error) bool {
	switch stick.CodeOf(err).Info().Exit {
	case stick.ExitInternal, stick.ExitBusy, stick.ExitInterrupted:
		return false
	case stick.ExitEnvironment:
		return stick.CodeOf(err) == stick.CodeGitFailed
	}
	return true
}

// withError returns err. If it is an interruption after some merges, the message says how many tasks were
// merged.
func (res WorkerMergeResult) withError(err error) error {
	if stick.CodeOf(err) == stick.CodeCanceled && len(res.Merged) > 0 {
		e := *stick.AsError(err)
		e.Message = fmt.Sprintf("%s; tasks merged before that: %d", e.Message, len(res.Merged))
		return &e
	}
	return err
}

// listQueued lists the tasks that weren't tried yet, in queues that aren't halted.
func (mg *merger) listQueued(
	ctx context.Context, tried map[string]bool, halted map[string]error,
) (waiting []stick.Task, err error) {
	err = mg.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		queued, err := tx.Queue(r.ID)
		waiting = nil
		for _, t := range queued {
			if !tried[t.ID] && halted[t.Integration] == nil {
				waiting = append(waiting, t)
			}
		}

		return err
	})
	return waiting, err
}

// listHeld adds to res the tasks that weren't tried because nothing can land on their branch now.
func (mg *merger) listHeld(
	ctx context.Context, tried map[string]bool, halted map[string]error, res *WorkerMergeResult,
) error {
	if len(halted) == 0 {
		return nil
	}
	return mg.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		queued, err := tx.Queue(r.ID)
		for _, t := range queued {
			if why := halted[t.Integration]; why != nil && !tried[t.ID] {
				res.Waiting = append(res.Waiting, HeldTask{
					TaskID: t.ID, State: t.State, Error: stick.CodeOf(why),
					Why: stick.AsError(why).Words(),
				})
			}
		}

		return err
	})
}

// mergeOne merges one task, after it has waited for other merges into the same branch. named says that the
// caller named the task, so that it is tried even if the queue is paused. halted reports whether nothing can
// land on the branch now.
func (mg *merger) mergeOne(ctx context.Context, task stick.Task, named bool) (m MergedTask, halted bool, err error) {
	// A task in another state can't be merged, unless a landing was interrupted, which is finished first.
	if task.State != stick.TaskApproved && task.State != stick.TaskCompleted {
		open, err := mg.IsLanding(ctx, task.ID)
		if err != nil {
			return m, false, err
		}

		if !open {
			_, err := tasks.Merge(task, "", "", "")
			return m, false, err
		}
	}

	// Always the branch's lock first, then the task's: so no two commands wait for each other.
	unlockBranch, err := mg.AcquireLock(ctx, "branch", task.Integration, queueWait)
	if err != nil {
		return m, false, err
	}
	defer unlockBranch()

	unlock, err := mg.AcquireLock(ctx, "task", task.ID, repository.LockWait)
	if err != nil {
		return m, false, err
	}
	defer unlock()

	for {
		// Locks hold on this host only. A command of another one may come first even after this wait.
		if err := mg.AwaitOtherCheckouts(ctx, task.ID, task.Integration, queueWait); err != nil {
			return m, false, err
		}

		m, halted, err = mg.mergeLocked(ctx, task.ID, named)
		if _, busy := errors.AsType[repository.OtherCheckoutError](err); !busy {
			return m, halted, err
		}
	}
}

// mergeLocked is [merger.mergeOne] when no other command in this checkout is in the way.
func (mg *merger) mergeLocked(ctx context.Context, id string, named bool) (m MergedTask, halted bool, err error) {
	// An interrupted landing may turn out to have succeeded.
	if err := mg.RecoverTask(ctx, id); err != nil {
		return m, false, err
	}

	task, err := mg.ReadTask(ctx, id)
	if err != nil {
		return m, false, err
	}

	// Asking twice is safe: the second call says what the first one did.
	if task.State == stick.TaskCompleted {
		return MergedTask{
			TaskID: task.ID, Branch: task.Integration, Commit: task.Result, Head: task.Head,
			Already: true, Remains: mg.RetryCleanup(ctx, task), Tries: 1,
			Note: containedNote(task.Result),
		}, false, nil
	}

	if _, err := tasks.Merge(task, "", "", ""); err != nil {
		return m, false, err
	}

	l := landing{merger: mg, task: task, byName: named}
	done, halted, err := l.landTask(ctx)
	if err != nil {
		return m, halted, err
	}

	m = MergedTask{
		TaskID: task.ID, Branch: task.Integration, Commit: done.commit, Head: done.task.Approved,
		Gate: done.gate.name(), Tries: done.tries, Note: done.note,
	}

	// The task has landed, so what follows is a note at most.
	m.Remains, err = mg.cleanUp(ctx, done.due)
	m.Left = append(done.gate.remains, m.Left...)

	// A failed cleanup is no error.
	if err != nil {
		m.Left = append(m.Left, stick.AsError(err).Words())
	}
	return m, false, nil
}

// containedNote returns the note for a task that landed without a merge commit, or "" for one with a merge
// commit.
func containedNote(result string) stick.Words {
	if result == "" {
		return containedAlready
	}
	return ""
}

// mergeMessage returns the message of the merge commit.
func (l landing) mergeMessage() string {
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

// mergedIDs returns the names of tasks that landed.
func mergedIDs(merged []MergedTask) (ids []string) {
	for _, m := range merged {
		ids = append(ids, m.TaskID)
	}
	return ids
}
