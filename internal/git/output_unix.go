//go:build unix

package git

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// output hands on what a program prints. [exec.Cmd] waits until everybody has closed the pipe, or cuts the
// output off after a time that a busy machine exceeds. The program's end is the better sign: what it has
// printed is in the pipe by then, and what comes later is by a program that it has left running.
type output struct {
	to   io.Writer
	r, w *os.File
	done chan error
}

// collectOutput makes cmd print into pipes. Its caller calls startCopying when the program runs,
// finishCopying when it has ended, and close in the end.
func collectOutput(cmd *exec.Cmd) (outputs, error) {
	var all outputs
	for _, stream := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		if *stream == nil {
			continue
		}

		r, w, err := os.Pipe()
		if err != nil {
			all.close()
			return nil, err
		}

		all = append(all, &output{to: *stream, r: r, w: w, done: make(chan error, 1)})
		*stream = w
	}

	return all, nil
}

type outputs []*output

func (all outputs) startCopying() {
	for _, o := range all {
		o.w.Close()
		// The copying ends at the latest with finishCopying.
		go func() { o.done <- o.copyUntilExit() }()
	}
}

// finishCopying returns when everything that the program itself has printed has been handed on.
func (all outputs) finishCopying() error {
	var errs []error
	for _, o := range all {
		// The copying goes on without waiting.
		_ = o.r.SetReadDeadline(time.Now())
		errs = append(errs, <-o.done)
	}

	return errors.Join(errs...)
}

func (all outputs) close() {
	for _, o := range all {
		o.r.Close()
		o.w.Close()
	}
}

// copyUntilExit hands on what arrives until the end, or until finishCopying ends the waiting. Then it takes
// what is in the pipe.
func (o *output) copyUntilExit() error {
	_, err := io.Copy(writerOnly{o.to}, readerOnly{o.r})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = o.takeRest()
	}
	if err != nil {
		// A program that is still printing learns it.
		o.r.Close()
	}

	return err
}

// mostInPipe is more than a pipe holds. A program that was left running may go on to print for ever.
const mostInPipe = 1 << 20

func (o *output) takeRest() error {
	// The deadline has passed, and would make the next read fail.
	if err := o.r.SetReadDeadline(time.Time{}); err != nil {
		return err
	}

	pipe, err := o.r.SyscallConn()
	if err != nil {
		return err
	}

	// Read past Go's poller, which would wait where the pipe is empty.
	buf := make([]byte, 64<<10)
	for taken := 0; taken < mostInPipe; {
		n, rerr := 0, error(nil)
		err := pipe.Read(func(fd uintptr) bool {
			for {
				n, rerr = syscall.Read(int(fd), buf)
				if !errors.Is(rerr, syscall.EINTR) {
					return true // never wait
				}
			}
		})

		switch {
		case err != nil:
			return err
		case errors.Is(rerr, syscall.EAGAIN) || rerr == nil && n == 0:
			return nil
		case rerr != nil:
			return rerr
		}

		if _, err := o.to.Write(buf[:n]); err != nil {
			return err
		}

		taken += n
	}

	return nil
}

// These hide methods by which io.Copy would go around the pipe's deadline.
type (
	readerOnly struct{ io.Reader }
	writerOnly struct{ io.Writer }
)
