package repository

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
	sum := sha256.Sum256([]byte(rp.Root))
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

// QueueLock is the kind of the lock of the process that merges by itself. There is one for a repository.
const QueueLock = "queue"

// QueuePath returns the path of a file about the queue of the repository on this host.
func (rp *Repo) QueuePath(kind string) string {
	return filepath.Join(rp.Core.Config.Dir, "tasks", rp.lockPrefix+"-queue."+kind)
}

// LockWait is how long a command waits for another one on the same task.
const LockWait = 10 * time.Second

// ShortLockWait is how long a command waits for a task's lock if a landing probably holds it. Landings take
// long.
const ShortLockWait = 50 * time.Millisecond

// AcquireLock takes the lock of a task or of an integration branch. The git commands that tt starts inherit
// the lock, so it becomes free only when this process and all of them have ended. If wait passes first, it
// fails with [stick.CodeLanding].
func (rp *Repo) AcquireLock(ctx context.Context, kind, name string, wait time.Duration) (unlock func(), err error) {
	if err := rp.MakeLockDir(); err != nil {
		return nil, err
	}

	// Most often the lock is free at once. Only a longer wait is worth telling.
	l, held, err := rp.waitForLock(ctx, rp.lockPath(kind, name), min(wait, ShortLockWait))
	if held != nil && wait > ShortLockWait {
		if rp.OnWait != nil {
			rp.OnWait(name, *held)
		}
		rp.KillPoint("lock: waits")

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

// TryLock is [Repo.AcquireLock] without waiting. If the lock isn't free, unlock is nil.
func (rp *Repo) TryLock(kind, name string) (unlock func(), err error) {
	if err := rp.MakeLockDir(); err != nil {
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
	rp.Git.Inherit = append(rp.Git.Inherit, l.File())
	return func() {
		rp.Git.Inherit = rp.Git.Inherit[:len(rp.Git.Inherit)-1]
		_ = l.Unlock()
	}
}

// MakeLockDir makes the directory of the locks of tasks and branches.
func (rp *Repo) MakeLockDir() error {
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

// LockTask locks an existing task against other commands, and finishes or undoes what a command that died
// began. If a landing holds the lock, it fails at once with [stick.CodeLanding].
func (rp *Repo) LockTask(ctx context.Context, id string) (func(), error) {
	task, err := rp.ReadTask(ctx, id)
	if err != nil {
		return nil, err
	}

	// A landing takes long, and the caller would rather know than wait.
	wait := LockWait
	if landing, err := rp.IsLanding(ctx, id); err != nil {
		return nil, err
	} else if landing {
		wait = 0
	}

	unlock, err := rp.AcquireLock(ctx, "task", task.ID, max(wait, ShortLockWait))
	if err != nil {
		return nil, err
	}

	// The lock holds on this host only; other checkouts are asked by their intents.
	if err = rp.AwaitOtherCheckouts(ctx, task.ID, "", wait); err == nil {
		err = rp.RecoverTask(ctx, task.ID)
	}
	if err != nil {
		unlock()
		return nil, err
	}

	return unlock, nil
}
