//go:build !linux

package git

// waitedFor names the program that a git waits for. On this platform that isn't known.
func waitedFor(int) string { return "" }
