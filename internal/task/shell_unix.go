//go:build unix

package task

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// shellOf returns the arguments that run a command in the shell.
func shellOf(command string) []string { return []string{"/bin/sh", "-c", command} }

// ownGroup makes a command run in its own process group.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup has the whole group of a command killed when its context ends.
func killGroup(c *exec.Cmd) {
	c.Cancel = func() error {
		err := signalGroup(c, os.Kill)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

// signalGroup sends a signal to the process group of a command that runs in its own.
func signalGroup(c *exec.Cmd, s os.Signal) error {
	return syscall.Kill(-c.Process.Pid, s.(syscall.Signal))
}

// askToEnd asks a process to end. One that a signal has stopped goes on to do so. It may have ended
// meanwhile.
func askToEnd(procs *proc.Table, p stick.Process) {
	_ = procs.Send(p, syscall.SIGTERM)
	_ = procs.Send(p, syscall.SIGCONT)
}

// askGroupToEnd asks the process group of a command to end.
func askGroupToEnd(c *exec.Cmd) {
	_ = signalGroup(c, syscall.SIGTERM)
	_ = signalGroup(c, syscall.SIGCONT)
}

// endOf returns the exit status with which a command has ended, as a shell does, and the signal that ended
// it.
func endOf(s *os.ProcessState) (exit int, signal string) {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal()), unix.SignalName(w.Signal())
	}
	return s.ExitCode(), ""
}
