package app

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// IsTerminal reports whether f is a console.
func IsTerminal(f *os.File) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil
}

// terminalColumns returns how wide the console f is, or 0.
func terminalColumns(f *os.File) int {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0
	}
	return int(info.Window.Right-info.Window.Left) + 1
}

// terminalRows returns how many lines the console f has, or 0.
func terminalRows(f *os.File) int {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0
	}
	return int(info.Window.Bottom-info.Window.Top) + 1
}

// IgnoreBrokenPipe has nothing to do: writing to a closed pipe is an error like any other here.
func IgnoreBrokenPipe() {}

// isClosedPipe reports whether writing failed because the reader has closed the pipe.
func isClosedPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}

// UntilUnheard ends with ctx: this system doesn't report that standard output was closed.
func (a *Run) UntilUnheard(ctx context.Context) (context.Context, func()) {
	return context.WithCancel(ctx)
}

// StartDetached starts a program without a console, with input on its standard input, and leaves it.
// argv begins with the name under which it runs. Its environment is environ, or this process's if that is nil.
// What it prints goes to out, or nowhere.
func StartDetached(exe string, argv, environ []string, input []byte, out *os.File) (pid int, err error) {
	c := exec.Command(exe)
	c.Args, c.Env = argv, environ

	// Input goes through a pipe, because everybody can read a command line.
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}

	defer r.Close()
	defer w.Close()
	c.Stdin = r
	if out != nil {
		c.Stdout, c.Stderr = out, out
	}

	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
	if err := c.Start(); err != nil {
		return 0, err
	}

	pid = c.Process.Pid
	if _, err := bytes.NewReader(input).WriteTo(w); err != nil {
		return 0, err
	}

	return pid, c.Process.Release()
}

// ExitStatus returns the status with which a program ended.
func ExitStatus(s *os.ProcessState) int { return s.ExitCode() }

// replaceProcess runs a program with the streams of this process, and returns its exit status: no process can
// take the place of another one here.
func replaceProcess(program string, argv []string) (status int, err error) {
	c := exec.Command(program, argv[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = c.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		err = nil
	}
	return c.ProcessState.ExitCode(), err
}
