//go:build unix

package task

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

func shellOf(command string) []string { return []string{"/bin/sh", "-c", command} }

// ownGroup has a command run in a process group of its own, which is ended as a whole.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

// endProcess asks a process to end.
func endProcess(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
