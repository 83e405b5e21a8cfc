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

// Process is a started harness.
type Process struct {
	t       testing.TB
	h       *Harness
	cmd     *exec.Cmd
	ctx     context.Context // ends when the time is up
	cancel  context.CancelFunc
	mark    string // in the environment of every process of this run
	out     bytes.Buffer
	errs    bytes.Buffer
	screen  func() string // returns what it showed in a terminal; nil without one
	leave   bool          // processes that it started don't end with it
	network *Network
	started time.Time

	ended  chan struct{} // closed when result is set
	result Result
}

// Result is the result of a run.
type Result struct {
	Text      string // the model's last words, as the harness prints them
	SessionID string // the harness's own id; Codex calls it a thread
	Exit      int    // -1 if it was killed
	Out, Err  string
	Took      time.Duration
}

func (r Result) String() string {
	return fmt.Sprintf("exit status %d after %s, text %q\nstdout: %s\nstderr: %s",
		r.Exit, r.Took.Round(time.Millisecond), r.Text, r.Out, r.Err)
}

// runMark is the variable that marks the processes of a run.
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

// Start starts the harness. All its processes end with the test at the latest, even those in another session
// and orphans.
func (a *Agent) Start(t testing.TB, prompt string, o Options) *Process {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 3 * time.Minute
	}

	r := a.prepareProcess(t, a.Harness.args(a, prompt, o), o)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
	r.startProcess(a)
	return r
}

// prepareProcess makes a process without starting it.
func (a *Agent) prepareProcess(t testing.TB, args []string, o Options) *Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), o.Timeout)
	cmd, err := a.newCommand(ctx, args, o)
	if err != nil {
		t.Fatal(err)
	}

	runsMu.Lock()
	runs++
	mark := fmt.Sprintf("%s=%d.%d", runMark, os.Getpid(), runs)
	runsMu.Unlock()

	cmd.Env = append(cmd.Env, mark)
	cmd.Cancel = func() error {
		killMarked(mark)
		return nil
	}

	return &Process{
		t: t, h: a.Harness, cmd: cmd, ctx: ctx, cancel: cancel, mark: mark,
		leave: o.Leave, network: o.Network, ended: make(chan struct{}),
	}
}

func (r *Process) startProcess(a *Agent) {
	r.t.Helper()
	r.started = time.Now()
	if err := r.network.startCommand(r.cmd); err != nil {
		r.t.Fatal(err)
	}

	r.t.Cleanup(func() {
		r.Kill()
		killMarked(r.mark)

		// Codex gives its MCP servers nothing of its environment but the home.
		a.Place.KillAll()
	})

	go r.awaitEnd()
}

func (r *Process) awaitEnd() {
	defer close(r.ended)

	// The status is in ProcessState, even if the output was cut off.
	r.cmd.Wait()
	if r.ctx.Err() == context.DeadlineExceeded {
		r.t.Errorf("%s didn't end in time", r.h.Name)
	}

	r.cancel()
	if !r.leave {
		syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // fails when the group is empty
		killMarked(r.mark)
	}

	r.result = Result{
		Exit: r.cmd.ProcessState.ExitCode(), Out: r.out.String(), Err: r.errs.String(),
		Took: time.Since(r.started),
	}

	// A terminal has no answer to parse, only what it shows.
	if r.screen != nil {
		r.result.Out = r.screen()
		return
	}

	r.h.answer(r.out.Bytes(), &r.result)
}

// PID returns the id of the harness's process and of its process group.
func (r *Process) PID() int { return r.cmd.Process.Pid }

// Done is closed when the harness has ended.
func (r *Process) Done() <-chan struct{} { return r.ended }

// Wait waits for the end of the harness and, without [Options].Leave, of the processes that it left running.
func (r *Process) Wait() Result {
	<-r.ended
	return r.result
}

// Kill ends the harness, if it hasn't ended, and waits for its end.
func (r *Process) Kill() {
	r.cancel()
	<-r.ended
}

// KillAll kills every process whose home is this place, and waits until they are gone.
func (p Place) KillAll() { killMarked("HOME=" + p.Home) }

// killMarked kills the processes that have an assignment in their environment, and waits until they are gone. It
// repeats that while it finds some, because a killed process may just have started others.
func killMarked(assignment string) {
	for {
		var killed []*os.Process
		for _, pid := range markedProcesses(assignment) {
			// With a handle, a signal can't reach another process that gets the id.
			p, err := os.FindProcess(pid)
			if err != nil {
				continue
			}

			// The handle was made before this look, so it means the process that has the mark.
			if hasAssignment(pid, assignment) && p.Signal(syscall.SIGKILL) == nil {
				killed = append(killed, p)
			} else {
				p.Release()
			}
		}

		if len(killed) == 0 {
			return
		}

		for _, p := range killed {
			awaitGone(p)
			p.Release()
		}
	}
}

// awaitGone waits for the end of a killed process, which needn't be a child. It may take a moment.
func awaitGone(p *os.Process) {
	p.WithHandle(func(handle uintptr) {
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, 5000)
			if err != unix.EINTR {
				return
			}
		}
	})
}

// markedProcesses lists the processes that have an assignment in their environment.
func markedProcesses(assignment string) (pids []int) {
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		panic(err) // the pattern is valid
	}

	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && pid != os.Getpid() && hasAssignment(pid, assignment) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// hasAssignment reports whether a process has an assignment in its environment. It is false for a process that has
// ended or belongs to another user.
func hasAssignment(pid int, assignment string) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && slices.Contains(strings.Split(string(b), "\x00"), assignment)
}
