//go:build !unix && !windows

package git

import "os/exec"

// run runs cmd. On this platform, cancelling doesn't kill the processes that cmd has started.
func run(cmd *exec.Cmd) error { return cmd.Run() }
