package queue

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// trainResult is what has become of a task that rode in a train. A task without a result stays in the queue.
type trainResult struct {
	task   stick.Task // as it was in the queue
	merged MergedTask
	halted bool // nothing can land on the branch now
	err    error
}

// train is one run of several landings on one branch, gated together.
type train struct {
	*merger
	halted  bool   // nothing can land on the branch now
	ground  ground // the branch, as far as the train has moved it
	riders  map[string]landing
	results []trainResult
	by      func(stick.Task) core.Caller // who merges a task
}

// rider is a task that lands in a group, and the intent under which it does.
type rider struct {
	landing
	candidate
	intent string
}

// mergeTrain merges tasks of one branch on top of each other, and has the gate judge them together. If it is red,
// it finds out which is to blame, as [tasks.Train] says. by says who merges each task. Tasks that it couldn't try
// have no result.
func (mg *merger) mergeTrain(
	ctx context.Context, queued []stick.Task, by func(stick.Task) core.Caller,
) (results []trainResult, err error) {
	// Always the branch's lock first, then those of the tasks.
	mg.By = by(queued[0])
	unlockBranch, err := mg.AcquireLock(ctx, "branch", queued[0].Integration, queueWait)
	if err != nil {
		return []trainResult{{task: queued[0], err: err}}, nil
	}
	defer unlockBranch()

	tr := &train{merger: mg, riders: map[string]landing{}, by: by}
	unlock, err := tr.boardTasks(ctx, queued)
	defer unlock()
	if err == nil {
		err = tr.landGroups(ctx)
	}
	return tr.results, err
}

// noteFailure notes that a task can't land.
func (tr *train) noteFailure(l landing, err error) {
	f := failureOf(err)
	tr.halted = tr.halted || f.halts
	tr.results = append(tr.results, trainResult{task: l.task, halted: f.halts, err: f.error})
}

// boardTasks locks the tasks, finishes what a command that died has left of their landings, and takes those aboard
// that can be merged.
func (tr *train) boardTasks(ctx context.Context, queued []stick.Task) (unlock func(), err error) {
	var unlocks []func()
	unlock = func() {
		for _, u := range slices.Backward(unlocks) {
			u()
		}
	}

	var aboard []landing
	for _, t := range queued {
		tr.By = tr.by(t)
		u, err := tr.AcquireLock(ctx, "task", t.ID, repository.LockWait)
		if err != nil {
			tr.noteFailure(landing{merger: tr.merger, task: t}, err)
			continue
		}

		unlocks = append(unlocks, u)
		if err := tr.RecoverTask(ctx, t.ID); err != nil {
			return unlock, err
		}

		now, err := tr.ReadTask(ctx, t.ID)
		if err != nil {
			return unlock, err
		}

		// Somebody may have landed it, or sent it back, since the queue was read.
		if now.State == stick.TaskApproved {
			aboard = append(aboard, landing{merger: tr.merger, task: now})
		}
	}

	if len(aboard) == 0 {
		return unlock, nil
	}
	return unlock, tr.admitTasks(ctx, aboard)
}

// admitTasks checks each task as a merge of it alone would, on the branch as it is.
func (tr *train) admitTasks(ctx context.Context, aboard []landing) (err error) {
	if tr.ground, err = aboard[0].readGround(ctx); err != nil {
		tr.noteFailure(aboard[0], haltQueue(err))
		return nil
	}

	for _, l := range aboard {
		tr.By = tr.by(l.task)
		if l.task, err = l.requireApprovedCommit(ctx, tr.ground.base); err != nil {
			tr.noteFailure(l, err)
			continue
		}

		contained, err := tr.Git.IsAncestor(ctx, tr.Root, l.task.Approved, tr.ground.base)
		if err != nil {
			return err
		}

		// One that the branch contains already lands by the way of a single merge.
		if !contained {
			tr.riders[l.task.ID] = l
		}
	}

	return nil
}

// landGroups gates groups of tasks, and lands them, until each has landed or come back.
func (tr *train) landGroups(ctx context.Context) error {
	plan := tasks.NewTrain(tr.ridersInOrder()...)
	for group := plan.Next(); group != nil; group = plan.Next() {
		riders, err := tr.makeMerges(ctx, group)
		if err != nil || tr.halted {
			return err
		}
		if len(riders) == 0 {
			plan = plan.Skip()
			continue
		}

		green, goesOn, err := tr.landGroup(ctx, riders, &plan)
		if err != nil || !goesOn {
			return err
		}

		plan, _ = plan.Judge(taskIDs(riders), green)
	}

	tr.noteFlaky(plan)
	return nil
}

// ridersInOrder lists the tasks that ride, in the order of the queue.
func (tr *train) ridersInOrder() (ids []string) {
	all := make([]landing, 0, len(tr.riders))
	for _, l := range tr.riders {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b landing) int { return tasks.CompareQueued(a.task, b.task) })

	for _, l := range all {
		ids = append(ids, l.task.ID)
	}
	return ids
}

// taskIDs names the tasks of a group.
func taskIDs(riders []rider) (ids []string) {
	for _, r := range riders {
		ids = append(ids, r.landing.task.ID)
	}
	return ids
}

// noteFlaky notes with the tasks that landed that the gate has contradicted itself.
func (tr *train) noteFlaky(plan tasks.Train) {
	if !plan.IsFlaky() {
		return
	}
	for i, r := range tr.results {
		if r.err == nil {
			tr.results[i].merged.Note = "the gate is flaky: it was red on tasks together, and green on each part of them"
		}
	}
}

// makeMerges makes the merges of a group on top of each other. A task that conflicts with the branch goes back. One
// that conflicts only with others of its group waits for the next train.
func (tr *train) makeMerges(ctx context.Context, group []string) (riders []rider, err error) {
	at := tr.ground
	for _, id := range group {
		l := tr.riders[id]
		tr.By = tr.by(l.task)

		if at.base != tr.ground.base {
			fits, err := tr.fitsOn(ctx, l, at.base)
			if err != nil {
				return nil, err
			}
			if !fits {
				continue
			}
		}

		c, err := l.makeCandidate(ctx, at)
		if err != nil {
			if !othersMayMerge(err) {
				return nil, err
			}
			if tr.noteFailure(l, err); failureOf(err).halts {
				return nil, nil
			}
			continue
		}

		riders = append(riders, rider{landing: l, candidate: c})
		at.base = c.commit
	}

	// All are gated at the last one's commit, in the last one's worktree.
	for i := range riders {
		last := riders[len(riders)-1].candidate
		riders[i].candidate.ground, riders[i].candidate.tree = tr.ground, last.tree
		riders[i].candidate.tip = last.commit
	}

	return riders, nil
}

// fitsOn reports whether a task merges with a commit without a conflict.
func (tr *train) fitsOn(ctx context.Context, l landing, commit string) (bool, error) {
	tree, _, err := tr.Git.MergeTree(ctx, tr.Root, commit, l.task.Approved)
	return tree != "", err
}

// landGroup has the gate judge a group, and lands it if it is green. If it is red, it compares with the branch, and
// returns the task of a group of one. goesOn is false if the train ends here.
func (tr *train) landGroup(ctx context.Context, riders []rider, plan *tasks.Train) (green, goesOn bool, err error) {
	if i, err := tr.storeIntents(ctx, riders); err != nil {
		tr.abandonGroup(ctx, riders, "failed")
		tr.noteFailure(riders[i].landing, err)
		return false, false, nil
	}
	tr.KillPoint("train: intended")

	last := riders[len(riders)-1]
	defer tr.ServeIntent(ctx, last.intent)()
	v := verdict{green: true}
	if last.tree != "" {
		v, err = last.judgeCommit(ctx, last.candidate, last.commit)
	}
	tr.KillPoint("train: judged")

	if err == nil && v.green {
		return tr.advanceGroup(ctx, riders, v)
	}
	if err == nil {
		return tr.blameGroup(ctx, riders, v, plan)
	}

	// The gate couldn't say anything, so nobody is to blame.
	tr.abandonGroup(ctx, riders, "failed")
	if !othersMayMerge(err) || stick.CodeOf(err) == stick.CodeCanceled {
		return false, false, err
	}
	tr.noteFailure(riders[0].landing, haltQueue(err))
	return false, false, nil
}

// storeIntents stores an intent for each task of a group: a crash is finished or undone by the next command.
// If it fails, failed is the number of the task that can't land.
func (tr *train) storeIntents(ctx context.Context, riders []rider) (failed int, err error) {
	for i := range riders {
		id, err := tr.NewID(ctx)
		if err != nil {
			return i, err
		}

		tr.By = tr.by(riders[i].landing.task)
		if err := riders[i].storeIntent(ctx, id, riders[i].candidate); err != nil {
			return i, err
		}
		riders[i].intent = id
	}

	return 0, nil
}

// abandonGroup ends the intents of a group that doesn't land now. What can't be ended is finished by the next command.
func (tr *train) abandonGroup(ctx context.Context, riders []rider, outcome string) {
	for _, r := range riders {
		if r.intent != "" {
			_ = r.abandonIntent(ctx, r.intent, outcome)
		}
	}
}

// advanceGroup moves the branch to the tip of a green group, and records each task.
func (tr *train) advanceGroup(ctx context.Context, riders []rider, v verdict) (green, goesOn bool, err error) {
	last := riders[len(riders)-1]
	moved, note, err := last.advanceBranch(ctx, last.candidate)
	if failureOf(err).unknown {
		return false, false, failureOf(err).error
	}

	if err != nil || !moved {
		// Somebody else has moved the branch, or it can't be moved. The tasks stay in the queue.
		tr.abandonGroup(ctx, riders, "lost")
		if err != nil {
			tr.noteFailure(last.landing, haltQueue(err))
		}
		return false, false, nil
	}
	tr.KillPoint("train: moved")

	for _, r := range riders {
		if err := tr.recordRider(ctx, r, v, note); err != nil {
			return true, false, err
		}
		tr.KillPoint("train: recorded")
	}

	// What follows begins from here.
	if tr.ground, err = last.readGround(ctx); err != nil {
		// The next merge says what is wrong with it.
		return true, false, nil
	}
	return true, tr.ground.base == last.commit, nil
}

// recordRider records a task that has landed in a group, and removes what is left of it.
func (tr *train) recordRider(ctx context.Context, r rider, v verdict, note stick.Words) error {
	tr.By = tr.by(r.landing.task)
	due, err := r.recordLanded(ctx, arrival{intent: r.intent, target: r.target, commit: r.commit})
	if err != nil {
		return err
	}

	m := MergedTask{
		TaskID: r.landing.task.ID, Branch: r.target.Name, Commit: r.commit, Head: r.landing.task.Approved,
		Gate: v.name(), Tries: 1, Note: note,
	}
	if m.Remains, err = tr.cleanUp(ctx, due); err != nil {
		// A failed cleanup is no error.
		m.Left = append(m.Left, stick.AsError(err).Words())
	}

	tr.results = append(tr.results, trainResult{task: r.landing.task, merged: m})
	return nil
}

// blameGroup finds out whether a red group is to blame. A red branch pauses its queue; a task that is red alone goes
// back.
func (tr *train) blameGroup(
	ctx context.Context, riders []rider, v verdict, plan *tasks.Train,
) (green, goesOn bool, err error) {
	first := riders[0]
	db, err := tr.Core.Open(ctx, true)
	if err != nil {
		return false, false, err
	}

	report, err := db.WriteBlob(v.outcome.Output)
	if err != nil {
		return false, false, err
	}

	// Of the others nothing is known yet.
	tr.abandonGroup(ctx, riders[1:], "red")
	if plan.AsksBase() {
		onBase, err := first.judgeCommit(ctx, first.candidate, tr.ground.base)
		if err != nil {
			tr.abandonGroup(ctx, riders[:1], "failed")
			tr.noteFailure(first.landing, haltQueue(err))
			return false, false, nil
		}

		if !onBase.green {
			if report, err = db.WriteBlob(onBase.outcome.Output); err != nil {
				return false, false, err
			}
			tr.noteFailure(first.landing, haltQueue(first.pauseQueue(ctx, first.intent, tr.ground, report)))
			return false, false, nil
		}
		*plan = plan.BaseIsGreen()
	}

	if len(riders) > 1 {
		tr.abandonGroup(ctx, riders[:1], "red")
		return false, true, nil
	}

	tr.By = tr.by(first.landing.task)
	tr.noteFailure(first.landing, first.refuseRed(ctx, first.intent, tr.ground, v, report))
	return false, true, nil
}
