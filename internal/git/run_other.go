//go:build !unix && !windows

package git

import "os/exec"

// runGroup runs cmd, and calls started once it runs. On this platform, cancelling doesn't kill the processes
// that cmd has started.
func runGroup(cmd *exec.Cmd, started func()) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	started()
	return cmd.Wait()
}

// askGroupToEnd reports that nothing was asked to end: there are no such groups here.
func askGroupToEnd(int) bool { return false }

// killGroup does nothing: what ended git has ended all that it could.
func killGroup(int) {}
