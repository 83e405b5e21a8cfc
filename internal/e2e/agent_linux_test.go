package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"talkingstick/internal/clitest"
)

// Inside a harness runs a runner or an actor. Both read requests from standard input, one line of JSON each,
// and write replies. They serve requests side by side. A runner starts tt for each request, as an agent's
// shell does. An actor stays, and calls the operations in its own process, as an MCP server does. A client
// has no harness: it speaks MCP with a server that it starts.

// request is a line to a runner, an actor or a client.
type request struct {
	ID     int            `json:"id"`
	Args   []string       `json:"args,omitempty"` // of tt; for a client, a tool and its arguments as JSON
	Env    []string       `json:"env,omitempty"`
	Dir    string         `json:"dir,omitempty"`
	Below  string         `json:"below,omitempty"`  // a harness that runs tt
	Op     *op            `json:"op,omitempty"`     // for an actor, instead of Args
	Signal syscall.Signal `json:"signal,omitempty"` // for the tt of request ID
	Hangup bool           `json:"hangup,omitempty"` // stop reading what the tt of request ID writes
	Alive  int            `json:"alive,omitempty"`  // ask whether a process lives
	Orphan bool           `json:"orphan,omitempty"` // kill the harness
}

// reply is a line back, with the id of its request. A tt is also answered with its pid, as soon as it runs.
type reply struct {
	ID     int    `json:"id"`
	PID    int    `json:"pid,omitempty"`
	Done   bool   `json:"done,omitempty"`
	Exit   int    `json:"exit,omitempty"`
	Killed bool   `json:"killed,omitempty"` // by a signal
	Out    string `json:"out,omitempty"`
	Err    string `json:"err,omitempty"`
}

// server is a runner, an actor or a client.
type server interface {
	serve(q request, answer func(reply))
}

// serve reads requests until standard input ends. The first reply holds the server's own pid.
func serve(s server) {
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	answer := func(r reply) {
		mu.Lock()
		defer mu.Unlock()
		if out.Encode(r) != nil {
			os.Exit(1) // nobody reads any more
		}
	}

	answer(reply{PID: os.Getpid()})
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q request
		if err := json.Unmarshal(line, &q); err != nil {
			panic(err)
		}
		go s.serve(q, answer) // ends with the process at the latest
	}
}

// runner runs tt.
type runner struct {
	mu      sync.Mutex // guards running
	running map[int]*started
}

type started struct {
	cmd   *exec.Cmd
	out   *os.File
	below bool // cmd is a harness that runs tt
}

// signal sends a signal to tt.
func (s *started) signal(sig syscall.Signal) {
	if !s.below {
		s.cmd.Process.Signal(sig) // fails when it has ended, which is fine
		return
	}

	kids, _ := children(s.cmd.Process.Pid) // none when it has ended, or hasn't begun
	for _, kid := range bytes.Fields(kids) {
		if pid, err := strconv.Atoi(string(kid)); err == nil {
			syscall.Kill(pid, sig)
		}
	}
}

func (r *runner) serve(q request, answer func(reply)) {
	r.mu.Lock()
	run := r.running[q.ID]
	r.mu.Unlock()

	switch {
	case q.Alive != 0:
		exit := 1
		if lives(q.Alive) {
			exit = 0
		}
		answer(reply{ID: q.ID, Done: true, Exit: exit})

	case q.Orphan:
		syscall.Kill(os.Getppid(), syscall.SIGKILL)
	case q.Signal != 0:
		if run != nil {
			run.signal(q.Signal)
		}

	case q.Hangup:
		if run != nil {
			run.out.Close()
		}

	default:
		answer(r.run(q, answer))
	}
}

func (r *runner) run(q request, answer func(reply)) reply {
	self, err := exec.LookPath(os.Args[0])
	if err != nil {
		return reply{ID: q.ID, Done: true, Exit: 127, Err: err.Error()}
	}
	bin := filepath.Dir(self)
	c := exec.Command(filepath.Join(bin, "tt"), q.Args...)
	if q.Below != "" {
		c = exec.Command(filepath.Join(bin, q.Below), append([]string{filepath.Join(bin, "tt")}, q.Args...)...)
	}
	c.Env = append(os.Environ(), q.Env...)
	c.Dir = q.Dir
	var errs bytes.Buffer
	c.Stderr = &errs
	read, write, err := os.Pipe()
	if err != nil {
		return reply{ID: q.ID, Done: true, Exit: 127, Err: err.Error()}
	}

	c.Stdout = write
	err = c.Start()
	write.Close()
	if err != nil {
		return reply{ID: q.ID, Done: true, Exit: 127, Err: err.Error()}
	}

	r.mu.Lock()
	if r.running == nil {
		r.running = map[int]*started{}
	}
	r.running[q.ID] = &started{c, read, q.Below != ""}
	r.mu.Unlock()
	answer(reply{ID: q.ID, PID: c.Process.Pid})
	out, _ := io.ReadAll(read)
	read.Close()
	err = c.Wait()
	r.mu.Lock()
	delete(r.running, q.ID)
	r.mu.Unlock()

	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return reply{ID: q.ID, Done: true, Exit: 127, Err: err.Error()}
	} else if ok && !exit.Exited() {
		return reply{ID: q.ID, Done: true, Killed: true, Out: string(out), Err: errs.String()}
	}

	return reply{ID: q.ID, Done: true, Exit: c.ProcessState.ExitCode(), Out: string(out), Err: errs.String()}
}

// lives reports whether a process exists and hasn't ended.
func lives(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := bytes.LastIndexByte(b, ')')
	return err == nil && i >= 0 && i+2 < len(b) && b[i+2] != 'Z' && b[i+2] != 'X'
}

// install makes a directory with all programs.
func install(dir string) error {
	if err := clitest.Install(dir); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}

	for _, name := range []string{"runner", "actor", "client", "hog"} {
		if err := os.Symlink(exe, filepath.Join(dir, name)); err != nil {
			return err
		}
	}

	return nil
}
