package runner

import (
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// ReadyTask is a task whose command is to be started.
type ReadyTask struct {
	TaskID  string `json:"task_id"`
	Command string `json:"command"`

	Resume *tasks.Resumption `json:"resume,omitempty"` // nil if the task has to be begun first
}

// StartedTask is a task whose command tt has started by itself.
type StartedTask struct {
	ReadyTask
	Run    int         `json:"run,omitempty"`    // the number of its run
	Queued bool        `json:"queued,omitempty"` // the command starts when fewer run
	Error  stick.Code  `json:"error,omitempty"`  // why its command wasn't started
	Why    stick.Words `json:"why,omitempty"`    // the same in words
	Hint   stick.Words `json:"hint,omitempty"`   // what to do about it
}
