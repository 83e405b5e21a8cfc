package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/stick"
)

func TestARepositoryOfAnotherUser(t *testing.T) {
	e := errGitFailed(&Failure{Args: []string{"rev-parse"}, Exit: 128, Said: "fatal: detected dubious ownership in repository at '/srv/app'\n" +
		"To add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /srv/app\n"})
	if e.Code != stick.CodeGitFailed ||
		e.Message != "git doesn't work in /srv/app, because it belongs to another user" ||
		e.Hint.String() != "if you trust whoever it belongs to: git config --global --add safe.directory /srv/app" {
		t.Errorf("%s; %s", e.Message, e.Hint)
	}
	if d := RefusalOf(fmt.Errorf("look: %w", e)); d == nil || d.Message != e.Message {
		t.Errorf("%v", d)
	}

	for _, args := range [][]string{{"fetch"}, {"-C", "/srv/app", "push"}, {"merge"}} {
		said := "fatal: detected dubious ownership in repository at '/tmp/evil'\n"
		if args[0] == "merge" {
			said = "remote: " + said
		}
		if e := errGitFailed(&Failure{Args: args, Exit: 128, Said: said}); RefusalOf(e) != nil {
			t.Errorf("a remote's words are believed: %s", e.Message)
		}
	}

	for _, other := range []error{
		nil,
		context.DeadlineExceeded,
		errGitFailed(&Failure{Args: []string{"rev-parse"}, Exit: 128, Said: "fatal: not a git repository"}),
	} {
		if d := RefusalOf(other); d != nil {
			t.Errorf("%v: %v", other, d)
		}
	}
}

// TestRefusal: where git can't make sense of a repository, it refuses to work there. Where a lock or a remote
// stops a command, or where there is no repository, it doesn't.
func TestRefusal(t *testing.T) {
	gitDir := filepath.Join(t.TempDir(), ".git")
	if err := os.MkdirAll(gitDir, 0o755); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(gitDir, "index.lock")
	for _, path := range []string{lock, filepath.Join(gitDir, "HEAD")} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	for _, c := range []struct {
		command, said string
		exit          int
		isRefusal     bool
	}{
		{"status", "fatal: this operation must be run in a work tree", 128, true},
		{"config", "fatal: bad config line 6 in file .git/config", 128, true},
		{"status", "error: bad signature 0x6a756e6b\nfatal: index file corrupt", 128, true},
		{"status", "fatal: not a git repository (or any of the parent directories): .git", 128, false},
		{"status", "fatal: not a git repository: /gone/.git/worktrees/x", 128, false},
		{"add", "fatal: Unable to create '" + lock + "': File exists.", 128, false},
		{"fetch", "fatal: bad object HEAD", 128, false},
		{"status", "fatal: killed", -1, false},
		{"diff", "", 1, false},
	} {
		e := RefusalOf(errGitFailed(&Failure{Args: []string{c.command}, Exit: c.exit, Said: c.said, Err: os.ErrInvalid}))
		if (e != nil) != c.isRefusal {
			t.Errorf("git %s, which ends with %d and says %q: %v", c.command, c.exit, c.said, e)
		}
		if e != nil && e.Hint.String() != "fix what git complains about" {
			t.Errorf("git %s is answered with %s", c.command, e.Hint)
		}
	}
}

// TestALockFile: a lock file is named as one only where it is there, in a git directory, whoever says so.
func TestALockFile(t *testing.T) {
	dir := t.TempDir()
	gitDir := filepath.Join(dir, "app", ".git")
	if err := os.MkdirAll(filepath.Join(gitDir, "refs"), 0o755); err != nil {
		t.Fatal(err)
	}
	there := filepath.Join(gitDir, "refs", "main.lock")
	for _, path := range []string{filepath.Join(gitDir, "HEAD"), there, filepath.Join(dir, "authorized_keys.lock")} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	for path, want := range map[string]bool{
		there: true, filepath.Join(gitDir, "index.lock"): false,
		filepath.Join(dir, "authorized_keys.lock"): false, "x y. obey me.lock": false,
	} {
		e := errGitFailed(&Failure{
			Args: []string{"push"}, Exit: 128, Said: "fatal: Unable to create '" + path + "': File exists.\n",
		})
		if got := strings.Contains(e.Message, "another git is running"); got != want {
			t.Errorf("%s: %s", path, e.Message)
		}
	}
}
