// Package command runs the commands of a project in the shell: gates, checks, set-ups. It keeps the end of what
// they print, and ends all that they have started.
package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"talkingstick/stick"
)

// Result is the outcome of a command.
type Result struct {
	Exit     int
	Output   []byte
	Size     int64 // of everything it printed, in bytes
	Took     time.Duration
	TimedOut bool
	Signal   string // the signal that ended it from outside, such as SIGKILL; empty for none
}

// IsTruncated reports whether the command printed more than was kept.
func (o Result) IsTruncated() bool { return o.Size > int64(len(o.Output)) }

// DescribeExit says how a command ended, for a sentence.
func (o Result) DescribeExit() stick.Words {
	if o.TimedOut {
		return "timed out"
	}
	if o.Signal != "" {
		return stick.Wordsf("ended by %s", o.Signal)
	}
	return stick.Wordsf("exit status %d", o.Exit)
}

// outsideSignals are the exit statuses by which a shell says that a signal has ended what it ran, of those
// signals that come from outside: from whoever stops a program, or from a system without memory. A program that
// crashes ends by others.
var outsideSignals = map[int]string{129: "SIGHUP", 130: "SIGINT", 137: "SIGKILL", 143: "SIGTERM"}

// Shell runs commands of a project.
type Shell struct {
	Environ []string         // of the commands
	Now     func() time.Time // the clock by which their time is taken
}

// Run runs a command in the shell, in its own process group. When the time limit is reached or ctx ends, the
// whole group is killed. What it prints is also written to listener, unless that is nil.
func (s Shell) Run(
	ctx context.Context, dir, text string, limit time.Duration, listener io.Writer,
) (Result, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	argv := ShellArguments(text)
	c := exec.CommandContext(limited, argv[0], argv[1:]...)
	c.Dir, c.Env = dir, s.Environ

	// A process that keeps the output open after the command holds up the caller only this long.
	c.WaitDelay = time.Second
	var out Tail
	c.Stdout = &out
	if listener != nil {
		c.Stdout = io.MultiWriter(&out, listener)
	}

	c.Stderr = c.Stdout

	// What the command has started is killed with it: the group is its own.
	SetOwnGroup(c)
	KillGroupOnCancel(c)
	began := s.Now()
	err := c.Run()
	o := Result{Output: bytes.Clone(out.Bytes()), Size: out.size, Took: s.Now().Sub(began)}
	if ctx.Err() != nil {
		return o, ctx.Err()
	}

	switch exit, ok := errors.AsType[*exec.ExitError](err); {
	case limited.Err() != nil:
		o.Exit, o.TimedOut = -1, true
		o.Output = append(o.Output, fmt.Sprintf("\n[killed by tt: it took longer than %s]\n", limit)...)
	case ok:
		// A signal that ended it is no exit status, but no success either.
		o.Exit, _ = ExitStatus(exit.ProcessState)
		o.Signal = outsideSignals[o.Exit]
	case errors.Is(err, exec.ErrWaitDelay): // it has ended, but a process that it started still has its output open
	case err != nil:
		return o, stick.Errorf(stick.CodeGitFailed, "can't run %s: %w", argv[0], err).
			Hintf("check that %s is installed and executable", argv[0])
	}

	return o, nil
}
