package git

import (
	"context"

	"talkingstick/stick"
)

// Snapshot sees the commit, the branch and what is changed or untracked in the checkout that dir
// lies in. Its paths are those of git: from the top level, with / between names, an untracked
// directory as one entry with / at its end.
//
// It fails when ctx ends before git does, when there is no git, and when dir lies in no checkout;
// the causes can be told by [context.DeadlineExceeded], [os/exec.ErrNotFound] and [os/exec.ExitError].
func (c Client) Snapshot(ctx context.Context, dir string) (*stick.Workspace, error) {
	var s status
	// A rename is shown as what it does to the two paths: finding renames reads file contents, and
	// counting the commits ahead walks history. Neither is worth the time.
	err := c.read(ctx, dir, &s, "status", "--porcelain=v2", "--branch", "-z",
		"--untracked-files=normal", "--no-renames", "--no-ahead-behind")
	if err != nil {
		return nil, err
	}
	return s.workspace()
}
