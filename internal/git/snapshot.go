package git

import (
	"context"

	"talkingstick/stick"
)

// Snapshot reads the commit, the branch, and the changed and untracked paths of the checkout that dir
// lies in. Paths are as git prints them: relative to the top level, with / between names; an untracked
// directory is one entry with / at its end.
//
// It fails when ctx ends before git does ([context.DeadlineExceeded]), when there is no git
// ([os/exec.ErrNotFound]), and when dir isn't in a checkout ([os/exec.ExitError]).
func (c Client) Snapshot(ctx context.Context, dir string) (*stick.Workspace, error) {
	var s statusParser
	// Finding renames would read file contents, and counting commits ahead would walk history. Neither
	// is worth the time, so a rename appears as two changed paths.
	err := c.runCall(ctx, readCall{dir: dir, env: c.noFilters(ctx, dir), out: &s, args: []string{
		"status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--no-renames", "--no-ahead-behind",
	}})
	if err != nil {
		return nil, err
	}

	return s.asWorkspace()
}
