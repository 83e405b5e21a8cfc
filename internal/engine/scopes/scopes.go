// Package scopes holds the operations on reservations, and on files that two working trees have changed: who works
// where, and where that meets.
//
// Its operations are built as those of package engine, and need nothing of it. What a reservation allows and what
// it overlaps with are rules of package [talkingstick/stick/scope].
//
// See docs/decisions/reservations-and-patterns.md.
package scopes

import (
	"context"

	"talkingstick/internal/engine/core"
)

// Scopes performs the operations on reservations and conflicts. Several goroutines may use it.
type Scopes struct{ core *core.Kernel }

// New returns the operations on the rooms of a kernel. It touches no file.
func New(kernel *core.Kernel) *Scopes { return &Scopes{core: kernel} }

// op is one run of an operation inside its transaction.
type op struct{ *core.Op }

// writeRoom is [core.Kernel.Write] for the operations of this package.
func (sc *Scopes) writeRoom(
	ctx context.Context, w core.Where, by core.Caller, j core.Joining, rule, done func(*op) error,
) error {
	return sc.core.Write(ctx, w, by, j, wrapRule(rule), wrapRule(done))
}

// wrapRule adapts a function of this package to package core.
func wrapRule(fn func(*op) error) func(*core.Op) error {
	if fn == nil {
		return nil
	}
	return func(o *core.Op) error { return fn(&op{o}) }
}
