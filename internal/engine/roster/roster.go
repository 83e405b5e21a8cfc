// Package roster holds the operations on sessions: how an agent's session starts and ends, which role and which
// context file it has, who else is at work, and what hooks report of what it does.
//
// Its operations are built as those of package engine, which hands it the draft that a turn has left. What a
// project sets for roles and context files is read here.
//
// See docs/decisions/sessions-and-roles.md and docs/decisions/process-identity-and-roster.md.
package roster

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// Config is what a roster needs.
type Config struct {
	Kernel *core.Kernel

	// LeftDraft returns the draft of a handoff that the caller's next grant brings, or that its own grant has
	// brought; nil for none.
	LeftDraft func(*core.Op) (*stick.Draft, error)
}

// Roster performs the operations on sessions. Several goroutines may use it.
type Roster struct {
	core      *core.Kernel
	leftDraft func(*core.Op) (*stick.Draft, error)
}

// New returns a roster. It touches no file.
func New(cfg Config) *Roster { return &Roster{core: cfg.Kernel, leftDraft: cfg.LeftDraft} }

// op is one run of an operation inside its transaction.
type op struct{ *core.Op }

// writeRoom is [core.Kernel.Write] for the operations of this package.
func (ro *Roster) writeRoom(
	ctx context.Context, w core.Where, by core.Caller, j core.Joining, rule, done func(*op) error,
) error {
	return ro.core.Write(ctx, w, by, j, wrapRule(rule), wrapRule(done))
}

// runHookOp is [core.Kernel.RunHook] for the operations of this package.
func (ro *Roster) runHookOp(ctx context.Context, p core.HookParams, writes bool, fn func(*op) error) error {
	return ro.core.RunHook(ctx, p, writes, wrapRule(fn))
}

// wrapRule adapts a function of this package to package core.
func wrapRule(fn func(*op) error) func(*core.Op) error {
	if fn == nil {
		return nil
	}
	return func(o *core.Op) error { return fn(&op{o}) }
}
