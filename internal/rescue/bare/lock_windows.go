package bare

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func tryFlock(f *os.File, kind LockKind) error {
	err := lockFile(f, flagOf(kind)|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	return err
}

// waitFlock blocks a thread until it has the lock.
func waitFlock(f *os.File, kind LockKind) error { return lockFile(f, flagOf(kind)) }

func unlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{})
}

func flagOf(kind LockKind) uint32 {
	if kind == LockShared {
		return 0
	}
	return windows.LOCKFILE_EXCLUSIVE_LOCK
}

func lockFile(f *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
}
