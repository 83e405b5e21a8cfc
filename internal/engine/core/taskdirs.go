package core

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/internal/workspace"
)

// TaskMarkerName is the name of the file by which a directory beside a workspace is known as one that tt has made for
// worktrees of tasks. Its first line names the repository.
const TaskMarkerName = ".talking-stick-tasks"

// TaskDirectory is a directory for worktrees of tasks.
type TaskDirectory struct {
	Path      string `json:"path"`
	Worktrees int    `json:"worktrees"` // how many there are
}

// TaskDirectories lists the directories for worktrees of tasks that a repository has: those that hold some, and
// those beside its main checkout that tt has made. There are none outside of a repository.
func (k *Kernel) TaskDirectories(w Where) (dirs []TaskDirectory) {
	place, err := k.Place(w)
	if err != nil {
		return nil
	}

	held := map[string]int{}
	for _, top := range workspace.Worktrees(place.Root) {
		if _, isTasks := ReadTaskFile(top); isTasks {
			held[filepath.Dir(top)]++
		}
	}

	checkout, _ := workspace.FindCheckout(place.Root, k.Config.Workspace)
	for _, dir := range markedDirectories(filepath.Dir(place.Root), checkout.Common) {
		held[dir] += 0
	}

	for dir, n := range held {
		dirs = append(dirs, TaskDirectory{Path: dir, Worktrees: n})
	}
	slices.SortFunc(dirs, func(a, b TaskDirectory) int { return strings.Compare(a.Path, b.Path) })
	return dirs
}

// markedDirectories lists the directories in parent that a marker names as those of a repository.
func markedDirectories(parent, common string) (dirs []string) {
	entries, err := os.ReadDir(parent)
	if err != nil || common == "" {
		return nil
	}

	for _, e := range entries {
		if !e.IsDir() {
			continue
		}

		dir := filepath.Join(parent, e.Name())
		b, err := config.ReadFile(dir, TaskMarkerName, maxTaskMarker)
		repository, _, _ := strings.Cut(string(b), "\n")
		if err == nil && repository == common {
			dirs = append(dirs, dir)
		}
	}

	return dirs
}

// maxTaskMarker is more bytes than any marker has.
const maxTaskMarker = 4096
