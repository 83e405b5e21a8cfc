//go:build unix && !linux

package store_test

import (
	"os"
	"syscall"
)

// stopThread stops this process; the calling thread may run on for a moment.
func stopThread() { syscall.Kill(os.Getpid(), syscall.SIGSTOP) }
