//go:build !unix

package command

import (
	"os"
	"os/exec"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// ShellArguments returns the arguments that run a command in the shell.
func ShellArguments(command string) []string { return []string{"cmd", "/C", command} }

// SetOwnGroup does nothing: on this system, processes that a command starts may outlive it.
func SetOwnGroup(*exec.Cmd) {}

// KillGroupOnCancel leaves it at the command itself being killed when its context ends.
func KillGroupOnCancel(*exec.Cmd) {}

// AskToEnd kills a process, because it can't be asked to end on this system.
func AskToEnd(procs *proc.Table, p stick.Process) { _ = procs.Send(p, os.Kill) }

// AskGroupToEnd kills a command.
func AskGroupToEnd(c *exec.Cmd) { _ = SignalGroup(c, os.Kill) }

// SignalGroup kills the command, because it can't be asked to end on this system.
func SignalGroup(c *exec.Cmd, _ os.Signal) error { return c.Process.Kill() }

// ExitStatus returns the exit status with which a command has ended.
func ExitStatus(s *os.ProcessState) (exit int, signal string) { return s.ExitCode(), "" }
