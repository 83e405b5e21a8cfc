package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"talkingstick/internal/clitest"
	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// adopt makes orphans of our children our own children, so that none stays a zombie.
func adopt() {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "orphans stay with init:", err)
	}
}

// world is a workspace with a database, and the programs that work on it.
type world struct {
	t    testing.TB
	bin  string // the programs
	work string // the workspace
	data string // the data directory
	url  string // the address of the database; empty for a file in the data directory
	env  []string
	cred *syscall.Credential // the user whose processes they are; nil for ours
}

func newWorld(t testing.TB) *world {
	t.Helper()
	skipInPairs(t)
	dir := t.TempDir()
	w := &world{
		t: t, bin: filepath.Join(dir, "bin"), work: filepath.Join(dir, "work"),
		data: filepath.Join(dir, "data"), url: storetest.Address(t),
	}
	for _, d := range []string{w.bin, w.work, filepath.Join(w.work, ".talking-stick"), filepath.Join(dir, "home")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}

	if err := install(w.bin); err != nil {
		t.Fatal(err)
	}

	w.env = []string{
		"PATH=" + w.bin + ":/usr/bin:/bin", "HOME=" + filepath.Join(dir, "home"), "USER=ann",
		"TALKING_STICK_DATA_DIR=" + w.data, "TALKING_STICK_DATABASE_URL=" + w.url, "TT_JSON=1",
		fmt.Sprintf("%s=%d", clitest.Top, os.Getpid()), clitest.Race,
	}

	return w
}

// database is how a test opens the database. To others it is a host of its own where there may be several.
func (w *world) database() store.Options {
	if w.url == "" {
		return store.Options{Dir: w.data}
	}
	return store.Options{Dir: w.t.TempDir(), URL: w.url}
}

// person runs tt as a person does, outside of every harness.
func (w *world) person(args ...string) reply {
	w.t.Helper()
	c := exec.Command(filepath.Join(w.bin, "tt"), args...)
	c.Env, c.Dir = w.env, w.work
	c.SysProcAttr = &syscall.SysProcAttr{Credential: w.cred}
	out, err := c.Output()
	r := reply{Exit: c.ProcessState.ExitCode(), Out: string(out)}
	if e, ok := err.(*exec.ExitError); ok {
		r.Err = string(e.Stderr)
	} else if err != nil {
		w.t.Fatal(err)
	}

	return r
}

// policy sets policies of the room, which has to exist.
func (w *world) policy(changes ...string) {
	w.t.Helper()
	ok(w.t, w.person(append([]string{"policy", "set"}, changes...)...))
}

// agent is a running harness with a runner or an actor in it. All its processes are in one
// process group.
type agent struct {
	w    *world
	name string
	pid  int // of the harness, and of its process group
	in   io.WriteCloser
	self int // pid of the runner or actor

	sending sync.Mutex // guards in

	mu      sync.Mutex // guards the rest
	next    int
	waiting map[int]chan reply
	ended   chan struct{} // closed when no process is left that could answer
	reaped  bool
}

// start starts a harness: "claude" with the program "runner" in it, for example. env is added to the
// environment. before is put before the command, as "unshare" is. Without a name the program runs by itself,
// and has no terminal.
func (w *world) start(name, program string, env []string, before ...string) *agent {
	w.t.Helper()
	h, err := w.tryStart(name, program, env, before...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(h.kill)
	return h
}

func (w *world) tryStart(name, program string, env []string, before ...string) (*agent, error) {
	in, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	outRead, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	line := append(append([]string{}, before...), filepath.Join(w.bin, name), filepath.Join(w.bin, program))
	if name == "" {
		line = append(append([]string{}, before...), filepath.Join(w.bin, program))
	}
	path, err := exec.LookPath(line[0])
	if err != nil {
		return nil, err
	}

	p, err := os.StartProcess(path, line, &os.ProcAttr{
		Dir: w.work, Env: overlay(w.env, env), Files: []*os.File{in, out, os.Stderr},
		Sys: &syscall.SysProcAttr{Setpgid: name != "", Setsid: name == "", Credential: w.cred},
	})
	if err != nil {
		return nil, err
	}

	h := &agent{w: w, name: name, pid: p.Pid, in: inWrite, waiting: map[int]chan reply{}, ended: make(chan struct{})}
	p.Release() // reaped by kill
	r := bufio.NewReader(outRead)
	var hello reply
	if err := read(r, &hello); err != nil {
		h.kill()
		return nil, fmt.Errorf("the program in %s didn't start: %w", name, err)
	}

	h.self = hello.PID
	go h.listen(outRead, r) // ends with the harness
	return h, nil
}

// overlay returns an environment in which later values replace earlier ones.
func overlay(env, over []string) []string {
	c := exec.Cmd{Env: append(slices.Clip(env), over...)}
	return c.Environ()
}

func read(r *bufio.Reader, into *reply) error {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

func (h *agent) listen(f *os.File, r *bufio.Reader) {
	defer f.Close()
	for {
		var a reply
		if read(r, &a) != nil {
			close(h.ended)
			return
		}

		h.mu.Lock()
		c := h.waiting[a.ID]
		if a.Done {
			delete(h.waiting, a.ID)
		}
		h.mu.Unlock()
		if c != nil {
			c <- a // it has room for all replies to a request
		}
	}
}

func (h *agent) send(q request) {
	b, err := json.Marshal(q)
	if err != nil {
		panic(err)
	}
	h.sending.Lock()
	defer h.sending.Unlock()
	h.in.Write(append(b, '\n')) // if nobody reads it, the harness has ended, and the caller notices
}

// run is a request that was sent.
type run struct {
	h     *agent
	id    int
	pid   int // of tt, once it is known
	c     chan reply
	known chan struct{}
	done  chan struct{}
	got   reply // valid once done is closed
	lost  bool  // no process is left that could have answered
}

// do sends a request, and doesn't wait for its answer.
func (h *agent) do(q request) *run {
	h.mu.Lock()
	h.next++
	q.ID = h.next
	r := &run{h: h, id: q.ID, c: make(chan reply, 2), known: make(chan struct{}), done: make(chan struct{})}
	h.waiting[q.ID] = r.c
	h.mu.Unlock()
	if q.Dir == "" {
		q.Dir = h.w.work
	}
	h.send(q)
	go r.follow()
	return r
}

func (r *run) follow() {
	var once sync.Once
	known := func() { once.Do(func() { close(r.known) }) }
	for {
		select {
		case a := <-r.c:
			if a.PID != 0 {
				r.pid = a.PID
			}
			known()

			if a.Done {
				r.got = a
				close(r.done)
				return
			}

		case <-r.h.ended:
			select {
			case a := <-r.c:
				if a.Done {
					r.got = a
					known()
					close(r.done)
					return
				}
			default:
			}

			r.lost = true
			known()
			close(r.done)
			return
		}
	}
}

// begin starts a tt that the test doesn't wait for.
func (h *agent) begin(args ...string) *run {
	r := h.do(request{Args: args})
	<-r.known
	return r
}

// tt runs a tt.
func (h *agent) tt(args ...string) reply {
	h.w.t.Helper()
	return h.begin(args...).wait()
}

// wait returns the answer to a request. It fails the test if none comes.
func (r *run) wait() reply {
	r.h.w.t.Helper()
	select {
	case <-r.done:
	case <-time.After(patience):
		r.h.w.t.Fatalf("tt didn't end within %s", patience)
	}

	if r.lost {
		r.h.w.t.Fatal("the harness has ended")
	}
	return r.got
}

// within reports whether the answer came in time.
func (r *run) within(d time.Duration) bool {
	select {
	case <-r.done:
		return true
	case <-time.After(d):
		return false
	}
}

func (r *run) over() bool { return r.within(0) }

// signal sends a signal to the tt of a request.
func (r *run) signal(s syscall.Signal) { r.h.send(request{ID: r.id, Signal: s}) }

// group sends a signal to all processes of the harness.
func (h *agent) group(s syscall.Signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.reaped {
		syscall.Kill(-h.pid, s)
	}
}

// die kills only the process of the harness. What it started lives on.
func (h *agent) die() {
	syscall.Kill(h.pid, syscall.SIGKILL)
	for {
		var status unix.WaitStatus
		if pid, err := unix.Wait4(h.pid, &status, 0, nil); err != unix.EINTR || pid == h.pid {
			return
		}
	}
}

// gone reports whether nothing is left in the harness that could answer.
func (h *agent) gone() bool {
	select {
	case <-h.ended:
		return true
	default:
		return false
	}
}

// signal sends a signal to the runner or actor. Its parent, the harness, reaps it only when it ends itself,
// so the pid can't belong to another process before that.
func (h *agent) signal(s syscall.Signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.reaped {
		syscall.Kill(h.self, s)
	}
}

// kill kills all processes of the harness, and returns when none is left.
func (h *agent) kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reaped {
		return
	}

	syscall.Kill(-h.pid, syscall.SIGKILL)
	for {
		_, err := unix.Wait4(-h.pid, nil, unix.WNOHANG, nil)
		if err == unix.ECHILD && unix.Kill(-h.pid, 0) == unix.ESRCH {
			break
		}
		time.Sleep(time.Millisecond)
	}

	h.reaped = true
	h.in.Close()
}

// patience is how long a test waits for what has to happen.
const patience = time.Minute

// soon waits until something has happened, and fails the test if it doesn't happen. The longer that takes,
// the more seldom it looks: many looks start a process.
func soon(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < patience; {
		if happened() {
			return
		}
		time.Sleep(min(max(5*time.Millisecond, time.Since(begun)/10), 200*time.Millisecond))
	}
	t.Fatalf("%s: it didn't happen within %s", what, patience)
}

// ok fails the test unless tt succeeded.
func ok(t testing.TB, r reply) reply {
	t.Helper()
	if r.Exit != 0 || r.Killed {
		t.Fatalf("tt failed: exit %d, killed %v\n%s%s", r.Exit, r.Killed, r.Out, r.Err)
	}
	return r
}

// answer has the fields of the answers of all commands.
type answer struct {
	Status     string          `json:"status"`
	Reason     string          `json:"reason"`
	Room       stick.RoomID    `json:"room_id"`
	Agent      stick.AgentID   `json:"agent_id"`
	Turn       int64           `json:"turn_id"`
	Current    int64           `json:"current_turn_id"`
	Lease      string          `json:"lease_id"`
	KeptBy     string          `json:"lease_kept_by"`
	Guardian   int             `json:"guardian_pid"`
	Handoff    *stick.Handoff  `json:"handoff"`
	Pending    *int64          `json:"pending_handoff_event_seq"`
	State      string          `json:"state"`
	Owner      *stick.AgentID  `json:"owner"`
	Holder     *stick.AgentID  `json:"current_owner"`
	Reserved   *stick.AgentID  `json:"reserved_for"`
	Cause      string          `json:"cause"`
	Parent     stick.AgentID   `json:"parent"`
	ParentTurn int64           `json:"parent_turn_id"`
	From       *stick.AgentID  `json:"taken_from"`
	Seq        int64           `json:"event_seq"`
	Already    bool            `json:"already"`
	Abandon    bool            `json:"abandoned"`
	Events     json.RawMessage `json:"events"`
	More       bool            `json:"more"`
	Cursor     int64           `json:"cursor"`
	Recovery   *struct {
		Handoff stick.Handoff `json:"handoff"`
		Seq     int64         `json:"handoff_event_seq"`
	} `json:"recovery"`
	Members []struct {
		Agent     stick.AgentID `json:"agent_id"`
		Name      string        `json:"name"`
		Verdict   stick.Verdict `json:"verdict"`
		Listening stick.Purpose `json:"listening"`
		Status    string        `json:"status"`
	} `json:"members"`

	Error   stick.Code `json:"error"`
	Message string     `json:"message"`
}

// decode reads an answer, or the error instead of one.
func decode(r reply) (a answer, err error) {
	text := r.Out
	if text == "" {
		text = r.Err
	}
	err = json.Unmarshal([]byte(text), &a)
	return a, err
}

// said reads an answer, which must not be a failure.
func said(t testing.TB, r reply) answer {
	t.Helper()
	a, err := decode(r)
	if err != nil {
		t.Fatalf("tt said (exit %d): %q %q: %v", r.Exit, r.Out, r.Err, err)
	}
	return a
}

func (a answer) events(t testing.TB) (events []stick.Event) {
	t.Helper()
	if len(a.Events) > 0 {
		if err := json.Unmarshal(a.Events, &events); err != nil {
			t.Fatal(err)
		}
	}

	return events
}

// log reads the room's whole log.
func (w *world) log() (events []stick.Event) {
	w.t.Helper()
	for after := int64(0); ; {
		a := said(w.t, ok(w.t, w.person("events", "--after", fmt.Sprint(after), "--target", "any", "--limit", "500")))
		events = append(events, a.events(w.t)...)
		if !a.More {
			return events
		}
		after = a.Cursor
	}
}

// last returns the newest event of a type, or nil.
func last(events []stick.Event, typ stick.EventType) *stick.Event {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == typ {
			return &events[i]
		}
	}
	return nil
}

// listening waits until an agent listens.
func (w *world) listening(agents ...stick.AgentID) {
	w.t.Helper()
	for _, a := range agents {
		soon(w.t, string(a)+" listens", func() bool {
			for _, m := range said(w.t, ok(w.t, w.person("state"))).Members {
				if m.Agent == a && m.Listening != "" {
					return true
				}
			}
			return false
		})
	}
}

// healthy fails the test unless the doctor finds the database sound.
func (w *world) healthy() {
	w.t.Helper()
	if r := w.person("doctor"); r.Exit != 0 {
		w.t.Errorf("the doctor says (exit %d):\n%s%s", r.Exit, r.Out, r.Err)
	}
}
