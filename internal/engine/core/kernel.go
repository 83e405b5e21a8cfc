// Package core is what every operation is built on: the configuration, the room and place that a call means,
// the identity of its caller, and the loop that runs it in transactions.
//
// An operation validates its parameters and resolves the room. Then, in one transaction, it loads the room,
// applies a pure rule of package stick, and saves state and events. At last it commits and rings. If the rule
// needs a verdict that nobody has probed, the transaction ends without effect, the processes are probed, and
// the operation runs again in another transaction ([Kernel.Update]). Probing, git and files belong before or
// after a transaction, never inside.
package core

import (
	"context"
	"errors"
	"sync"
	"time"

	"talkingstick/internal/config"
	"talkingstick/internal/git"
	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/internal/wake"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Config is what operations need from their surroundings.
type Config struct {
	Dir       string // the data directory
	Database  string // the address of a PostgreSQL database; empty for the one in Dir
	Procs     *proc.Table
	Workspace workspace.Env
	Git       git.Client
	Host      string                 // this host's name in the names of persons, where several share the database
	Snapshots config.Snapshots       // what the user's own file says
	Environ   []string               // the environment for a project's commands: gates and checks
	Alone     bool                   // the process performs one operation at a time: it may sleep as a whole
	Now       func() time.Time       // nil for the real clock: the database's
	Clock     func() time.Time       // this machine's clock; nil for the real one
	NewID     func() string          // nil for random ids
	Kill      func(point string)     // for tests, nil otherwise
	Local     func(dir string) error // nil for [workspace.CheckLocal]
	Trace     *Trace                 // nil for none

	// Slack is for tests: rescues, wakes, and the tree of a handoff, may take this many times their limits; 0
	// for once.
	Slack     int
	StopGrace time.Duration // for tests: how long processes that are asked to end have for it; 0 for the usual
	SignLimit time.Duration // for tests: how long the signature of a commit may take; 0 for the usual

	// WriteWait and ReadWait limit how long an operation waits while others lock the database; 0 means the
	// store's default. Hooks set short ones, because a harness waits for its hook.
	WriteWait, ReadWait time.Duration
	Waits               bool // the process is about to wait, see [store.Options]

	// Lost is called with a sentence about what the database has lost, by the operation that finds out. It
	// mustn't call an operation. Nil for nothing.
	Lost func(warning stick.Words)

	// News is the text that wakes an idle agent with events, more of which there may be. Where it is nil,
	// nobody is woken.
	News      func(events []stick.Event, more bool) string
	InboxPeer wake.PeerOf // for tests: which process listens on a socket; nil for what the operating system says
}

// Kernel performs operations on one data directory. It opens the database when an operation first needs it.
// Several goroutines may use it.
type Kernel struct {
	Config Config

	// AfterCommit is called with the rooms to whose logs a commit has added. It may be nil.
	AfterCommit func(context.Context, []stick.RoomID)

	mu      sync.Mutex // guards the rest
	db      *store.DB
	openErr error // why there is no database for this process, which doesn't wait for it twice
}

// New returns a kernel. It touches no file.
func New(cfg Config) *Kernel { return &Kernel{Config: cfg} }

// Close closes the database. A program that is about to exit need not call it.
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

// ComparisonsName is the directory of the data directory with what comparisons of working trees have found.
const ComparisonsName = "conflicts"

// Open returns the database, and opens it first if needed. With create it makes a missing one; otherwise it
// fails with [store.ErrAbsent]. It refuses a data directory as [Kernel.CheckFileSystem] does.
func (k *Kernel) Open(ctx context.Context, create bool) (*store.DB, error) {
	k.mu.Lock()
	defer k.mu.Unlock()

	// The file may have been moved away since it was opened.
	if k.db != nil && k.db.RequireInPlace() == nil {
		return k.db, nil
	}
	if k.openErr != nil {
		return nil, k.openErr
	}

	// A wait may still be in it, and ends when it next reads.
	k.db = nil
	if err := k.CheckFileSystem(); err != nil {
		return nil, err
	}

	db, err := store.Open(ctx, k.StoreOptions(), create)
	if err != nil {
		// Somebody waits for a hook, so it doesn't try twice.
		if k.Config.ReadWait != 0 && stick.CodeOf(err) == stick.CodeDatabaseUnavailable {
			k.openErr = err
		}
		return nil, err
	}

	k.db = db
	return db, nil
}

// StoreOptions are what the database is opened with.
func (k *Kernel) StoreOptions() store.Options {
	return store.Options{
		Dir: k.Config.Dir, URL: k.Config.Database,
		Machine: k.Config.Procs.PIDSpace.Machine, Boot: k.Config.Procs.PIDSpace.Boot,
		HostName: hostName(k.Config.Host), Witness: k.runWitness,
		Now: k.Config.Now, Local: k.Config.Clock, NewID: k.Config.NewID, Kill: k.Config.Kill,
		WriteWait: k.Config.WriteWait, ReadWait: k.Config.ReadWait, Waits: k.Config.Waits,
		Lost: k.reportLoss,
	}
}

// reportLoss tells what the database has lost.
func (k *Kernel) reportLoss(l store.Loss) {
	if k.Config.Lost != nil {
		k.Config.Lost(l.Warning())
	}
}

// CheckFileSystem refuses a data directory on a file system that isn't safe for SQLite.
func (k *Kernel) CheckFileSystem() error {
	if k.Config.Local != nil {
		return k.Config.Local(k.Config.Dir)
	}
	return workspace.CheckLocal(k.Config.Dir)
}

// Slack returns a limit as it holds here: tests may extend it.
func (k *Kernel) ExtendLimit(limit time.Duration) time.Duration {
	return limit * time.Duration(max(k.Config.Slack, 1))
}

// CopyPoint begins the names of the points at which copies of uncommitted work are made.
const CopyPoint = "copy: "

// KillPoint marks a point in an operation at which a test may end the process.
func (k *Kernel) KillPoint(point string) {
	if k.Config.Kill != nil {
		k.Config.Kill(point)
	}
}

// Now returns the current time, by the clock of the database once it is open. Inside a transaction,
// [store.Tx.Now] is the time.
func (k *Kernel) Now() time.Time {
	k.mu.Lock()
	db := k.db
	k.mu.Unlock()

	switch {
	case db != nil:
		return db.Now()
	case k.Config.Now != nil:
		return k.Config.Now()
	case k.Config.Clock != nil:
		return k.Config.Clock()
	}
	return time.Now()
}

// ErrProbe ends a transaction in which a rule needs a verdict that wasn't probed. [Probes.Run] then probes
// and runs the transaction again.
var ErrProbe = errors.New("probe and run again")

// MaxProbes is how many times an operation probes at most. What wasn't probed by then counts as unknown.
const MaxProbes = 3

// Update runs fn in write transactions, and probes in between, until fn needs nothing more to be probed. fn
// asks for that by returning [ErrProbe], which [Probes.Enough] makes after a rule missed a verdict. So fn may
// run several times, and must start from nothing each time.
func (k *Kernel) Update(ctx context.Context, db *store.DB, by Caller, fn func(*store.Tx, *Probes) error) error {
	probes := k.newProbes(db, by)
	err := probes.Run(func() error {
		return db.Update(ctx, func(tx *store.Tx) error {
			// Each run of the transaction begins anew.
			probes.changedRooms = nil
			return fn(tx, probes)
		})
	})

	if err == nil && len(probes.changedRooms) > 0 {
		k.WakeRooms(ctx, probes.changedRooms)
	}

	return err
}

// WakeRooms wakes the idle agents in rooms for which there is something new, as far as that is possible now.
// It doesn't wake waits, which hear the bells of the rooms.
func (k *Kernel) WakeRooms(ctx context.Context, rooms []stick.RoomID) {
	if k.AfterCommit != nil {
		k.AfterCommit(ctx, rooms)
	}
}

// View is [Kernel.Update] for operations that write nothing.
func (k *Kernel) View(ctx context.Context, db *store.DB, by Caller, fn func(*store.Tx, *Probes) error) error {
	probes := k.newProbes(db, by)
	return probes.Run(func() error {
		return db.View(ctx, func(tx *store.Tx) error { return fn(tx, probes) })
	})
}
