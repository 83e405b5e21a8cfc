package workspace

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// Bounds of the walk for repositories in a directory.
const (
	walkDepth   = 4
	walkEntries = 5000
)

// RepositoriesBelow finds the directories that hold a repository or a linked worktree, in a directory and a
// few levels below it.
func RepositoriesBelow(dir string) (tops []string) {
	seen := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		// A hook calls it, and must not walk through a whole disk.
		if seen++; seen > walkEntries {
			return fs.SkipAll
		}

		switch {
		case err != nil:
			return fs.SkipDir
		case d.Name() == ".git":
			tops = append(tops, filepath.Dir(path))
		}

		if !d.IsDir() {
			return nil
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		if rel, _ := filepath.Rel(dir, path); strings.Count(rel, string(filepath.Separator)) >= walkDepth {
			return fs.SkipDir
		}

		return nil
	})
	return tops
}
