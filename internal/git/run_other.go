//go:build !unix && !windows

package git

import "os/exec"

// run runs cmd. What it has started isn't killed with it on this platform.
func run(cmd *exec.Cmd) error { return cmd.Run() }
