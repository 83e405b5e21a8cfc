//go:build unix

package command

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// ShellArguments returns the arguments that run a command in the shell.
func ShellArguments(command string) []string { return []string{"/bin/sh", "-c", command} }

// SetOwnGroup makes a command run in its own process group.
func SetOwnGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// KillGroupOnCancel has the whole group of a command killed when its context ends.
func KillGroupOnCancel(c *exec.Cmd) {
	c.Cancel = func() error {
		err := SignalGroup(c, os.Kill)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

// SignalGroup sends a signal to the process group of a command that runs in its own.
func SignalGroup(c *exec.Cmd, s os.Signal) error {
	return syscall.Kill(-c.Process.Pid, s.(syscall.Signal))
}

// AskToEnd asks a process to end. One that a signal has stopped goes on to do so. It may have ended
// meanwhile.
func AskToEnd(procs *proc.Table, p stick.Process) {
	_ = procs.Send(p, syscall.SIGTERM)
	_ = procs.Send(p, syscall.SIGCONT)
}

// AskGroupToEnd asks the process group of a command to end.
func AskGroupToEnd(c *exec.Cmd) {
	_ = SignalGroup(c, syscall.SIGTERM)
	_ = SignalGroup(c, syscall.SIGCONT)
}

// ExitStatus returns the exit status with which a command has ended, as a shell does, and the signal that ended
// it.
func ExitStatus(s *os.ProcessState) (exit int, signal string) {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal()), unix.SignalName(w.Signal())
	}
	return s.ExitCode(), ""
}
