package git

import (
	"os/exec"

	"golang.org/x/sys/windows"
)

// runGroup runs cmd in a job, calls started once it runs, and ends the whole job when the context ends:
// git.exe is often a small program that starts the real one. A process that cmd starts before it is in the
// job escapes.
func runGroup(cmd *exec.Cmd, started func()) error {
	job, jobErr := windows.CreateJobObject(nil, nil)
	if jobErr == nil {
		defer windows.CloseHandle(job)
		cmd.Cancel = func() error {
			// If it isn't in the job yet, the kill ends it.
			_ = windows.TerminateJobObject(job, 1)
			return cmd.Process.Kill()
		}
	}

	if err := cmd.Start(); err != nil {
		return err
	}

	started()
	if jobErr != nil {
		return cmd.Wait()
	}

	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE
	if p, err := windows.OpenProcess(access, false, uint32(cmd.Process.Pid)); err == nil {
		_ = windows.AssignProcessToJobObject(job, p)
		_ = windows.CloseHandle(p)
	}

	return cmd.Wait()
}

// askGroupToEnd reports that nothing was asked to end: there are no such groups here.
func askGroupToEnd(int) bool { return false }

// killGroup does nothing: what ended git has ended all that it could.
func killGroup(int) {}
