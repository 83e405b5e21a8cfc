//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"talkingstick/internal/testenv"
)

// wrapped lays out the wrapper of npm as npm does. The program that it finds is this test binary, as
// [native].
func wrapped(t *testing.T, withProgram bool) (script string) {
	t.Helper()
	testenv.SkipShort(t, testenv.Harnesses, "npm's wrapper of the program, which needs node")
	needs(t, "node")
	modules := filepath.Join(t.TempDir(), "node_modules")
	script = filepath.Join(modules, project.npm, "bin", "tt.js")
	program := filepath.Join(modules, npmName(host), "bin", "tt")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	manifest, err := json.Marshal(manifest{Name: project.npm})
	if err != nil {
		t.Fatal(err)
	}

	for _, dir := range []string{filepath.Dir(script), filepath.Dir(program)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}

	for path, b := range map[string][]byte{
		script: wrapper, filepath.Join(modules, project.npm, "package.json"): manifest,
	} {
		if err := os.WriteFile(path, b, 0o755); err != nil {
			t.Fatal(err)
		}
	}

	if withProgram {
		if err := os.Symlink(exe, program); err != nil {
			t.Fatal(err)
		}
	}

	return script
}

func node(script string, args ...string) *exec.Cmd {
	c := exec.Command("node", append([]string{script}, args...)...)
	c.Env = append(os.Environ(), nativeEnv+"=1")
	return c
}

// TestWrapperPassesOn: the wrapper gives the program its arguments and ends as the program does: with its
// status, or by the signal that has ended it.
func TestWrapperPassesOn(t *testing.T) {
	script := wrapped(t, true)
	c := node(script, "exit", "a b", "", "--json")
	out, _ := c.Output()
	if string(out) != "a b||--json\n" || c.ProcessState.ExitCode() != 5 {
		t.Errorf("it printed %q and ended with %s", out, c.ProcessState)
	}

	c = node(script, "die")
	_ = c.Run() // how it ended shows in its state
	if w, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || w.Signal() != syscall.SIGKILL {
		t.Errorf("a killed program: it ended with %s", c.ProcessState)
	}
}

// TestWrapperPassesSignals: a signal to the wrapper reaches the program, and the wrapper ends after it.
func TestWrapperPassesSignals(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		c := node(wrapped(t, true), "listen")
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}

		lines := bufio.NewScanner(out)
		lines.Scan()
		if err := c.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		lines.Scan()
		_ = c.Wait() // how it ended shows in its state
		if lines.Text() != signal.String() || c.ProcessState.ExitCode() != 9 {
			t.Errorf("%s: the program said %q, and it ended with %s", signal, lines.Text(), c.ProcessState)
		}
	}
}

// TestWrapperWithoutProgram: without the package for this system the wrapper says what to install.
func TestWrapperWithoutProgram(t *testing.T) {
	c := node(wrapped(t, false), "exit")
	out, _ := c.CombinedOutput()
	if c.ProcessState.ExitCode() != 7 ||
		!strings.Contains(string(out), npmName(host)) ||
		!strings.Contains(string(out), "\nhint: install "+project.npm+" again") {
		t.Errorf("it ended with %s: %s", c.ProcessState, out)
	}
}
