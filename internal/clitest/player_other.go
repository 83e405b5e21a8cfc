//go:build unix && !linux

package clitest

import "talkingstick/internal/proc"

// disownOrphans does nothing: here no command makes its process the parent of orphans.
func disownOrphans() error { return nil }

// startedNow does nothing: here hooks don't go by the age of their process.
func startedNow(procs func() (*proc.Table, error)) (func() (*proc.Table, error), error) {
	return procs, nil
}
