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

// A listener's presence is a file that its process has locked. If nobody has locked a file, its listener
// is dead, or is new and hasn't locked it yet.
//
// Any process may remove such a file, and an id may come back. These rules protect the file of a live
// listener:
//
//   - Only the listener removes its file, or a process that has a shared lock on the file and the lock
//     `.remove`. After taking both, that process checks that the name still means this file. Until it
//     unlocks, nobody else can remove the file, and nothing can take its name.
//   - A listener that has locked its file checks that the file still has its name. If not, it starts
//     over while it has `.remove`, so that nobody can remove the next file. If so, nobody gets a shared
//     lock on the file any more, and nobody removes it.

// presenceWait limits how long a listener waits for processes that are just checking its new file. They
// need microseconds, unless they are stopped at that moment.
const presenceWait = 5 * time.Second

// Presence shows others that a listener lives: a lock that ends with its process.
type Presence struct{ close func() error }

// TakePresence takes the lock of listener id. It fails with a [*LockedError] if a living process already
// has it, and on a name that isn't a plain id.
func (d *Dir) TakePresence(id string) (*Presence, error) {
	if err := checkName(id); err != nil {
		return nil, err
	}
	if err := makeFolder(d.waits); err != nil {
		return nil, fmt.Errorf("present: %w", err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), presenceWait)
	defer cancel()

	f, err := newPresence(ctx, d.presencePath(id))
	if errors.Is(err, fs.ErrExist) {
		f, err = d.replacePresence(ctx, d.presencePath(id))
	}
	if err != nil {
		return nil, fmt.Errorf("present: %w", err)
	}

	return &Presence{close: sync.OnceValue(func() error { return removeAndUnlock(f) })}, nil
}

// newPresence creates the file at path and locks it. It fails with [fs.ErrExist] if the file exists, or if
// somebody removes the new file because it looks like a dead listener's.
func newPresence(ctx context.Context, path string) (*os.File, error) {
	f, err := openRemovable(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}

	if err := acquireLock(ctx, f, func() { f.Close() }); err != nil {
		return nil, err
	}

	// Somebody may have taken the file for a dead listener's before it was locked.
	if !isStillNamed(f, path) {
		f.Close()
		return nil, fs.ErrExist
	}
	return f, nil
}

// replacePresence is newPresence for when a dead listener's file may exist.
func (d *Dir) replacePresence(ctx context.Context, path string) (*os.File, error) {
	l, err := Lock(ctx, d.removeLockPath())
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
	if errors.Is(err, fs.ErrExist) {
		// Somebody else is taking the same id.
		return nil, lockedError(path, nil)
	}
	return f, err
}

// Close removes the file and releases the lock. It may be called again.
func (p *Presence) Close() error { return p.close() }

// removeAndUnlock removes the file before it unlocks it. After unlocking, the name could already belong to
// another file.
func removeAndUnlock(f *os.File) error {
	var err error
	if isStillNamed(f, f.Name()) {
		err = os.Remove(f.Name())
	}
	return errors.Join(err, (&FileLock{f}).Unlock())
}

// Listening returns the verdict on listener id: alive while its process has the lock, even if it is
// stopped; gone when the process has unlocked or ended; unknown if that can't be found out. It removes the
// file of a dead listener.
func (d *Dir) Listening(id string) stick.Verdict {
	if checkName(id) != nil {
		return stick.Unknown
	}

	left, verdict := readPresence(d.presencePath(id))
	if left == nil {
		return verdict
	}

	// Without the lock, leave the file to the next one who calls this.
	if l, ok, err := TryLock(d.removeLockPath()); err == nil && ok {
		defer l.Unlock()
		removeStale(left, d.presencePath(id))
	} else {
		left.Close()
	}
	return verdict
}

// readPresence returns the verdict on the listener whose file is at path. If it is dead and its file is
// left, readPresence also returns the file, open and with a shared lock.
func readPresence(path string) (left *os.File, verdict stick.Verdict) {
	f, err := openRemovable(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, stick.Gone
	}
	if err != nil {
		return nil, stick.Unknown
	}

	// The lock is shared: with exclusive ones, two readers would take each other for the listener.
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

// removeStale removes the file that readPresence returned, if any, and closes it. The caller has the lock
// `.remove`. Failing doesn't matter: the next reader tries again.
func removeStale(left *os.File, path string) {
	if left == nil {
		return
	}

	if isStillNamed(left, path) {
		os.Remove(path)
	}
	(&FileLock{left}).Unlock()
}

// isStillNamed reports whether path still means the file f.
func isStillNamed(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}

	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

func (d *Dir) presencePath(id string) string { return filepath.Join(d.waits, id) }

// removeLockPath returns the path of the lock `.remove`. No listener's id has a dot.
func (d *Dir) removeLockPath() string { return filepath.Join(d.waits, ".remove") }
