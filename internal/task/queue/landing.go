package queue

import (
	"context"
	"fmt"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// landing merges one task into the integration branch, or reverts one there.
type landing struct {
	*merger
	task   stick.Task
	byName bool // the caller named the task, so that it is tried even if the queue is paused

	id                 string // of the intent
	target             repository.Target
	base               string // the commit of the branch before
	result             string // the commit that the branch is to move to
	gate               config.Gate
	worker             config.Worker
	settingsUnreadable bool   // the settings on the branch can't be read, and the task is being reverted
	forgeCommit        string // the commit by which a forge merged the task; empty for a merge by tt
	revertReason       string // why the task is reverted; empty for a merge

	tries         int
	gatePassed    bool
	note          stick.Words
	gateRemains   []stick.Words // what the gate left behind
	dueCleanup    store.Intent  // the cleanup to run after the landing
	restartHint   stick.Hint    // how the command of a task starts again that was returned
	ownerCheckout stick.Words   // where the task's branch and worktree are, if that is another checkout
}

// landTask lands the task. If the branch moves meanwhile, it starts again from the new head, at most as often
// as the project's settings allow. halted reports whether it failed because nothing can land on the branch.
func (l *landing) landTask(ctx context.Context) (halted bool, err error) {
	for {
		l.tries++
		lost, err := l.tryOnce(ctx)
		failed := failureOf(err)
		switch {
		case stick.CodeOf(err) == stick.CodeCanceled:
			return failed.halts, l.errInterrupted(failed)
		case err != nil || !lost:
			return failed.halts, failed.error
		case l.tries >= l.worker.Races:
			return false, stick.Errorf(stick.CodeLanding, "%s moved %s while %s was being tested",
				l.target.Name, stick.Count(l.tries, "time"), l.task.ID).
				With("task_id", l.task.ID).
				Hintf("others were faster; %s stays as it was, try again later: %s", l.task.ID, l.retryCommand())
		}
	}
}

// retryCommand returns the command by which the caller tries the same once more.
func (l *landing) retryCommand() stick.Command {
	if l.revertReason != "" {
		return stick.Cmd("tt task rollback <task_id> --reason …", l.task.ID)
	}
	return stick.Cmd("tt task merge <task_id>", l.task.ID)
}

// errInterrupted returns the error for a landing that its caller has cancelled. It says how far the landing
// came.
func (l *landing) errInterrupted(failed stepError) error {
	e := &stick.Error{
		Code: stick.CodeCanceled, Message: "interrupted; " + l.task.ID + " stays as it was", Err: failed.error,
	}
	if l.revertReason == "" {
		e.Message = "interrupted; " + l.task.ID + " wasn't merged, and stays approved"
	}
	if failed.unknown {
		e.Message = "interrupted while " + l.task.Integration + " was being moved: tt doesn't know yet whether " + l.task.ID + " has landed"
		e.Hintf("the next command on the task finds out: %s", l.retryCommand())
	}

	return e.With("task_id", l.task.ID)
}

// tryOnce tries to land the task once. lost reports whether that failed only because the branch moved
// meanwhile.
func (l *landing) tryOnce(ctx context.Context) (lost bool, err error) {
	// The earlier try has ended.
	l.id, l.gatePassed, l.gateRemains = "", false, nil
	tree, contained, err := l.prepareResult(ctx)
	if err != nil {
		return false, err
	}

	// Somebody has merged it by hand.
	if contained {
		l.result, l.note = "", containedAlready
		return false, l.recordLanded(ctx, "")
	}

	if l.id, err = l.NewID(ctx); err != nil {
		return false, err
	}

	// From here on a crash is finished or undone by the next command.
	if err := l.storeIntent(ctx, tree); err != nil {
		return false, err
	}
	defer l.ServeIntent(ctx, l.id)()
	l.KillPoint("merge: intended")

	lost, err = l.landResult(ctx, tree)
	failed := failureOf(err)
	if err == nil && !lost || failed.settled || failed.unknown {
		// The intent has ended already, or must stay open.
		return lost, err
	}

	// Unless the landing succeeds, the intent ends with it: the task can be tried again.
	outcome := "lost"
	if err != nil {
		outcome = "failed"
	}
	if cerr := l.abandonIntent(ctx, outcome); cerr != nil && err == nil {
		err = cerr
	}
	return lost, err
}

// landResult has the gate judge the result, moves the branch to it, and records that. lost reports whether the
// branch was moved meanwhile.
func (l *landing) landResult(ctx context.Context, tree string) (lost bool, err error) {
	// The gate may take long. It runs on the very commit that is to land.
	if tree != "" {
		if err := l.runGates(ctx, tree); err != nil {
			return false, err
		}

		l.gatePassed = true
	}
	l.KillPoint("merge: judged")

	// A host that has slept during the gate may have lost the landing to another one.
	if held, err := l.HoldsIntent(ctx, l.id); err != nil || !held {
		return err == nil, err
	}

	// git moves first and the database records it: an open intent then says what to ask git.
	moved, err := l.advanceBranch(ctx)
	if err != nil {
		// The branch can't be moved, so no task can land.
		return false, haltQueue(err)
	}
	if !moved {
		return true, nil
	}
	l.KillPoint("merge: moved")

	if l.revertReason != "" && l.note == "" && len(l.gateRemains) > 0 {
		l.note = l.gateRemains[0]
	}
	return false, l.recordLanded(ctx, l.id)
}

// prepareResult makes the result, and checks all that needs no intent. It returns the worktree for the gate,
// empty if none is set. contained says that the branch has the task already, so that there is nothing to do.
func (l *landing) prepareResult(ctx context.Context) (tree string, contained bool, err error) {
	if err := l.requireLandable(ctx); err != nil {
		return "", false, err
	}

	// Somebody may have merged the task by hand. There is nothing left to test then.
	if l.revertReason == "" {
		if contained, err := l.Git.IsAncestor(ctx, l.Root, l.task.Approved, l.base); contained || err != nil {
			return "", contained, err
		}
	}

	if err := l.makeResult(ctx); err != nil {
		return "", false, err
	}

	// All that can be refused is refused before the gate, which may take long.
	if err := l.requireReadableSettings(ctx); err != nil {
		return "", false, err
	}
	if err := l.requireNoFilesInTheWay(ctx); err != nil {
		return "", false, err
	}

	tree, err = l.gateTree()
	return tree, false, err
}

// abandonIntent ends the intent of a landing that didn't succeed, if it is still open.
func (l *landing) abandonIntent(ctx context.Context, outcome string) error {
	return l.WriteOutcome(ctx, func(o *repository.Op) error {
		// Another host may have ended it.
		if _, open, err := o.Tx.Intent(l.id); err != nil || !open {
			return err
		}
		return o.Tx.EndIntent(l.id, outcome)
	})
}

// containedAlready is the note for a task that landed without a merge commit.
const containedAlready = "the branch contained it already"

// requireLandable checks whether anything can land on the branch now, and whether this task still may.
func (l *landing) requireLandable(ctx context.Context) error {
	if err := l.prepareBranch(ctx); err != nil {
		return haltQueue(err)
	}

	if l.revertReason != "" {
		return nil
	}
	return l.requireApprovedCommit(ctx)
}

// prepareBranch reads the branch and its settings, and refuses if nothing can land on it now.
func (l *landing) prepareBranch(ctx context.Context) (err error) {
	// A landing that was interrupted may have left the branch and its files half moved.
	if err := l.recoverOtherLandings(ctx, l.task.Integration, l.task.ID); err != nil {
		return err
	}
	if l.target, err = l.ReadTarget(ctx, l.task.Integration); err != nil {
		return err
	}
	if err := l.FetchTarget(ctx, &l.target); err != nil {
		return err
	}
	if err := l.requireReachable(ctx); err != nil {
		return err
	}

	l.base = l.target.Head()

	// The settings of the branch count, not those that the task brings.
	l.gate, l.worker, err = l.TaskSettings(ctx, l.base)

	// A revert may repair them, see requireReadableSettings.
	l.settingsUnreadable = l.revertReason != "" && stick.CodeOf(err) == stick.CodeProjectConfig
	if err != nil && !l.settingsUnreadable {
		return err
	}
	if err := l.Git.Identity(ctx, l.Root); err != nil {
		return err
	}
	if err := l.requireCleanCheckout(ctx); err != nil {
		return err
	}
	return l.requireNotPaused(ctx)
}

// makeResult creates the commit that the branch is to move to, without touching any checkout.
func (l *landing) makeResult(ctx context.Context) error {
	theirs := l.task.Approved
	if l.revertReason != "" {
		var err error
		if theirs, err = l.revertCommit(ctx); err != nil {
			return err
		}
	}

	// The merge happens in git's object store, so that no checkout sees it before the gate.
	tree, files, err := l.Git.MergeTree(ctx, l.Root, l.base, theirs)
	if err != nil {
		return err
	}

	if tree == "" {
		return l.returnConflict(ctx, files)
	}
	l.KillPoint("merge: combined")

	signing, err := l.CommitSigning(ctx, l.worker)
	if err != nil {
		return err
	}

	if l.revertReason != "" {
		message := fmt.Sprintf("Revert task %s\n\nThis reverts merge %s.\n\nReason: %s\n",
			l.task.ID, l.task.Result, strings.ReplaceAll(stick.Block(l.revertReason), "\n", "\n  "))
		l.result, err = l.Git.CommitTree(ctx, l.Root, signing, tree, message, l.base)
	} else {
		l.result, err = l.Git.CommitTree(ctx, l.Root, signing, tree, l.mergeMessage(), l.base, theirs)
	}

	// The next task's merge couldn't be signed either.
	return haltQueue(err)
}

// revertCommit creates a commit that undoes the merge of the task and nothing else. Merging it into the
// branch reverts the task there.
func (l *landing) revertCommit(ctx context.Context) (string, error) {
	return l.Git.CommitTree(ctx, l.Root, git.Signing{}, l.task.Result+"^1^{tree}",
		"Revert "+l.task.Result+"\n", l.task.Result)
}
