package task

import (
	"context"

	"talkingstick/internal/git"
	"talkingstick/internal/task/queue"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// rebaseBranch rebases the branch onto a commit, and returns what is offered then.
func (f *doneRun) rebaseBranch(ctx context.Context, onto string) (q tasks.Offering, rebased bool, err error) {
	q.Head = f.Head

	// A branch that begins at a commit contains that. With SkipRebase it may still begin at an older one.
	if q.Base, err = f.Git.MergeBase(ctx, f.Path, onto, f.Head); err != nil {
		return q, false, err
	}

	if q.Base != onto && !f.p.SkipRebase {
		// A rebase makes new commits, which may have to be signed.
		signing, err := f.readySigning(ctx, onto)
		if err != nil {
			return q, false, err
		}

		conflict, err := f.Git.Rebase(ctx, f.Path, signing, onto)
		if err != nil {
			return q, false, err
		}

		if conflict {
			return q, false, f.recordConflict(ctx, onto)
		}

		rebased = true
		if q.Head, _, err = f.Git.Commit(ctx, f.Path, "refs/heads/"+f.Task.Branch); err != nil {
			return q, rebased, err
		}
		if q.Base, err = f.Git.MergeBase(ctx, f.Path, onto, q.Head); err != nil {
			return q, rebased, err
		}
	}

	return q, rebased, queue.CompleteOffer(ctx, f.Repo, f.Task, onto, &q)
}

// readySigning returns how the rebased commits are signed, once whoever signs them has answered: a rebase
// that stops halfway for want of a signature would have to be taken back.
func (f *doneRun) readySigning(ctx context.Context, onto string) (git.Signing, error) {
	if err := f.Git.Identity(ctx, f.Path); err != nil {
		return git.Signing{}, err
	}

	_, w, err := f.TaskSettings(ctx, onto)
	if err != nil {
		return git.Signing{}, err
	}

	signing, err := f.CommitSigning(ctx, w)
	if err != nil {
		return git.Signing{}, err
	}
	return signing, f.Git.CheckSigning(ctx, f.Path, signing)
}

// recordConflict records that the rebase stopped at a conflict, and returns the error for it. The rebase
// stays in progress, so that the worker can resolve it.
func (f *doneRun) recordConflict(ctx context.Context, onto string) error {
	files, err := f.Git.Unmerged(ctx, f.Path)
	if err != nil {
		return err
	}
	f.KillPoint("done: conflict")

	id := f.IntentID
	err = f.WriteOutcome(ctx, func(o *repository.Op) error {
		task, err := repository.TaskOf(o.Tx, o.Room.ID, f.Task.ID)
		if err != nil {
			return err
		}

		ev, err := tasks.Conflict(task, o.TaskCall(f.p.Attempt), onto, files)
		if err != nil {
			return err
		}

		o.AddTaskEvent(ev)
		return o.Tx.EndIntent(id, "conflict")
	})
	if err != nil {
		return err
	}

	// The intent has ended: a rebase that waits for its worker isn't half done.
	f.IntentID = ""
	return stick.Errorf(stick.CodeRebaseConflict, "%s conflicts with %s in %s",
		f.Task.Branch, f.Task.Integration, stick.Names(files, repository.MostNamed)).
		With("task_id", f.Task.ID).With("state", stick.TaskConflicted).With("files", files).
		With("left", []string{"rebase"}).
		Hintf("resolve the files and git add them, then %s and %s", repository.ContinueCommand(f.Path, "rebase"),
			stick.Cmd("tt task done --skip-rebase --task <task_id>", f.Task.ID))
}
