package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"talkingstick/stick"
)

// showReturn narrates that the wait of an actor has returned.
func (s *scene) showReturn(a *actor, r reply) {
	s.showAction(Action{
		Who: a.name, Note: "tt wait returns:", Exit: &r.Exit, TookMS: tookMilliseconds(r), Output: outputLines(r),
	})
}

// runCommand makes an actor run a command of tt, and narrates it. It fails unless the command ends with
// status exit.
func (s *scene) runCommand(a *actor, exit int, args ...string) (reply, error) {
	r, err := s.runQuietly(a, args...)
	if err != nil {
		return r, err
	}

	s.showAction(Action{
		Who: a.name, Command: commandLine(args), Exit: &r.Exit, TookMS: tookMilliseconds(r), Output: outputLines(r),
	})

	if r.Exit != exit {
		return r, fmt.Errorf("tt %s by %s should have ended with status %d, but ended with %d", args[0], a.name, exit, r.Exit)
	}
	return r, nil
}

// runQuietly makes an actor run a command of tt, and doesn't narrate it.
func (s *scene) runQuietly(a *actor, args ...string) (reply, error) {
	c, err := a.sendOrder(order{Run: args})
	if err != nil {
		return reply{}, err
	}
	return s.awaitReply(a, c)
}

// runJSON makes an actor run a command that changes nothing (more), and parses its JSON for the checks.
func (s *scene) runJSON(a *actor, into any, args ...string) error {
	r, err := s.runQuietly(a, append(args, "--json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(r.Out), into); err != nil {
		return fmt.Errorf("tt %s --json by %s ended with status %d: %s", args[0], a.name, r.Exit, stick.Clip(r.Err, 200))
	}
	return nil
}

// readGrant makes an actor ask again for the turn that it just got. The answer is the same, as JSON.
func (s *scene) readGrant(a *actor) (g grant, err error) {
	if err := s.runJSON(a, &g, "try"); err != nil {
		return g, err
	}
	if g.Status != stick.YourTurn || g.Reason != string(stick.AlreadyOwner) {
		return g, fmt.Errorf("%s should have the stick, but the answer is %s %s", a.name, g.Status, g.Reason)
	}
	return g, nil
}

// startWait makes an actor wait, and returns once others see that it does.
func (s *scene) startWait(a, watcher *actor) (<-chan reply, error) {
	c, err := a.sendOrder(order{Run: []string{"wait"}})
	if err != nil {
		return nil, err
	}

	deadline := time.Now().Add(patience)
	for {
		var now state
		if err := s.runJSON(watcher, &now, "state"); err != nil {
			return nil, err
		}

		for _, m := range now.Members {
			if strings.HasPrefix(string(m.Agent), a.name+":") && m.Listening == stick.Work {
				s.showAction(Action{Who: a.name, Command: "tt wait"})
				return c, nil
			}
		}

		select {
		case r := <-c:
			return nil, fmt.Errorf("tt wait by %s should have blocked, but returned: %s", a.name, stick.Clip(r.Out+r.Err, 200))
		case <-time.After(10 * time.Millisecond): // a room doesn't ring when somebody starts to wait
		case <-s.ctx.Done():
			return nil, s.ctx.Err()
		}

		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%s still isn't waiting for its turn after %s", a.name, patience)
		}
	}
}

// writeFile makes an actor write a file of the repository.
func (s *scene) writeFile(a *actor, name, text string) error {
	c, err := a.sendOrder(order{Write: filepath.Join(s.repo, name), Text: text})
	if err != nil {
		return err
	}

	if _, err := s.awaitReply(a, c); err != nil {
		return err
	}

	s.showAction(Action{Who: a.name, Note: "edits " + name})
	_, err = os.Stat(filepath.Join(s.repo, name))
	return err
}

// awaitReply waits for the reply to an order.
func (s *scene) awaitReply(a *actor, c <-chan reply) (reply, error) {
	select {
	case r := <-c:
		if r.Fault != "" {
			return r, fmt.Errorf("%s can't do that: %s", a.name, r.Fault)
		}
		return r, nil
	case <-s.ctx.Done():
		return reply{}, s.ctx.Err()
	case <-a.ended:
		// Its last reply may have come together with its end.
		select {
		case r := <-c:
			return r, nil
		default:
			return reply{}, a.endedEarly()
		}
	case <-time.After(patience):
		return reply{}, errors.New(a.name + "'s command hasn't returned within " + patience.String())
	}
}

// commandLine returns a command as a person would type it.
func commandLine(args []string) string {
	words := []string{"tt"}
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " '\"$;&|<>()*") {
			a = `"` + a + `"`
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// outputLines returns what a command printed.
func outputLines(r reply) []string {
	return strings.Split(strings.TrimRight(r.Out+r.Err, "\n"), "\n")
}

func tookMilliseconds(r reply) float64 { return milliseconds(time.Duration(r.Ended - r.Began)) }

// describeDelay returns a time difference as text, with the event that it is measured from.
func describeDelay(d time.Duration, what string) string {
	if d < 0 {
		return fmt.Sprintf("%.1f ms before %s: the commit woke it", -milliseconds(d), what)
	}
	return fmt.Sprintf("%.1f ms after %s", milliseconds(d), what)
}
