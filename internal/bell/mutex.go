package bell

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
)

// Mutex is a lock between processes for frequent use: its file stays open. It also excludes the goroutines
// of one process, which a lock on one open file doesn't do by itself.
//
// The first Lock opens the file. Nobody may delete the file while the program is in use: processes that
// have it open would no longer exclude those that open it later.
type Mutex struct {
	path   string
	closed atomic.Bool

	// inside is full while a goroutine has the lock or waits for it in the kernel, even for a caller
	// that has given up. It guards file. It is a channel because waiting for it has to end with a
	// context.
	inside chan struct{}
	file   *os.File // nil until the first Lock and after Close
}

// NewMutex makes a Mutex on the file at path. It touches no file.
func NewMutex(path string) *Mutex {
	return &Mutex{path: path, inside: make(chan struct{}, 1)}
}

// Lock takes the lock. It waits until ctx ends, and then fails with a [*LockedError], which names this
// process if one of its own goroutines has the lock. After Close it fails with [os.ErrClosed].
//
// While somebody else has the lock, at most one thread of this process waits in the kernel, however many
// callers came and gave up. The other callers wait here.
func (m *Mutex) Lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}

	select {
	case m.inside <- struct{}{}:
	case <-ctx.Done():
		return lockedError(m.path, ctx.Err())
	}

	if err := m.openFile(); err != nil {
		m.admitNext()
		return fmt.Errorf("lock: %w", err)
	}

	return acquireLock(ctx, m.file, func() {
		unlockFile(m.file)
		m.admitNext()
	})
}

// Unlock releases the lock, which must be locked. Any goroutine may call it.
func (m *Mutex) Unlock() error {
	if len(m.inside) == 0 {
		panic("bell: Unlock of a Mutex that isn't locked")
	}

	err := unlockFile(m.file)
	m.admitNext()
	if err != nil {
		return lockFailed(m.path, err)
	}
	return nil
}

// Close closes the file. If a goroutine has the lock, it keeps it, and Unlock closes the file.
func (m *Mutex) Close() error {
	m.closed.Store(true)

	select {
	case m.inside <- struct{}{}:
	default:
		// Whoever is inside closes it on leaving.
		return nil
	}

	var err error
	if m.file != nil {
		err = m.file.Close()
		m.file = nil
	}

	<-m.inside
	return err
}

// openFile opens the file if it isn't open. The caller is inside.
func (m *Mutex) openFile() error {
	if m.closed.Load() {
		return os.ErrClosed
	}
	if m.file != nil {
		return nil
	}

	f, err := openLock(m.path)
	m.file = f
	return err
}

// admitNext lets the next caller in. It reads closed only afterwards: it sees an earlier Close, and a later
// one finds nobody inside and closes the file itself.
func (m *Mutex) admitNext() {
	<-m.inside
	if m.closed.Load() {
		m.Close()
	}
}
