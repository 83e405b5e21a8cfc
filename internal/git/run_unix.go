//go:build unix

package git

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// run runs cmd in a process group of its own, and kills the whole group when the context ends. Git
// starts more processes, for submodules and filters, which would go on otherwise.
func run(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	return cmd.Run()
}
