package repository

import (
	"context"
	"fmt"
	"os"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// HasSameChange reports whether a commit that the target contains makes the change of a branch: the forge has
// squashed the branch into one commit, or has rebased its commits.
func (rp *Repo) HasSameChange(ctx context.Context, commit, head, tip string) (bool, error) {
	if have, err := rp.Git.HasCommit(ctx, rp.Root, commit); err != nil || !have {
		return false, err
	}

	contained, err := rp.Git.IsAncestor(ctx, rp.Root, commit, tip)
	if err != nil || !contained {
		return false, err
	}

	base, err := rp.Git.MergeBase(ctx, rp.Root, head, commit)
	if err != nil || base == "" {
		return false, err
	}

	// A squash makes one commit with the whole change, a rebase makes as many as the branch has.
	want, err := rp.Git.PatchSum(ctx, rp.Root, base, head)
	if err != nil {
		return false, err
	}

	commits, err := rp.Git.Log(ctx, rp.Root, base, head, maxSquashed)
	if err != nil {
		return false, err
	}

	for _, n := range []int{1, len(commits)} {
		before, ok, err := rp.Git.Commit(ctx, rp.Root, fmt.Sprintf("%s~%d", commit, n))
		if err != nil || !ok {
			continue
		}
		if got, err := rp.Git.PatchSum(ctx, rp.Root, before, commit); err != nil || got == want {
			return err == nil, err
		}
	}

	return false, nil
}

// maxSquashed is how many commits of a branch are counted to compare it with what a forge made of it.
const maxSquashed = 1000

// canDeleteBranch reports whether a task's branch can be deleted without losing a commit: it is at the commit
// that landed, and the target contains that commit, or one by which a forge made the same change.
func (rp *Repo) canDeleteBranch(ctx context.Context, c CleanupIntent, at string) (bool, error) {
	if at != c.Head {
		return false, nil
	}

	tg, err := rp.ReadTarget(ctx, c.Target)
	if err != nil {
		return false, err
	}

	// A merge by tt keeps the commits. A forge may have squashed or rebased them.
	contained, err := rp.Git.IsAncestor(ctx, rp.Root, at, tg.Head())
	if err != nil || contained || c.Pulled == "" {
		return contained, err
	}
	return rp.HasSameChange(ctx, c.Pulled, at, tg.Head())
}

// isAlive reports whether a process proves that a member is alive. If the room can't be read, it returns
// true, so that nothing is removed.
func (rp *Repo) isAlive(ctx context.Context, a stick.AgentID) (yes bool) {
	err := rp.Read(ctx, func(_ *store.Tx, probes *core.Probes, r stick.Room, _ core.Identity) error {
		m, _ := r.Member(a)
		yes = m.Verdict(probes.Probed) == stick.Alive
		return nil
	})
	return yes || err != nil
}

// inUse returns why the worktree and the branch of a task must stay. It returns "" if they can go: the target
// contains the work, nothing is uncommitted or in progress, and no process works there.
func (rp *Repo) inUse(ctx context.Context, c CleanupIntent) (stick.Words, error) {
	at, ok, err := rp.Git.Commit(ctx, rp.Root, "refs/heads/"+c.Branch)
	if err != nil {
		return "", err
	}

	// Commits that the target lacks are somebody's work.
	if ok {
		contained, err := rp.canDeleteBranch(ctx, c, at)
		if err != nil {
			return "", err
		}

		if !contained {
			return stick.Wordsf("the branch %s has commits that %s doesn't have", c.Branch, c.Target), nil
		}
	}

	why, gitDir := rp.isOccupied(ctx, c)
	if why != "" || gitDir == "" {
		return why, nil
	}
	if what := git.OperationInProgress(gitDir); what != "" {
		return stick.Wordsf("a %s is in progress in %s", what, c.Path), nil
	}

	// Uncommitted changes, or another commit, would be lost.
	s, err := rp.Git.Snapshot(ctx, c.Path)
	if err != nil {
		return "", err
	}

	if s.DirtyCount > 0 || s.Head != c.Head {
		return stick.Wordsf("%s has uncommitted changes, or is at another commit", c.Path), nil
	}
	return "", nil
}

// isOccupied returns why nobody may remove the worktree of a task, whatever it holds: it is something else by now, or
// a process may be working there. gitDir is what git keeps of the worktree, "" if there is none.
func (rp *Repo) isOccupied(ctx context.Context, c CleanupIntent) (why stick.Words, gitDir string) {
	if err := rp.RequireInside(c.Path); err != nil {
		return stick.AsError(err).Words(), ""
	}
	if _, err := os.Stat(c.Path); os.IsNotExist(err) {
		return "", ""
	}

	// The directory may be something else by now: another repository, or the main checkout by a link.
	co, err := rp.Git.Checkout(ctx, c.Path)
	if err != nil || co.Top == rp.Root || co.Common != rp.Common {
		return stick.Wordsf("%s isn't the worktree of %s any more", c.Path, c.Branch), ""
	}

	// Without proof that nobody works there, the worktree stays.
	pids, visible := rp.Core.Config.Procs.ProcessesInside(c.Path)
	if len(pids) > 0 {
		return stick.Wordsf("process %d is working in %s", pids[0], c.Path), co.GitDir
	}
	if !visible && rp.isAlive(ctx, c.Worker) {
		return stick.Wordsf("%s is alive, and tt can't see whether it works in %s", c.Worker, c.Path), co.GitDir
	}

	return "", co.GitDir
}
