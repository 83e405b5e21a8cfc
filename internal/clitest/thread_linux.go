package clitest

import (
	"os"
	"syscall"
)

// toThisThread sends a signal to the calling thread, which handles it before it continues. A signal to the
// process may go to another thread, while this one runs on for a moment.
func toThisThread(s syscall.Signal) error { return syscall.Tgkill(os.Getpid(), syscall.Gettid(), s) }
