//go:build !linux

package proc

// Shrink gives back memory that isn't needed while the process sleeps. It does nothing here.
func Shrink() {}
