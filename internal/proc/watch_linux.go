package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// newWaiter opens a pidfd. The runtime's poller waits for it, so it takes no thread.
func newWaiter(pid int) (*waiter, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, os.NewSyscallError("pidfd_open", err)
	}

	// The poller takes only non-blocking descriptors.
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}

	f := os.NewFile(uintptr(fd), "pidfd")
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, err
	}

	// Closing twice does nothing.
	closeFile := func() { f.Close() }
	return &waiter{
		wait:    func() bool { return raw.Read(isReadable) == nil },
		wake:    closeFile,
		release: closeFile,
	}, nil
}

// isReadable reports whether the process of a pidfd has ended. A zombie has.
func isReadable(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 0)
		if err != unix.EINTR {
			return n > 0
		}
	}
}
