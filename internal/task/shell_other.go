//go:build !unix

package task

import (
	"os"
	"os/exec"
)

// shellOf returns the arguments that run a command in the shell.
func shellOf(command string) []string { return []string{"cmd", "/C", command} }

// ownGroup does nothing: on this platform, processes that a command starts may outlive it.
func ownGroup(*exec.Cmd) {}

// endProcess kills a process, because it can't be asked to end on this platform.
func endProcess(p *os.Process) error { return p.Kill() }
