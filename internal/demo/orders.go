package demo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"talkingstick/stick"
)

// command is a command of tt that an actor runs in front of the reader.
type command struct {
	by    *actor
	args  []string
	dir   string   // below the repository; empty for its top
	exit  int      // the status with which it has to end
	lines []string // the narration shows lines of the answer that hold one of these; nil for all
}

// tt returns the command of an actor.
func tt(by *actor, args ...string) command { return command{by: by, args: args} }

// in returns the command as it is run in a directory below the repository.
func (c command) in(dir string) command {
	c.dir = dir
	return c
}

// exits returns the command that has to end with a status.
func (c command) exits(status int) command {
	c.exit = status
	return c
}

// showing returns the command of whose answer the narration shows only lines that hold one of the texts.
func (c command) showing(texts ...string) command {
	c.lines = append([]string{}, texts...)
	return c
}

// runCommand makes an actor run a command, and narrates it. It fails unless the command ends as it has to.
func (s *scene) runCommand(c command) (reply, error) {
	r, err := s.runQuietly(c)
	if err != nil {
		return r, err
	}

	act := Action{
		Who: c.by.name, Dir: c.dir, Command: commandLine(c.args), Exit: &r.Exit, TookMS: tookMilliseconds(r),
		Output: outputLines(r), lines: c.lines,
	}
	s.showAction(act)

	if r.Exit != c.exit {
		return r, fmt.Errorf("tt %s by %s should have ended with status %d, but ended with %d", c.args[0], c.by.name, c.exit, r.Exit)
	}
	if part := act.missingLine(); part != "" {
		return r, fmt.Errorf("tt %s by %s should have answered %q", c.args[0], c.by.name, part)
	}
	return r, nil
}

// runQuietly makes an actor run a command of tt, and doesn't narrate it.
func (s *scene) runQuietly(c command) (reply, error) {
	return s.carryOut(c.by, order{Dir: s.pathTo(c.dir), Run: c.args})
}

// runJSON makes an actor run a command that changes nothing (more), and parses its JSON for the checks.
func (s *scene) runJSON(a *actor, into any, args ...string) error {
	r, err := s.runQuietly(tt(a, append(args, "--json")...))
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(r.Out), into); err != nil {
		return fmt.Errorf("tt %s --json by %s ended with status %d: %s", args[0], a.name, r.Exit, stick.Clip(r.Err, 200))
	}
	return nil
}

// carryOut sends an order, and waits for its reply.
func (s *scene) carryOut(a *actor, o order) (reply, error) {
	c, err := a.sendOrder(o)
	if err != nil {
		return reply{}, err
	}
	return s.awaitReply(a, c)
}

// runShell makes an actor run a line of the shell, through the hooks if it plays a harness, and narrates it.
func (s *scene) runShell(a *actor, dir, line string) (reply, error) {
	r, err := s.carryOut(a, order{Dir: s.pathTo(dir), Shell: line})
	if err != nil {
		return r, err
	}

	act := Action{Who: a.name, Dir: dir, Command: line, TookMS: tookMilliseconds(r)}
	if r.Denied != "" {
		act.Note, act.Output = "was refused by tt's hook:", strings.Split(r.Denied, "\n")
		s.showAction(act)
		return r, nil
	}

	act.Exit, act.Output = &r.Exit, outputLines(r)
	s.showAction(act)
	if r.Exit != 0 {
		return r, fmt.Errorf("%q by %s ended with status %d", line, a.name, r.Exit)
	}
	return r, nil
}

// editFile makes an actor replace a file of the repository, and narrates it. It fails if a hook denies it.
func (s *scene) editFile(a *actor, name, text string) error {
	r, err := s.carryOut(a, order{Dir: s.repo, Write: s.pathTo(name), Text: text})
	if err != nil {
		return err
	}
	if r.Denied != "" {
		return fmt.Errorf("%s should be allowed to edit %s: %s", a.name, name, r.Denied)
	}

	s.showAction(Action{Who: a.name, Note: "edits " + name})
	_, err = os.Stat(s.pathTo(name))
	return err
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
		if now.isListening(a.name) {
			s.showAction(Action{Who: a.name, Command: "tt wait"})
			return c, nil
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

// showReturn narrates that the wait of an actor has returned. texts are as in [command.showing].
func (s *scene) showReturn(a *actor, r reply, texts ...string) {
	s.showAction(Action{
		Who: a.name, Note: "tt wait returns:", Exit: &r.Exit, TookMS: tookMilliseconds(r), Output: outputLines(r), lines: texts,
	})
}

// pathTo returns the path of a file or directory in the repository.
func (s *scene) pathTo(name string) string { return filepath.Join(s.repo, filepath.FromSlash(name)) }

// readText returns the content of a file in the repository, and a text that says so if it can't be read.
func (s *scene) readText(name string) string {
	b, err := os.ReadFile(s.pathTo(name))
	if err != nil {
		return "unreadable: " + err.Error()
	}
	return string(b)
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
	text := strings.TrimRight(r.Out+r.Err, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func tookMilliseconds(r reply) float64 { return milliseconds(time.Duration(r.Ended - r.Began)) }

// describeDelay returns a time difference as text, with the event that it is measured from.
func describeDelay(d time.Duration, what string) string {
	if d < 0 {
		return fmt.Sprintf("%.1f ms before %s: the commit woke it", -milliseconds(d), what)
	}
	return fmt.Sprintf("%.1f ms after %s", milliseconds(d), what)
}
