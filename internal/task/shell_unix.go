//go:build unix

package task

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// shellOf returns the arguments that run a command in the shell.
func shellOf(command string) []string { return []string{"/bin/sh", "-c", command} }

// ownGroup makes a command run in its own process group. If its context ends, the whole group is killed.
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
