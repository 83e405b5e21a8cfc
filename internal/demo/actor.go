package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"talkingstick/stick"
)

// TokenEnv is the variable by which the program recognises the actors of a scene: anybody may start it
// under a harness's name. It holds the content of the token file in the scratch directory.
const TokenEnv = "TALKING_STICK_DEMO"

// tokenFile lies in the scratch directory, one above the actor's program.
const tokenFile = "token"

// Person is the name of the actor that plays the person.
const Person = "you"

// Actors are the names of all actors. Each is the name of a program, too: tt knows an agent by the harness
// among its processes.
var Actors = []string{"claude", "codex", "gemini", "opencode", "qwen", Person}

// order makes an actor do one thing: run tt, run a line of the shell, or write a file.
type order struct {
	ID    int      `json:"id"`
	Dir   string   `json:"dir,omitempty"`   // where; empty for the repository
	Run   []string `json:"run,omitempty"`   // the arguments of tt
	Shell string   `json:"shell,omitempty"` // a line for sh
	Write string   `json:"write,omitempty"` // the path of a file
	Text  string   `json:"text,omitempty"`  // what to write
}

// reply is the result of an order. Times are of the wall clock, which all processes of a machine share, in
// nanoseconds.
type reply struct {
	ID     int    `json:"id"` // 0 for the first one, which says that the actor is there
	PID    int    `json:"pid,omitempty"`
	Exit   int    `json:"exit"`
	Out    string `json:"out"`
	Err    string `json:"err"`
	Denied string `json:"denied,omitempty"` // why a hook let the tool not run
	Told   string `json:"told,omitempty"`   // what a hook told the agent after the tool
	Began  int64  `json:"began"`
	Ended  int64  `json:"ended"`
	Fault  string `json:"fault,omitempty"` // why the actor couldn't carry it out
}

// Act runs an actor: a process that plays a harness, or a person. It carries out the orders that arrive on in
// and writes the replies to out. When in ends, it ends its commands and returns. program is the path by which
// it was started. It fails with [stick.CodeUsage] if no scene started it.
func Act(ctx context.Context, program, token string, in io.Reader, out io.Writer) error {
	if err := checkToken(program, token); err != nil {
		return err
	}

	ctx, cancel := context.WithCancel(ctx)

	// At the end, cancel ends the commands before the wait for them.
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	var mu sync.Mutex // guards out
	answer := json.NewEncoder(out)
	send := func(r reply) {
		mu.Lock()
		defer mu.Unlock()

		// If nobody listens any more, the scene has ended.
		_ = answer.Encode(r)
	}
	send(reply{PID: os.Getpid()})

	p := player{name: actorName(program), tt: filepath.Join(filepath.Dir(program), programName("tt"))}
	orders := bufio.NewScanner(in)
	for orders.Scan() {
		var o order
		if err := json.Unmarshal(orders.Bytes(), &o); err != nil {
			return fmt.Errorf("read an order: %w", err)
		}

		// A command may block while others run; cancel ends it.
		running.Go(func() { send(p.carryOut(ctx, o)) })
	}
	return orders.Err()
}

// StartApart starts the actor of a program, and doesn't wait for it; the streams must be files. When the caller
// has ended, the actor is no descendant of whoever has started the demo. It fails as [Act] does.
func StartApart(program, token string, in io.Reader, out, stderr io.Writer) error {
	if err := checkToken(program, token); err != nil {
		return err
	}

	c := exec.Command(program, "demo", "actor")
	c.Stdin, c.Stdout, c.Stderr = in, out, stderr
	return c.Start()
}

// checkToken fails unless a scene has started the program.
func checkToken(program, token string) error {
	want, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(program)), tokenFile))
	if err != nil || token == "" || token != string(want) {
		return stick.Errorf(stick.CodeUsage, "only the demo itself starts actors").Hintf("run the demo: %s", stick.Cmd("tt demo"))
	}
	return nil
}

func actorName(program string) string {
	return strings.TrimSuffix(filepath.Base(program), ".exe")
}

// actor is an actor's process, as the scene sees it.
type actor struct {
	name    string
	process *os.Process
	orders  io.WriteCloser
	ended   chan struct{} // closed once the process has ended and was reaped
	stderr  *bytes.Buffer // readable once ended is closed

	mu      sync.Mutex // guards the fields below, and writing orders
	last    int
	pending map[int]chan reply
}

// startActor starts an actor, and returns when it is there. args are of its command.
func (s *scene) startActor(name string, args ...string) (*actor, error) {
	c := exec.Command(filepath.Join(s.bin, programName(name)), append([]string{"demo", "actor"}, args...)...)
	c.Dir, c.Env = s.repo, append(s.env[:len(s.env):len(s.env)], gitIdentity(name)...)

	a := &actor{name: name, ended: make(chan struct{}), stderr: new(bytes.Buffer), pending: map[int]chan reply{}}
	c.Stderr = a.stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}

	// The first reply comes without an order.
	there := make(chan reply, 1)
	a.pending[0] = there

	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("%s's process can't be started: %w", name, err)
	}

	a.process, a.orders = c.Process, in
	s.actors = append(s.actors, a)

	go func() { // ends with the process
		replies := bufio.NewReader(out)
		for {
			line, err := replies.ReadBytes('\n')
			if err != nil {
				break
			}
			a.deliverReply(line)
		}
		_ = c.Wait() // its exit status doesn't matter
		close(a.ended)
	}()

	first, err := s.awaitReply(a, there)
	if err != nil {
		return nil, err
	}
	a.process, err = os.FindProcess(first.PID)
	return a, err
}

// gitIdentity returns the variables by which git knows the author of a commit.
func gitIdentity(name string) []string {
	mail := name + "@example.com"
	return []string{
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + mail,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + mail,
	}
}

// deliverReply hands a reply to the caller that waits for it.
func (a *actor) deliverReply(line []byte) {
	var r reply
	if json.Unmarshal(line, &r) != nil {
		return
	}

	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.pending[r.ID]; c != nil {
		c <- r // has room for it
		delete(a.pending, r.ID)
	}
}

// sendOrder sends an order to the actor. The reply arrives on the channel.
func (a *actor) sendOrder(o order) (<-chan reply, error) {
	c := make(chan reply, 1)

	a.mu.Lock()

	// The order is known before it is sent: its reply may come at once.
	a.last++
	o.ID = a.last
	a.pending[o.ID] = c
	line, err := json.Marshal(o)
	if err == nil {
		_, err = a.orders.Write(append(line, '\n'))
	}
	a.mu.Unlock()

	if err != nil {
		return nil, a.endedEarly()
	}
	return c, nil
}

// endedEarly returns the error for an actor that takes no orders, mostly because its process has ended.
func (a *actor) endedEarly() error {
	select {
	case <-a.ended:
	case <-time.After(patience):
		return fmt.Errorf("%s's process takes no orders", a.name)
	}

	if said := strings.TrimSpace(a.stderr.String()); said != "" {
		return fmt.Errorf("%s's process ended too early and said: %s", a.name, stick.Clip(said, 200))
	}
	return fmt.Errorf("%s's process ended too early", a.name)
}

// awaitReply waits for the reply to an order.
func (s *scene) awaitReply(a *actor, c <-chan reply) (reply, error) {
	select {
	case r := <-c:
		return r, a.faultOf(r)
	case <-s.ctx.Done():
		return reply{}, s.ctx.Err()
	case <-a.ended:
		// Its last reply may have come together with its end.
		select {
		case r := <-c:
			return r, a.faultOf(r)
		default:
			return reply{}, a.endedEarly()
		}
	case <-time.After(patience):
		return reply{}, errors.New(a.name + "'s command hasn't returned within " + patience.String())
	}
}

// faultOf returns the error for an order that the actor couldn't carry out, or nil.
func (a *actor) faultOf(r reply) error {
	if r.Fault == "" {
		return nil
	}
	return fmt.Errorf("%s can't do that: %s", a.name, r.Fault)
}

// stop ends an actor and everything that it runs.
func (a *actor) stop() {
	a.orders.Close()
	select {
	case <-a.ended:
	case <-time.After(patience):
		a.process.Kill()
		<-a.ended
	}
}
