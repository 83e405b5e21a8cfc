package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m)) }

// git runs the real git in dir.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = readEnvironment(os.Environ(), false)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}

	return strings.TrimSpace(string(out))
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

var oneCommit testenv.Template

// repository makes a repository with one commit, and gives the commit's id.
func repository(t testing.TB) (dir, head string) {
	t.Helper()
	dir = t.TempDir()
	err := oneCommit.Copy(dir, func() error {
		git(t, dir, "init", "-q")
		write(t, dir, "a.txt", "one\ntwo\nthree\n")
		write(t, dir, "old name.txt", "some text that is long enough for a rename to be seen\n")
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-q", "-m", "first")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	return dir, git(t, dir, "rev-parse", "HEAD")
}

func snapshot(t testing.TB, dir string) *stick.Workspace {
	t.Helper()
	w, err := Client{}.Snapshot(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestSnapshot(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, dir string)
		branch string
		dirty  []string
	}{
		{"clean", func(*testing.T, string) {}, "main", []string{}},
		{"changed, staged, untracked", func(t *testing.T, dir string) {
			write(t, dir, "a.txt", "changed")
			write(t, dir, "staged.txt", "")
			git(t, dir, "add", "staged.txt")
			write(t, dir, "new/x/y.txt", "")
		}, "main", []string{"a.txt", "staged.txt", "new/"}},
		{"rename", func(t *testing.T, dir string) {
			git(t, dir, "mv", "old name.txt", "new name.txt")
		}, "main", []string{"new name.txt", "old name.txt"}},
		{"strange names", func(t *testing.T, dir string) {
			write(t, dir, "? line\nend \t\"quoted\".txt", "")
			write(t, dir, " ü ", "")
		}, "main", []string{" ü ", "? line\nend \t\"quoted\".txt"}},
		{"ignored", func(t *testing.T, dir string) {
			write(t, dir, ".git/info/exclude", "*.log\n")
			write(t, dir, "x.log", "")
		}, "main", []string{}},
		{"detached", func(t *testing.T, dir string) { git(t, dir, "checkout", "-q", "--detach") }, "", []string{}},
		{
			"branch with a slash",
			func(t *testing.T, dir string) { git(t, dir, "checkout", "-q", "-b", "feat/x") },
			"feat/x",
			[]string{},
		},
		{
			"index is locked by another git",
			func(t *testing.T, dir string) { write(t, dir, ".git/index.lock", "") },
			"main",
			[]string{},
		},
		{"git variables of a hook", func(t *testing.T, dir string) {
			t.Setenv("GIT_DIR", filepath.Join(dir, "nowhere"))
			t.Setenv("GIT_INDEX_FILE", filepath.Join(dir, "no-index"))
		}, "main", []string{}},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, head := repository(t)
			tt.change(t, dir)
			want := &stick.Workspace{Head: head, Branch: tt.branch, Dirty: tt.dirty, DirtyCount: len(tt.dirty)}
			if diff := cmp.Diff(want, snapshot(t, dir)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestSnapshotConflict(t *testing.T) {
	dir, head := repository(t)
	git(t, dir, "checkout", "-q", "-b", "other")
	write(t, dir, "a.txt", "theirs\n")
	git(t, dir, "commit", "-q", "-a", "-m", "theirs")
	git(t, dir, "checkout", "-q", "--detach", head)
	write(t, dir, "a.txt", "ours\n")
	git(t, dir, "commit", "-q", "-a", "-m", "ours")
	if err := exec.Command("git", "-C", dir, "merge", "-q", "other").Run(); err == nil {
		t.Fatal("there is no conflict")
	}
	if w := snapshot(t, dir); !cmp.Equal(w.Dirty, []string{"a.txt"}) {
		t.Errorf("got %+v", w)
	}
}

func TestSnapshotWithoutCommits(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, dir, "a.txt", "")
	want := &stick.Workspace{Branch: "main", Dirty: []string{"a.txt"}, DirtyCount: 1}
	if diff := cmp.Diff(want, snapshot(t, dir)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSnapshotNamesTwoHundred(t *testing.T) {
	dir, _ := repository(t)
	for i := range 300 {
		write(t, dir, fmt.Sprintf("new%03d.txt", i), "")
	}
	w := snapshot(t, dir)
	if len(w.Dirty) != 200 || w.DirtyCount != 300 {
		t.Errorf("got %d of %d, want 200 of 300", len(w.Dirty), w.DirtyCount)
	}
}

func TestSnapshotFails(t *testing.T) {
	dir, _ := repository(t)
	t.Run("no git", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, err := (Client{}).Snapshot(t.Context(), dir); !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("got %v, want %v", err, exec.ErrNotFound)
		}
	})

	t.Run("no checkout", func(t *testing.T) {
		_, err := Client{}.Snapshot(t.Context(), t.TempDir())
		if _, ok := errors.AsType[*exec.ExitError](err); !ok || !strings.Contains(err.Error(), "not a git repository") {
			t.Errorf("got %v", err)
		}
	})

	t.Run("no directory", func(t *testing.T) {
		if _, err := (Client{}).Snapshot(t.Context(), filepath.Join(dir, "gone")); err == nil {
			t.Error("it worked")
		}
	})

	t.Run("no time", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := (Client{}).Snapshot(ctx, dir); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	})
}

func TestEnvironment(t *testing.T) {
	got := readEnvironment(
		[]string{"HOME=/h", "GIT_DIR=/x", "git_index_file=y", "GIT=1", "PATH=/bin", "GIT_OPTIONAL_LOCKS=1"},
		false,
	)
	want := []string{"HOME=/h", "GIT=1", "PATH=/bin", "GIT_OPTIONAL_LOCKS=0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	dir, _ := repository(b)
	for b.Loop() {
		snapshot(b, dir)
	}
}

// A look at a tree starts no program that the repository's own configuration names; what the user has set up
// stays.
func TestALookStartsNoProgramOfTheRepository(t *testing.T) {
	dir, head := repository(t)
	other := filepath.Join(t.TempDir(), "other")
	git(t, dir, "worktree", "add", "-q", "-b", "side", other)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+ran+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}

	for _, key := range []string{"core.fsmonitor", "filter.x.clean", "filter.a=b.c.clean"} {
		git(t, dir, "config", key, program)
	}
	git(t, dir, "config", "filter.x.required", "true")
	write(t, dir, ".gitattributes", "*.txt filter=x\n*.md filter=a=b.c\n")

	for _, tree := range []string{dir, other} {
		write(t, tree, ".gitattributes", "*.txt filter=x\n")
		write(t, tree, "a.txt", "ONE\ntwo\n"+tree+"\n")
		write(t, tree, "new.txt", tree)
	}

	w, err := (Client{}).Snapshot(t.Context(), dir)
	if err != nil || w.Head != head || w.DirtyCount == 0 {
		t.Errorf("the snapshot is %+v, %v", w, err)
	}

	found, err := (Client{}).Collisions(t.Context(), dir, Known{}, nil)
	if err != nil || len(found.Found) == 0 {
		t.Errorf("the collisions are %+v, %v", found, err)
	}
	if b, err := os.ReadFile(ran); err == nil {
		t.Errorf("programs ran:\n%s", b)
	}
	env := (Client{}).noFilters(t.Context(), dir)
	if !strings.Contains(strings.Join(env, "\n"), "=filter.a=b.c.clean") {
		t.Errorf("the variables are %q", env)
	}
}
