package repository

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// A clone may bring links. All worktrees of tasks and gates stay inside the workspace, or in a directory of tt's
// beside it, and outside of git's own directory, whatever the links in their paths say.

// RequireInside refuses a path of a worktree that a link leads out of the workspace, or into git's own
// directory, and one beside the workspace in a directory that isn't tt's. A task's worktree that somebody has moved
// may lie anywhere. The path need not exist. It fails with [stick.CodeInvalidPath].
func (rp *Repo) RequireInside(path string) error {
	switch {
	case workspace.IsWithin(path, rp.Root):
	case rp.isMoved(path):
		return nil
	case filepath.Dir(filepath.Dir(path)) == filepath.Dir(rp.Root):
		_, err := rp.ownerOf(filepath.Dir(path))
		return err
	}

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

	root := rp.Root
	if !workspace.IsWithin(path, root) {
		root = filepath.Dir(path)
	}

	rel, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	return rp.Git.RemoveDetached(rp.Common, root, rel)
}

// isMoved reports whether a path is a worktree of this repository that tt has made for a task.
func (rp *Repo) isMoved(path string) bool {
	_, ok := core.ReadTaskFile(path)
	return ok && slices.Contains(workspace.Worktrees(rp.Root), path)
}
