package task

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

// newRuns returns the operations on runs. It reads and writes nothing.
func newRuns(k *core.Kernel, repos *repository.Opener) *Runs {
	return &Runs{core: k, repos: repos, grace: cmp.Or(k.Config.StopGrace, stopGrace)}
}
