package repository

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// Worktrees may lie in a directory beside the workspace. Test runners, search and indexers then don't find every
// file once more for each task. A marker in the directory, [core.TaskMarkerName], says whose it is: it names the repository,
// and the id of the clone, by which it is known after somebody has moved it.

// directoryOwner says whose a directory beside the workspace is.
type directoryOwner int

// The owners of a directory that tt may use or leave to another clone.
const (
	ownedByNobody directoryOwner = iota // it isn't there, or empty
	ownedByUs
	ownedByClone // another clone's
)

// maxDirectories is how many clones beside each other find a directory.
const maxDirectories = 100

// NameDirectory returns the directory in which worktrees are made, relative to the workspace's root. Beside the
// workspace it is the first that no other clone uses. It fails as [Repo.RequireInside] does.
func (rp *Repo) NameDirectory(w config.Worker) (string, error) {
	name := w.DirFor(rp.Root)
	if !w.IsBeside() {
		return name, nil
	}

	for n := 1; n <= maxDirectories; n++ {
		numbered := name
		if n > 1 {
			numbered = fmt.Sprintf("%s-%d", name, n)
		}

		owner, err := rp.ownerOf(filepath.Join(rp.Root, filepath.FromSlash(numbered)))
		if owner != ownedByClone || err != nil {
			return numbered, err
		}
	}

	return "", errNotOurs(filepath.Join(rp.Root, name), "and those with a number after it belong to other clones")
}

// ownerOf says whose a directory beside the workspace is. It fails with [stick.CodeInvalidPath] if somebody else
// has made it, or it is none.
func (rp *Repo) ownerOf(dir string) (directoryOwner, error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ownedByNobody, nil
	case err != nil:
		return ownedByNobody, errNotOurs(dir, stick.Wordsf("can't be read: %s", stick.AsError(err)))
	case !info.IsDir():
		return ownedByNobody, errNotOurs(dir, "is a link or a file")
	}

	b, err := config.ReadFile(dir, core.TaskMarkerName, 4096)
	if errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(dir)
		if err == nil && len(entries) == 0 {
			return ownedByNobody, nil
		}
		return ownedByNobody, errNotOurs(dir, "has files that tt hasn't made")
	}
	if err != nil {
		return ownedByNobody, errNotOurs(dir, stick.Wordsf("has a marker that can't be read: %s", stick.AsError(err)))
	}

	common, clone, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	if common == rp.Common {
		return ownedByUs, nil
	}

	// The repository may have moved. A copy of it has the same id, but then both are there.
	if _, err := os.Lstat(common); clone != "" && clone == rp.cloneID() && errors.Is(err, fs.ErrNotExist) {
		return ownedByUs, nil
	}

	return ownedByClone, nil
}

// errNotOurs refuses a directory beside the workspace.
func errNotOurs(dir string, why stick.Words) error {
	return stick.Errorf(stick.CodeInvalidPath, "tt can't use %s for the worktrees of tasks: it %s", dir, why).
		With("path", dir).
		Hintf("name another directory in .talking-stick.toml, on the branch that tasks are merged into: [worker] worktree_dir; without it they lie in worktrees/")
}

// MakeDirectory makes the directory of worktrees, and marks it if it lies beside the workspace.
func (rp *Repo) MakeDirectory(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return stick.Errorf(stick.CodeGitFailed, "can't create the worktree: %w", err).
			Hintf("check the permissions of %s", dir)
	}
	if filepath.Dir(dir) != filepath.Dir(rp.Root) || dir == rp.Root {
		return nil
	}

	// Another clone may have marked it since it was chosen.
	marker := filepath.Join(dir, core.TaskMarkerName)
	text := rp.Common + "\n" + rp.cloneID() + "\n"
	f, err := os.OpenFile(marker, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		owner, err := rp.ownerOf(dir)
		if err == nil && owner != ownedByUs {
			err = errNotOurs(dir, "belongs to another clone")
		}
		return err
	}
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		_ = os.Remove(marker)
		return errNotOurs(dir, stick.Wordsf("can't be marked: %s", stick.AsError(err)))
	}

	return nil
}
