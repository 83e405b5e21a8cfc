// Package runner runs the commands of workers, such as headless agents. A process of tt attends to each one: it
// keeps the output, records the end, ends what the command has left behind, and starts it again when its task
// comes back.
//
// See docs/decisions/worktrees-and-runs.md.
package runner

import (
	"cmp"
	"context"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/repository"
)

// Config is what [New] needs.
type Config struct {
	Kernel *core.Kernel
	Repos  *repository.Opener

	// Start starts a process that attends to a run by [Runs.RunTask], and waits until the command has started.
	// It returns what that process refuses. If it is nil, [Runs.WorkerRun] only claims a run.
	Start func(ctx context.Context, run RunTaskParams) (pid int, err error)
}

// Runs performs the operations on the runs of workers' commands.
type Runs struct {
	core  *core.Kernel
	repos *repository.Opener
	start func(ctx context.Context, run RunTaskParams) (pid int, err error)
	grace time.Duration // how long processes that are asked to end have for it
}

// New returns the operations on runs. It reads and writes nothing.
func New(cfg Config) *Runs {
	grace := cmp.Or(cfg.Kernel.Config.StopGrace, stopGrace)
	return &Runs{core: cfg.Kernel, repos: cfg.Repos, start: cfg.Start, grace: grace}
}

// CanStart reports whether commands can be started here. Otherwise a run can only be claimed.
func (rs *Runs) CanStart() bool { return rs.start != nil }
