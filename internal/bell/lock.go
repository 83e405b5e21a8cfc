package bell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// LockedError says that a lock was still held by somebody else when the caller's time was over.
type LockedError struct {
	Path string
	PID  int   // the holder, in its own pid namespace; 0 if it couldn't be read
	Err  error // why the waiting ended: the context's error; nil where nothing was waited for
}

func (e *LockedError) Error() string {
	name := filepath.Base(e.Path)
	if e.PID == 0 {
		return name + " is held by another process"
	}
	return fmt.Sprintf("%s is held by process %d", name, e.PID)
}

// Unwrap returns the context's error.
func (e *LockedError) Unwrap() error { return e.Err }

// FileLock is an exclusive lock that is held until Unlock, or until the process ends in
// whatever way.
type FileLock struct{ f *os.File }

// Lock takes the lock at path, a file that is made with mode 0600 and never removed. It waits for
// it until ctx ends and then fails with a [*LockedError]. Children of the process don't inherit it.
func Lock(ctx context.Context, path string) (*FileLock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := openLock(path)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := acquire(ctx, f, func() { f.Close() }); err != nil {
		return nil, err
	}
	return &FileLock{f}, nil
}

// TryLock takes the lock at path if it is free, and tells whether it has it.
func TryLock(path string) (*FileLock, bool, error) {
	f, err := openLock(path)
	if err != nil {
		return nil, false, fmt.Errorf("lock: %w", err)
	}
	switch err := tryFlock(f, exclusive); {
	case err == nil:
		writePID(f)
		return &FileLock{f}, true, nil
	case errors.Is(err, errBusy):
		f.Close()
		return nil, false, nil
	default:
		f.Close()
		return nil, false, lockFailed(path, err)
	}
}

// Unlock releases the lock. A second call fails with [os.ErrClosed].
func (l *FileLock) Unlock() error {
	// Closing alone could come late: a child that is being started holds a copy of every
	// descriptor until it executes its program. Unlocking is for all copies.
	err := funlock(l.f)
	return errors.Join(err, l.f.Close())
}

// Kinds of locks. Those who share exclude only those who want it alone.
type lockKind int

const (
	exclusive lockKind = iota
	shared
)

// errBusy is returned by tryFlock when the lock is held by another.
var errBusy = errors.New("the lock is held")

func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

func lockFailed(path string, err error) error {
	return &fs.PathError{Op: "lock", Path: path, Err: err}
}

// acquire takes the lock on f alone and signs it; it waits until ctx ends. If it fails it calls
// drop, once: at once, or when f is free for use again. It isn't while the kernel still waits for
// the lock, a wait that nothing can interrupt; the goroutine that does so ends when it gets the
// lock, which it then hands to the caller or, if that one is gone, drops.
func acquire(ctx context.Context, f *os.File, drop func()) error {
	switch err := tryFlock(f, exclusive); {
	case err == nil:
		writePID(f)
		return nil
	case !errors.Is(err, errBusy):
		drop()
		return lockFailed(f.Name(), err)
	}

	// The channel has no buffer, so that a lock is either received or dropped, never neither.
	got := make(chan error)
	go func() {
		err := waitFlock(f, exclusive)
		select {
		case got <- err:
		case <-ctx.Done():
			drop()
		}
	}()
	select {
	case err := <-got:
		if err != nil {
			drop()
			return lockFailed(f.Name(), err)
		}
		writePID(f)
		return nil
	case <-ctx.Done():
		return lockedError(f.Name(), ctx.Err())
	}
}

// pidWidth is the width of the signature: a pid, right-aligned, and a line feed. A fixed width
// needs no truncation of what was there.
const pidWidth = 11

// writePID writes our pid into a lock file that we hold. It stays there when we let go: it is only
// read by those who find the lock held. In the instant between a lock and its signature they
// read the last holder's.
func writePID(f *os.File) {
	var b [pidWidth]byte
	for i := range b {
		b[i] = ' '
	}
	b[pidWidth-1] = '\n'
	digits := strconv.AppendInt(nil, int64(os.Getpid()), 10)
	copy(b[max(0, pidWidth-1-len(digits)):pidWidth-1], digits)
	f.WriteAt(b[:], 0) // on failure LockedError can't name us, that is all
}

// lockedError makes the error of one who waited for path in vain.
func lockedError(path string, why error) *LockedError {
	b, _ := os.ReadFile(path)
	pid, _ := strconv.Atoi(string(bytes.TrimSpace(b))) // 0 where there is no signature
	return &LockedError{Path: path, PID: pid, Err: why}
}

// File is the locked file. A child that inherits it holds the lock too: it is free when both have
// ended, or when Unlock was called.
func (l *FileLock) File() *os.File { return l.f }
