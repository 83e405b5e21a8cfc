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

// FastForward moves the branch that is checked out in dir forward to a commit, together with the files.
// It runs to its end even if ctx is cancelled: killing git in the middle would leave a lock and half of
// the files.
func (c Client) FastForward(ctx context.Context, dir, commit string) error {
	return c.runWrite(context.WithoutCancel(ctx), writeCall{dir: dir}, "-c", "merge.autoStash=false",
		"merge", "--ff-only", "--no-autostash", "--no-overwrite-ignore", "--quiet", "--", commit)
}

// UntrackedOverwritten lists the untracked and ignored files in dir that a fast-forward from one commit to
// another would overwrite.
func (c Client) UntrackedOverwritten(ctx context.Context, dir, from, to string) (files []string, err error) {
	added, err := c.runList(ctx, dir, "diff-tree", "-r", "--name-only", "-z", "--no-renames",
		"--ignore-submodules=all", "--diff-filter=A", from, to)
	if err != nil {
		return nil, err
	}

	// Their paths are compared in lower case, for disks that ignore it.
	tracked := map[string]bool{}
	removed, err := c.runList(ctx, dir, "diff-tree", "-r", "--name-only", "-z", "--no-renames", "--diff-filter=D",
		from, to)
	if err != nil {
		return nil, err
	}

	for _, p := range removed {
		tracked[strings.ToLower(p)] = true
	}

	seen := map[string]bool{}
	for _, p := range added {
		// A file where a new path needs a directory is in the way, too: each part of the path is checked.
		for at, end := "", 0; end < len(p); {
			if n := strings.IndexByte(p[end:], '/'); n >= 0 {
				at, end = p[:end+n], end+n+1
			} else {
				at, end = p, len(p)
			}

			info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(at)))
			if err != nil {
				// Nothing is there, or git will report what it can't read.
				break
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

// FinishFastForward finishes a fast-forward that was cut off, branch included. It does nothing if the
// fast-forward hasn't begun. It fails with [stick.CodeDirtyTree] if a file is neither as in from nor as
// in to: somebody has edited it since.
func (c Client) FinishFastForward(ctx context.Context, dir, ref, from, to string) error {
	begun, foreign, err := c.forwardState(ctx, dir, from, to)
	if err != nil || !begun {
		return err
	}

	if len(foreign) > 0 {
		return stick.Errorf(stick.CodeDirtyTree, "a merge was interrupted while it updated the files in %s, and somebody has changed files there since: %s",
			dir, stick.Clip(strings.Join(foreign, ", "), 160)).With("path", dir).With("left", foreign).
			Hintf("move your own versions of these files away, then run the same command again; until then, commit nothing there, because the directory has half of a merge")
	}

	ctx = context.WithoutCancel(ctx) // as in FastForward
	if err := c.runWrite(ctx, writeCall{dir: dir}, "read-tree", "--reset", "-u", to); err != nil {
		return err
	}

	moved, err := c.UpdateRef(ctx, dir, ref, to, from)
	if err == nil && !moved {
		err = fmt.Errorf("%s moved meanwhile", ref)
	}

	return err
}

// FastForwardInterrupted reports whether a fast-forward of the checkout at dir was stopped in the middle.
func (c Client) FastForwardInterrupted(ctx context.Context, dir, from, to string) (bool, error) {
	begun, _, err := c.forwardState(ctx, dir, from, to)
	return begun, err
}

// forwardState reports whether a fast-forward of the files at dir has begun, and lists the files that are
// neither as in from nor as in to.
func (c Client) forwardState(ctx context.Context, dir, from, to string) (begun bool, foreign []string, err error) {
	paths, err := c.runList(ctx, dir, "diff-tree", "-r", "--name-only", "-z", "--no-renames",
		"--ignore-submodules=all", from, to)
	if err != nil {
		return false, nil, err
	}

	dirty, err := c.runList(ctx, dir, "diff", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", from)
	if err != nil {
		return false, nil, err
	}

	added, err := c.runList(ctx, dir, "diff-tree", "-r", "--name-only", "-z", "--no-renames", "--diff-filter=A",
		from, to)
	if err != nil {
		return false, nil, err
	}

	// Git writes new files before it changes the index, so they may be all that has changed.
	exists := func(p string) bool { _, err := os.Lstat(filepath.Join(dir, p)); return !isNotExist(err) }
	if len(dirty) == 0 && !slices.ContainsFunc(added, exists) {
		return false, nil, nil
	}

	// Compare each file that the fast-forward changes with both of its versions.
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

	// What differs and isn't part of the fast-forward is somebody's own.
	for _, p := range dirty {
		begun = begun || changed[p]
		if !changed[p] {
			foreign = append(foreign, p)
		}
	}

	return begun, foreign, nil
}

// isHalfWritten reports whether git may have been stopped while it replaced a file. Git removes a file
// before it writes the new one, so the file is missing or holds the beginning of the new content.
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

	// Filters, as for line ends, decide about the bytes in the checkout.
	if err := c.runWrite(ctx, writeCall{dir: dir, out: &whole}, "cat-file", "--filters", commit+":"+path); err != nil {
		return false, err
	}

	return bytes.HasPrefix(whole.Bytes(), have), nil
}

// isNotExist reports whether err says that a file doesn't exist. A file where its directory should be
// counts, too.
func isNotExist(err error) bool { return os.IsNotExist(err) || errors.Is(err, syscall.ENOTDIR) }

// blobInCheckout returns the id of a file's content in a checkout, and "" if there is no such file. What
// is neither a plain file nor a link gets a text that equals no id.
func (c Client) blobInCheckout(ctx context.Context, dir, path string) (string, error) {
	info, err := os.Lstat(filepath.Join(dir, path))
	switch {
	case isNotExist(err):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode().IsRegular():
		return c.runText(ctx, dir, "hash-object", "--", path)
	case info.Mode()&os.ModeSymlink == 0:
		return "no plain file", nil
	}

	// Git keeps the target of a link as its content.
	to, err := os.Readlink(filepath.Join(dir, path))
	if err != nil {
		return "", err
	}

	var out bytes.Buffer
	err = c.runWrite(ctx, writeCall{dir: dir, in: strings.NewReader(to), out: &out}, "hash-object", "--stdin")
	return strings.TrimSpace(out.String()), err
}

// blobInCommit returns the id of a file's content in a commit, and "" if the commit doesn't have it.
func (c Client) blobInCommit(ctx context.Context, dir, commit, path string) (string, error) {
	name, err := c.runText(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+":"+path)
	if exitedWith(err, 1) || exitedWith(err, 128) {
		return "", nil
	}
	return name, err
}
