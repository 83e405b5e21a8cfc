package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// branchPush is the push of a task's branch to the remote that decides: of what its worker offers for review,
// or for a pull request.
type branchPush struct {
	*Repo
	task            stick.Task
	path            string // the worktree
	head            string // the commit of the worktree
	target          target
	remoteHead      string // the commit of the branch at the remote that decides; empty if it isn't there
	id              string // of the intent
	remoteIsForeign bool   // the branch at the remote has commits of others
}

// requireRemoteIsOurs refuses to push if the branch at the remote has commits that aren't the worker's,
// because the push would lose them. The worker's own commits are those of the worktree and those of every
// earlier run of done, even if the branch was rewritten since. It isn't enough that the local repository has
// a commit: a fetch brings everybody's.
func (f *branchPush) requireRemoteIsOurs(ctx context.Context) (err error) {
	if f.target.remote == "" {
		return nil
	}
	if f.remoteHead, err = f.git.RemoteBranch(ctx, f.root, f.target.remote, f.task.Branch); err != nil ||
		f.remoteHead == "" {
		return err
	}

	own := []string{f.head}
	err = f.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		// The transaction may run again, and keeps only the head of the worktree then.
		own = own[:1]
		before, err := tx.IntentsOfKind(r.ID, f.task.ID, intentDone)
		if err != nil {
			return err
		}

		pulls, err := tx.IntentsOfKind(r.ID, f.task.ID, intentPR)
		for _, i := range append(before, pulls...) {
			d, err := readIntent[doneIntent](i)
			if err != nil {
				return err
			}

			own = append(own, d.Head, d.Pushed)
		}

		return err
	})
	if err != nil {
		return err
	}

	// All commits at the remote have to be in what this worker has offered or pushed.
	contained, err := f.git.Contained(ctx, f.root, f.remoteHead, own...)
	if f.remoteIsForeign = err == nil && !contained; !f.remoteIsForeign {
		return err
	}
	return stick.Errorf(stick.CodeGitFailed,
		"%s at %s has commits that the worktree of %s doesn't have: it is at %s", f.task.Branch, f.target.remote,
		f.task.ID, shortCommit(f.remoteHead)).
		With("task_id", f.task.ID).With("head", f.remoteHead).
		Hintf("to take them over: %s, then %s; if they belong to a task of the same name in another clone, use another name for this one: %s",
			stick.Cmd("git -C <path> pull --rebase <remote> <branch>", f.path, f.target.remote,
				f.task.Branch), stick.Cmd("tt task done --task <task_id>", f.task.ID),
			stick.Cmd("tt task new <task> --base "+f.task.Branch))
}

// pushBranch pushes the branch to the remote that decides, if there is one, and returns that remote. It
// overwrites only the commit that [branchPush.requireRemoteIsOurs] has checked.
func (f *branchPush) pushBranch(ctx context.Context, head, onto string) (string, error) {
	if f.target.remote == "" || f.remoteHead == head {
		return f.target.remote, nil
	}

	// The intent names the commit first, so that a later run knows it as its own.
	err := f.writeOutcome(ctx, func(o *Op) error {
		return o.storeIntent(f.id, intentDone, f.task, f.task.Attempt, doneIntent{
			Path: f.path, Head: f.head, Onto: onto, Pushed: head,
		})
	})
	if err != nil {
		return "", err
	}
	f.killPoint("done: pushing")

	if err := f.git.PushWithLease(ctx, f.root, f.target.remote, f.task.Branch, head, f.remoteHead); err != nil {
		// Somebody pushed meanwhile.
		if theirs := f.requireRemoteIsOurs(ctx); theirs != nil {
			return "", theirs
		}
		return "", err
	}

	return f.target.remote, nil
}
