package bell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"talkingstick/internal/plainfile"
)

// Holder is whoever holds a lock, or held it last.
type Holder struct {
	PID   int       // in its own pid namespace; 0 if unknown
	Since time.Time // when it got the lock; zero if unknown
}

// LockedError says that somebody else still held the lock when the caller's time was over.
type LockedError struct {
	Path string
	Holder
	Err error // the context's error; nil if the caller didn't wait
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

// FileLock is an exclusive lock. It lasts until Unlock, or until the process ends, in whatever way.
type FileLock struct{ f *os.File }

// Lock takes the lock at path, a file that it creates with mode 0600 and never removes. It waits until ctx
// ends, and then fails with a [*LockedError]. If ctx was cancelled before, it fails with that error; if its
// deadline has passed, because the system let this process wait, Lock still takes a lock that is free. Child
// processes don't inherit the lock.
func Lock(ctx context.Context, path string) (*FileLock, error) {
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return nil, err
	}

	f, err := openLock(path)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}

	switch err := tryFlock(f, exclusive); {
	case err == nil:
		writePID(f)
		return &FileLock{f}, nil
	case !errors.Is(err, errBusy):
		f.Close()
		return nil, lockFailed(path, err)
	}

	return awaitLock(ctx, path, f)
}

// lockWait is a goroutine's wait for the lock on f in the kernel. Nothing can interrupt it.
type lockWait struct {
	f   *os.File
	got chan error // how the wait ended, for whoever waits
}

// abandoned are the waits, by path, whose callers have given up. Each has a thread and a descriptor. So
// whoever asks for that lock next takes one over, and a process that asks again and again has one, not one
// for each time.
var abandoned = struct {
	sync.Mutex
	by map[string][]*lockWait
}{by: map[string][]*lockWait{}}

// awaitLock waits for the lock on f, which somebody else has, until ctx ends.
func awaitLock(ctx context.Context, path string, f *os.File) (*FileLock, error) {
	w := takeOver(path, f)
	if w == nil {
		w = &lockWait{f, make(chan error, 1)}
		go w.waitInKernel(path)
	}

	var err error
	select {
	case err = <-w.got:
	case <-ctx.Done():
		// The wait goes on in the kernel, for whoever asks next.
		abandoned.Lock()
		select {
		case err = <-w.got:
			// The lock came at the same moment.
		default:
			abandoned.by[path] = append(abandoned.by[path], w)
			abandoned.Unlock()
			return nil, lockedError(path, ctx.Err())
		}
		abandoned.Unlock()
	}

	if err != nil {
		w.f.Close()
		return nil, lockFailed(path, err)
	}

	writePID(w.f)
	return &FileLock{w.f}, nil
}

// takeOver returns an abandoned wait for the lock on f, which it closes then, or nil.
func takeOver(path string, f *os.File) *lockWait {
	abandoned.Lock()
	defer abandoned.Unlock()

	for i, w := range abandoned.by[path] {
		// A wait for a file that was replaced since is of no use.
		if isSame(w.f, f) {
			w.dropAbandoned(path, i)
			f.Close()
			return w
		}
	}
	return nil
}

func isSame(a, b *os.File) bool {
	x, err := a.Stat()
	y, err2 := b.Stat()
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// dropAbandoned removes the wait from the abandoned ones.
func (w *lockWait) dropAbandoned(path string, i int) {
	if abandoned.by[path] = slices.Delete(abandoned.by[path], i, i+1); len(abandoned.by[path]) == 0 {
		delete(abandoned.by, path)
	}
}

// waitInKernel waits for the lock, and hands it to whoever waits for it then. If nobody does, the lock is
// released.
func (w *lockWait) waitInKernel(path string) {
	err := waitFlock(w.f, exclusive)

	abandoned.Lock()
	defer abandoned.Unlock()
	if i := slices.Index(abandoned.by[path], w); i >= 0 {
		// The caller has given up, and nobody has taken over.
		w.dropAbandoned(path, i)
		// It fails if the wait did.
		(&FileLock{w.f}).Unlock()
		return
	}

	w.got <- err
}

// TryLock takes the lock at path if it is free, and reports whether it did.
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
	// Closing alone could be too late: a child that is being started has a copy of every descriptor
	// until it executes its program. Unlocking works for all copies.
	err := unlockFile(l.f)
	return errors.Join(err, l.f.Close())
}

// lockKind is the kind of a lock. A shared one excludes only exclusive ones.
type lockKind int

const (
	exclusive lockKind = iota
	shared
)

// tryFlock returns errBusy if somebody else has the lock.
var errBusy = errors.New("the lock is held")

func openLock(path string) (*os.File, error) {
	return plainfile.Open(path, os.O_RDWR|os.O_CREATE)
}

func lockFailed(path string, err error) error {
	return &fs.PathError{Op: "lock", Path: path, Err: err}
}

// acquireLock takes the exclusive lock on f and writes our pid into it. It waits until ctx ends.
//
// If it fails, it calls drop once, when f may be used again. That may be later: nothing can interrupt the
// kernel's wait for a lock. The goroutine that waits ends when it gets the lock. Then it hands the lock to
// the caller or, if the caller has given up, drops it.
func acquireLock(ctx context.Context, f *os.File, drop func()) error {
	switch err := tryFlock(f, exclusive); {
	case err == nil:
		writePID(f)
		return nil
	case !errors.Is(err, errBusy):
		drop()
		return lockFailed(f.Name(), err)
	}

	// The channel has no buffer, so that a lock is always either received or dropped.
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

// pidWidth is the length of what writePID writes: a pid, right-aligned, and a line feed. It is fixed so
// that the file needn't be truncated.
const pidWidth = 11

// writePID writes our pid into a lock file that we have locked. The pid stays there after Unlock, because
// only those read it who find the file locked. In the instant before writePID they read the last holder's.
func writePID(f *os.File) {
	var b [pidWidth]byte
	for i := range b {
		b[i] = ' '
	}
	b[pidWidth-1] = '\n'

	digits := strconv.AppendInt(nil, int64(os.Getpid()), 10)
	copy(b[max(0, pidWidth-1-len(digits)):pidWidth-1], digits)

	// If this fails, LockedError can't name this process; that is all.
	f.WriteAt(b[:], 0)
}

// lockedError returns the error for a caller that didn't get the lock at path.
func lockedError(path string, why error) *LockedError {
	return &LockedError{Path: path, Holder: lastHolder(path), Err: why}
}

// lastHolder returns who got the lock at path last.
func lastHolder(path string) (h Holder) {
	b, _ := plainfile.Read(path)
	h.PID, _ = strconv.Atoi(string(bytes.TrimSpace(b))) // 0 if there is no pid
	if info, err := os.Lstat(path); err == nil {
		// Only writePID writes the file.
		h.Since = info.ModTime()
	}
	return h
}

// HolderOf returns who holds the lock at path. held is false if nobody does. It writes nothing.
func HolderOf(path string) (h Holder, held bool, err error) {
	f, err := plainfile.Open(path, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, nil
	}
	if err != nil {
		return h, false, fmt.Errorf("lock: %w", err)
	}
	// Closing releases what tryFlock takes.
	defer f.Close()

	switch err := tryFlock(f, shared); {
	case err == nil:
		return h, false, unlockFile(f)
	case errors.Is(err, errBusy):
		return lastHolder(path), true, nil
	default:
		return h, false, lockFailed(path, err)
	}
}

// File returns the locked file. A child process that inherits it has the lock, too: the lock is free when
// both have ended, or after Unlock.
func (l *FileLock) File() *os.File { return l.f }
