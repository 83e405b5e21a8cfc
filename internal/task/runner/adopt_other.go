//go:build !linux

package runner

import "os/exec"

// adoption does nothing: on this system, what a command detaches from itself is found by its session, or not
// at all.
type adoption struct{}

func beginAdoption(bool) *adoption { return &adoption{} }

func (*adoption) startCommand(c *exec.Cmd) error { return c.Start() }

func (*adoption) close() {}
