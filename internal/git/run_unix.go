//go:build unix

package git

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// runGroup runs cmd in a session and a process group of its own, and kills the whole group when the context
// ends. Git starts more processes, for submodules and filters, which would go on otherwise. Without a
// terminal, ssh and its like fail at once where they would ask for a passphrase: outside of the terminal's
// foreground they would be stopped, and git would wait for them. runGroup calls started once cmd runs.
func runGroup(cmd *exec.Cmd, started func()) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}

	if err := cmd.Start(); err != nil {
		return err
	}

	started()
	return cmd.Wait()
}

// askGroupToEnd asks a process group to end, and reports whether it could. A process that was stopped because
// it wanted to read from the terminal has to go on for that.
func askGroupToEnd(pid int) bool {
	err := syscall.Kill(-pid, syscall.SIGTERM)
	// The first of the two errors counts.
	_ = syscall.Kill(-pid, syscall.SIGCONT)
	return err == nil
}

// killGroup kills what is left of a process group.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) } // it fails, as it should, if nothing is left
