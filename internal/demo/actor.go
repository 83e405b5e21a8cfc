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

// order makes an actor run a command or write a file.
type order struct {
	ID    int      `json:"id"`
	Run   []string `json:"run,omitempty"` // the arguments of tt
	Write string   `json:"write,omitempty"`
	Text  string   `json:"text,omitempty"`
}

// reply is the result of an order. Times are of the wall clock, which all processes of a machine share, in
// nanoseconds.
type reply struct {
	ID    int    `json:"id"`
	Exit  int    `json:"exit"`
	Out   string `json:"out"`
	Err   string `json:"err"`
	Began int64  `json:"began"`
	Ended int64  `json:"ended"`
	Fault string `json:"fault,omitempty"` // why the actor couldn't carry it out
}

// Act runs an actor: a process that plays a harness. It carries out the orders that arrive on in and writes
// the replies to out. When in ends, it ends its commands and returns. program is the path by which it was
// started. It fails with [stick.CodeUsage] if no scene started it.
func Act(ctx context.Context, program, token string, in io.Reader, out io.Writer) error {
	bin := filepath.Dir(program)
	want, err := os.ReadFile(filepath.Join(filepath.Dir(bin), tokenFile))
	if err != nil || token == "" || token != string(want) {
		return stick.Errorf(stick.CodeUsage, "only the demo itself starts actors").Hintf("run the demo: %s", stick.Cmd("tt demo"))
	}

	ctx, cancel := context.WithCancel(ctx)

	// At the end, cancel ends the commands before the wait for them.
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	var mu sync.Mutex // guards out
	answer := json.NewEncoder(out)
	orders := bufio.NewScanner(in)

	for orders.Scan() {
		var o order
		if err := json.Unmarshal(orders.Bytes(), &o); err != nil {
			return fmt.Errorf("read an order: %w", err)
		}

		// A command may block while others run; cancel ends it.
		running.Go(func() {
			r := o.carryOut(ctx, filepath.Join(bin, programName("tt")))
			mu.Lock()
			defer mu.Unlock()

			// If nobody listens any more, the scene has ended.
			_ = answer.Encode(r)
		})
	}
	return orders.Err()
}

// carryOut carries out the order.
func (o order) carryOut(ctx context.Context, tt string) reply {
	r := reply{ID: o.ID, Began: time.Now().UnixNano()}
	if o.Write != "" {
		if err := os.WriteFile(o.Write, []byte(o.Text), 0o600); err != nil {
			r.Fault = err.Error()
		}
		r.Ended = time.Now().UnixNano()
		return r
	}

	c := exec.CommandContext(ctx, tt, o.Run...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr

	err := c.Run()
	r.Ended, r.Out, r.Err = time.Now().UnixNano(), stdout.String(), stderr.String()

	// Another status than 0 is a result. Everything else keeps the actor from its order.
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		r.Exit = exit.ExitCode()
	} else if err != nil {
		r.Fault = err.Error()
	}
	return r
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

// startActor starts an actor.
func (s *scene) startActor(name string) (*actor, error) {
	c := exec.Command(filepath.Join(s.bin, programName(name)), "demo", "actor")
	c.Dir, c.Env = s.repo, s.env
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
	return a, nil
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
