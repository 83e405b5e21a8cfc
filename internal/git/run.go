package git

import (
	"os/exec"
	"time"
)

// inputDelay is how long to go on writing git's input after git has ended. A program that git has started may
// hold the other end of the pipe. Git itself has read all that it wanted.
const inputDelay = 100 * time.Millisecond

// runCommand runs git and hands on what it prints. Git's exit status decides: a program that git has started
// may keep the output open for as long as it likes, and if ctx ends just after git has done its work, that
// work counts. When ctx ends earlier, it kills git and everything that git has started. It calls started,
// unless that is nil, once git runs.
func runCommand(cmd *exec.Cmd, started func()) error {
	out, err := collectOutput(cmd)
	if err != nil {
		return err
	}
	defer out.close()

	cmd.WaitDelay = inputDelay
	err = runGroup(cmd, func() {
		out.startCopying()
		if started != nil {
			started()
		}
	})

	if cmd.ProcessState == nil {
		return err // it never ran
	}

	// If git succeeded, what counts is whether its output arrived.
	lost := out.finishCopying()
	if cmd.ProcessState.Success() {
		return lost
	}

	return err
}
