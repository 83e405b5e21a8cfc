package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
)

// queueConfig is what [newQueue] needs.
type queueConfig struct {
	Repos *repository.Opener
	Runs  *runner.Runs

	// mayMove returns an error if the caller may not change the files of a checkout.
	MayMove func(ctx context.Context, by core.Caller, checkout string) error

	// tellWorker sends the worker of a task a message about it, unless that is the caller or can't be reached.
	TellWorker func(o *repository.Op, task stick.Task, subject, words string)

	// readyAfter lists the tasks that were waiting for one of those that landed, and are ready now.
	ReadyAfter func(ctx context.Context, rp *repository.Repo, landed ...string) ([]string, error)
}

// Queue performs the operations that move integration branches: it merges approved tasks, one at a time, and
// reverts merged ones.
type Queue struct{ config queueConfig }

// newQueue returns the operations on the merge queue. It reads and writes nothing.
func newQueue(cfg queueConfig) *Queue { return &Queue{cfg} }

// FinishLanding finishes a landing whose process died, perhaps in another checkout, as
// [merger.recoverLanding] does.
func (q *Queue) FinishLanding(ctx context.Context, rp *repository.Repo, i store.Intent, inOtherCheckout bool) error {
	return (&merger{Repo: rp, queue: q}).recoverLanding(ctx, i, inOtherCheckout)
}

// merger is one run of an operation on the queue.
type merger struct {
	*repository.Repo
	queue  *Queue
	onGate func(GateRun) // called when a gate begins to run; may be nil
}

// openMerger opens the repository that w means, for one operation.
func (q *Queue) openMerger(ctx context.Context, w core.Where, by core.Caller, shows func(GateRun)) (*merger, error) {
	rp, err := q.config.Repos.Open(ctx, w, by)
	if err != nil {
		return nil, err
	}
	return &merger{rp, q, shows}, nil
}

// ListReady lists the tasks that were waiting for one of those that landed, and are ready now.
func (q *Queue) ListReady(ctx context.Context, rp *repository.Repo, landed ...string) ([]string, error) {
	return q.config.ReadyAfter(ctx, rp, landed...)
}
