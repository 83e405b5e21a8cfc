//go:build !windows

package bare

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func tryFlock(f *os.File, kind LockKind) error {
	err := flock(f, flagOf(kind)|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// waitFlock blocks a thread until it has the lock.
func waitFlock(f *os.File, kind LockKind) error { return flock(f, flagOf(kind)) }

func unlockFile(f *os.File) error { return flock(f, unix.LOCK_UN) }

func flagOf(kind LockKind) int {
	if kind == LockShared {
		return unix.LOCK_SH
	}
	return unix.LOCK_EX
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
