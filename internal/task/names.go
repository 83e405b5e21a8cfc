package task

import (
	"talkingstick/internal/task/queue"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
)

// What surfaces name of the rooms below, beside the operations.
type (
	// Runner is the process that works on a task or a branch.
	Runner = repository.Runner

	// Remains is what became of a task's branches and worktree.
	Remains = repository.Remains

	// CopiedFiles says what a new worktree got copies of.
	CopiedFiles = repository.CopiedFiles

	// ShownCommand is a command that the project has tt run, and who has accepted it.
	ShownCommand = repository.ShownCommand

	// SetupView is how the set-up of an attempt's worktree went.
	SetupView = repository.SetupView

	// RunView is a run of a task's command as it is shown.
	RunView = runner.RunView

	// StoppedRun is a run that was stopped.
	StoppedRun = runner.StoppedRun

	// EndedProcess names a process.
	EndedProcess = runner.EndedProcess

	// ReadyTask is a task whose command is to be started.
	ReadyTask = runner.ReadyTask

	// StartedTask is a task whose command tt has started by itself.
	StartedTask = runner.StartedTask

	// GateRun is a gate that runs now.
	GateRun = queue.GateRun

	// MergedTask is a task that landed.
	MergedTask = queue.MergedTask

	// QueuePause says why the merge queue of a branch is paused.
	QueuePause = queue.QueuePause
)

// The states of a runner.
const (
	RunnerAlive   = repository.RunnerAlive
	RunnerStopped = repository.RunnerStopped
	RunnerGone    = repository.RunnerGone
	RunnerUnknown = repository.RunnerUnknown
)

// Variables in the environments of commands.
const (
	IntentEnv = repository.IntentEnv
	SlotEnv   = repository.SlotEnv
)
