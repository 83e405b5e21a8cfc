package bell

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// This file has been compiled but never run.

// Windows lets nobody else read locked bytes. So the lock is on one byte far behind the end of the file,
// and the pid stays readable.
func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

// tryFlock takes the lock on f, or fails with errBusy.
func tryFlock(f *os.File, kind lockKind) error {
	err := lockFileEx(f, flockMode(kind)|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return errBusy
	}
	return err
}

// waitFlock takes the lock on f and blocks a thread until it has it.
func waitFlock(f *os.File, kind lockKind) error { return lockFileEx(f, flockMode(kind)) }

func unlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte())
}

func flockMode(kind lockKind) uint32 {
	if kind == shared {
		return 0
	}
	return windows.LOCKFILE_EXCLUSIVE_LOCK
}

func lockFileEx(f *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, lockedByte())
}

// openRemovable opens a file so that others can remove it meanwhile. An [os.Root] allows that;
// os.OpenFile doesn't.
func openRemovable(path string, flags int) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(filepath.Base(path), flags, 0o600)
}
