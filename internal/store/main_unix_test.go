//go:build unix

package store_test

import (
	"os"
	"syscall"
)

// signalSelf kills or stops this process and doesn't return before that took effect.
func signalSelf(role string) {
	switch role {
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "stop":
		stopThread()
	}
}
