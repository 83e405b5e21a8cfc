package repository

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// Push is the push of a task's branch to the remote that decides: of what its worker offers for review,
// or for a pull request.
type Push struct {
	*Repo
	Task            stick.Task
	Path            string // the worktree
	Head            string // the commit of the worktree
	Target          Target
	RemoteHead      string // the commit of the branch at the remote that decides; empty if it isn't there
	IntentID        string // of the intent
	RemoteIsForeign bool   // the branch at the remote has commits of others
}

// RequireRemoteIsOurs refuses to push if the branch at the remote has commits that aren't the worker's,
// because the push would lose them. The worker's own commits are those of the worktree and those of every
// earlier run of done, even if the branch was rewritten since. It isn't enough that the local repository has
// a commit: a fetch brings everybody's.
func (f *Push) RequireRemoteIsOurs(ctx context.Context) (err error) {
	if f.Target.Remote == "" {
		return nil
	}
	if f.RemoteHead, err = f.Git.RemoteBranch(ctx, f.Root, f.Target.Remote, f.Task.Branch); err != nil ||
		f.RemoteHead == "" {
		return err
	}

	own := []string{f.Head}
	err = f.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		// The transaction may run again, and keeps only the head of the worktree then.
		own = own[:1]
		before, err := tx.IntentsOfKind(r.ID, f.Task.ID, IntentDone)
		if err != nil {
			return err
		}

		pulls, err := tx.IntentsOfKind(r.ID, f.Task.ID, IntentPR)
		for _, i := range append(before, pulls...) {
			d, err := ReadIntent[DoneIntent](i)
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
	contained, err := f.Git.IsContained(ctx, f.Root, f.RemoteHead, own...)
	if f.RemoteIsForeign = err == nil && !contained; !f.RemoteIsForeign {
		return err
	}
	return stick.Errorf(stick.CodeGitFailed,
		"%s at %s has commits that the worktree of %s doesn't have: it is at %s", f.Task.Branch, f.Target.Remote,
		f.Task.ID, ShortCommit(f.RemoteHead)).
		With("task_id", f.Task.ID).With("head", f.RemoteHead).
		Hintf("to include them: %s, then %s; if they belong to a task of the same name in another clone, use another name for this one: %s",
			stick.Cmd("git -C <path> pull --rebase <remote> <branch>", f.Path, f.Target.Remote,
				f.Task.Branch), stick.Cmd("tt task done --task <task_id>", f.Task.ID),
			stick.Cmd("tt task new <task> --base "+f.Task.Branch))
}

// PushBranch pushes the branch to the remote that decides, if there is one, and returns that remote. It
// overwrites only the commit that [Push.RequireRemoteIsOurs] has checked.
func (f *Push) PushBranch(ctx context.Context, head, onto string) (string, error) {
	if f.Target.Remote == "" || f.RemoteHead == head {
		return f.Target.Remote, nil
	}

	// The intent names the commit first, so that a later run knows it as its own.
	err := f.WriteOutcome(ctx, func(o *Op) error {
		return o.StoreIntent(f.IntentID, IntentDone, f.Task, f.Task.Attempt, DoneIntent{
			Path: f.Path, Head: f.Head, Onto: onto, Pushed: head,
		})
	})
	if err != nil {
		return "", err
	}
	f.KillPoint("done: pushing")

	if err := f.Git.PushWithLease(ctx, f.Root, f.Target.Remote, f.Task.Branch, head, f.RemoteHead); err != nil {
		// Somebody pushed meanwhile.
		if theirs := f.RequireRemoteIsOurs(ctx); theirs != nil {
			return "", theirs
		}
		return "", err
	}

	return f.Target.Remote, nil
}
