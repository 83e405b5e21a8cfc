//go:build linux

package realharness

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a harness that was started.
type Process struct {
	t       testing.TB
	h       *Harness
	cmd     *exec.Cmd
	ctx     context.Context // ends with the time that it has
	cancel  context.CancelFunc
	mark    string // in the environment of what belongs to this run
	out     bytes.Buffer
	errs    bytes.Buffer
	screen  func() string // what it showed in a terminal; nil without one
	leave   bool          // what it started isn't ended with it
	started time.Time

	ended  chan struct{} // closed when result is there
	result Result
}

// Result is what a harness left.
type Result struct {
	Text      string // the last that the model said, as the harness passes it on
	SessionID string // as the harness calls it, a thread at Codex
	Exit      int    // -1 if it was killed
	Out, Err  string
	Took      time.Duration
}

func (r Result) String() string {
	return fmt.Sprintf("exit status %d after %s, text %q\nstdout: %s\nstderr: %s", r.Exit, r.Took.Round(time.Millisecond), r.Text, r.Out, r.Err)
}

// runMark tells the processes of a run, in their environment.
const runMark = "TT_TEST_RUN"

var (
	runsMu sync.Mutex
	runs   int // guarded by runsMu
)

// Run starts the harness and waits for its end.
func (a *Agent) Run(t testing.TB, prompt string, o Options) Result {
	t.Helper()
	return a.Start(t, prompt, o).Wait()
}

// Start starts the harness. All that it started ends with the test at the latest, also what
// made a session of its own or was orphaned.
func (a *Agent) Start(t testing.TB, prompt string, o Options) *Process {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 3 * time.Minute
	}
	r := a.prepare(t, a.Harness.args(a, prompt, o), o)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
	r.start(a)
	return r
}

// prepare makes a process that wasn't started yet.
func (a *Agent) prepare(t testing.TB, args []string, o Options) *Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), o.Timeout)
	cmd, err := a.command(ctx, args, o)
	if err != nil {
		t.Fatal(err)
	}
	runsMu.Lock()
	runs++
	mark := fmt.Sprintf("%s=%d.%d", runMark, os.Getpid(), runs)
	runsMu.Unlock()
	cmd.Env = append(cmd.Env, mark)
	cmd.Cancel = func() error {
		sweep(mark)
		return nil
	}
	return &Process{t: t, h: a.Harness, cmd: cmd, ctx: ctx, cancel: cancel, mark: mark, leave: o.Leave, ended: make(chan struct{})}
}

func (r *Process) start(a *Agent) {
	r.t.Helper()
	r.started = time.Now()
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		r.Kill()
		sweep(r.mark)
		sweep("HOME=" + a.Place.Home) // Codex gives its MCP servers nothing of its environment but this
	})
	go r.reap()
}

func (r *Process) reap() {
	defer close(r.ended)
	r.cmd.Wait() // the status is in ProcessState, also if the output had to be cut off
	if r.ctx.Err() == context.DeadlineExceeded {
		r.t.Errorf("%s didn't end in time", r.h.Name)
	}
	r.cancel()
	if !r.leave {
		syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // fails when nobody is left in the group
		sweep(r.mark)
	}
	r.result = Result{Exit: r.cmd.ProcessState.ExitCode(), Out: r.out.String(), Err: r.errs.String(), Took: time.Since(r.started)}
	if r.screen != nil {
		r.result.Out = r.screen()
		return
	}
	r.h.answer(r.out.Bytes(), &r.result)
}

// PID is the harness's process id, and that of its process group.
func (r *Process) PID() int { return r.cmd.Process.Pid }

// Done is closed when the harness has ended.
func (r *Process) Done() <-chan struct{} { return r.ended }

// Wait waits for the harness's end. Then also what it left running has ended, unless that was to be left.
func (r *Process) Wait() Result {
	<-r.ended
	return r.result
}

// Kill ends the harness, if it hasn't ended, and waits for its end.
func (r *Process) Kill() {
	r.cancel()
	<-r.ended
}

// sweep kills the processes that have an assignment in their environment, and waits until they are
// gone. It looks again as long as it finds some, because what it kills may just have started others.
func sweep(assignment string) {
	for {
		var killed []*os.Process
		for _, pid := range marked(assignment) {
			p, err := os.FindProcess(pid) // a handle: from here on the id can't become another's
			if err != nil {
				continue
			}
			if has(pid, assignment) && p.Signal(syscall.SIGKILL) == nil {
				killed = append(killed, p)
			} else {
				p.Release()
			}
		}
		if len(killed) == 0 {
			return
		}
		for _, p := range killed {
			gone(p)
			p.Release()
		}
	}
}

// gone waits for the end of a process that needn't be a child, which may take a moment after it was
// killed, but not long.
func gone(p *os.Process) {
	p.WithHandle(func(handle uintptr) {
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, 5000)
			if err != unix.EINTR {
				return
			}
		}
	})
}

// marked lists the processes that have an assignment in their environment.
func marked(assignment string) (pids []int) {
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		panic(err) // the pattern is a good one
	}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && pid != os.Getpid() && has(pid, assignment) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// has tells whether a process has an assignment in its environment. One that has ended or is
// another user's doesn't.
func has(pid int, assignment string) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && slices.Contains(strings.Split(string(b), "\x00"), assignment)
}
