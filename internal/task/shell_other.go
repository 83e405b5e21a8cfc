//go:build !unix

package task

import (
	"os"
	"os/exec"
)

func shellOf(command string) []string { return []string{"cmd", "/C", command} }

// ownGroup leaves a command as it is: what it starts isn't ended with it on this platform.
func ownGroup(*exec.Cmd) {}

// endProcess ends a process.
func endProcess(p *os.Process) error { return p.Kill() }
