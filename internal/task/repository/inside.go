package repository

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// A clone may bring links. All worktrees of tasks and gates stay inside the workspace and outside of git's
// own directory, whatever the links in their paths say.

// RequireInside refuses a path of a worktree that a link leads out of the workspace, or into git's own
// directory. The path need not exist. It fails with [stick.CodeInvalidPath].
func (rp *Repo) RequireInside(path string) error {
	root, err := os.OpenRoot(rp.Root)
	if err != nil {
		return err
	}
	defer root.Close()

	rel, err := filepath.Rel(rp.Root, path)

	// The nearest directory that exists decides, because the rest is going to be created below it.
	for err == nil {
		if _, err = root.Stat(rel); !os.IsNotExist(err) || rel == "." {
			break
		}

		// What is missing can't lead elsewhere.
		rel, err = filepath.Dir(rel), nil
	}

	real := ""
	if err == nil {
		real, err = filepath.EvalSymlinks(filepath.Join(rp.Root, rel))
	}

	// File systems that ignore case must not open a way around the check.
	switch {
	case err == nil && !workspace.IsWithin(strings.ToLower(real), strings.ToLower(rp.Common)):
		return nil
	case err == nil:
		err = fs.ErrInvalid
	}

	return stick.Errorf(stick.CodeInvalidPath,
		"a link leads %s out of the workspace, or into git's own directory: %w", path, err).
		With("path", path).
		Hintf("remove the link; or name a directory of the workspace in .talking-stick.toml, on the branch that tasks are merged into: [worker] worktree_dir")
}

// RemoveTree removes a worktree of this program's making, complete or not, with all its files. It doesn't
// follow a link that leads out of the workspace.
func (rp *Repo) RemoveTree(path string) error {
	if err := rp.RequireInside(path); err != nil {
		return err
	}

	rel, err := filepath.Rel(rp.Root, path)
	if err != nil {
		return err
	}
	return rp.Git.RemoveDetached(rp.Common, rp.Root, rel)
}
