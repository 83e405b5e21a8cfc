package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"talkingstick/stick"
)

// An isolated git starts no program, whoever has configured it, and knows what the user ignores all the same.
func TestAnIsolatedGitStartsNothing(t *testing.T) {
	dir, head := repository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+ran+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}

	global := filepath.Join(t.TempDir(), "config")
	write(t, filepath.Dir(global), "ignored", "*.user\n")
	write(t, filepath.Dir(global), "config", "[core]\n\texcludesFile = "+filepath.Join(filepath.Dir(global), "ignored")+
		"\n[filter \"of the user\"]\n\tclean = "+program+"\n\tprocess = "+program+"\n\trequired\n")
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	hook := filepath.Join(dir, ".git", "hooks", "reference-transaction")
	if err := os.MkdirAll(filepath.Dir(hook), 0o777); err != nil {
		t.Fatal(err)
	}

	if err := os.Symlink(program, hook); err != nil {
		t.Skip("this system makes no links:", err)
	}
	git(t, dir, "config", "core.fsmonitor", program)
	git(t, dir, "config", "filter.a=b.c.smudge", program)
	git(t, dir, "config", "filter.a=b.c.clean", program)
	write(t, dir, ".gitattributes", "*.txt filter=of the user\n*.md filter=a=b.c\n")
	write(t, dir, "a.txt", "ONE\ntwo\n")
	write(t, dir, "x.user", "x")
	g, err := Client{}.Isolate(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}

	var out bytes.Buffer
	if _, err := g.Run(t.Context(), nil, &out, "status", "--porcelain"); err != nil ||
		!strings.Contains(out.String(), " M a.txt") ||
		strings.Contains(out.String(), "x.user") {
		t.Errorf("status: %v\n%s", err, &out)
	}

	if _, err := g.Run(t.Context(), nil, nil, "update-ref", "refs/x", head); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(ran); err == nil {
		t.Errorf("programs ran:\n%s", b)
	}
	if _, err := g.Run(t.Context(), nil, nil, "update-ref", "refs/x", "none"); stick.CodeOf(err) != stick.CodeGitFailed {
		t.Errorf("a failure is %v", err)
	}

	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Run(over, nil, nil, "status"); !errors.Is(err, context.Canceled) {
		t.Errorf("the end of a context is %v", err)
	}
	if _, err := (Client{Path: filepath.Join(dir, "none")}).Isolate(t.Context(), dir); err == nil {
		t.Error("there is no such git, and nothing fails")
	}
}

// TestIsolateObjects_asks_one_git: what reads objects and refs alone needn't know of filters.
func TestIsolateObjects_asks_one_git(t *testing.T) {
	dir, head := repository(t)
	c, count := countedGit(t)

	var out bytes.Buffer
	if _, err := c.IsolateObjects(dir).Run(t.Context(), nil, &out, "rev-parse", "HEAD"); err != nil {
		t.Fatal(err)
	}

	if got := strings.TrimSpace(out.String()); got != head || count() != 1 {
		t.Errorf("%d gits said %s, not %s", count(), got, head)
	}
}

// countedGit returns a client whose git says how often it was started.
func countedGit(t *testing.T) (c Client, count func() int) {
	real, err := exec.LookPath("git")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("a shell script counts:", err)
	}

	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	c.Path = filepath.Join(dir, "git")
	script := "#!/bin/sh\necho >>'" + log + "'\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(c.Path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}

	return c, func() int {
		said, _ := os.ReadFile(log)
		return len(said)
	}
}
