package queue

import (
	"cmp"
	"context"
	"errors"

	"talkingstick/internal/git"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// advanceBranch moves the branch to the result, and reports whether it was still where it was. If a remote
// decides, a push without force moves the branch there first, and then the local branch follows.
func (l *landing) advanceBranch(ctx context.Context) (moved bool, err error) {
	if l.target.Remote == "" {
		return l.moveLocal(ctx, l.base)
	}

	// The remote decides: once it has moved, the task has landed, whatever becomes of the local branch.
	moved, err = l.Git.Push(ctx, l.Root, l.target.Remote, l.target.Name, l.result)
	if err != nil || !moved {
		// The remote may have accepted the push.
		if ctx.Err() != nil || git.IsTooLong(err) {
			return false, leaveOpen(cmp.Or(err, ctx.Err()))
		}
		return false, err
	}
	l.KillPoint("merge: pushed")

	if err := l.advanceLocal(ctx); err != nil {
		l.note = stick.Wordsf("the remote has moved, but the local branch %s hasn't: %s",
			l.target.Name, stick.AsError(err))
	}

	return true, nil
}

// advanceLocal moves the local branch to where the remote is, if that is a fast-forward.
func (l *landing) advanceLocal(ctx context.Context) error {
	now, err := l.ReadTarget(ctx, l.target.Name)
	if err != nil || now.Local == "" || now.Local == l.result {
		return err
	}

	// Commits that the remote doesn't have are somebody's.
	forward, err := l.Git.IsAncestor(ctx, l.Root, now.Local, l.result)
	if err != nil {
		return err
	}

	if !forward {
		return errors.New("it has commits that the remote doesn't have")
	}

	l.target.Checkout, l.target.Local = now.Checkout, now.Local
	if now.Checkout != "" {
		if err := l.requireCleanCheckout(ctx); err != nil {
			return err
		}
	}

	moved, err := l.moveLocal(ctx, now.Local)
	if err == nil && !moved {
		err = errors.New("it moved meanwhile")
	}
	return err
}

// moveLocal moves the local branch from the commit from to the result, and reports whether it is there now.
// If the branch is checked out, its files move with it; else the move is a compare-and-swap.
func (l *landing) moveLocal(ctx context.Context, from string) (moved bool, err error) {
	now, err := l.ReadTarget(ctx, l.target.Name)
	if err != nil {
		return false, err
	}

	// Somebody was faster, perhaps with the same result.
	if now.Local != from {
		return now.Local == l.result, nil
	}
	if now.Checkout == "" {
		return l.Git.UpdateRef(ctx, l.Root, l.target.Ref(), l.result, from)
	}

	// The branch is checked out, so its files have to move with it, and must not hide changes.
	l.target.Checkout = now.Checkout
	if err := l.requireCleanCheckout(ctx); err != nil {
		return false, err
	}

	err = l.Git.FastForward(ctx, now.Checkout, l.result)
	if err == nil {
		return true, nil
	}

	// git failed. Where the branch is now tells how far it came.
	ctx = context.WithoutCancel(ctx)
	if at, _, cerr := l.Git.Commit(ctx, l.Root, l.target.Ref()); cerr == nil && at != from {
		return at == l.result, nil
	}

	// A full disk or a filter can cause this.
	if half, herr := l.Git.FastForwardInterrupted(ctx, now.Checkout, from, l.result); half || herr != nil {
		e := stick.AsError(err)
		next := stick.Hintf("%s has only half of the merge: commit nothing there, and run the same command again to finish it", now.Checkout)
		if len(e.Hint) > 0 {
			next = stick.Hintf("%s; %s", e.Hint, next)
		}

		e.Hint = next
		return false, leaveOpen(e)
	}

	return false, err
}

// mayMove refuses to move the files of the shared tree if the caller may not change them. A linked worktree
// isn't part of the shared tree.
func (l *landing) mayMove(ctx context.Context, checkout string) error {
	p, err := workspace.Resolve(checkout, l.Core.Config.Workspace)
	if err != nil || p.Worktree != "" {
		return err
	}
	return l.queue.config.MayMove(ctx, l.By, checkout)
}
