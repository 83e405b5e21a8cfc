// Package engine holds the operations on rooms, one method each. Every surface calls these methods with
// the same two structs, so that surfaces can't drift apart. How an operation is built is told in
// package core; the operations on tasks are in package task.
package engine

import (
	"context"
	"sync"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// Config is what an engine is made of.
type Config struct {
	Kernel *core.Kernel
	Checks []core.Check // those that the doctor makes after its own
}

// Engine performs the operations on rooms. It is safe for use by several goroutines.
type Engine struct {
	core   *core.Kernel
	others []core.Check

	mu    sync.Mutex // guards paths
	paths map[stick.RoomID]string
}

// New makes an engine. It touches nothing.
func New(cfg Config) *Engine {
	return &Engine{core: cfg.Kernel, others: cfg.Checks, paths: map[stick.RoomID]string{}}
}

// Close ends the use of the database. A program that is about to exit need not call it.
func (e *Engine) Close() error { return e.core.Close() }

// op is one run of an operation on a room.
type op struct{ *core.Op }

// write is [core.Kernel.Write] for the operations of this package.
func (e *Engine) write(ctx context.Context, w core.Where, by core.Caller, j core.Joining, rule, done func(*op) error) error {
	return e.core.Write(ctx, w, by, j, wrap(rule), wrap(done))
}

func wrap(fn func(*op) error) func(*core.Op) error {
	if fn == nil {
		return nil
	}
	return func(o *core.Op) error { return fn(&op{o}) }
}
