package core

import (
	"encoding/json"

	"talkingstick/internal/config"
	"talkingstick/stick"
)

// TaskFileName is the name of the file by which a worktree says which task it belongs to.
const TaskFileName = ".worker-ctx.json"

// maxTaskFile is more bytes than such a file ever has; a clone may hold anything by that name.
const maxTaskFile = 1 << 20

// TaskFile is what [TaskFileName] holds.
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
}

// ReadTaskFile reads the task file of a linked worktree. It reports false where there is none, where
// worktree is empty, and where the file isn't one that tt wrote.
func ReadTaskFile(worktree string) (f TaskFile, ok bool) {
	if worktree == "" {
		return f, false
	}
	b, err := config.ReadFile(worktree, TaskFileName, maxTaskFile)
	if err != nil || json.Unmarshal(b, &f) != nil || stick.CheckTaskID(f.TaskID) != nil {
		return TaskFile{}, false
	}
	return f, true
}
