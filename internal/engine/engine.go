// Package engine holds the operations of Talking Stick, one method each. Every surface calls
// these methods with the same two structs, so that surfaces can't drift apart.
//
// An operation is always: validate, resolve the room, then in one transaction load, apply the
// pure rule of package stick, save state and events; then commit and ring. Processes are probed,
// git is asked and files are read before or after the transaction, never inside.
package engine

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Config is what an engine needs of its surroundings.
type Config struct {
	Dir       string // the data directory
	Procs     *proc.Table
	Workspace workspace.Env
	Git       git.Client
	Environ   []string               // of commands that a project has run: gates, evidence
	Now       func() time.Time       // nil for the real clock
	NewID     func() string          // nil for random ids
	Kill      func(point string)     // for tests, nil otherwise
	Local     func(dir string) error // nil for [workspace.Local]

	// WriteWait and ReadWait bound how long an operation waits for others to let go of the database; 0
	// for the store's own. A hook has no time: its harness waits for it.
	WriteWait, ReadWait time.Duration
}

// Engine performs operations. It opens the database when the first operation needs it. It is
// safe for use by several goroutines.
type Engine struct {
	Config Config

	mu    sync.Mutex // guards the rest
	db    *store.DB
	paths map[stick.RoomID]string
}

// New makes an engine. It touches nothing.
func New(cfg Config) *Engine { return &Engine{Config: cfg, paths: map[stick.RoomID]string{}} }

// Close ends the use of the database. A program that is about to exit need not call it.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.db == nil {
		return nil
	}
	db := e.db
	e.db = nil
	return db.Close()
}

// Open returns the database; without create it answers [store.ErrAbsent] when there is none.
func (e *Engine) Open(ctx context.Context, create bool) (*store.DB, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.db != nil {
		return e.db, nil
	}
	if err := e.CheckFileSystem(); err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, store.Options{
		Dir: e.Config.Dir, Boot: e.Config.Procs.World.Boot, Now: e.Config.Now, NewID: e.Config.NewID, Kill: e.Config.Kill,
		WriteWait: e.Config.WriteWait, ReadWait: e.Config.ReadWait,
	}, create)
	if err != nil {
		return nil, err
	}
	e.db = db
	return db, nil
}

// CheckFileSystem refuses a data directory on a file system on which SQLite isn't safe.
func (e *Engine) CheckFileSystem() error {
	if e.Config.Local != nil {
		return e.Config.Local(e.Config.Dir)
	}
	return workspace.Local(e.Config.Dir)
}

// KillPoint is a point at which a test may end the process.
func (e *Engine) KillPoint(point string) {
	if e.Config.Kill != nil {
		e.Config.Kill(point)
	}
}

// Now is the time outside of transactions.
func (e *Engine) Now() time.Time {
	if e.Config.Now != nil {
		return e.Config.Now()
	}
	return time.Now()
}

// Where says which room is meant: by its id, or by a path inside of its workspace.
type Where struct {
	RoomID stick.RoomID `json:"room_id,omitempty"`
	Path   string       `json:"path,omitempty"`
}

// Caller is who calls, as the surface found out.
type Caller = harness.Found

// ErrProbe has a transaction run again after more was probed.
var ErrProbe = errors.New("probe and run again")

// MaxProbes bounds how often an operation probes and runs again. What is unprobed then counts as
// unknown.
const MaxProbes = 3

// Update runs fn in transactions until it needs nothing more to be probed. fn returns errProbe,
// by way of [Probes.Enough], when a rule missed something.
func (e *Engine) Update(ctx context.Context, db *store.DB, by Caller, fn func(*store.Tx, *Probes) error) error {
	probes := e.newProbes(db, by)
	return probes.Run(func() error {
		return db.Update(ctx, func(tx *store.Tx) error { return fn(tx, probes) })
	})
}

// View is update for operations that write nothing.
func (e *Engine) View(ctx context.Context, db *store.DB, by Caller, fn func(*store.Tx, *Probes) error) error {
	probes := e.newProbes(db, by)
	return probes.Run(func() error {
		return db.View(ctx, func(tx *store.Tx) error { return fn(tx, probes) })
	})
}

// NoRoom refuses an operation outside of rooms.
func NoRoom(path string) *stick.Error {
	return stick.Errorf(stick.CodeNoRoom, "there is no room for %s", stick.Line(path)).With("path", path).
		Hintf("make one and join it: tt join")
}

// Place resolves the path of w; it is nil when w names a room by its id.
func (e *Engine) Place(w Where) (*workspace.Place, error) {
	if w.RoomID != "" {
		return nil, nil
	}
	path := w.Path
	if path == "" {
		path = "."
	}
	p, err := workspace.Resolve(path, e.Config.Workspace)
	if w.Path == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, stick.Errorf(stick.CodeInvalidPath, "the working directory was deleted").Hintf("go to a directory that exists, or name one: --path <directory>")
	}
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// PlaceToRead is place for reading: a working directory that was deleted still tells its room.
func (e *Engine) PlaceToRead(w Where) (*workspace.Place, error) {
	p, err := e.Place(w)
	if err == nil || w.Path != "" {
		return p, err
	}
	gone, gerr := workspace.ResolveGone(e.Config.Workspace.Dir, e.Config.Workspace)
	if gerr != nil {
		return nil, err
	}
	return &gone, nil
}

// PlaceOfHook is place for hooks: a session still works in a directory that was deleted.
func (e *Engine) PlaceOfHook(w Where) (*workspace.Place, error) {
	p, err := e.PlaceToRead(w)
	if err == nil || w.Path == "" {
		return p, err
	}
	gone, gerr := workspace.ResolveGone(w.Path, e.Config.Workspace)
	if gerr != nil {
		return nil, err
	}
	return &gone, nil
}

// FindRoom loads the room that w means, as it stands in the current generation.
func FindRoom(tx *store.Tx, w Where, p *workspace.Place) (stick.Room, error) {
	if p == nil {
		return tx.Room(w.RoomID)
	}
	r, ok, err := tx.RoomAt(p.Chain)
	if err == nil && !ok {
		err = NoRoom(p.Path)
	}
	return r, err
}
