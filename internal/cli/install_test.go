//go:build unix

package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/cli"
	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/full"
	"talkingstick/internal/proc"
)

// terminal runs tt as if on a terminal where somebody types an answer.
func terminal(t *testing.T, home, exe, answer string, args ...string) (status int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = cli.Main(app.Env{
		Full: full.Commands(),
		Name: "tt", Args: args, Stdin: strings.NewReader(answer), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] },
		Dir:    home, Home: home, User: "pat", Host: "here", PID: os.Getpid(), Exe: exe, TTY: true,
		InTTY: true, Procs: proc.Host,
	})

	return status, stdout.String(), stderr.String()
}

// On a terminal tt install shows what it would do, and asks. It changes something only after a yes.
func TestInstallAsks(t *testing.T) {
	home, exe := t.TempDir(), filepath.Join(t.TempDir(), "tt")
	if err := os.WriteFile(exe, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, ".gemini"), 0o755); err != nil {
		t.Fatal(err)
	}

	settings := filepath.Join(home, ".gemini", "settings.json")
	for _, answer := range []string{"n\n", "\n", "", "maybe\n", "yesterday\n"} {
		status, out, errs := terminal(t, home, exe, answer, "install")
		if status != 2 ||
			!strings.Contains(out, "settings.json\n") ||
			!strings.Contains(out, "Make these changes? [y/N] nothing was changed\n") ||
			errs != "" {
			t.Errorf("after %q: status %d\n%s%s", answer, status, out, errs)
		}
		if _, err := os.Stat(settings); err == nil {
			t.Fatalf("%q did it", answer)
		}
	}

	// With --json a program reads the output, and nobody can be asked.
	if status, out, _ := terminal(t, home, exe, "y\n", "install", "--json"); status != 2 ||
		strings.Contains(out, "Make these changes?") {
		t.Errorf("with --json: status %d\n%s", status, out)
	}

	status, out, errs := terminal(t, home, exe, "Yes\n", "install")
	if status != 0 ||
		strings.Count(out, settings) != 1 ||
		!strings.HasSuffix(out, "done; to see whether harnesses run it: tt doctor\n") {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}

	b, err := os.ReadFile(settings)
	if err != nil || !strings.Contains(string(b), exe) {
		t.Errorf("%v\n%s", err, b)
	}
	if status, out, _ := terminal(t, home, exe, "", "install"); status != 0 ||
		strings.Contains(out, "Make these changes?") {
		t.Errorf("with nothing left to do: status %d\n%s", status, out)
	}
}

// On a terminal tt uninstall without a name asks, too, because it disconnects all harnesses.
func TestUninstallAsks(t *testing.T) {
	home, exe := t.TempDir(), filepath.Join(t.TempDir(), "tt")
	if err := os.WriteFile(exe, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(home, ".gemini", "settings.json")
	if status, out, errs := terminal(t, home, exe, "", "install", "gemini"); status != 0 {
		t.Fatal(status, out, errs)
	}

	status, out, errs := terminal(t, home, exe, "no\n", "uninstall")
	if status != 2 ||
		!strings.Contains(out, "settings.json\n") ||
		!strings.HasSuffix(out, "Make these changes? [y/N] nothing was changed\n") ||
		errs != "" {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}

	if _, err := os.Stat(settings); err != nil {
		t.Error(err)
	}
	status, out, errs = terminal(t, home, exe, "y\n", "uninstall")
	if status != 0 ||
		strings.Count(out, settings) != 1 ||
		strings.Count(out, "the data stays in ") != 1 ||
		!strings.HasSuffix(out, "done\n") {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
	if _, err := os.Stat(filepath.Join(home, ".gemini")); !os.IsNotExist(err) {
		t.Error("its directory is still there:", err)
	}
	if status, out, _ := terminal(t, home, exe, "", "uninstall"); status != 0 ||
		strings.Contains(out, "Make these changes?") {
		t.Errorf("with nothing left to do: status %d\n%s", status, out)
	}
}

// tt install refuses a program that go run made: at the next run it is gone, or another program.
func TestInstallRefusesGoRun(t *testing.T) {
	for _, exe := range []string{
		"/tmp/go-build813049831/b001/exe/tt",
		"/home/pat/.cache/go-build/92/92784a43a2da17280d5630ee7c414d01a7d6a85dd34f32de24801752461f56ef-d/tt",
		`C:\Users\pat\AppData\Local\Temp\go-build12\b001\exe\tt.exe`,
	} {
		home := t.TempDir()
		status, _, errs := terminal(t, home, exe, "y\n", "install", "claude")
		if status != 2 || !strings.Contains(errs, "go run") || !strings.Contains(errs, "hint: build it first") {
			t.Errorf("%s: status %d, %s", exe, status, errs)
		}
		if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
			t.Errorf("%s: %v %v", exe, entries, err)
		}
	}
}
