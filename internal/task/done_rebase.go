package task

import (
	"context"

	"talkingstick/internal/git"
	"talkingstick/stick"
)

// rebaseBranch rebases the branch onto a commit, and returns what is offered then.
func (f *doneRun) rebaseBranch(ctx context.Context, onto string) (q stick.Offering, rebased bool, err error) {
	q.Head = f.head
	contained, err := f.git.IsAncestor(ctx, f.path, onto, f.head)
	if err != nil {
		return q, false, err
	}

	if !contained && !f.p.SkipRebase {
		// A rebase makes new commits, which may have to be signed.
		signing, err := f.readySigning(ctx, onto)
		if err != nil {
			return q, false, err
		}

		conflict, err := f.git.Rebase(ctx, f.path, signing, onto)
		if err != nil {
			return q, false, err
		}

		if conflict {
			return q, false, f.recordConflict(ctx, onto)
		}

		rebased = true
		if q.Head, _, err = f.git.Commit(ctx, f.path, "refs/heads/"+f.task.Branch); err != nil {
			return q, rebased, err
		}
	}

	// With SkipRebase the branch may still begin at an older commit.
	if q.Base, err = f.git.MergeBase(ctx, f.path, onto, q.Head); err != nil {
		return q, rebased, err
	}
	return q, rebased, completeOffer(ctx, f.Repo, f.task, &q)
}

// readySigning returns how the rebased commits are signed, once whoever signs them has answered: a rebase
// that stops halfway for want of a signature would have to be taken back.
func (f *doneRun) readySigning(ctx context.Context, onto string) (git.Signing, error) {
	if err := f.git.Identity(ctx, f.path); err != nil {
		return git.Signing{}, err
	}

	_, w, err := f.taskSettings(ctx, onto)
	if err != nil {
		return git.Signing{}, err
	}

	signing, err := f.commitSigning(ctx, w)
	if err != nil {
		return git.Signing{}, err
	}
	return signing, f.git.CheckSigning(ctx, f.path, signing)
}

// recordConflict records that the rebase stopped at a conflict, and returns the error for it. The rebase
// stays in progress, so that the worker can resolve it.
func (f *doneRun) recordConflict(ctx context.Context, onto string) error {
	files, err := f.git.Unmerged(ctx, f.path)
	if err != nil {
		return err
	}
	f.killPoint("done: conflict")

	id := f.id
	err = f.writeOutcome(ctx, func(o *Op) error {
		task, err := taskOf(o.Tx, o.Room.ID, f.task.ID)
		if err != nil {
			return err
		}

		ev, err := task.Conflict(o.taskCall(f.p.Attempt), onto, files)
		if err != nil {
			return err
		}

		o.addTaskEvent(ev)
		return o.Tx.EndIntent(id, "conflict")
	})
	if err != nil {
		return err
	}

	// The intent has ended: a rebase that waits for its worker isn't half done.
	f.id = ""
	return stick.Errorf(stick.CodeRebaseConflict, "%s conflicts with %s in %s",
		f.task.Branch, f.task.Integration, stick.Names(files, mostNamed)).
		With("task_id", f.task.ID).With("state", stick.TaskConflicted).With("files", files).
		With("left", []string{"rebase"}).
		Hintf("resolve the files and git add them, then %s and %s", continueCommand(f.path, "rebase"),
			stick.Cmd("tt task done --skip-rebase --task <task_id>", f.task.ID))
}
