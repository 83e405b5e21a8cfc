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
// decides, a push without force moves the branch there first, and then the local branch follows: the note says
// why it couldn't.
func (l landing) advanceBranch(ctx context.Context, c candidate) (moved bool, note stick.Words, err error) {
	if c.target.Remote == "" {
		moved, err = l.moveLocal(ctx, c.target.Name, c.base, c.commit)
		return moved, "", err
	}

	// The remote decides: once it has moved, the task has landed, whatever becomes of the local branch.
	moved, err = l.Git.Push(ctx, l.Root, c.target.Remote, c.target.Name, c.commit)
	if err != nil || !moved {
		// The remote may have accepted the push.
		if ctx.Err() != nil || git.IsTooLong(err) {
			return false, "", leaveOpen(cmp.Or(err, ctx.Err()))
		}
		return false, "", err
	}
	l.KillPoint("merge: pushed")

	if err := l.advanceLocal(ctx, c.target.Name, c.commit); err != nil {
		note = stick.Wordsf("the remote has moved, but the local branch %s hasn't: %s",
			c.target.Name, stick.AsError(err))
	}

	return true, note, nil
}

// advanceLocal moves the local branch to a commit that the remote is at, if that is a fast-forward.
func (l landing) advanceLocal(ctx context.Context, branch, commit string) error {
	now, err := l.ReadTarget(ctx, branch)
	if err != nil || now.Local == "" || now.Local == commit {
		return err
	}

	// Commits that the remote doesn't have are somebody's.
	forward, err := l.Git.IsAncestor(ctx, l.Root, now.Local, commit)
	if err != nil {
		return err
	}

	if !forward {
		return errors.New("it has commits that the remote doesn't have")
	}

	if now.Checkout != "" {
		if err := l.requireCleanCheckout(ctx, now); err != nil {
			return err
		}
	}

	moved, err := l.moveLocal(ctx, branch, now.Local, commit)
	if err == nil && !moved {
		err = errors.New("it moved meanwhile")
	}
	return err
}

// moveLocal moves the local branch from one commit to another, and reports whether it is there now. If the
// branch is checked out, its files move with it; else the move is a compare-and-swap.
func (l landing) moveLocal(ctx context.Context, branch, from, to string) (moved bool, err error) {
	now, err := l.ReadTarget(ctx, branch)
	if err != nil {
		return false, err
	}

	// Somebody was faster, perhaps with the same result.
	if now.Local != from {
		return now.Local == to, nil
	}
	if now.Checkout == "" {
		return l.Git.UpdateRef(ctx, l.Root, now.Ref(), to, from)
	}

	// The branch is checked out, so its files have to move with it, and must not hide changes.
	if err := l.requireCleanCheckout(ctx, now); err != nil {
		return false, err
	}

	err = l.Git.FastForward(ctx, now.Checkout, to)
	if err == nil {
		return true, nil
	}

	// git failed. Where the branch is now tells how far it came.
	ctx = context.WithoutCancel(ctx)
	if at, _, cerr := l.Git.Commit(ctx, l.Root, now.Ref()); cerr == nil && at != from {
		return at == to, nil
	}

	// A full disk or a filter can cause this.
	if half, herr := l.Git.FastForwardInterrupted(ctx, now.Checkout, from, to); half || herr != nil {
		e := stick.AsError(err)
		next := stick.Hintf("run the same command again to finish; until then, commit nothing in %s, which has half of the merge", now.Checkout)
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
func (l landing) mayMove(ctx context.Context, checkout string) error {
	p, err := workspace.Resolve(checkout, l.Core.Config.Workspace)
	if err != nil || p.Worktree != "" {
		return err
	}
	if l.By.Behalf == "" {
		return l.queue.config.MayMove(ctx, l.By, checkout)
	}

	// Nobody has asked for this just now, so it doesn't get in the way of whoever works there. With the stick
	// at rest, only reservations count.
	if err := l.requireIdleStick(ctx, checkout); err != nil {
		return err
	}
	if err := l.queue.config.MayMove(ctx, l.By, checkout); stick.CodeOf(err) != stick.CodeNotYourTurn {
		return err
	}
	return nil
}
