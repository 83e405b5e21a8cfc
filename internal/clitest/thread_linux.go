package clitest

import (
	"os"
	"syscall"
)

// toThisThread sends a signal to the calling thread, which takes it before it goes on: one to the
// process may be taken by another thread, while this one runs on for a moment.
func toThisThread(s syscall.Signal) error { return syscall.Tgkill(os.Getpid(), syscall.Gettid(), s) }
