package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// scratch lets git work with uncommitted changes and leave no trace in the repository. Git writes
// objects and indexes to a temporary directory, and only reads those of the repository.
type scratch struct {
	git Client
	tmp string
	env []string

	objects string       // the folder of the repository's own objects
	made    atomic.Int64 // commits
}

// quietFlags turns off what a repository may have configured beside the operation itself: hooks, a daemon
// that watches the tree, and a split index, which git would write back in parts.
var quietFlags = []string{
	"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.splitIndex=false",
}

// newScratch makes a scratch for the repository that dir lies in.
func (c Client) newScratch(ctx context.Context, dir string) (*scratch, error) {
	objects, err := c.runLine(ctx, dir, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return nil, c.explainFailure(dir, err)
	}

	tmp, err := os.MkdirTemp("", "talking-stick-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary directory: %w", err)
	}

	s := &scratch{git: c, tmp: tmp, objects: objects, env: []string{
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(tmp, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoteAlternate(objects),
		"GIT_NO_LAZY_FETCH=1", // reading never uses the network
		"GIT_AUTHOR_NAME=tt", "GIT_AUTHOR_EMAIL=tt@localhost", "GIT_AUTHOR_DATE=@1 +0000",
		"GIT_COMMITTER_NAME=tt", "GIT_COMMITTER_EMAIL=tt@localhost", "GIT_COMMITTER_DATE=@1 +0000",
	}}
	if err := os.Mkdir(filepath.Join(tmp, "objects"), 0o700); err != nil {
		s.removeFiles()
		return nil, fmt.Errorf("make a temporary directory: %w", err)
	}

	return s, nil
}

// quoteAlternate quotes a path for git's list of object directories, because the path may hold the list's
// separator.
func quoteAlternate(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

func (s *scratch) removeFiles() { _ = os.RemoveAll(s.tmp) }

// runGit runs git with the scratch and returns its output.
func (s *scratch) runGit(ctx context.Context, dir string, in io.Reader, env []string, args ...string) (string, error) {
	var out bytes.Buffer
	err := s.git.runCall(ctx, readCall{
		dir: dir, args: args, before: quietFlags, env: append(s.env[:len(s.env):len(s.env)], env...), in: in, out: &out,
	})
	return out.String(), err
}

// commitPaths commits the given paths of a working tree to the scratch, on top of its HEAD. In the middle of
// a merge, the merged commit is the second parent.
func (s *scratch) commitPaths(ctx context.Context, w Worktree, paths []string) (string, error) {
	index := filepath.Join(s.tmp, fmt.Sprintf("index-%d", s.made.Add(1)))

	// A copy of its index saves git from reading the files that haven't changed.
	real, err := s.git.runLine(ctx, w.Path, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return "", err
	}

	if err := copyIndex(real, index); err != nil {
		return "", err
	}

	env := append(s.git.noFilters(ctx, w.Path), "GIT_INDEX_FILE="+index)

	// What is a directory now goes first, so that the files below it have a place.
	files, gone := splitReplaced(w.Path, paths)
	for _, u := range []struct {
		paths []string
		flags []string
	}{{gone, []string{"--force-remove"}}, {files, []string{"--add", "--remove", "--replace"}}} {
		if len(u.paths) == 0 {
			continue
		}

		names := strings.NewReader(strings.Join(u.paths, "\x00") + "\x00")
		args := slices.Concat([]string{"update-index"}, u.flags, []string{"-z", "--stdin"})
		if _, err := s.runGit(ctx, w.Path, names, env, args...); err != nil {
			return "", err
		}
	}

	// The tree becomes a commit with the same parents that the user's own would have.
	tree, err := s.runGit(ctx, w.Path, nil, env, "write-tree")
	if err != nil {
		return "", err
	}

	args := []string{"commit-tree", "--no-gpg-sign", strings.TrimSpace(tree)}
	if w.Head != "" {
		args = append(args, "-p", w.Head)
	}
	if merging, err := s.git.runLine(ctx, w.Path, "rev-parse", "--verify", "--quiet", "MERGE_HEAD"); err == nil {
		args = append(args, "-p", merging)
	}

	id, err := s.runGit(ctx, w.Path, strings.NewReader("uncommitted\n"), nil, args...)
	return strings.TrimSpace(id), err
}

// splitReplaced separates paths that were files and are directories now (gone) from the rest: git
// update-index needs another flag for them. A submodule is a directory and stays one.
func splitReplaced(dir string, paths []string) (files, gone []string) {
	for _, p := range paths {
		at := filepath.Join(dir, filepath.FromSlash(p))
		if info, err := os.Lstat(at); err == nil && info.IsDir() {
			if _, err := os.Lstat(filepath.Join(at, ".git")); err != nil {
				gone = append(gone, p)
				continue
			}
		}

		files = append(files, p)
	}

	return files, gone
}

// copyIndex copies an index, if there is one, with its modification time. By that time git knows which
// files may have changed while the index was written.
func copyIndex(from, to string) error {
	info, err := os.Stat(from)
	if os.IsNotExist(err) {
		// Without an index, nothing was ever added.
		return nil
	}
	if err != nil {
		return err
	}

	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}

	if err := os.WriteFile(to, b, 0o600); err != nil {
		return err
	}

	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// listUncommitted lists at most most files in which a working tree differs from its HEAD, and counts them
// all. It leaves out ignored files and repositories inside the tree, such as linked worktrees.
func (c Client) listUncommitted(ctx context.Context, dir string, most int) (paths []string, count int, err error) {
	s := statusParser{most: most}
	// A name that git prints with a slash at its end is a repository of its own.
	err = c.runCall(ctx, readCall{dir: dir, before: quietFlags, env: c.noFilters(ctx, dir), out: &s, args: []string{
		"status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--no-ahead-behind",
		"--ignore-submodules=dirty",
	}})
	if err != nil {
		return nil, 0, err
	}

	w, err := s.asWorkspace()
	if err != nil {
		return nil, 0, err
	}

	for _, p := range w.Dirty {
		if strings.HasSuffix(p, "/") {
			w.DirtyCount--
			continue
		}
		paths = append(paths, p)
	}

	return paths, w.DirtyCount, nil
}
