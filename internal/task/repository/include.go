package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"talkingstick/internal/config"
	"talkingstick/internal/plainfile"
)

// includeFile names files that git ignores and that a new worktree gets copies of, by patterns as in a
// .gitignore. Other programs that make worktrees read it, too. It is read where those files are, in the
// room's checkout: what it names is one person's, and it may be, too.
const includeFile = ".worktreeinclude"

// maxIncludeFile is the size in bytes up to which it is read.
const maxIncludeFile = 64 << 10

// filesToInclude lists the files of the checkout from that [includeFile] names and git ignores; none if
// there is no such file. What its patterns mean, git decides, and it passes over what it can't read as one.
func (rp *Repo) filesToInclude(ctx context.Context, from string) ([]string, error) {
	patterns, err := config.ReadFile(from, includeFile, maxIncludeFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, config.ErrTooLong):
		return nil, fmt.Errorf("it is larger than %d KB", maxIncludeFile>>10)
	case err != nil:
		return nil, plainfile.CauseOf(err)
	}

	// git would follow a link out of the checkout, and wait at a pipe, so it gets what was read.
	copied, err := writeTemporary(patterns)
	if err != nil {
		return nil, err
	}
	defer os.Remove(copied)

	matching, err := rp.Git.UntrackedFilesOf(ctx, from, copied)
	if err != nil {
		return nil, err
	}
	return rp.Git.WouldIgnore(ctx, from, matching)
}

// writeTemporary writes a file that only this user can read, and returns its path.
func writeTemporary(text []byte) (path string, err error) {
	f, err := os.CreateTemp("", "tt-patterns-")
	if err != nil {
		return "", err
	}

	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}
