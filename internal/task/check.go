package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// The limits of a worker's checks, and of the output that is kept of any command.
const (
	checkTimeout = 10 * time.Minute
	maxOutput    = 1 << 20 // bytes, from the end
	maxChecks    = 20
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

// tailBuffer keeps the end of what is written to it, because commands say at the end what went wrong.
type tailBuffer struct {
	buf  []byte
	size int64
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.size += int64(len(p))

	// It may grow to twice what is kept, so that not each write moves it.
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*maxOutput {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-maxOutput:]...)
	}
	return len(p), nil
}

func (t *tailBuffer) bytes() []byte {
	if len(t.buf) > maxOutput {
		return t.buf[len(t.buf)-maxOutput:]
	}
	return t.buf
}

// lastLine keeps the last line that is written to it, for whoever looks while the command runs.
type lastLine struct {
	mu   sync.Mutex
	text []byte
}

// maxLastLine is how many bytes of the last line are kept. More don't fit on a terminal.
const maxLastLine = 1 << 10

func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	l.text = append(l.text[:0], l.text[max(0, len(l.text)-maxLastLine):]...)
	return len(p), nil
}

// String returns the last line that isn't blank.
func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.FieldsFunc(string(l.text), func(r rune) bool { return r == '\n' || r == '\r' })

	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}

	return ""
}

// runShell runs a command in the shell, in its own process group. When the time limit is reached or ctx ends,
// the whole group is killed. extra is added to its environment. What it prints is also written to listener,
// unless that is nil.
func (ts *Tasks) runShell(
	ctx context.Context, dir, command string, limit time.Duration, extra []string, listener io.Writer,
) (commandResult, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	argv := shellOf(command)
	c := exec.CommandContext(limited, argv[0], argv[1:]...)
	c.Dir, c.Env = dir, slices.Concat(ts.core.Config.Environ, extra)

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
	began := ts.core.Now()
	err := c.Run()
	o := commandResult{output: bytes.Clone(out.bytes()), size: out.size, took: ts.core.Now().Sub(began)}
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

// validateChecks checks the form of the worker's checks. It fails with [stick.CodeUsage].
func validateChecks(evidence []string) error {
	if len(evidence) > maxChecks {
		return stick.Errorf(stick.CodeUsage, "%d checks are too many; at most %d are allowed",
			len(evidence), maxChecks).
			With("field", "evidence")
	}

	for _, e := range evidence {
		name, command, ok := strings.Cut(e, "=")
		if !ok || strings.TrimSpace(name) == "" || strings.TrimSpace(command) == "" || len(e) > stick.MaxBody ||
			strings.ContainsRune(e, 0) {
			return stick.Errorf(stick.CodeUsage, "a check is written name=command, not %q", stick.Clip(e, 60)).
				With("field", "evidence").
				Hintf("%s", stick.Cmd("tt task done --evidence <check>", "tests=make test"))
		}
	}

	return nil
}

// runChecks runs the worker's checks in its worktree. It fails with [stick.CodeDirtyTree] if one of them
// changed the worktree, because then the checks say nothing about the commit that is offered.
func (f *doneRun) runChecks(ctx context.Context, q *stick.Offering) ([]store.Blob, error) {
	if len(f.p.Evidence) == 0 {
		return nil, nil
	}

	// The outputs are blobs, which the offer then names.
	db, err := f.tasks.core.Open(ctx, true)
	if err != nil {
		return nil, err
	}

	var blobs []store.Blob
	for _, e := range f.p.Evidence {
		name, command, _ := strings.Cut(e, "=")
		o, err := f.tasks.runShell(ctx, f.path, command, checkTimeout, slotEnviron(f.task.Slot), nil)
		if err != nil {
			return nil, err
		}

		b, err := db.WriteBlob(o.output)
		if err != nil {
			return nil, err
		}

		blobs = append(blobs, b)
		q.Checks = append(q.Checks, stick.TaskCheck{
			Name: strings.TrimSpace(name), Command: command, Exit: o.exit, Millis: o.took.Milliseconds(),
			Output: b.Sum, Size: b.Size, Cut: o.isTruncated(),
		})
	}

	// The checks have to leave the commit and the worktree as they were.
	s, err := f.git.Snapshot(ctx, f.path)
	if err != nil {
		return nil, err
	}

	if s.Head != q.Head {
		return nil, stick.Errorf(stick.CodeDirtyTree,
			"the checks moved the worktree of %s to another commit: it is now at %s", f.task.ID,
			shortCommit(s.Head)).
			With("task_id", f.task.ID).With("head", s.Head).With("left", s.Dirty).
			Hintf("checks must not commit, because the reviewer would see another commit than they ran on; remove the commit from them, then run %s again",
				stick.Cmd("tt task done --task <task_id>", f.task.ID))
	}

	if s.DirtyCount > 0 {
		return nil, errDirty(stick.Wordsf("the worktree of %s", f.task.ID), s.Dirty, s.DirtyCount).
			With("task_id", f.task.ID).
			Hintf("the checks changed it: make them clean up after themselves, or commit the files that they create")
	}

	return blobs, nil
}

// unansweredBlocks returns the number of the newest message in which the task's worker says that it is
// blocked and that nobody has accepted. It returns 0 if there is none.
func (o *op) unansweredBlocks(task stick.Task) (int64, error) {
	sent, _, err := o.Tx.Events(store.EventQuery{
		Room: o.Room.ID, From: task.Worker, Types: []stick.EventType{stick.EventMessageSent}, Limit: 200, Newest: true,
	})
	if err != nil || task.Worker == "" {
		return 0, err
	}

	// The newest first.
	slices.Reverse(sent)
	for _, e := range sent {
		m := e.Message()
		if m == nil || m.Category != stick.Blocked || e.Task != "" && stick.TaskKey(e.Task) != stick.TaskKey(task.ID) {
			continue
		}

		// One recipient who accepted the message has answered it.
		cs, err := o.Tx.Receipts(e.Seq)
		if err != nil {
			return 0, err
		}

		if slices.ContainsFunc(cs, stick.Receipt.Open) &&
			!slices.ContainsFunc(cs, func(c stick.Receipt) bool { return c.State() == stick.Acked }) {
			return e.Seq, nil
		}
	}

	return 0, nil
}
