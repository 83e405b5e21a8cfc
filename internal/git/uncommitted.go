package git

import (
	"bytes"
	"context"
	"fmt"
)

// Uncommitted is a file with changes that aren't committed.
type Uncommitted struct {
	Path        string // relative to the top level; with / at its end it is a repository of its own
	Index, Tree byte   // what git status --porcelain says of it, such as M, A or D, and a blank for no change; ? of both for a file that isn't tracked
}

// Staged reports whether the next commit would have it.
func (u Uncommitted) Staged() bool { return u.Index != ' ' && u.Index != '?' && !u.Conflict() }

// Conflict reports whether it is in conflict.
func (u Uncommitted) Conflict() bool {
	return u.Index == 'U' || u.Tree == 'U' || u.Index == u.Tree && (u.Index == 'A' || u.Index == 'D')
}

// Uncommitted lists the files of the checkout at top that have changes, by their paths, but for ignored ones; with paths, only those
// that are there or below. A rename is two files. It runs no program but git, and writes nothing. It fails with
// [stick.CodeGitFailed], and with the error of ctx.
func (c Client) Uncommitted(ctx context.Context, top string, paths ...string) ([]Uncommitted, error) {
	g, err := c.Isolate(ctx, top)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	args := append([]string{"status", "--porcelain", "-z", "--no-renames", "-uall", "--ignored=no", "--ignore-submodules=dirty", "--"}, paths...)
	if _, err := g.Run(ctx, nil, &out, args...); err != nil {
		return nil, err
	}
	var all []Uncommitted
	for _, line := range splitNUL(out.String()) {
		if len(line) < 4 || line[2] != ' ' {
			return nil, fmt.Errorf("read git status: %q", line)
		}
		all = append(all, Uncommitted{Path: line[3:], Index: line[0], Tree: line[1]})
	}
	return all, nil
}
