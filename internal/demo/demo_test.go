//go:build unix

package demo_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"talkingstick/internal/cli"
	"talkingstick/internal/clitest"
	"talkingstick/internal/demo"
	"talkingstick/internal/testenv"
)

func TestMain(m *testing.M) {
	clitest.Main()
	os.Exit(testenv.Run(m))
}

// command returns tt demo as a harness with a session starts it: without a home, in a directory that can't be
// written. temp is where it may create its scratch directory.
func command(t *testing.T, args ...string) (c *exec.Cmd, temp string) {
	t.Helper()
	bin, temp, dir := t.TempDir(), t.TempDir(), t.TempDir()
	if err := clitest.Install(bin); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	c = exec.Command(filepath.Join(bin, "claude"), append([]string{filepath.Join(bin, "tt"), "demo"}, args...)...)
	c.Dir = dir
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + temp, "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=not-the-actors",
		"TT_HARNESS_AGENT_ID=someone:else", "GIT_DIR=/nowhere", "TT_JSON=0", clitest.Race,
	}
	return c, temp
}

// empty fails the test if the demo has left files behind.
func empty(t *testing.T, temp string) {
	t.Helper()
	left, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		t.Errorf("%s was left behind", f.Name())
	}
}

func TestDemo(t *testing.T) {
	c, temp := command(t)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("tt demo: %v\n%s%s", err, out, stderr.String())
	}
	rest := string(out)
	for _, want := range []string{
		"claude $ tt join", "codex $ tt join",
		"codex $ tt wait   … blocked", "claude $ tt release", "handoff from claude:", "cart.go:3-8 (edit)",
		"(exit 5)", "tt: turn 1 is over",
		"is killed", "you can take over: the holder's process has ended", "you took over from codex:", "the last handoff is from claude:",
		"It all happened.",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("the narration lacks %q at its place:\n%s", want, out)
		}
		rest = after
	}
	if strings.Contains(string(out), "\x1b[") {
		t.Error("the output is coloured, though it doesn't go to a terminal")
	}
	empty(t, temp)
}

func TestDemoJSON(t *testing.T) {
	c, temp := command(t, "--json", "--keep")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var r demo.Report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	if !r.OK || !r.Kept || len(r.Steps) != 8 {
		t.Errorf("ok is %t, kept is %t, and there are %d steps", r.OK, r.Kept, len(r.Steps))
	}
	for _, s := range r.Steps {
		for _, claim := range s.Checks {
			if !claim.OK {
				t.Errorf("%s: %s", s.Title, claim.Text)
			}
		}
	}
	for _, usual := range demo.UsualLines {
		if !slices.ContainsFunc(r.Steps, func(s demo.Step) bool {
			return slices.ContainsFunc(s.Actions, func(a demo.Action) bool { return slices.Contains(a.Output, usual) })
		}) {
			t.Errorf("the narration leaves out %q, but tt doesn't print it", usual)
		}
	}
	if filepath.Dir(r.Scratch) != temp {
		t.Errorf("the scratch directory is %s, but it should lie in %s", r.Scratch, temp)
	}
	if _, err := os.Stat(filepath.Join(r.Scratch, "shop", "cart.go")); err != nil {
		t.Error("--keep hasn't kept the files:", err)
	}
}

// TestDemoSabotaged makes the demo fail, and checks that the demo says why.
func TestDemoSabotaged(t *testing.T) {
	silent, err := exec.LookPath("false")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		program string
		say     string
	}{
		{"actors end at once", silent, "claude's process ended too early"},
		{"there is no program", filepath.Join(t.TempDir(), "nothing"), "can't link the program for the actors"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			var stdout, stderr bytes.Buffer
			env := cli.System()
			env.Args, env.Exe, env.Stdout, env.Stderr = []string{"demo"}, tt.program, &stdout, &stderr
			if status := cli.Main(env); status != 1 {
				t.Errorf("exit status %d, not 1", status)
			}
			if !strings.Contains(stderr.String(), "tt: the demo failed: ") || !strings.Contains(stderr.String(), tt.say) {
				t.Errorf("it says %q", stderr.String())
			}
			if strings.Contains(stdout.String(), "It all happened") {
				t.Error("it claims that all happened")
			}
			empty(t, temp)
		})
	}
}

// TestDemoInterrupted interrupts the demo while a wait is blocked.
func TestDemoInterrupted(t *testing.T) {
	c, temp := command(t)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "blocked") {
			if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil { // as a terminal does
				t.Fatal(err)
			}
			break
		}
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	c.Wait() // by SIGINT, like the harness in between
	empty(t, temp)
}

// onTerminal starts the demo as on a terminal. Its input is what the test types.
func onTerminal(t *testing.T, args ...string) (c *exec.Cmd, keys io.WriteCloser, shown *bufio.Reader, temp string) {
	t.Helper()
	c, temp = command(t, args...)
	c.Env = append(c.Env, clitest.Terminal+"=80", clitest.InTerminal+"=1", "NO_COLOR=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	keys, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, keys, bufio.NewReader(out), temp
}

// step reads what the demo prints until it pauses or ends.
func step(t *testing.T, shown *bufio.Reader) (text string, paused bool) {
	t.Helper()
	for {
		s, err := shown.ReadString(':')
		text += s
		if err == io.EOF {
			return text, false
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(text, "Enter shows the next step, Ctrl-C ends the demo:") {
			return text, true
		}
	}
}

// TestDemoPauses: on a terminal each step waits for Enter, and has room on a small one.
func TestDemoPauses(t *testing.T) {
	c, keys, shown, temp := onTerminal(t)
	for n := 1; n <= 8; n++ {
		text, paused := step(t, shown)
		if title := "\n" + strconv.Itoa(n) + ". "; !strings.Contains(text, title) || strings.Contains(text, "\n"+strconv.Itoa(n+1)+". ") {
			t.Fatalf("not step %d alone:\n%s", n, text)
		}
		if paused != (n < 8) {
			t.Fatalf("it pauses after step %d: %t", n, paused)
		}
		if lines := strings.Count(text, "\n"); lines > 24 {
			t.Errorf("step %d has %d lines", n, lines)
		}
		if _, err := io.WriteString(keys, "\n"); paused && err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	empty(t, temp)
}

// TestDemoInterruptedInAPause: it shows nothing more, and leaves nothing behind.
func TestDemoInterruptedInAPause(t *testing.T) {
	c, _, shown, temp := onTerminal(t)
	if _, paused := step(t, shown); !paused {
		t.Fatal("it doesn't pause")
	}
	if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil { // as a terminal does
		t.Fatal(err)
	}
	if text, _ := step(t, shown); strings.Contains(text, "2. ") {
		t.Errorf("it goes on:\n%s", text)
	}
	_ = c.Wait() // by SIGINT, like the harness in between
	empty(t, temp)
}

// TestDemoWithoutPauses: --fast and the end of the input make it go on.
func TestDemoWithoutPauses(t *testing.T) {
	for name, args := range map[string][]string{"fast": {"--fast"}, "no more input": nil} {
		t.Run(name, func(t *testing.T) {
			c, keys, shown, temp := onTerminal(t, args...)
			if args == nil {
				keys.Close()
			}
			out, err := io.ReadAll(shown)
			if werr := c.Wait(); err != nil || werr != nil || !strings.Contains(string(out), "It all happened.") {
				t.Errorf("%v, %v:\n%s", err, werr, out)
			}
			if args != nil && strings.Contains(string(out), "Enter") {
				t.Error("it pauses")
			}
			empty(t, temp)
		})
	}
}

// TestActorAlone: nobody but a scene makes the program play a harness.
func TestActorAlone(t *testing.T) {
	c, _ := command(t, "actor")
	c.Env = append(c.Env, demo.TokenEnv+"=guessed")
	c.Args = c.Args[:1]
	c.Args = append(c.Args, "demo", "actor")
	out, err := c.CombinedOutput()
	if c.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "only the demo itself starts actors") {
		t.Errorf("%v: %s", err, out)
	}
}
