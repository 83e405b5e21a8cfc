package core

import (
	"context"
	"time"

	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// TreeLimit is how long git may take to describe the working tree for a handoff.
const TreeLimit = 300 * time.Millisecond

// DescribeTree describes the shared tree of a place, even if the place lies in a worktree. It returns nil if
// the place isn't in a git repository, and if git can't tell in time.
func (k *Kernel) DescribeTree(ctx context.Context, p *workspace.Place) *stick.Workspace {
	if p.Found != workspace.FoundGit {
		return nil
	}

	limited, cancel := context.WithTimeout(ctx, k.ExtendLimit(TreeLimit))
	defer cancel()

	w, _ := k.Config.Git.Snapshot(limited, p.Root)

	// On one host every member has the commits of the others.
	if w != nil && w.Head != "" && k.ManyHosts(ctx) {
		w.Unpushed, _ = k.Config.Git.IsUnpushed(limited, p.Root, w.Head)
	}

	return w
}

// ManyHosts reports whether members may have other checkouts.
func (k *Kernel) ManyHosts(ctx context.Context) bool {
	db, err := k.Open(ctx, false)
	return err == nil && db.ManyHosts()
}
