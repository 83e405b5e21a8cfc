//go:build unix

package app

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// terminalColumns returns how wide the terminal f is, or 0.
func terminalColumns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// terminalRows returns how many lines the terminal f has, or 0.
func terminalRows(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Row)
}

// IgnoreBrokenPipe makes writing to a closed pipe an error like any other, instead of a signal that ends the
// process. What was committed stays committed, and the exit status says so, whether or not anybody reads the
// answer. The programs that this one starts get the signal as usual: they would inherit that it is ignored,
// but not that it is caught.
func IgnoreBrokenPipe() { signal.Notify(brokenPipes, syscall.SIGPIPE) }

// brokenPipes is full after the first signal, and nobody reads it.
var brokenPipes = make(chan os.Signal, 1)

// isClosedPipe reports whether writing failed because the reader has closed the pipe.
func isClosedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// UntilUnheard ends ctx when nobody can read standard output any more.
func (a *Run) UntilUnheard(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)

	// Only a real file can be watched; a test's buffer never closes.
	f, ok := a.Stdout.(*os.File)
	if !ok {
		return ctx, cancel
	}

	// A regular file or a terminal has no reader that could go away.
	var info unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &info); err != nil {
		return ctx, cancel
	}
	if kind := info.Mode & unix.S_IFMT; kind != unix.S_IFIFO && kind != unix.S_IFSOCK {
		return ctx, cancel
	}

	// The second pipe ends the goroutine when the command is done.
	stop, wake, err := os.Pipe()
	if err != nil {
		return ctx, cancel
	}

	done := make(chan struct{})
	go func() {
		// This goroutine ends when wake is closed.
		defer close(done)
		fds := []unix.PollFd{{Fd: int32(f.Fd())}, {Fd: int32(stop.Fd())}}
		for {
			// Poll always reports errors and hang-ups.
			n, err := unix.Poll(fds, -1)
			if err == unix.EINTR {
				continue
			}

			// An event on the first file alone means that the reader has gone.
			if n > 0 && fds[0].Revents != 0 && fds[1].Revents == 0 {
				cancel()
			}

			return
		}
	}()

	return ctx, func() {
		cancel()
		wake.Close()
		<-done
		stop.Close()
	}
}

// ExitStatus returns the status with which a program ended, as a shell does.
func ExitStatus(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// keepFiles keeps files that this process has inherited, beyond the standard ones, from what it starts: a
// lock, or a pipe whose reader waits for its end.
func keepFiles() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// StartDetached starts a program in a session of its own, with input on its standard input, and leaves it.
// argv begins with the name under which it runs. Its environment is environ, or this process's if that is nil.
// What it prints goes to out, or nowhere. It inherits no other file.
func StartDetached(exe string, argv, environ []string, input []byte, out *os.File) (pid int, err error) {
	c := exec.Command(exe)
	c.Args, c.Env = argv, environ
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}

	// The child has a copy of the reading end.
	defer r.Close()
	defer w.Close()
	c.Stdin = r
	if out != nil {
		c.Stdout, c.Stderr = out, out
	}

	// It keeps no directory in use, and no signal of a terminal reaches it.
	c.Dir = "/"
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	keepFiles()
	if err := c.Start(); err != nil {
		return 0, err
	}

	// In a server that lives longer it would stay a zombie. A command that ends first leaves it to init.
	go func() { _ = c.Wait() }()

	pid = c.Process.Pid
	if _, err := bytes.NewReader(input).WriteTo(w); err != nil {
		return 0, err
	}

	return pid, nil
}

// replaceProcess has a program take the place of this process. It returns only if that fails.
func replaceProcess(program string, argv []string) (status int, err error) {
	return 0, unix.Exec(program, argv, os.Environ())
}
