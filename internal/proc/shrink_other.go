//go:build !linux

package proc

// ReleaseMemory releases memory on Linux. It does nothing here.
func ReleaseMemory() {}
