package bare

import (
	"context"
	"errors"
	"os"

	"talkingstick/internal/plainfile"
)

// FileLock is a lock on a file. It ends with unlock, or with the process.
type FileLock struct{ file *os.File }

// LockKind is the kind of a lock. A shared one excludes only exclusive ones.
type LockKind int

// The kinds of locks.
const (
	LockShared LockKind = iota
	LockExclusive
)

// errLocked says that somebody else has the lock.
var errLocked = errors.New("the lock is held")

// TryLock takes the lock at path if it is free. ok is false if it isn't, or if there can be no lock.
func TryLock(path string, kind LockKind) (l *FileLock, ok bool) {
	f, err := plainfile.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, false
	}
	if tryFlock(f, kind) != nil {
		f.Close()
		return nil, false
	}
	return &FileLock{f}, true
}

// WaitLock takes the lock at path, and waits for it in the kernel until ctx ends. ok is false if that comes
// first.
func WaitLock(ctx context.Context, path string, kind LockKind) (l *FileLock, ok bool) {
	f, err := plainfile.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, false
	}

	// Most locks are free: these need no goroutine.
	switch err := tryFlock(f, kind); {
	case err == nil:
		return &FileLock{f}, true
	case !errors.Is(err, errLocked):
		f.Close()
		return nil, false
	}

	// The channel has no buffer: either this call gets the lock, or the goroutine releases it.
	got := make(chan error)
	go func() {
		err := waitFlock(f, kind)
		select {
		case got <- err:
		case <-ctx.Done():
			(&FileLock{f}).Unlock()
		}
	}()

	select {
	case err := <-got:
		if err != nil {
			f.Close()
			return nil, false
		}
		return &FileLock{f}, true
	case <-ctx.Done():
		return nil, false
	}
}

// Unlock releases the lock. Closing alone could be too late: a child that is being started has a copy of each
// open file.
func (l *FileLock) Unlock() {
	if l != nil {
		_ = unlockFile(l.file)
		l.file.Close()
	}
}
