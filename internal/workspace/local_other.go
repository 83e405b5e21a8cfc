//go:build !linux && !darwin && !windows

package workspace

// fileSystem can't tell on this platform.
func fileSystem(string) (kind string, safe bool) { return "", true }
