package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/clitest"
	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// doing is what the room says that the agent of a harness does.
func (s *stage) doing(harness string) (state string, since time.Time) {
	s.t.Helper()
	var r struct {
		Members []struct {
			Agent    string `json:"agent_id"`
			Activity struct {
				State string    `json:"state"`
				Since time.Time `json:"since"`
			} `json:"activity"`
		} `json:"members"`
	}

	if err := json.Unmarshal([]byte(s.run("state", "--json")), &r); err != nil {
		s.t.Fatal(err)
	}

	for _, m := range r.Members {
		if strings.HasPrefix(m.Agent, harness+":") {
			return m.Activity.State, m.Activity.Since
		}
	}

	return "", since
}

// TestClaudeAsksItsPerson: Claude Code shows a question about a permission. The room says at once that it
// waits for its person, and when the person has answered, that it works again and at last is idle. However
// many tt notify its person runs meanwhile, beside each other and one after the other, they hear of the
// question once.
func TestClaudeAsksItsPerson(t *testing.T) {
	realharness.Require(t, realharness.Claude)

	t.Parallel()
	s := newStage(t)
	s.run("join")
	ann := s.person()

	a, session := s.prepare(realharness.Claude, modelapi.Steps(
		modelapi.Do(modelapi.Write(filepath.Join(s.place.Repo, "asked.txt"), "asked\n")),
		modelapi.Say("done"),
	))

	o := s.options(realharness.Claude)
	o.Args = append(o.Args, "--settings", `{"permissions":{"ask":["Write"]}}`)
	first, second := ann.notify(), ann.notify()
	tui := a.StartTUI(t, o)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it showed\n%s", tui.Text())
		}
	})

	tui.Type("Please-begin.")
	// it moves the cursor instead of writing blanks
	soon(t, "it asks", func() bool { return strings.Contains(tui.Text(), "Doyouwanttocreate") })
	shown := time.Now()
	soon(t, "the room says so", func() bool { state, _ := s.doing("claude"); return state == "waits_for_person" })
	if _, since := s.doing("claude"); since.Sub(shown) > time.Second {
		t.Errorf("the room says so %v after the question was shown", since.Sub(shown))
	}

	const asks = " waits for your answer in its own terminal"
	ann.hears(asks)
	t.Logf("its person was told %v after the question was shown", time.Since(shown))
	soon(t, "it is printed", func() bool { return strings.Contains(ann.printed(), asks) })
	s.as(watcher, "msg", "send", "human:ann", "--requires-ack", "which colour?")
	ann.hears("which colour?")
	first.end()
	s.as(watcher, "msg", "send", "human:ann", "--requires-ack", "which size?")
	ann.hears("which size?") // by the second one, which has looked at the question, too
	second.end()
	third := ann.notify()
	s.as(watcher, "msg", "send", "human:ann", "--requires-ack", "which font?")
	ann.hears("which font?")
	third.end()
	if told := ann.told(); strings.Count(told, asks) != 1 || strings.Count(told, "\n") != 4 {
		t.Errorf("ann was told\n%s", told)
	}
	if printed := ann.printed(); strings.Count(printed, asks) != 1 ||
		strings.Count(printed, "answer it in its own terminal") != 1 {
		t.Errorf("they print\n%s", printed)
	}

	pressed := time.Time{}
	soon(t, "it has gone on", func() bool {
		if time.Since(pressed) > 2*time.Second { // Claude Code may miss a key, as a person notices
			tui.Press("1")
			pressed = time.Now()
		}
		return len(session.Requests()) >= 2
	})

	soon(t, "it is idle", func() bool { state, _ := s.doing("claude"); return state == "idle" })
	tui.End()
}

// TestClaudeIsInterrupted: no hook of Claude Code says that its person has pressed Escape. The room says that
// it works until it has shown no sign for ten minutes, and that it is idle then, for all that anybody can
// see.
func TestClaudeIsInterrupted(t *testing.T) {
	onlyInPairs(t, realharness.Claude)

	t.Parallel()
	s := newStage(t)
	s.run("join")
	ann := s.person()
	reached := make(chan struct{})
	a, _ := s.prepare(realharness.Claude, modelapi.Steps(
		modelapi.Do(modelapi.Shell("echo begun")), // so that it has something to say of the interrupt
		modelapi.Seen(reached, modelapi.When(t.Context().Done(), modelapi.Say("too late"))),
	))

	tui := a.StartTUI(t, s.options(realharness.Claude))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it showed\n%s", tui.Text())
		}
	})

	tui.Type("Please-begin.")
	<-reached
	soon(t, "it works", func() bool { state, _ := s.doing("claude"); return state == "working" })
	tui.Press("\x1b")
	soon(t, "it says that it was interrupted", func() bool { return strings.Contains(tui.Text(), "Interrupted") })
	if state, _ := s.doing("claude"); state != "working" {
		t.Errorf("it is %s as soon as it was interrupted: a hook says so, which we could use", state)
	}
	shown := ann.at(presence.SilentAfter, "tt", "status")
	if !strings.Contains(shown, "idle") || strings.Contains(shown, "working") {
		t.Errorf("after %v without a sign its person sees\n%s", presence.SilentAfter, shown)
	}
	tui.End()
}

// person is somebody at a terminal of their own, whose command for notices appends to a file.
type person struct {
	s     *stage
	bin   string   // tt, whose ancestry ends at the test, so that it finds no harness above it
	files []string // what tt notify prints
}

// person makes ann, who has joined the room.
func (s *stage) person() *person {
	s.t.Helper()
	p := &person{s: s, bin: s.t.TempDir()}
	config := filepath.Join(s.place.Home, ".config", "talking-stick")
	err := clitest.Install(p.bin)
	if err == nil {
		err = os.MkdirAll(config, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(config, "config.toml"),
			[]byte("[notify]\ncommand = 'cat >>\"$HOME/told\"'\n"), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	p.at(0, "tt", "join")
	return p
}

func (p *person) command(args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(p.bin, args[0]), args[1:]...)
	c.Dir = p.s.place.Repo
	c.Env = append([]string{
		"HOME=" + p.s.place.Home, "PATH=" + p.bin + ":/usr/bin:/bin", "USER=ann", clitest.Race,
		fmt.Sprintf("%s=%d", clitest.Top, os.Getpid()),
	}, p.s.env...)
	return c
}

// at runs a command at a time from now on, and returns what it prints.
func (p *person) at(later time.Duration, args ...string) string {
	p.s.t.Helper()
	c := p.command(args...)
	c.Env = append(c.Env, clitest.Clock+"="+later.String())
	out, err := c.CombinedOutput()
	if err != nil {
		p.s.t.Fatalf("%q: %v\n%s", args, err, out)
	}

	return string(out)
}

// notify starts tt notify.
func (p *person) notify() *notifying {
	p.s.t.Helper()
	path := filepath.Join(p.s.t.TempDir(), "printed")
	f, err := os.Create(path)
	if err != nil {
		p.s.t.Fatal(err)
	}
	defer f.Close()
	n := &notifying{t: p.s.t, cmd: p.command("tt", "notify")}
	n.cmd.Stdout, n.cmd.Stderr = f, f
	if err := n.cmd.Start(); err != nil {
		p.s.t.Fatal(err)
	}

	p.s.t.Cleanup(n.end)
	p.files = append(p.files, path)
	return n
}

// notifying is a running tt notify.
type notifying struct {
	t   *testing.T
	cmd *exec.Cmd
}

// end interrupts it, if it runs, and waits until it has ended.
func (n *notifying) end() {
	if n.cmd.ProcessState != nil {
		return
	}
	if err := n.cmd.Process.Signal(os.Interrupt); err != nil {
		n.t.Error(err)
	}

	_ = n.cmd.Wait()
	if code := n.cmd.ProcessState.ExitCode(); code != stick.ExitInterrupted {
		n.t.Errorf("tt notify ends with %d", code)
	}
}

// printed is what all tt notify have printed.
func (p *person) printed() (all string) {
	for _, path := range p.files {
		b, err := os.ReadFile(path)
		if err != nil {
			p.s.t.Fatal(err)
		}
		all += string(b)
	}

	return all
}

// told is what the person's command has got.
func (p *person) told() string {
	b, err := os.ReadFile(filepath.Join(p.s.place.Home, "told"))
	if err != nil && !os.IsNotExist(err) {
		p.s.t.Fatal(err)
	}
	return string(b)
}

// hears waits until the person is told of something.
func (p *person) hears(text string) {
	p.s.t.Helper()
	soon(p.s.t, "ann is told: "+text, func() bool { return strings.Contains(p.told(), text) })
}
