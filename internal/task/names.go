package task

import "talkingstick/internal/task/repository"

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
