// Package engine holds the operations on rooms, one method each. Every surface (CLI, hooks, MCP server) calls
// these methods with the same two structs, so that surfaces can't drift apart. Package core explains how an
// operation runs.
//
// Turns, members and talk are here. The operations on sessions are in package roster, those on reservations in
// scopes, those that read the log in eventlog, and those on the data directory in upkeep; package guard judges
// edits and keeps uncommitted work. An [Engine] makes all of these, and hands each what it needs of another as a function.
// Package task holds the operations on tasks.
package engine

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/stick"
)

// Config is what an engine needs.
type Config struct {
	Kernel *core.Kernel
	Checks []core.Check // the doctor runs them after its own

	// StartGuardian starts a process that keeps a lease by [Engine.KeepLease], and returns its pid. With it, each
	// operation that gives the caller the stick also starts a guardian where others can't see the caller's
	// process. If it is nil, none does.
	StartGuardian func(KeepLeaseParams) (pid int, err error)
}

// Engine performs the operations on rooms. Several goroutines may use it.
type Engine struct {
	Guard  *guard.Guard   // the operations on edits, uncommitted changes and rescues
	Log    *eventlog.Log  // the operations that read the log
	Roster *roster.Roster // the operations on sessions, and on who is at work
	Scopes *scopes.Scopes // the operations on reservations and conflicts
	Upkeep *upkeep.Upkeep // the operations on the data directory

	core          *core.Kernel
	startGuardian func(KeepLeaseParams) (pid int, err error) // nil where no process may be started
}

// New returns an engine. It touches no file.
func New(cfg Config) *Engine {
	e := &Engine{
		core: cfg.Kernel, startGuardian: cfg.StartGuardian,
		Log: eventlog.New(cfg.Kernel), Scopes: scopes.New(cfg.Kernel),
	}
	e.Roster = roster.New(roster.Config{Kernel: cfg.Kernel, LeftDraft: e.leftDraft})
	e.Guard = guard.New(guard.Config{Kernel: cfg.Kernel, Roles: e.Roster.RoleFiles, Never: e.Roster.NeverCopied})

	checks := append([]core.Check{
		{Name: "rescues", Run: e.Guard.Restorer.Check}, {Name: "copies", Run: e.Guard.Restorer.CheckCopies},
	}, cfg.Checks...)
	e.Upkeep = upkeep.New(upkeep.Config{Kernel: cfg.Kernel, Checks: checks, RescueDir: e.Guard.Restorer.RescueDir})

	// The kernel calls this after each commit that added to the logs of rooms.
	e.core.AfterCommit = e.wakeRooms
	return e
}

// Close closes the database. A program that is about to exit need not call it.
func (e *Engine) Close() error { return e.core.Close() }

// Now is the time by the clock of the database, or by this machine's before an operation has opened it.
func (e *Engine) Now() stick.Time { return stick.At(e.core.Now()) }

// op is one run of an operation on a room.
type op struct{ *core.Op }

// writeRoom is [core.Kernel.Write] for the operations of this package.
func (e *Engine) writeRoom(
	ctx context.Context, w core.Where, by core.Caller, j core.Joining, rule, done func(*op) error,
) error {
	return e.core.Write(ctx, w, by, j, wrapRule(noticeOlder(rule)), wrapRule(done))
}

// runHookOp is [core.Kernel.RunHook] for the operations of this package.
func (e *Engine) runHookOp(ctx context.Context, p core.HookParams, writes bool, fn func(*op) error) error {
	return e.core.RunHook(ctx, p, writes, wrapRule(fn))
}

func wrapRule(fn func(*op) error) func(*core.Op) error {
	if fn == nil {
		return nil
	}
	return func(o *core.Op) error { return fn(&op{o}) }
}
