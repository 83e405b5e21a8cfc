//go:build unix

package demo_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"talkingstick/internal/cli"
	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/full"
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

// empty fails the test if the demo has left files or processes behind.
func empty(t *testing.T, temp string) {
	t.Helper()

	// Where there is no /proc, the files alone are looked at.
	processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range processes {
		if line, err := os.ReadFile(p); err == nil && bytes.Contains(line, []byte(temp)) {
			t.Errorf("a process was left behind: %q", line)
		}
	}

	left, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		t.Errorf("%s was left behind", f.Name())
	}
}

// TestPlay plays the whole scene for somebody at a narrow terminal, who returns the task once.
func TestPlay(t *testing.T) {
	bin, temp := t.TempDir(), t.TempDir()
	if err := clitest.Install(bin); err != nil {
		t.Fatal(err)
	}

	const columns = 60
	var out bytes.Buffer
	var reading time.Duration
	reviews := 0
	r, err := demo.Play(t.Context(), demo.Config{
		Program: filepath.Join(bin, "tt"), Temp: temp, Getenv: os.Getenv, Out: &out, Columns: columns,
		Pause: func(_ context.Context, needs time.Duration) error {
			reading += needs
			return nil
		},
		Review: func(context.Context) (bool, error) {
			reviews++
			return reviews > 1, nil
		},
	})

	if err != nil || !r.OK {
		t.Fatalf("%v\n%s", err, out.String())
	}

	// A line may be broken anywhere between words.
	rest := oneLine(out.String())
	for _, want := range []string{
		"you $ tt init", "codex $ tt join",
		"codex $ tt reserve", "gemini $ tt try   (exit 4)",
		"gemini $ tt wait   … blocked", "claude $ tt release", "handoff from claude-", "cart.sh:3-8 (edit)",
		"(exit 5)", "tt: turn 1 is over",
		"gemini $ git reset --hard", "refused by tt's hook", "prices.md",
		"opencode $ sh tidy.sh", "which took 2 files", "you $ tt undo", "byte by byte",
		"is killed", "you can take over: the holder's", "you took over from gemini-", "tt rescue show",
		"you $ tt task new tax", "qwen $ cd worktrees/tax && tt task start", "waits for review",
		"you $ tt task diff tax", "tt task request-changes", "+2 -0  tax.sh", "you $ tt task approve tax",
		"(the gate passed)", "Merge task tax", "you $ tt log", "It all happened", "tt init",
	} {
		_, after, found := strings.Cut(rest, oneLine(want))
		if !found {
			t.Fatalf("the narration lacks %q at its place:\n%s", want, out.String())
		}
		rest = after
	}

	t.Run("every step has claims and a reason", func(t *testing.T) {
		claims := 0
		for _, step := range r.Steps {
			claims += len(step.Checks)
			if len(step.Checks) == 0 || step.Why == "" {
				t.Errorf("%s: %d claims, %q", step.Title, len(step.Checks), step.Why)
			}

			// On the screen of --watch, the key for the next step is on the same line.
			if len(step.Title) > 50 {
				t.Errorf("%s: the title is too long for a screen", step.Title)
			}
		}

		if len(r.Steps) != 12 || claims < 20 {
			t.Errorf("%d steps, %d claims", len(r.Steps), claims)
		}
	})

	t.Run("a reader needs a minute", func(t *testing.T) {
		if reading < 45*time.Second || reading > 75*time.Second {
			t.Errorf("the pauses take %s", reading)
		}
	})

	t.Run("lines break between words", func(t *testing.T) {
		for line := range strings.Lines(out.String()) {
			line = strings.TrimRight(line, "\n")
			if width := utf8.RuneCountInString(line); width > columns && strings.Contains(line[12:], " ") {
				t.Errorf("a line has %d columns: %s", width, line)
			}
		}
	})

	empty(t, temp)
}

// oneLine returns a text with one blank between its words.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestDemoJSON: without a terminal the demo asks nothing, and reports what it did.
func TestDemoJSON(t *testing.T) {
	testenv.SkipShort(t, testenv.Every, "the report of the demo")
	c, temp := command(t, "--json", "--keep")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}

	var r demo.Report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	if !r.OK || !r.Kept || len(r.Steps) != 12 {
		t.Errorf("ok is %t, kept is %t, and there are %d steps", r.OK, r.Kept, len(r.Steps))
	}

	for _, s := range r.Steps {
		for _, claim := range s.Checks {
			if !claim.OK {
				t.Errorf("%s: %s", s.Title, claim.Text)
			}
		}
	}

	if filepath.Dir(r.Scratch) != temp {
		t.Errorf("the scratch directory is %s, but it should lie in %s", r.Scratch, temp)
	}
	if _, err := os.Stat(filepath.Join(r.Scratch, "shop", "tax.sh")); err != nil {
		t.Error("--keep hasn't kept the files:", err)
	}
}

// TestDemoPlain: what doesn't go to a terminal has no colours, and asks nothing.
func TestDemoPlain(t *testing.T) {
	testenv.SkipShort(t, testenv.Every, "the demo without a terminal")
	c, temp := command(t)
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "It all happened") {
		t.Fatalf("tt demo: %v\n%s", err, out)
	}
	if strings.Contains(string(out), "\x1b") || strings.Contains(string(out), "[a]pprove") {
		t.Errorf("it is meant for a terminal:\n%q", out)
	}
	empty(t, temp)
}

// TestDemoWithoutGit: it says what is missing, and creates nothing.
func TestDemoWithoutGit(t *testing.T) {
	c, temp := command(t)
	c.Env = append(c.Env, "PATH="+t.TempDir())
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "git isn't installed, or not in PATH") {
		t.Errorf("%v: %s", err, out)
	}
	empty(t, temp)
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
			env := app.System()
			env.Full = full.Commands()
			env.Args, env.Exe, env.Stdout, env.Stderr = []string{"demo"}, tt.program, &stdout, &stderr
			if status := cli.Main(env); status != 1 {
				t.Errorf("exit status %d, not 1", status)
			}
			if !strings.Contains(stderr.String(), "tt: the demo failed: ") ||
				!strings.Contains(stderr.String(), tt.say) {
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

// The lines at which the demo waits for a key.
const (
	pausePrompt  = "Any key goes on, q or Ctrl-C ends the demo:"
	reviewPrompt = "Approve it? [a]pprove / [r]eturn:"
)

// step reads what the demo prints until it waits for a key or ends.
func step(t *testing.T, shown *bufio.Reader) (text string, waits bool) {
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
		if strings.HasSuffix(text, pausePrompt) || strings.HasSuffix(text, reviewPrompt) {
			return text, true
		}
	}
}

// press types a key.
func press(t *testing.T, keys io.Writer, key string) {
	t.Helper()
	if _, err := io.WriteString(keys, key); err != nil {
		t.Fatal(err)
	}
}

// TestDemoPauses: on a terminal each step leaves time to read, a key goes on, and a step has room on a small
// terminal. The task lands when somebody approves it.
func TestDemoPauses(t *testing.T) {
	testenv.SkipShort(t, testenv.Every, "the demo, key by key")
	c, keys, shown, temp := onTerminal(t)
	whole := ""
	for n := 1; n <= 12; n++ {
		text, waits := step(t, shown)
		for strings.HasSuffix(text, reviewPrompt) {
			press(t, keys, "x")
			press(t, keys, "a")
			more, waitsAgain := step(t, shown)
			text, waits = text+more, waitsAgain
		}

		if title := "\n" + strconv.Itoa(n) + ". "; !strings.Contains(text, title) {
			t.Fatalf("not step %d:\n%s", n, text)
		}
		if waits != (n < 12) {
			t.Fatalf("it pauses after step %d: %t", n, waits)
		}
		if lines := strings.Count(text, "\n"); lines > 24 {
			t.Errorf("step %d has %d lines:\n%s", n, lines, text)
		}

		if whole += text; waits {
			press(t, keys, " ")
		}
	}

	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(whole, "It all happened") || strings.Count(whole, "approve\n") != 1 {
		t.Errorf("it ends with\n%s", whole)
	}
	empty(t, temp)
}

// TestDemoLeft: q and Ctrl-C end the demo in a pause. It shows nothing more, and leaves nothing behind.
func TestDemoLeft(t *testing.T) {
	interrupt := func(t *testing.T, c *exec.Cmd, _ io.Writer) {
		if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil { // as a terminal does
			t.Fatal(err)
		}
	}

	pressQ := func(t *testing.T, _ *exec.Cmd, keys io.Writer) { press(t, keys, "q") }

	for name, leave := range map[string]func(*testing.T, *exec.Cmd, io.Writer){"q": pressQ, "Ctrl-C": interrupt} {
		t.Run(name, func(t *testing.T) {
			// Before the first step of --serve it waits for as long as it takes.
			c, keys, shown, temp := onTerminal(t, "--serve")
			if _, waits := step(t, shown); !waits {
				t.Fatal("it doesn't pause")
			}

			leave(t, c, keys)
			text, _ := step(t, shown)
			if strings.Contains(text, "1. ") {
				t.Errorf("it goes on:\n%s", text)
			}

			// The harness in between ends by SIGINT, too.
			if err := c.Wait(); name == "q" && (err != nil || !strings.Contains(text, "You left the demo")) {
				t.Errorf("%v:\n%s", err, text)
			}
			empty(t, temp)
		})
	}
}

// TestDemoWithoutPauses: --fast and the end of the input make it go on.
func TestDemoWithoutPauses(t *testing.T) {
	testenv.SkipShort(t, testenv.Every, "the demo that nobody can hold up")
	for name, args := range map[string][]string{"fast": {"--fast"}, "no more input": nil} {
		t.Run(name, func(t *testing.T) {
			c, keys, shown, temp := onTerminal(t, args...)
			if args == nil {
				keys.Close()
			}
			out, err := io.ReadAll(shown)
			if werr := c.Wait(); err != nil || werr != nil || !strings.Contains(string(out), "It all happened") {
				t.Errorf("%v, %v:\n%s", err, werr, out)
			}
			if args != nil && strings.Contains(string(out), pausePrompt) {
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
