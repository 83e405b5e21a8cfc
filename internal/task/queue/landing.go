package queue

import (
	"context"
	"fmt"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/internal/git"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// landing is what was asked for: to merge one task into the integration branch, or to revert one there. Each
// step takes what the ones before have returned, and returns what it has found or done.
type landing struct {
	*merger
	task         stick.Task
	byName       bool   // the caller named the task, so that it is tried even if the queue is paused
	revertReason string // why the task is reverted; empty for a merge
}

// ground is what a try begins with: the branch, and what is set there.
type ground struct {
	target     repository.Target
	base       string // the commit of the branch before
	gate       config.Gate
	worker     config.Worker
	unreadable bool // the settings on the branch can't be read, and the task is being reverted
}

// candidate is the commit that the branch is to move to.
type candidate struct {
	ground
	commit string
	tip    string // the commit that the branch moves to, if other tasks land on top of this one; else empty
	tree   string // the worktree for the gate; empty if none is set
}

// landed is what a try has come to that didn't fail.
type landed struct {
	ground
	task   stick.Task // with the approval that holds now
	moved  bool       // the branch has the task; else it moved meanwhile, and the task can be tried again
	commit string     // the merge commit or the revert; empty if the branch contained the task already
	gate   verdict
	note   stick.Words
	due    dueCleanup
	tries  int // 1, and one more for each time the branch moved meanwhile
}

// landTask lands the task. If the branch moves meanwhile, it starts again from the new head, at most as often
// as the project's settings allow. halted reports whether it failed because nothing can land on the branch.
func (l landing) landTask(ctx context.Context) (done landed, halted bool, err error) {
	for tries := 1; ; tries++ {
		done, err = l.tryOnce(ctx)
		done.tries = tries
		failed := failureOf(err)
		switch {
		case stick.CodeOf(err) == stick.CodeCanceled:
			return done, failed.halts, l.errInterrupted(failed)
		case err != nil || done.moved:
			return done, failed.halts, failed.error
		case tries >= done.worker.Races:
			return done, false, stick.Errorf(stick.CodeLanding, "%s moved %s while %s was being tested",
				done.target.Name, stick.Count(tries, "time"), l.task.ID).
				With("task_id", l.task.ID).
				Hintf("try again later; others merged first, and %s stays as it was: %s", l.task.ID, l.retryCommand())
		}

		// An approval that was kept for another commit holds for the next try, too.
		l.task = done.task
	}
}

// retryCommand returns the command by which the caller tries the same once more.
func (l landing) retryCommand() stick.Command {
	if l.revertReason != "" {
		return stick.Cmd("tt task rollback <task_id> --reason …", l.task.ID)
	}
	return stick.Cmd("tt task merge <task_id>", l.task.ID)
}

// errInterrupted returns the error for a landing that its caller has cancelled. It says how far the landing
// came.
func (l landing) errInterrupted(failed stepError) error {
	e := &stick.Error{
		Code: stick.CodeCanceled, Message: "interrupted; " + l.task.ID + " stays as it was", Err: failed.error,
	}
	if l.revertReason == "" {
		e.Message = "interrupted; " + l.task.ID + " wasn't merged, and stays approved"
	}
	if failed.unknown {
		e.Message = "interrupted while " + l.task.Integration + " was being moved: tt doesn't know yet whether " + l.task.ID + " has landed"
		e.Hintf("to find out, run the command again: %s", l.retryCommand())
	}

	return e.With("task_id", l.task.ID)
}

// tryOnce tries to land the task once.
func (l landing) tryOnce(ctx context.Context) (landed, error) {
	g, err := l.readGround(ctx)
	if err != nil {
		return landed{}, haltQueue(err)
	}

	if l.revertReason == "" {
		if l.task, err = l.requireApprovedCommit(ctx, g.base); err != nil {
			return landed{}, err
		}

		// Somebody may have merged the task by hand. There is nothing left to test then.
		contained, err := l.Git.IsAncestor(ctx, l.Root, l.task.Approved, g.base)
		if err != nil {
			return landed{}, err
		}
		if contained {
			done := landed{ground: g, task: l.task, moved: true, note: containedAlready}
			done.due, err = l.recordLanded(ctx, arrival{target: g.target})
			return done, err
		}
	}

	c, err := l.makeCandidate(ctx, g)
	if err != nil {
		return landed{}, err
	}
	return l.landIntended(ctx, c)
}

// landIntended lands a candidate under an intent: a crash is finished or undone by the next command.
func (l landing) landIntended(ctx context.Context, c candidate) (landed, error) {
	id, err := l.NewID(ctx)
	if err != nil {
		return landed{}, err
	}
	if err := l.storeIntent(ctx, id, c); err != nil {
		return landed{}, err
	}
	defer l.ServeIntent(ctx, id)()
	l.KillPoint("merge: intended")

	done, err := l.landCandidate(ctx, id, c)
	failed := failureOf(err)
	if err == nil && done.moved || failed.settled || failed.unknown {
		// The intent has ended already, or must stay open.
		return done, err
	}

	// Unless the landing succeeds, the intent ends with it: the task can be tried again.
	outcome := "lost"
	if err != nil {
		outcome = "failed"
	}
	if cerr := l.abandonIntent(ctx, id, outcome); cerr != nil && err == nil {
		err = cerr
	}
	return done, err
}

// landCandidate has the gate judge the candidate, moves the branch to it, and records that.
func (l landing) landCandidate(ctx context.Context, id string, c candidate) (done landed, err error) {
	done = landed{ground: c.ground, task: l.task, commit: c.commit}

	// The gate may take long. It runs on the very commit that is to land.
	if c.tree != "" {
		if done.gate, err = l.runGates(ctx, id, c); err != nil {
			return done, err
		}
	}
	l.KillPoint("merge: judged")

	// A host that has slept during the gate may have lost the landing to another one.
	if held, err := l.HoldsIntent(ctx, id); err != nil || !held {
		return done, err
	}

	// git moves first and the database records it: an open intent then says what to ask git.
	done.moved, done.note, err = l.advanceBranch(ctx, c)
	if err != nil {
		// The branch can't be moved, so no task can land.
		return done, haltQueue(err)
	}
	if !done.moved {
		return done, nil
	}
	l.KillPoint("merge: moved")

	if l.revertReason != "" && done.note == "" && len(done.gate.remains) > 0 {
		done.note = done.gate.remains[0]
	}
	done.due, err = l.recordLanded(ctx, arrival{intent: id, target: c.target, commit: c.commit})
	return done, err
}

// makeCandidate makes the commit that is to land, and checks all that needs no intent.
func (l landing) makeCandidate(ctx context.Context, g ground) (c candidate, err error) {
	commit, err := l.makeResult(ctx, g)
	if err != nil {
		return c, err
	}

	// All that can be refused is refused before the gate, which may take long.
	if g, err = l.requireReadableSettings(ctx, g, commit); err != nil {
		return c, err
	}
	if err := l.requireNoFilesInTheWay(ctx, g.target, commit); err != nil {
		return c, err
	}

	tree, err := l.gateTree(g, commit)
	return candidate{ground: g, commit: commit, tree: tree}, err
}

// abandonIntent ends the intent of a landing that didn't succeed, if it is still open.
func (l landing) abandonIntent(ctx context.Context, id, outcome string) error {
	return l.WriteOutcome(ctx, func(o *repository.Op) error {
		// Another host may have ended it.
		if _, open, err := o.Tx.Intent(id); err != nil || !open {
			return err
		}
		return o.Tx.EndIntent(id, outcome)
	})
}

// containedAlready is the note for a task that landed without a merge commit.
const containedAlready = "the branch contained it already"

// readGround reads the branch and its settings, and refuses if nothing can land on it now.
func (l landing) readGround(ctx context.Context) (g ground, err error) {
	// A landing that was interrupted may have left the branch and its files half moved.
	if err := l.recoverOtherLandings(ctx, l.task.Integration, l.task.ID); err != nil {
		return g, err
	}
	if g.target, err = l.ReadTarget(ctx, l.task.Integration); err != nil {
		return g, err
	}
	if err := l.FetchTarget(ctx, &g.target); err != nil {
		return g, err
	}
	if err := l.requireReachable(ctx, g.target); err != nil {
		return g, err
	}

	g.base = g.target.Head()

	// The settings of the branch count, not those that the task brings.
	g.gate, g.worker, err = l.TaskSettings(ctx, g.base)

	// A revert may repair them, see requireReadableSettings.
	g.unreadable = l.revertReason != "" && stick.CodeOf(err) == stick.CodeProjectConfig
	if err != nil && !g.unreadable {
		return g, err
	}
	if err := l.Git.Identity(ctx, l.Root); err != nil {
		return g, err
	}
	if err := l.requireCleanCheckout(ctx, g.target); err != nil {
		return g, err
	}
	return g, l.requireNotPaused(ctx, g)
}

// makeResult creates the commit that the branch is to move to, without touching any checkout.
func (l landing) makeResult(ctx context.Context, g ground) (string, error) {
	theirs := l.task.Approved
	if l.revertReason != "" {
		var err error
		if theirs, err = l.revertCommit(ctx); err != nil {
			return "", err
		}
	}

	// The merge happens in git's object store, so that no checkout sees it before the gate.
	tree, files, err := l.Git.MergeTree(ctx, l.Root, g.base, theirs)
	if err != nil {
		return "", err
	}

	if tree == "" {
		return "", l.returnConflict(ctx, g.target.Name, files)
	}
	l.KillPoint("merge: combined")

	signing, err := l.CommitSigning(ctx, g.worker)
	if err != nil {
		return "", err
	}

	var commit string
	if l.revertReason != "" {
		message := fmt.Sprintf("Revert task %s\n\nThis reverts merge %s.\n\nReason: %s\n",
			l.task.ID, l.task.Result, strings.ReplaceAll(stick.Block(l.revertReason), "\n", "\n  "))
		commit, err = l.Git.CommitTree(ctx, l.Root, signing, tree, message, g.base)
	} else {
		commit, err = l.Git.CommitTree(ctx, l.Root, signing, tree, l.mergeMessage(), g.base, theirs)
	}

	// The next task's merge couldn't be signed either.
	return commit, haltQueue(err)
}

// revertCommit creates a commit that undoes the merge of the task and nothing else. Merging it into the
// branch reverts the task there.
func (l landing) revertCommit(ctx context.Context) (string, error) {
	return l.Git.CommitTree(ctx, l.Root, git.Signing{}, l.task.Result+"^1^{tree}",
		"Revert "+l.task.Result+"\n", l.task.Result)
}
