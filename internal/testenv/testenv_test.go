package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

// holder makes a repository with a commit. The test runs in it as if the repository held the test.
func holder(t *testing.T) repository {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	git(t, "init", "--quiet", "--initial-branch=main")
	git(t, "commit", "--quiet", "--allow-empty", "--message", "one")
	r := findRepository()
	if r.root != dir || r.common != filepath.Join(dir, ".git") {
		t.Fatalf("found %+v, not %s", r, dir)
	}

	return r
}

func git(t *testing.T, args ...string) {
	t.Helper()
	c := exec.Command("git", args...)
	c.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.org")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestWhatATestMayNotDo changes a repository that holds tests in each forbidden way, and expects a failure
// that names the change.
func TestWhatATestMayNotDo(t *testing.T) {
	for what, do := range map[string]func(*testing.T, repository){
		"the commit changed": func(t *testing.T, _ repository) {
			git(t, "commit", "--quiet", "--allow-empty", "--message", "two")
		},
		"the branch changed": func(t *testing.T, _ repository) {
			git(t, "switch", "--quiet", "--create", "other")
		},
		"the configuration changed": func(t *testing.T, _ repository) { git(t, "config", "user.name", "T") },
		"the hook pre-commit came to be": func(t *testing.T, r repository) {
			if err := os.MkdirAll(filepath.Join(r.common, "hooks"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(r.common, "hooks", "pre-commit"), nil, 0o755); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			r := holder(t)
			before := r.readState()
			if lines := listDifferences(before, r.readState()); len(lines) != 0 {
				t.Fatalf("nothing was done, and %q", lines)
			}

			do(t, r)
			if lines := listDifferences(before, r.readState()); len(lines) != 1 || !strings.HasPrefix(lines[0], what) {
				t.Errorf("noticed %q", lines)
			}
		})
	}
}

// TestSurroundings: git finds no repository above the package, no configuration of the user's, and none of
// its own variables. Temporary files never lie in the repository.
func TestSurroundings(t *testing.T) {
	before := os.Environ()
	t.Cleanup(func() {
		os.Clearenv()
		for _, v := range before {
			name, value, _ := strings.Cut(v, "=")
			os.Setenv(name, value)
		}
	})

	r := holder(t)
	user := t.TempDir()
	os.Setenv("HOME", user)
	os.Setenv("XDG_CONFIG_HOME", user)
	git(t, "config", "--global", "user.name", "T")
	os.Setenv("GIT_DIR", r.common)

	clean, err := setEnvironment(r)
	if err != nil {
		t.Fatal(err)
	}
	home := os.Getenv("HOME")
	if home == user || os.Getenv("XDG_CONFIG_HOME") != "" || os.Getenv("GIT_DIR") != "" {
		t.Errorf("the tests would see %q", os.Environ())
	}

	sub := filepath.Join(r.root, "package")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "-C", sub, "rev-parse", "HEAD").CombinedOutput(); err == nil {
		t.Errorf("git finds %s", out)
	}
	if out, err := exec.Command("git", "config", "--global", "user.name").Output(); err != nil || string(out) != "a\n" {
		t.Errorf("git's commits are by %q (%v)", out, err)
	}

	if err := clean(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(home); err == nil {
		t.Errorf("%s stays", home)
	}

	os.Setenv("TMPDIR", sub)
	if _, err := setEnvironment(r); err == nil || !strings.Contains(err.Error(), sub) {
		t.Errorf("a directory for temporary files in the repository: %v", err)
	}
	if left, err := os.ReadDir(sub); err != nil || len(left) > 0 {
		t.Errorf("a refusal leaves %v there (%v)", left, err)
	}
}

// TestUntouched does under .ci/untouched what a test may not do. That script checks the files, too.
func TestUntouched(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script")
	}
	script, err := os.ReadFile("../../.ci/untouched")
	if err != nil {
		t.Fatal(err)
	}

	r := holder(t)
	path := filepath.Join(r.root, ".ci", "untouched")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, script, 0o755); err != nil {
		t.Fatal(err)
	}

	git(t, "add", ".")
	git(t, "commit", "--quiet", "--message", "script")
	for _, c := range []struct{ do, says string }{
		{"true", ""},
		{"echo one >f.txt", "> f.txt "},
		{"echo two >f.txt", "> f.txt "},
		{"git add f.txt", "> index "},
		{"git commit --quiet --message first", "> HEAD "},
		{"git branch other", "> refs/heads/other "},
		{"git worktree add --quiet ../of-other other", "> worktree "},
		{"git config user.name T", "/.git/config "},
		{"mkdir -p .git/hooks && echo true >.git/hooks/pre-push", "/.git/hooks/pre-push "},
		{"rm f.txt", "> f.txt gone"},
	} {
		out, err := exec.Command(path, "sh", "-c", c.do).CombinedOutput()
		if c.says == "" && (err != nil || len(out) > 0) ||
			c.says != "" && (err == nil || !strings.Contains(string(out), c.says)) {
			t.Errorf("%s: %v\n%s", c.do, err, out)
		}
	}

	if err := exec.Command(path, "sh", "-c", "exit 3").Run(); err == nil || err.Error() != "exit status 3" {
		t.Errorf("the command's own failure becomes %v", err)
	}
}
