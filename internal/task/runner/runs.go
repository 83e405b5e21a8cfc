// Package runner runs the commands of workers, such as headless agents. A process of tt attends to each one: it
// keeps the output, records the end, ends what the command has left behind, and starts it again when its task
// comes back.
//
// See docs/decisions/worktrees-and-runs.md.
package runner

import (
	"cmp"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/repository"
)

// Runs performs the operations on the runs of workers' commands.
type Runs struct {
	core  *core.Kernel
	repos *repository.Opener
	grace time.Duration // how long processes that are asked to end have for it
}

// New returns the operations on runs. It reads and writes nothing.
func New(k *core.Kernel, repos *repository.Opener) *Runs {
	return &Runs{core: k, repos: repos, grace: cmp.Or(k.Config.StopGrace, stopGrace)}
}
