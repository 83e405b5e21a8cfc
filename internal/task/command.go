package task

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

// commandResult is the outcome of a command.
type commandResult struct {
	exit    int
	output  []byte
	size    int64 // of everything it printed, in bytes
	took    time.Duration
	timeout bool
}

// isTruncated reports whether the command printed more than was kept.
func (o commandResult) isTruncated() bool { return o.size > int64(len(o.output)) }

// describeExit says how a command ended, for a sentence.
func (o commandResult) describeExit() stick.Words {
	if o.timeout {
		return "timed out"
	}
	return stick.Wordsf("exit status %d", o.exit)
}

// shell runs commands of a project.
type shell struct {
	environ []string         // of the commands
	now     func() time.Time // the clock by which their time is taken
}

// run runs a command in the shell, in its own process group. When the time limit is reached or ctx ends, the
// whole group is killed. What it prints is also written to listener, unless that is nil.
func (s shell) run(
	ctx context.Context, dir, text string, limit time.Duration, listener io.Writer,
) (commandResult, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	argv := shellOf(text)
	c := exec.CommandContext(limited, argv[0], argv[1:]...)
	c.Dir, c.Env = dir, s.environ

	// A process that keeps the output open after the command holds up the caller only this long.
	c.WaitDelay = time.Second
	var out tailBuffer
	c.Stdout = &out
	if listener != nil {
		c.Stdout = io.MultiWriter(&out, listener)
	}

	c.Stderr = c.Stdout

	// What the command has started is killed with it: the group is its own.
	ownGroup(c)
	killGroup(c)
	began := s.now()
	err := c.Run()
	o := commandResult{output: bytes.Clone(out.bytes()), size: out.size, took: s.now().Sub(began)}
	if ctx.Err() != nil {
		return o, ctx.Err()
	}

	switch exit, ok := errors.AsType[*exec.ExitError](err); {
	case limited.Err() != nil:
		o.exit, o.timeout = -1, true
		o.output = append(o.output, fmt.Sprintf("\n[killed by tt: it took longer than %s]\n", limit)...)
	case ok:
		// A signal ended it. That is no exit status, but no success either.
		if o.exit = exit.ExitCode(); o.exit < 0 {
			o.exit = 128
		}
	case errors.Is(err, exec.ErrWaitDelay): // it has ended, but a process that it started still has its output open
	case err != nil:
		return o, stick.Errorf(stick.CodeGitFailed, "can't run %s: %w", argv[0], err).
			Hintf("check that %s is installed and executable", argv[0])
	}

	return o, nil
}
