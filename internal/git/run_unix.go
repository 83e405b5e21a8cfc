//go:build unix

package git

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// runGroup runs cmd in a process group of its own, and kills the whole group when the context ends. Git
// starts more processes, for submodules and filters, which would go on otherwise. It calls started once cmd runs.
func runGroup(cmd *exec.Cmd, started func()) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
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
