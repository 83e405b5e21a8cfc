package task

import (
	"context"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/queue"
	"talkingstick/internal/task/repository"
)

// requestsConfig is what [newRequests] needs.
type requestsConfig struct {
	Kernel *core.Kernel
	Repos  *repository.Opener
	Queue  *queue.Queue

	// listChecks lists the newest checks that a task's worker ran.
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
	config requestsConfig
	core   *core.Kernel
	limit  time.Duration // how long the program of a forge may take for an answer
}

// newRequests returns the operation on pull requests. It reads and writes nothing.
func newRequests(cfg requestsConfig) *Requests {
	return &Requests{config: cfg, core: cfg.Kernel, limit: programLimit}
}
