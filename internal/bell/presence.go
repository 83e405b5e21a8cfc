package bell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"talkingstick/stick"
)

// A listener's presence is a file that its process holds locked. A file that nobody has locked is
// what a dead listener left, or a newborn one hasn't locked yet.
//
// Any process may remove such a file, and an id may come back. The rules that keep a live
// listener's file in its place:
//
//   - A file is removed only by its listener, or by one who holds a shared lock on it and the
//     lock `.remove`, and who has seen, after taking both, that the name still means this file.
//     While that is so nobody else can remove it, and nothing can take its name.
//   - A listener that has its lock looks whether its file still has its name. If not it begins
//     anew, with `.remove` in hand, so that nobody can remove the next one. If so nobody gets a
//     shared lock on the file any more, so nobody removes it.

// presenceWait bounds how long a listener waits for those who happen to look at its new file.
// They need microseconds; only one that is stopped just then needs longer.
const presenceWait = 5 * time.Second

// Presence tells others that a listener lives: a lock that ends with it.
type Presence struct{ close func() error }

// TakePresence takes the lock of listener id. It fails with a [*LockedError] if a living process has it
// already, and on a name that isn't a plain id.
func (d *Dir) TakePresence(id string) (*Presence, error) {
	if err := checkName(id); err != nil {
		return nil, err
	}
	if err := makeFolder(d.waits); err != nil {
		return nil, fmt.Errorf("present: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), presenceWait)
	defer cancel()
	f, err := newPresence(ctx, d.presence(id))
	if errors.Is(err, fs.ErrExist) {
		f, err = d.replacePresence(ctx, d.presence(id))
	}
	if err != nil {
		return nil, fmt.Errorf("present: %w", err)
	}
	return &Presence{close: sync.OnceValue(func() error { return removeAndUnlock(f) })}, nil
}

// newPresence makes the file at path and locks it. It fails with [fs.ErrExist] if there is one,
// and if its own was taken for one that is left over.
func newPresence(ctx context.Context, path string) (*os.File, error) {
	f, err := openRemovable(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	if err := acquire(ctx, f, func() { f.Close() }); err != nil {
		return nil, err
	}
	if !stillNamed(f, path) {
		f.Close()
		return nil, fs.ErrExist
	}
	return f, nil
}

// replacePresence does the same where there may be a dead listener's file.
func (d *Dir) replacePresence(ctx context.Context, path string) (*os.File, error) {
	l, err := Lock(ctx, d.removeLock())
	if err != nil {
		return nil, err
	}
	defer l.Unlock()
	left, verdict := readPresence(path)
	if verdict != stick.Gone {
		return nil, lockedError(path, nil)
	}
	removeStale(left, path)
	f, err := newPresence(ctx, path)
	if errors.Is(err, fs.ErrExist) { // another one wants the same id just now
		return nil, lockedError(path, nil)
	}
	return f, err
}

// Close removes the file and releases the lock. It may be called again.
func (p *Presence) Close() error { return p.close() }

// removeAndUnlock removes the file first and unlocks it then: the other way round the name could belong to
// another by then.
func removeAndUnlock(f *os.File) error {
	var err error
	if stillNamed(f, f.Name()) {
		err = os.Remove(f.Name())
	}
	return errors.Join(err, (&FileLock{f}).Unlock())
}

// Listening tells whether the process of listener id still holds its lock. It is alive also when
// it is stopped, gone when it let go or died, unknown when that can't be found out. What a dead
// listener left is removed on the way.
func (d *Dir) Listening(id string) stick.Verdict {
	if checkName(id) != nil {
		return stick.Unknown
	}
	left, verdict := readPresence(d.presence(id))
	if left == nil {
		return verdict
	}
	// Who can't have the lock leaves the file to the next one who looks.
	if l, ok, err := TryLock(d.removeLock()); err == nil && ok {
		defer l.Unlock()
		removeStale(left, d.presence(id))
	} else {
		left.Close()
	}
	return verdict
}

// readPresence finds out about the listener whose file is at path. If a dead one left its file it returns
// it too, open and with a shared lock.
func readPresence(path string) (left *os.File, verdict stick.Verdict) {
	f, err := openRemovable(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, stick.Gone
	}
	if err != nil {
		return nil, stick.Unknown
	}
	// The lock is shared, or two who look at the same time would take each other for a listener.
	err = tryFlock(f, shared)
	if err == nil {
		return f, stick.Gone
	}
	f.Close()
	if errors.Is(err, errBusy) {
		return nil, stick.Alive
	}
	return nil, stick.Unknown
}

// removeStale removes the file that look found, if any, and closes it. The caller holds `.remove`.
// Failing is no matter: the next one to look tries again.
func removeStale(left *os.File, path string) {
	if left == nil {
		return
	}
	if stillNamed(left, path) {
		os.Remove(path)
	}
	(&FileLock{left}).Unlock()
}

// stillNamed tells whether path still means the file f.
func stillNamed(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

func (d *Dir) presence(id string) string { return filepath.Join(d.waits, id) }

// removeLock has a dot in its name, so that it is no listener's.
func (d *Dir) removeLock() string { return filepath.Join(d.waits, ".remove") }
