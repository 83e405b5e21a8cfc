// Package task holds the operations on tasks: a branch and a worktree each, review, and the merge queue.
// Every surface calls these methods with the same two structs. How an operation is built is told in
// package core; an operation that touches git writes its intent in one transaction and the outcome in
// another, so that the next command finishes what one that died has begun.
package task

import (
	"context"

	"talkingstick/internal/engine/core"
)

// Config is what tasks are made of.
type Config struct {
	Kernel *core.Kernel

	// MayMove refuses to move the files of a checkout where the caller may not change them.
	MayMove func(ctx context.Context, by core.Caller, checkout string) error
}

// Tasks performs the operations on tasks. It is safe for use by several goroutines.
type Tasks struct {
	core    *core.Kernel
	mayMove func(ctx context.Context, by core.Caller, checkout string) error
}

// New makes the operations on tasks. It touches nothing.
func New(cfg Config) *Tasks { return &Tasks{core: cfg.Kernel, mayMove: cfg.MayMove} }

// op is one run of an operation on the room of tasks.
type op struct{ *core.Op }

// write is [core.Kernel.Write] for the operations of this package.
func (ts *Tasks) write(ctx context.Context, w core.Where, by core.Caller, j core.Joining, rule, done func(*op) error) error {
	return ts.core.Write(ctx, w, by, j, wrap(rule), wrap(done))
}

func wrap(fn func(*op) error) func(*core.Op) error {
	if fn == nil {
		return nil
	}
	return func(o *core.Op) error { return fn(&op{o}) }
}
