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
		"TT_HARNESS_AGENT_ID=someone:else", "GIT_DIR=/nowhere", "TT_JSON=0",
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
	if !r.OK || !r.Kept || len(r.Steps) != 7 {
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
		t.Skip("there is no false here")
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
