//go:build unix

package task_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestWorktreeInclude: the files that .worktreeinclude names are copied as those of [worker] copy are. It
// needn't be committed, its patterns mean what they do in a .gitignore, and one that is no pattern does no
// harm.
func TestWorktreeInclude(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.Commit("tracked.local", "tracked\n")
	s.Commit(".gitignore", ".env\nsecrets/\n*.local\nhuge\n*.tmp\n")
	s.Commit(".talking-stick.toml", "[worker]\ncopy = ['.env']\n")
	s.Git("branch", "-f", "integration", "HEAD")
	s.File(".gitignore", ".env\nsecrets/\n*.local\nhuge\n") // *.tmp is ignored in the worktree alone
	for name, text := range map[string]string{
		".worktreeinclude": "# mine\r\n.env\r\nsecrets/*\r\n!secrets/prod\n*.local\n*.txt\n*.tmp\nhuge\n[\n" +
			".talking-stick\n/worktrees\n",
		".env":               "KEY=1\n",
		"secrets/a/key":      "k\n",
		"secrets/prod":       "not named\n",
		"app/my.local":       "mine\n",
		"notes.txt":          "nobody ignores it\n",
		"work.tmp":           "nobody ignores it here\n",
		".talking-stick/own": "tt's\n",
		"huge":               string(make([]byte, 11<<20)),
	} {
		s.File(name, text)
	}

	outside := filepath.Join(s.Dir("outside"), "key")
	if err := errors.Join(os.WriteFile(outside, []byte("not yours\n"), 0o600),
		os.Symlink(outside, filepath.Join(s.Work, "secrets", "out"))); err != nil {
		t.Fatal(err)
	}

	want := []string{".env", "app/my.local", "secrets/a/key"}
	res := ann.Spawn("one").That("copies", func(r task.WorkerSpawnResult) bool {
		slices.Sort(r.Copied)
		return slices.Equal(r.Copied, want)
	}).OK()
	left := string(stick.JoinWords(res.LeftOut, "\n"))
	s.Check(len(res.LeftOut) == 2 && strings.Contains(left, "huge: it is larger than 10 MB") &&
		strings.Contains(left, "secrets/out: it isn't a plain file in its directory"), "left out: %s", left)
	s.Check(s.GitIn(res.Worktree, "status", "--porcelain") == "", "the copies are changes")

	// Another task's worktree is in nobody's way, and of the copies nothing is named as lost.
	two := s.ReadyToMerge("two", ann, bob)
	if _, err := os.Stat(filepath.Join(two.Path, "secrets", "a", "key")); err != nil {
		t.Fatal(err)
	}
	merged := bob.Merge("two").OK().Merged[0]
	s.Check(len(merged.Ignored) == 0 && len(merged.Left) == 0 && merged.Rescue == "", "%+v", merged.Remains)

	// What the worker has added beside them is.
	three := s.ReadyToMerge("three", ann, bob)
	if err := os.WriteFile(filepath.Join(three.Path, "secrets", "new"), []byte("made there\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	merged = bob.Merge("three").OK().Merged[0]
	s.Check(slices.Equal(merged.Ignored, []string{"secrets/"}) && len(merged.Left) == 0, "%+v", merged.Remains)

	// Cancelled with its copies and no work, a task leaves nothing, and no rescue.
	gone := ann.WorkerCancel(task.WorkerCancelParams{TaskID: "one", Delete: true}).OK()
	s.Check(gone.Free && gone.Rescue == "" && len(gone.Ignored) == 0, "%+v", gone)
}

// TestWorktreeInclude_Bounds: a list that can't be followed, and files beyond the limits, are named. The task
// begins.
func TestWorktreeInclude_Bounds(t *testing.T) {
	s, ann, _ := cast(t, "")
	s.Commit(".gitignore", ".worktreeinclude\n.env\nmany/\n")
	s.Commit(".talking-stick.toml", "[worker]\ncopy = ['.env']\n")
	s.Git("branch", "-f", "integration", "HEAD")
	s.File(".env", "KEY=1\n")
	include := filepath.Join(s.Work, ".worktreeinclude")

	for _, c := range []struct {
		name, why string
		make      func() error
	}{
		{"pipe", "it isn't a plain file in its directory", func() error { return syscall.Mkfifo(include, 0o600) }},
		{"link", "it isn't a plain file in its directory", func() error { return os.Symlink("/etc/hosts", include) }},
		{"long", "it is larger than 64 KB", func() error { return os.WriteFile(include, make([]byte, 64<<10+1), 0o600) }},
	} {
		if err := c.make(); err != nil {
			t.Fatal(err)
		}
		res := ann.Spawn(c.name).OK()
		s.Check(slices.Equal(res.Copied, []string{".env"}) &&
			slices.Equal(res.LeftOut, []stick.Words{stick.Words("all files of .worktreeinclude: " + c.why)}),
			"%s: %+v", c.name, res.CopiedFiles)
		if err := os.Remove(include); err != nil {
			t.Fatal(err)
		}
	}

	// .env counts as well: of the thousand others one is too much, and so is the second.
	s.File(".worktreeinclude", "many/\n")
	for i := range 1001 {
		s.File(fmt.Sprintf("many/%04d", i), "")
	}
	res := ann.Spawn("many").OK()
	s.Check(len(res.Copied) == 1000 && slices.Equal(res.LeftOut, []stick.Words{
		"many/0999: more than 1000 files are too many", "many/1000: more than 1000 files are too many",
	}), "%d files are copied, left out: %v", len(res.Copied), res.LeftOut)
}
