package repository

import (
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// filesCheckout returns the checkout whose ignored files tasks of an integration branch get copies of: the room's. In
// a layout of worktrees around a bare repository the room has none; there it is the worktree on that branch, else
// on a default branch of the repository, else the caller's. It fails with [stick.CodeNotFound] if there is none.
func (rp *Repo) filesCheckout(branch string) (string, error) {
	if !rp.isBareLayout {
		return rp.Root, nil
	}

	tops := slices.DeleteFunc(workspace.Worktrees(rp.Root), func(top string) bool {
		_, isTasks := core.ReadTaskFile(top)
		return isTasks
	})
	for _, name := range append([]string{branch}, workspace.DefaultBranches(rp.Root)...) {
		for _, top := range tops {
			if _, b, ok := workspace.Head(top); ok && b == name {
				return top, nil
			}
		}
	}

	if slices.Contains(tops, rp.CallerWorktree) {
		return rp.CallerWorktree, nil
	}
	return "", stick.Errorf(stick.CodeNotFound, "no worktree has %s checked out", branch).With("branch", branch)
}
