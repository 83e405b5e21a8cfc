// Package guard keeps agents from spoiling each other's uncommitted work. It answers whether a caller may
// change a file, run a command, commit or push now; it notes who has edited which files, so that everybody
// can see whose an uncommitted change is; and it copies work that a command could lose. Package restore, which it
// makes, brings work back; package stash, which it makes too, knows who stashed what.
//
// The hooks of harnesses and of git ask it before a tool call and tell it afterwards. What it decides are
// rules of package stick, by the policy enforce of the room in which a file lies. It denies nothing outside
// of rooms, and nothing to people.
//
// Its operations are built as those of package engine, which hands it the roles of a room. What is noted of edits
// and calls is written by package ledger.
//
// See docs/decisions/guard-what-a-command-changes.md and docs/decisions/whose-changes.md.
package guard

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/guard/stash"
	"talkingstick/internal/workspace"
)

// Config is what a guard needs.
type Config struct {
	Kernel *core.Kernel

	// Roles reads which files of the room in a directory belong to a role or to a session.
	Roles func(room string) RoleFiles

	// Never returns which files of a checkout are never copied, by their paths relative to its top level.
	Never func(workspace.Checkout) func(path string) bool
}

// Guard performs the operations on edits, uncommitted changes and rescues. Several goroutines may use it.
type Guard struct {
	Restorer *restore.Restorer // the operations on rescues and on calls

	core  *core.Kernel
	stash *stash.Keeper
	roles func(room string) RoleFiles
}

// New returns a guard. It touches no file.
func New(cfg Config) *Guard {
	g := &Guard{core: cfg.Kernel, roles: cfg.Roles}
	g.Restorer = restore.New(restore.Config{Kernel: cfg.Kernel, Never: cfg.Never, AskEdit: g.askEdit})
	g.stash = stash.New(stash.Config{
		Kernel: cfg.Kernel, Store: g.Restorer.Store, FindCheckout: g.findCheckout,
	})
	return g
}

// op is one run of an operation inside its transaction.
type op struct{ *core.Op }

// writeRoom is [core.Kernel.Write] for the operations of this package.
func (g *Guard) writeRoom(
	ctx context.Context, w core.Where, by core.Caller, j core.Joining, rule func(*op) error,
) error {
	return g.core.Write(ctx, w, by, j, wrapRule(rule), nil)
}

// runHookOp is [core.Kernel.RunHook] for the operations of this package.
func (g *Guard) runHookOp(ctx context.Context, p core.HookParams, writes bool, fn func(*op) error) error {
	return g.core.RunHook(ctx, p, writes, wrapRule(fn))
}

// wrapRule adapts a function of this package to package core.
func wrapRule(fn func(*op) error) func(*core.Op) error {
	return func(o *core.Op) error { return fn(&op{o}) }
}
