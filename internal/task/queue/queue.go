// Package queue merges approved tasks into their integration branches, one at a time, and reverts merged ones. The
// gate runs on exactly the commit that a branch then moves to, and a queue whose branch is red itself is paused.
//
// See docs/decisions/merge-queue.md.
package queue

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
)

// Config is what [New] needs.
type Config struct {
	Dir   string // the data directory
	Repos *repository.Opener
	Runs  *runner.Runs

	// MayMove returns an error if the caller may not change the files of a checkout.
	MayMove func(ctx context.Context, by core.Caller, checkout string) error

	// StartLander starts a process that performs [Queue.RunLander], in a session of its own. It may be nil: where
	// no process outlives the caller, none is started.
	StartLander func(LanderOrder) error

	// TellWorker sends the worker of a task a message about it, unless that is the caller or can't be reached.
	TellWorker func(o *repository.Op, task stick.Task, subject, words string)

	// ReadyAfter lists the tasks that were waiting for one of those that landed, and are ready now.
	ReadyAfter func(ctx context.Context, rp *repository.Repo, landed ...string) ([]string, error)
}

// Queue performs the operations that move integration branches: it merges approved tasks, one at a time, and
// reverts merged ones.
type Queue struct{ config Config }

// New returns the operations on the merge queue. It reads and writes nothing.
func New(cfg Config) *Queue { return &Queue{cfg} }

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
