package core

import (
	"encoding/json"
	"os"
	"path/filepath"

	"talkingstick/internal/config"
	"talkingstick/internal/workspace"
	"talkingstick/stick/tasks"
)

// TaskFileName is the name of the file that says which task a worktree belongs to.
const TaskFileName = ".worker-ctx.json"

// maxTaskFile is more bytes than any task file has. A cloned repository may contain anything under that name.
const maxTaskFile = 1 << 20

// TaskFile is the content of a file named [TaskFileName].
type TaskFile struct {
	TaskID      string `json:"task_id"`
	Attempt     int    `json:"attempt"`
	Root        string `json:"workspace_root"`
	Branch      string `json:"branch"`
	Worktree    string `json:"worktree"`
	Integration string `json:"integration"`
	Base        string `json:"base"`
	Description string `json:"description,omitempty"`
	Spec        string `json:"spec,omitempty"`
	Slot        *int   `json:"slot,omitempty"` // the number of the worktree, which commands find in TT_SLOT
}

// ReadTaskFile reads the task file of a linked worktree. It reports false if worktree is empty, if there is
// no such file, and if tt didn't write it.
func ReadTaskFile(worktree string) (f TaskFile, ok bool) {
	if worktree == "" {
		return f, false
	}

	// Anybody may have written the file, so its size is bounded, and the task's name is checked.
	b, err := config.ReadFile(worktree, TaskFileName, maxTaskFile)
	if err != nil || json.Unmarshal(b, &f) != nil || tasks.CheckID(f.TaskID) != nil {
		return TaskFile{}, false
	}

	return f, true
}

// NameTree returns the name by which a room's log knows the linked worktree of a place: relative to the main
// checkout if it lies below it or one level beside it, otherwise its path. A task's worktree that somebody has moved
// keeps the name that it was made with.
func NameTree(place workspace.Place) string {
	name := place.Worktree
	beside := filepath.Dir(filepath.Dir(place.Worktree)) == filepath.Dir(place.Root)
	if rel, err := filepath.Rel(place.Root, place.Worktree); err == nil && (beside || filepath.IsLocal(rel)) {
		name = filepath.ToSlash(rel)
	}

	f, ok := ReadTaskFile(place.Worktree)
	made, err := filepath.Rel(f.Root, f.Worktree)
	if !ok || err != nil || filepath.ToSlash(made) == name {
		return name
	}
	if _, err := os.Lstat(filepath.Join(place.Root, made)); err == nil {
		return name
	}

	return filepath.ToSlash(made)
}

// FreeWorktree returns the linked worktree of a place, empty if there is none or if it is a task's. No change in it
// needs the stick.
func FreeWorktree(place *workspace.Place) string {
	if place == nil {
		return ""
	}
	if _, isTasks := ReadTaskFile(place.Worktree); isTasks {
		return ""
	}
	return place.Worktree
}
