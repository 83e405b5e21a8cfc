//go:build unix

package demo

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// readSingleKeys makes a terminal give each key as it is pressed, and not show it. Ctrl-C stays a signal. It
// returns what puts the terminal back, which may be called twice; it does nothing if f is no terminal.
func readSingleKeys(f *os.File) (restore func()) {
	fd := int(f.Fd())
	was, err := unix.IoctlGetTermios(fd, readTermios)
	if err != nil {
		return func() {}
	}

	single := *was
	single.Lflag &^= unix.ICANON | unix.ECHO
	single.Cc[unix.VMIN], single.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, writeTermios, &single); err != nil {
		return func() {}
	}

	return sync.OnceFunc(func() { _ = unix.IoctlSetTermios(fd, writeTermios, was) })
}
