package proc

import (
	"os"

	"golang.org/x/sys/windows"
)

// newWaiter opens the process, and an event that ends the wait for it.
func newWaiter(pid int) (*waiter, error) {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return nil, os.NewSyscallError("OpenProcess", err)
	}

	stop, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		windows.CloseHandle(process)
		return nil, os.NewSyscallError("CreateEvent", err)
	}

	return &waiter{
		wait: func() bool {
			both := []windows.Handle{process, stop}
			first, err := windows.WaitForMultipleObjects(both, false, windows.INFINITE)
			return err == nil && first == windows.WAIT_OBJECT_0
		},
		wake: func() { windows.SetEvent(stop) },
		release: func() {
			windows.CloseHandle(process)
			windows.CloseHandle(stop)
		},
	}, nil
}
