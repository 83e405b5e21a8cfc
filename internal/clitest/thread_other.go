//go:build unix && !linux

package clitest

import (
	"os"
	"syscall"
)

// toThisThread sends a signal to this process; the calling thread may run on for a moment.
func toThisThread(s syscall.Signal) error { return syscall.Kill(os.Getpid(), s) }
