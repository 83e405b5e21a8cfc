// Package task holds the operations on tasks. Each task has a branch and a worktree, is reviewed, and waits
// in a merge queue. The command line, MCP and tests call the same methods, each with one struct of parameters
// and one of results. Package core says how an operation is built. The merge queue, the commands of workers and
// pull requests have packages of their own, over the package repository that all of them share; [Tasks] hands
// their operations on.
//
// See docs/decisions/tasks-and-reviews.md and docs/decisions/merge-queue.md.
package task

import (
	"context"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/pull"
	"talkingstick/internal/task/queue"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
)

// Config is what [New] needs.
type Config struct {
	Kernel *core.Kernel

	// MayMove returns an error if the caller may not change the files of a checkout.
	MayMove func(ctx context.Context, by core.Caller, checkout string) error

	// Rescue keeps a copy of files in a worktree that is about to go, and returns its id. lacks names those
	// of which it couldn't.
	Rescue func(ctx context.Context, room stick.RoomID, by stick.AgentID, top string, paths []string,
		command string) (id string, lacks []string, err error)

	// KeepTips keeps commits of a branch that is about to go, as [repository.Config] says.
	KeepTips func(ctx context.Context, common, branch string, commits []string) (refs []string, err error)

	// StartRun starts a process that attends to a run by [Tasks.RunTask], as [runner.Config] says. With it,
	// each operation that makes tasks ready, or returns them, also starts their commands. If it is nil, as where
	// no process outlives the caller, none does.
	StartRun func(ctx context.Context, run runner.RunTaskParams) (pid int, err error)

	// StartLander starts a process that merges by itself, by [Tasks.RunLander]. It may be nil.
	StartLander func(queue.LanderOrder) error

	Renew time.Duration // for tests: how often a command renews its intent; 0 for the usual
}

// Tasks performs the operations on tasks. It is safe for use by several goroutines.
type Tasks struct {
	core     *core.Kernel
	repos    *repository.Opener
	runs     *runner.Runs
	queue    *queue.Queue
	requests *pull.Requests
}

// New returns the operations on tasks. It reads and writes nothing.
func New(cfg Config) *Tasks {
	ts := &Tasks{core: cfg.Kernel}
	ts.repos = repository.NewOpener(repository.Config{
		Kernel: cfg.Kernel, Rescue: cfg.Rescue, KeepTips: cfg.KeepTips, Renew: cfg.Renew,

		// A landing that was interrupted is finished by whoever lands tasks.
		FinishLanding: func(ctx context.Context, rp *repository.Repo, i store.Intent, inOtherCheckout bool) error {
			return ts.queue.FinishLanding(ctx, rp, i, inOtherCheckout)
		},
	})

	ts.runs = runner.New(runner.Config{Kernel: cfg.Kernel, Repos: ts.repos, Start: cfg.StartRun})
	ts.queue = queue.New(queue.Config{
		Dir: cfg.Kernel.Config.Dir, StartLander: cfg.StartLander,
		Repos: ts.repos, Runs: ts.runs, MayMove: cfg.MayMove, ReadyAfter: readyAfter, TellWorker: tellOfLanding,
	})
	ts.requests = pull.New(pull.Config{
		Kernel: cfg.Kernel, Repos: ts.repos, Queue: ts.queue, ListChecks: ts.listChecks,
	})
	return ts
}
