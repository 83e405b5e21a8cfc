//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"
)

// watchSize returns a channel that gets a value when the size of the terminal changes. stop ends that.
func watchSize() (changed <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}
