//go:build !unix

package task

import (
	"os"
	"os/exec"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// shellOf returns the arguments that run a command in the shell.
func shellOf(command string) []string { return []string{"cmd", "/C", command} }

// ownGroup does nothing: on this system, processes that a command starts may outlive it.
func ownGroup(*exec.Cmd) {}

// killGroup leaves it at the command itself being killed when its context ends.
func killGroup(*exec.Cmd) {}

// askToEnd kills a process, because it can't be asked to end on this system.
func askToEnd(procs *proc.Table, p stick.Process) { _ = procs.Send(p, os.Kill) }

// askGroupToEnd kills a command.
func askGroupToEnd(c *exec.Cmd) { _ = signalGroup(c, os.Kill) }

// signalGroup kills the command, because it can't be asked to end on this system.
func signalGroup(c *exec.Cmd, _ os.Signal) error { return c.Process.Kill() }

// endOf returns the exit status with which a command has ended.
func endOf(s *os.ProcessState) (exit int, signal string) { return s.ExitCode(), "" }
