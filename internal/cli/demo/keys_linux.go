package demo

import "golang.org/x/sys/unix"

// The requests for the settings of a terminal.
const (
	readTermios  = unix.TCGETS
	writeTermios = unix.TCSETS
)
