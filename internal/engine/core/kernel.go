// Package core is what every operation is made of: its configuration, the room and the place that it
// means, who calls it, one run of it in a transaction, and what it has probed and read outside of one.
//
// An operation is always: validate, resolve the room, then in one transaction load, apply the
// pure rule of package stick, save state and events; then commit and ring. Processes are probed,
// git is asked and files are read before or after the transaction, never inside.
package core

import (
	"context"
	"errors"
	"sync"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
)

// Config is what operations need of their surroundings.
type Config struct {
	Dir       string // the data directory
	Procs     *proc.Table
	Workspace workspace.Env
	Git       git.Client
	Environ   []string               // of commands that a project has run: gates, evidence
	Now       func() time.Time       // nil for the real clock
	NewID     func() string          // nil for random ids
	Kill      func(point string)     // for tests, nil otherwise
	Local     func(dir string) error // nil for [workspace.CheckLocal]
	Trace     *Trace                 // nil for none

	// WriteWait and ReadWait bound how long an operation waits for others to let go of the database; 0
	// for the store's own. A hook has no time: its harness waits for it.
	WriteWait, ReadWait time.Duration
}

// Kernel performs operations on one data directory. It opens the database when the first operation
// needs it. It is safe for use by several goroutines.
type Kernel struct {
	Config Config

	mu sync.Mutex // guards db
	db *store.DB
}

// New makes a kernel. It touches nothing.
func New(cfg Config) *Kernel { return &Kernel{Config: cfg} }

// Close ends the use of the database. A program that is about to exit need not call it.
func (k *Kernel) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.db == nil {
		return nil
	}
	db := k.db
	k.db = nil
	return db.Close()
}

// Open returns the database; without create it answers [store.ErrAbsent] when there is none.
func (k *Kernel) Open(ctx context.Context, create bool) (*store.DB, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.db != nil {
		return k.db, nil
	}
	if err := k.CheckFileSystem(); err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, store.Options{
		Dir: k.Config.Dir, Machine: k.Config.Procs.PIDSpace.Machine, Boot: k.Config.Procs.PIDSpace.Boot, Now: k.Config.Now, NewID: k.Config.NewID, Kill: k.Config.Kill,
		WriteWait: k.Config.WriteWait, ReadWait: k.Config.ReadWait,
	}, create)
	if err != nil {
		return nil, err
	}
	k.db = db
	return db, nil
}

// CheckFileSystem refuses a data directory on a file system on which SQLite isn't safe.
func (k *Kernel) CheckFileSystem() error {
	if k.Config.Local != nil {
		return k.Config.Local(k.Config.Dir)
	}
	return workspace.CheckLocal(k.Config.Dir)
}

// KillPoint is a point at which a test may end the process.
func (k *Kernel) KillPoint(point string) {
	if k.Config.Kill != nil {
		k.Config.Kill(point)
	}
}

// Now is the time outside of transactions.
func (k *Kernel) Now() time.Time {
	if k.Config.Now != nil {
		return k.Config.Now()
	}
	return time.Now()
}

// ErrProbe has a transaction run again after more was probed.
var ErrProbe = errors.New("probe and run again")

// MaxProbes bounds how often an operation probes and runs again. What is unprobed then counts as
// unknown.
const MaxProbes = 3

// Update runs fn in transactions until it needs nothing more to be probed. fn returns errProbe,
// by way of [Probes.Enough], when a rule missed something.
func (k *Kernel) Update(ctx context.Context, db *store.DB, by Caller, fn func(*store.Tx, *Probes) error) error {
	probes := k.newProbes(db, by)
	return probes.Run(func() error {
		return db.Update(ctx, func(tx *store.Tx) error { return fn(tx, probes) })
	})
}

// View is update for operations that write nothing.
func (k *Kernel) View(ctx context.Context, db *store.DB, by Caller, fn func(*store.Tx, *Probes) error) error {
	probes := k.newProbes(db, by)
	return probes.Run(func() error {
		return db.View(ctx, func(tx *store.Tx) error { return fn(tx, probes) })
	})
}
