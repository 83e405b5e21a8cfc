//go:build !windows

package bell

import (
	"os"

	"golang.org/x/sys/unix"

	"talkingstick/internal/plainfile"
)

// A flock belongs to the open file, unlike fcntl's locks, which belong to the process. It excludes another
// descriptor of the same process, closing a second descriptor of the file doesn't release it, and the
// kernel releases it with the last copy of the descriptor.

// tryFlock takes the lock on f, or fails with errBusy.
func tryFlock(f *os.File, kind lockKind) error {
	err := flockFile(f, flockMode(kind)|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return errBusy
	}
	return err
}

// waitFlock takes the lock on f and blocks a thread until it has it.
func waitFlock(f *os.File, kind lockKind) error { return flockFile(f, flockMode(kind)) }

func unlockFile(f *os.File) error { return flockFile(f, unix.LOCK_UN) }

func flockMode(kind lockKind) int {
	if kind == shared {
		return unix.LOCK_SH
	}
	return unix.LOCK_EX
}

func flockFile(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

// openRemovable opens a file so that others can remove it meanwhile. On Unix that is any file.
func openRemovable(path string, flags int) (*os.File, error) {
	return plainfile.Open(path, flags)
}
