package task

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// setLockPrefix sets the name of the repository in the names of locks.
func (rp *Repo) setLockPrefix() {
	sum := sha256.Sum256([]byte(rp.root))
	rp.lockPrefix = hex.EncodeToString(sum[:8])
}

// lockPath returns the path of the file of a lock. A task has one, however its name is written.
func (rp *Repo) lockPath(kind, name string) string {
	if kind == "task" {
		name = stick.TaskKey(name)
	}
	sum := sha256.Sum256([]byte(kind + " " + name))
	return filepath.Join(rp.Core.Config.Dir, "tasks", rp.lockPrefix+"-"+hex.EncodeToString(sum[:8])+".lock")
}

// lockWait is how long a command waits for another one on the same task.
const lockWait = 10 * time.Second

// shortLockWait is how long a command waits for a task's lock if a landing probably holds it. Landings take
// long.
const shortLockWait = 50 * time.Millisecond

// acquireLock takes the lock of a task or of an integration branch. The git commands that tt starts inherit
// the lock, so it becomes free only when this process and all of them have ended. If wait passes first, it
// fails with [stick.CodeLanding].
func (rp *Repo) acquireLock(ctx context.Context, kind, name string, wait time.Duration) (unlock func(), err error) {
	if err := rp.makeLockDir(); err != nil {
		return nil, err
	}

	// Most often the lock is free at once. Only a longer wait is worth telling.
	l, held, err := rp.waitForLock(ctx, rp.lockPath(kind, name), min(wait, shortLockWait))
	if held != nil && wait > shortLockWait {
		if rp.onWait != nil {
			rp.onWait(name, *held)
		}
		rp.killPoint("lock: waits")

		l, held, err = rp.waitForLock(ctx, rp.lockPath(kind, name), wait)
	}

	if held != nil {
		return nil, errBusy(name, *held, stick.At(rp.Core.Now()))
	}
	if err != nil {
		return nil, err
	}
	return rp.inheritLock(l), nil
}

// tryLock is [Repo.acquireLock] without waiting. If the lock isn't free, unlock is nil.
func (rp *Repo) tryLock(kind, name string) (unlock func(), err error) {
	if err := rp.makeLockDir(); err != nil {
		return nil, err
	}

	l, free, err := bell.TryLock(rp.lockPath(kind, name))
	if err != nil || !free {
		return nil, err
	}
	return rp.inheritLock(l), nil
}

// inheritLock has the git commands that follow inherit a lock, until unlock is called.
func (rp *Repo) inheritLock(l *bell.FileLock) (unlock func()) {
	rp.git.Inherit = append(rp.git.Inherit, l.File())
	return func() {
		rp.git.Inherit = rp.git.Inherit[:len(rp.git.Inherit)-1]
		_ = l.Unlock()
	}
}

// makeLockDir makes the directory of the locks of tasks and branches.
func (rp *Repo) makeLockDir() error {
	if err := plainfile.MkdirAll(filepath.Join(rp.Core.Config.Dir, "tasks")); err != nil {
		return stick.Errorf(stick.CodeDataDirNotWritable, "can't write to the data directory: %w", err).
			Hintf("%s", stick.Cmd("tt doctor"))
	}
	return nil
}

// waitForLock takes the lock at path. If wait passes first, it returns the process that holds it.
func (rp *Repo) waitForLock(ctx context.Context, path string, wait time.Duration) (*bell.FileLock, *Runner, error) {
	// If the wait has passed, whoever holds the lock is the answer; the caller's own cancellation isn't.
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	l, err := bell.Lock(limited, path)
	if err == nil || ctx.Err() != nil {
		return l, nil, errors.Join(err, ctx.Err())
	}
	if held, ok := errors.AsType[*bell.LockedError](err); ok {
		return nil, rp.runnerOf(held.Holder), nil
	}
	return nil, nil, err
}

// lockTask locks an existing task against other commands, and finishes or undoes what a command that died
// began. If a landing holds the lock, it fails at once with [stick.CodeLanding].
func (rp *Repo) lockTask(ctx context.Context, id string) (func(), error) {
	task, err := rp.readTask(ctx, id)
	if err != nil {
		return nil, err
	}

	// A landing takes long, and the caller would rather know than wait.
	wait := lockWait
	if landing, err := rp.isLanding(ctx, id); err != nil {
		return nil, err
	} else if landing {
		wait = 0
	}

	unlock, err := rp.acquireLock(ctx, "task", task.ID, max(wait, shortLockWait))
	if err != nil {
		return nil, err
	}

	// The lock holds on this host only; other checkouts are asked by their intents.
	if err = rp.awaitOtherCheckouts(ctx, task.ID, "", wait); err == nil {
		err = rp.recoverTask(ctx, task.ID)
	}
	if err != nil {
		unlock()
		return nil, err
	}

	return unlock, nil
}
