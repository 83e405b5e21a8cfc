//go:build unix

package git

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// run runs cmd in a process group of its own, which is killed as a whole when the context ends: git
// starts further processes, for submodules and filters, and they would go on.
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
