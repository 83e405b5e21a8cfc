package store_test

import (
	"os"
	"runtime"
	"syscall"
)

// stopThread stops this process by a signal to the calling thread, which takes it before it goes on. One to
// the process may be taken by another thread, while this one commits and ends.
func stopThread() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	syscall.Tgkill(os.Getpid(), syscall.Gettid(), syscall.SIGSTOP)
}
