package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"talkingstick/stick"
)

// FastForward moves the branch that is checked out in dir forward to a commit, with the checkout. It isn't given
// up because its caller is: a git that is killed in the middle leaves a lock, and half of the files.
func (c Client) FastForward(ctx context.Context, dir, commit string) error {
	return c.write(context.WithoutCancel(ctx), change{dir: dir}, "-c", "merge.autoStash=false", "merge", "--ff-only", "--no-autostash",
		"--no-overwrite-ignore", "--quiet", "--", commit)
}

// UntrackedInTheWay lists the files of the checkout at dir, untracked or ignored, that moving it forward from one commit to
// another would overwrite.
func (c Client) UntrackedInTheWay(ctx context.Context, dir, from, to string) (files []string, err error) {
	added, err := c.list(ctx, dir, "diff-tree", "-r", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", "--diff-filter=A", from, to)
	if err != nil {
		return nil, err
	}
	tracked := map[string]bool{} // what the move takes away, also under a name in other capitals
	removed, err := c.list(ctx, dir, "diff-tree", "-r", "--name-only", "-z", "--no-renames", "--diff-filter=D", from, to)
	if err != nil {
		return nil, err
	}
	for _, p := range removed {
		tracked[strings.ToLower(p)] = true
	}
	seen := map[string]bool{}
	for _, p := range added {
		for at, end := "", 0; end < len(p); {
			if n := strings.IndexByte(p[end:], '/'); n >= 0 {
				at, end = p[:end+n], end+n+1
			} else {
				at, end = p, len(p)
			}
			info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(at)))
			if err != nil {
				break // nothing is there; what can't be looked at git will tell
			}
			if info.IsDir() || tracked[strings.ToLower(at)] || seen[at] {
				continue
			}
			seen[at] = true
			files = append(files, at)
		}
	}
	return files, nil
}

// FinishFastForward takes a checkout whose fast-forward from one commit to another was cut off to its end,
// branch and all; one in which it hasn't begun stays as it is. It refuses, with [stick.CodeDirtyTree], a
// checkout in which something is neither as in the one nor as in the other.
func (c Client) FinishFastForward(ctx context.Context, dir, ref, from, to string) error {
	begun, foreign, err := c.forwardState(ctx, dir, from, to)
	if err != nil || !begun {
		return err
	}
	if len(foreign) > 0 {
		return stick.Errorf(stick.CodeDirtyTree, "a merge was cut off while it moved %s forward, and there are changes of somebody's own since: %s",
			stick.Line(dir), stick.Clip(strings.Join(foreign, ", "), 160)).With("path", dir).With("left", foreign).
			Hintf("commit nothing there, because it has half of a merge: move your own versions of these files away, and run the same command again")
	}
	ctx = context.WithoutCancel(ctx) // for the same reason as in FastForward
	if err := c.write(ctx, change{dir: dir}, "read-tree", "--reset", "-u", to); err != nil {
		return err
	}
	moved, err := c.UpdateRef(ctx, dir, ref, to, from)
	if err == nil && !moved {
		err = fmt.Errorf("%s moved meanwhile", ref)
	}
	return err
}

// FastForwardInterrupted tells whether a fast-forward of a checkout from one commit to another was stopped in the middle.
func (c Client) FastForwardInterrupted(ctx context.Context, dir, from, to string) (bool, error) {
	begun, _, err := c.forwardState(ctx, dir, from, to)
	return begun, err
}

// forwardState tells whether the files of a checkout are on their way from one commit to another, and which are
// neither as in the one nor as in the other.
func (c Client) forwardState(ctx context.Context, dir, from, to string) (begun bool, foreign []string, err error) {
	paths, err := c.list(ctx, dir, "diff-tree", "-r", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", from, to)
	if err != nil {
		return false, nil, err
	}
	dirty, err := c.list(ctx, dir, "diff", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", from)
	if err != nil {
		return false, nil, err
	}
	added, err := c.list(ctx, dir, "diff-tree", "-r", "--name-only", "-z", "--no-renames", "--diff-filter=A", from, to)
	if err != nil {
		return false, nil, err
	}
	if len(dirty) == 0 && !slices.ContainsFunc(added, func(p string) bool { _, err := os.Lstat(filepath.Join(dir, p)); return !isNotExist(err) }) {
		return false, nil, nil
	}
	changed := map[string]bool{}
	for _, p := range paths {
		changed[p] = true
		have, err := c.blobInCheckout(ctx, dir, p)
		if err != nil {
			return false, nil, err
		}
		was, err := c.blobInCommit(ctx, dir, from, p)
		if err != nil {
			return false, nil, err
		}
		is, err := c.blobInCommit(ctx, dir, to, p)
		if err != nil {
			return false, nil, err
		}
		switch {
		case have == was:
			continue
		case have != is:
			written, err := c.isHalfWritten(ctx, dir, to, p, is != "")
			if err != nil {
				return false, nil, err
			}
			if !written {
				foreign = append(foreign, p)
				continue
			}
		}
		begun = true
	}
	for _, p := range dirty {
		begun = begun || changed[p]
		if !changed[p] {
			foreign = append(foreign, p)
		}
	}
	return begun, foreign, nil
}

// isHalfWritten tells whether a file of a checkout is on its way to what a commit has, if it has it: git removes a
// file before it writes it anew, and may have been stopped in between, or in the middle.
func (c Client) isHalfWritten(ctx context.Context, dir, commit, path string, wanted bool) (bool, error) {
	switch info, err := os.Lstat(filepath.Join(dir, path)); {
	case isNotExist(err):
		return true, nil
	case err != nil || !wanted || !info.Mode().IsRegular():
		return false, err
	}
	have, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		return false, err
	}
	var whole bytes.Buffer
	if err := c.write(ctx, change{dir: dir, out: &whole}, "cat-file", "--filters", commit+":"+path); err != nil {
		return false, err
	}
	return bytes.HasPrefix(whole.Bytes(), have), nil
}

// isNotExist tells whether looking at a file failed because there is none: nothing of its name, or something else
// where its directory would be.
func isNotExist(err error) bool { return os.IsNotExist(err) || errors.Is(err, syscall.ENOTDIR) }

// blobInCheckout is the name of a file's content in a checkout, empty when there is no such file. What is neither a plain
// file nor a link has a name that is nowhere else.
func (c Client) blobInCheckout(ctx context.Context, dir, path string) (string, error) {
	info, err := os.Lstat(filepath.Join(dir, path))
	switch {
	case isNotExist(err):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode().IsRegular():
		return c.text(ctx, dir, "hash-object", "--", path)
	case info.Mode()&os.ModeSymlink == 0:
		return "no plain file", nil
	}
	to, err := os.Readlink(filepath.Join(dir, path))
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = c.write(ctx, change{dir: dir, in: strings.NewReader(to), out: &out}, "hash-object", "--stdin")
	return strings.TrimSpace(out.String()), err
}

// blobInCommit is the name of a file's content in a commit, empty when it isn't there.
func (c Client) blobInCommit(ctx context.Context, dir, commit, path string) (string, error) {
	name, err := c.text(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+":"+path)
	if exitedWith(err, 1) || exitedWith(err, 128) {
		return "", nil
	}
	return name, err
}
