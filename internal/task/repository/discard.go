package repository

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// DiscardRemains removes the worktree and the branch of a task that was cancelled, also if its work landed nowhere:
// what isn't committed is kept as a rescue, and the commits by refs, before anything goes. It may be called again
// after it was interrupted.
func (rp *Repo) DiscardRemains(ctx context.Context, c CleanupIntent) (r Remains, err error) {
	// What the target contains needs no copy.
	why, err := rp.inUse(ctx, c)
	if err != nil {
		return r, err
	}
	if why == "" {
		return rp.RemoveRemains(ctx, c)
	}

	why, gitDir := rp.isOccupied(ctx, c)
	if why != "" {
		r.AddLeft("%s", why)
		return r, nil
	}
	exists := gitDir != ""

	// What is about to go is named before it goes.
	worktree, branch := rp.ListRemaining(ctx, c.Path, c.Branch)
	if exists {
		r.Ignored = rp.ignoredFiles(ctx, c)
	}
	rp.KillPoint("discard: proven")

	if why, err = rp.keepWork(ctx, c, exists, &r); err != nil {
		return r, err
	}
	if why != "" {
		r.Ignored = nil
		r.AddLeft("%s", why)
		return r, nil
	}
	rp.KillPoint("discard: kept")

	// The worktree goes before the branch, because git doesn't delete a branch that is checked out.
	if err := rp.Git.DiscardWorktree(ctx, rp.Root, c.Path); err != nil {
		r.Ignored = nil
		r.AddLeft("the worktree %s: %s", c.Path, stick.AsError(err))
		return r, nil
	}

	r.Removed = append(r.Removed, worktree...)
	rp.KillPoint("discard: worktree")

	// The branch goes only if it is still at the commit that was kept.
	if err := rp.Git.DeleteRef(ctx, rp.Root, "refs/heads/"+c.Branch, c.Head); err != nil {
		r.AddLeft("the branch %s: %s", c.Branch, stick.AsError(err))
		return r, nil
	}

	r.Removed = append(r.Removed, branch...)
	rp.KillPoint("discard: branch")
	return r, rp.discardRemote(ctx, c, &r)
}

// keepWork keeps what only the worktree and the branch of a task have. It returns why they must stay, "" if they may
// go.
func (rp *Repo) keepWork(ctx context.Context, c CleanupIntent, exists bool, r *Remains) (why stick.Words, err error) {
	if rp.opener.config.KeepTips == nil {
		return stick.Wordsf("the branch %s has commits that %s doesn't have", c.Branch, c.Target), nil
	}

	// A rebase in progress has commits that the branch doesn't have.
	commits := []string{c.Head}
	if exists {
		head, ok, err := rp.Git.Commit(ctx, c.Path, "HEAD")
		if err != nil {
			return "", err
		}
		if ok && head != c.Head {
			commits = append(commits, head)
		}
	}

	tg, err := rp.ReadTarget(ctx, c.Target)
	if err != nil {
		return "", err
	}

	// Without commits of its own there is nothing to keep.
	var lost []string
	for _, commit := range commits {
		contained, err := rp.Git.IsAncestor(ctx, rp.Root, commit, tg.Head())
		if err != nil {
			return "", err
		}
		if !contained {
			lost = append(lost, commit)
		}
	}
	if len(lost) > 0 {
		if r.Tips, err = rp.opener.config.KeepTips(ctx, rp.Common, c.Branch, lost); err != nil {
			return stick.Wordsf("tt can't keep the commits of %s: %s", c.Branch, stick.AsError(err)), nil
		}
	}

	if !exists {
		return "", nil
	}
	return rp.keepUncommitted(ctx, c, r)
}

// keepUncommitted keeps what of a worktree isn't committed, and what the project keeps of the files that git ignores.
func (rp *Repo) keepUncommitted(ctx context.Context, c CleanupIntent, r *Remains) (why stick.Words, err error) {
	changed, err := rp.Git.Uncommitted(ctx, c.Path)
	if err != nil {
		return "", err
	}

	var paths []string
	for _, u := range changed {
		if u.Path != core.TaskFileName {
			paths = append(paths, u.Path)
		}
	}
	if len(paths) == 0 {
		return rp.keepFiles(ctx, c, r), nil
	}

	kept, repositories, err := rp.filesToKeep(ctx, c)
	switch {
	case err != nil:
		return "", err
	case len(repositories) > 0:
		return stick.Wordsf("%s: tt can't keep %s, because it is a repository of its own: copy what you need of it elsewhere, and remove it",
			c.Path, someOf(repositories)), nil
	}
	return rp.rescueFiles(ctx, c, append(paths, kept...), "tt task cancel --delete", r), nil
}

// discardRemote removes the branch at the remote, if it is at the commit that was kept.
func (rp *Repo) discardRemote(ctx context.Context, c CleanupIntent, r *Remains) error {
	tg, err := rp.ReadTarget(ctx, c.Target)
	if err != nil || tg.Remote == "" {
		return err
	}

	at, err := rp.Git.RemoteBranch(ctx, rp.Root, tg.Remote, c.Branch)
	switch {
	case err != nil:
		r.AddLeft("the branch %s at %s: %s", c.Branch, tg.Remote, stick.AsError(err))
	case at == "":
	case at != c.Head:
		r.AddLeft("the branch %s at %s is at another commit", c.Branch, tg.Remote)
	default:
		if err := rp.Git.PushWithLease(ctx, rp.Root, tg.Remote, c.Branch, "", at); err != nil {
			r.AddLeft("the branch %s at %s: %s", c.Branch, tg.Remote, stick.AsError(err))
			return nil
		}
		r.Removed = append(r.Removed, stick.Wordsf("the branch %s at %s", c.Branch, tg.Remote))
	}

	return nil
}

// rescueFiles keeps a copy of files of a worktree, as the caller's. It returns why the worktree must stay, "" if all
// of them are kept.
func (rp *Repo) rescueFiles(
	ctx context.Context, c CleanupIntent, files []string, command string, r *Remains,
) (why stick.Words) {
	if rp.opener.config.Rescue == nil {
		return stick.Wordsf("%s has files that are to be kept, such as %s", c.Path, files[0])
	}

	var room stick.RoomID
	var me stick.AgentID
	err := rp.Read(ctx, func(_ *store.Tx, _ *core.Probes, r stick.Room, by core.Identity) error {
		room, me = r.ID, by.Agent
		return nil
	})
	if err != nil {
		return stick.Wordsf("%s: %s", c.Path, stick.AsError(err))
	}

	id, lacks, err := rp.opener.config.Rescue(ctx, room, me, c.Path, files, command)
	switch {
	case err != nil:
		return stick.Wordsf("%s: tt can't keep %s: %s", c.Path, files[0], stick.AsError(err))
	case len(lacks) > 0:
		return stick.Wordsf("%s: tt can't keep %s: copy what you need of it elsewhere, and remove it",
			c.Path, someOf(lacks))
	case id == "":
		return stick.Wordsf("%s: tt can't keep %s", c.Path, files[0])
	}

	r.Rescue, r.Kept = id, files
	return ""
}
