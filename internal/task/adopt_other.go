//go:build !linux

package task

import "os/exec"

// adoption does nothing: on this system, what a command detaches from itself is found by its session, or not
// at all.
type adoption struct{}

func adopt(bool) *adoption { return &adoption{} }

func (*adoption) start(c *exec.Cmd) error { return c.Start() }

func (*adoption) close() {}
