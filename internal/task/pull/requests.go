// Package pull opens the pull requests of tasks at a forge, by the forge's own program or by a command of the
// project, and completes tasks that were merged there.
//
// See docs/decisions/pull-requests.md.
package pull

import (
	"context"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/queue"
	"talkingstick/internal/task/repository"
)

// Config is what [New] needs.
type Config struct {
	Kernel *core.Kernel
	Repos  *repository.Opener
	Queue  *queue.Queue

	// ListChecks lists the newest checks that a task's worker ran.
	ListChecks func(ctx context.Context, by core.Caller, w core.Where, id string) ([]Check, error)
}

// Check is how a command ended that a task's worker ran to check its work.
type Check struct {
	Name string
	Head string // the commit on which it ran
	Exit int
}

// Requests performs the operation on pull requests.
type Requests struct {
	config Config
	core   *core.Kernel
	limit  time.Duration // how long the program of a forge may take for an answer
}

// New returns the operation on pull requests. It reads and writes nothing.
func New(cfg Config) *Requests {
	return &Requests{config: cfg, core: cfg.Kernel, limit: programLimit}
}
