package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"talkingstick/stick"
)

// Uncommitted is a file with changes that aren't committed.
type Uncommitted struct {
	Path string // relative to the top level; with / at its end it is a repository of its own
	// Index and Tree are what git status --porcelain says of it, such as M, A or D, and a blank for no
	// change; ? of both for a file that isn't tracked.
	Index, Tree byte
}

// IsStaged reports whether the next commit would have it.
func (u Uncommitted) IsStaged() bool { return u.Index != ' ' && u.Index != '?' && !u.IsConflict() }

// IsConflict reports whether it is in conflict.
func (u Uncommitted) IsConflict() bool {
	return u.Index == 'U' || u.Tree == 'U' || u.Index == u.Tree && (u.Index == 'A' || u.Index == 'D')
}

// Uncommitted lists the files of the checkout at top that have changes, by their paths, but for ignored ones;
// with paths, only those that are there or below. A rename is two files. It runs no program but git, and
// writes nothing. It fails with [stick.CodeGitFailed], and with the error of ctx.
func (c Client) Uncommitted(ctx context.Context, top string, paths ...string) ([]Uncommitted, error) {
	g, err := c.Isolate(ctx, top)
	if err != nil {
		return nil, err
	}

	var out bytes.Buffer
	args := append([]string{
		"status", "--porcelain", "-z", "--no-renames", "-uall", "--ignored=no", "--ignore-submodules=dirty", "--",
	}, paths...)
	if _, err := g.Run(ctx, nil, &out, args...); err != nil {
		return nil, err
	}

	var all []Uncommitted

	// A record is the state in the index, that in the tree, a blank and a path.
	for _, line := range splitNUL(out.String()) {
		if len(line) < 4 || line[2] != ' ' {
			return nil, fmt.Errorf("read git status: %q", line)
		}
		all = append(all, Uncommitted{Path: line[3:], Index: line[0], Tree: line[1]})
	}

	return all, nil
}

// CommittedSince returns when files of a checkout were last committed, of those that were since a time: the
// newest commit's time of HEAD's newest hundred. Git gives it in whole seconds.
func (c Client) CommittedSince(
	ctx context.Context, top string, since stick.Time, paths []string,
) (map[string]stick.Time, error) {
	var out bytes.Buffer
	args := []string{
		"log", "-z", "--format=%x01%ct", "--name-only", "--no-renames", "--no-show-signature",
		"--max-count=100", "--ignore-missing",
		fmt.Sprintf("--max-age=%d", since/1000), "HEAD", "--",
	}

	q := readCall{dir: top, args: append(args, paths...), env: []string{"GIT_LITERAL_PATHSPECS=1"}, out: &out}
	if err := c.runCall(ctx, q); err != nil {
		return nil, err
	}

	// Git prints the time of a commit, and then its files.
	var at stick.Time
	last := map[string]stick.Time{}
	for _, word := range splitNUL(out.String()) {
		word = strings.TrimPrefix(word, "\n")
		if seconds, ok := strings.CutPrefix(word, "\x01"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("read git log: %q", word)
			}

			at = stick.Time(n * 1000)
			continue
		}

		last[word] = max(last[word], at)
	}

	return last, nil
}
