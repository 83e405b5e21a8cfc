package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// newWaiter makes a kqueue that reports the process's exit.
func newWaiter(pid int) (*waiter, error) {
	kq, err := unix.Kqueue()
	if err != nil {
		return nil, os.NewSyscallError("kqueue", err)
	}
	unix.CloseOnExec(kq)

	var changes [2]unix.Kevent_t
	unix.SetKevent(&changes[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	changes[0].Fflags = unix.NOTE_EXIT
	unix.SetKevent(&changes[1], 0, unix.EVFILT_USER, unix.EV_ADD|unix.EV_ONESHOT)

	if _, err := unix.Kevent(kq, changes[:], nil, nil); err != nil {
		unix.Close(kq)
		return nil, os.NewSyscallError("kevent", err)
	}

	return &waiter{
		wait: func() bool {
			var events [1]unix.Kevent_t
			for {
				n, err := unix.Kevent(kq, nil, events[:], nil)
				if err != unix.EINTR {
					return n == 1 && events[0].Filter == unix.EVFILT_PROC
				}
			}
		},
		wake: func() {
			var wake [1]unix.Kevent_t
			unix.SetKevent(&wake[0], 0, unix.EVFILT_USER, 0)
			wake[0].Fflags = unix.NOTE_TRIGGER
			unix.Kevent(kq, wake[:], nil, nil)
		},
		release: func() { unix.Close(kq) },
	}, nil
}
