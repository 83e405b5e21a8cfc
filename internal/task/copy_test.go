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

	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestNewWorktreesGetCopies of what git ignores, and of nothing else: not of what is tracked, nor of what
// lies outside of the repository, nor of what a link, a FIFO or a huge file would bring.
func TestNewWorktreesGetCopies(t *testing.T) {
	s, ann, _ := cast(t, "")
	s.Commit(".gitignore", ".env\nsecrets/\nnode_modules/\nhuge\nlocal.*\n")
	s.Commit("config/app.ini", "tracked\n")
	s.Commit(".talking-stick.toml",
		"[worker]\ncopy = ['.env', 'secrets', 'huge', 'config', 'notes.txt', '**/local.*', 'missing']\n")
	s.Git("branch", "-f", "integration", "HEAD")
	s.File(".env", "KEY=1\n")
	s.File("secrets/a/key", "k\n")
	s.File("config/local.ini", "mine\n")
	s.File("config/other.ini", "nobody ignores it\n")
	s.File("notes.txt", "nobody ignores it\n")
	s.File("node_modules/x", "not named\n")
	outside := filepath.Join(s.Dir("outside"), "key")
	if err := os.WriteFile(outside, []byte("not yours\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	work := func(name string) string { return filepath.Join(s.Work, filepath.FromSlash(name)) }
	for _, err := range []error{
		os.Chmod(work(".env"), 0o600),
		os.Symlink(outside, work("secrets/out")),
		os.Symlink(filepath.Dir(outside), work("secrets/dir")),
		os.Symlink("a/key", work("secrets/in")),
		syscall.Mkfifo(work("secrets/fifo"), 0o600),
		os.WriteFile(work("huge"), make([]byte, 11<<20), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}

	res := ann.Spawn("one").That("copies", func(r task.WorkerSpawnResult) bool {
		slices.Sort(r.Copied)
		return slices.Equal(r.Copied, []string{".env", "config/local.ini", "secrets/a/key", "secrets/in"})
	}).OK()

	left := string(stick.JoinWords(res.LeftOut, "\n"))
	for _, name := range []string{"huge: it is larger than 10 MB", "secrets/out: ", "secrets/dir: "} {
		if !strings.Contains(left, name) {
			t.Errorf("%s isn't named as left out: %s", name, left)
		}
	}

	for name, want := range map[string]string{
		".env": "KEY=1\n", "secrets/in": "k\n", "config/local.ini": "mine\n", "config/app.ini": "tracked\n",
	} {
		path := filepath.Join(res.Worktree, filepath.FromSlash(name))
		b, err := os.ReadFile(path)
		info, lerr := os.Lstat(path)
		if err != nil || string(b) != want || lerr != nil || !info.Mode().IsRegular() {
			t.Errorf("%s is %q (%v, %v)", name, b, err, lerr)
		}
		if name == ".env" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
	}

	for _, name := range []string{
		"secrets/out", "secrets/dir", "secrets/fifo", "huge", "notes.txt", "config/other.ini", "node_modules",
	} {
		if _, err := os.Lstat(filepath.Join(res.Worktree, filepath.FromSlash(name))); err == nil {
			t.Errorf("%s was copied", name)
		}
	}
	s.Check(s.GitIn(res.Worktree, "status", "--porcelain") == "", "the copies are changes")
}

// TestCopiesStayInsideTheWorktree: the branch has a link where the checkout has a directory.
func TestCopiesStayInsideTheWorktree(t *testing.T) {
	s, ann, _ := cast(t, "")
	outside := s.Dir("outside")
	s.Commit(".gitignore", "secrets/key\n.env\n")
	s.Commit(".talking-stick.toml", "[worker]\ncopy = ['secrets', '.env']\n")
	s.File(".env", "KEY=1\n")
	if err := os.Symlink(outside, filepath.Join(s.Work, "secrets")); err != nil {
		t.Fatal(err)
	}

	s.Git("add", "-f", "secrets")
	s.Git("commit", "-q", "-m", "a link")
	s.Git("branch", "-f", "integration", "HEAD")
	s.Git("rm", "-q", "secrets")
	s.File("secrets/key", "k\n")
	res := ann.Spawn("one").OK()
	if _, err := os.Lstat(filepath.Join(outside, "key")); err == nil ||
		!slices.Equal(res.Copied, []string{".env"}) ||
		len(res.LeftOut) != 1 ||
		!strings.HasPrefix(string(res.LeftOut[0]), "secrets/key: a link") {
		t.Errorf("the copy went through a link out of the worktree, or kept the others from being copied: %+v",
			res.CopiedFiles)
	}

	if err := os.RemoveAll(res.Worktree); err != nil {
		t.Fatal(err)
	}
	ann.Spawn("one").That("made again, with copies", func(r task.WorkerSpawnResult) bool {
		return slices.Equal(r.Copied, []string{".env"}) && r.Already
	})
}

// TestCleanup_NestedRepositoryKept, because no rescue can hold it. One that no pattern can mean
// goes, as before.
func TestCleanup_NestedRepositoryKept(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.Commit(".gitignore", "data/\nbuild/\n")
	s.Commit(".talking-stick.toml", "[worker]\nkeep = ['data/']\n")
	s.Git("branch", "-f", "integration", "HEAD")
	work := s.ReadyToMerge("one", ann, bob)
	for _, name := range []string{"data/inner", "build/inner"} {
		s.GitIn(work.Path, "init", "-q", name)
	}
	inner := filepath.Join(work.Path, "data", "inner")

	for _, name := range []string{"data/inner/x", "data/top"} {
		if err := os.WriteFile(filepath.Join(work.Path, filepath.FromSlash(name)), []byte("mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	one := bob.Merge("one").OK().Merged[0]
	s.Check(
		len(one.Left) == 1 &&
			strings.Contains(string(one.Left[0]), "can't keep data/inner, because it is a repository") &&
			len(one.Removed) == 0,
		"%+v", one.Remains,
	)
	if _, err := os.Stat(filepath.Join(inner, "x")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(inner); err != nil {
		t.Fatal(err)
	}
	again := bob.WorkerMerge(task.WorkerMergeParams{}).OK().Cleaned // a merge of whatever there is
	s.Check(
		len(again) == 1 &&
			again[0].TaskID == "one" &&
			slices.Equal(again[0].Kept, []string{"data/top"}) &&
			len(again[0].Left) == 0,
		"%+v", again,
	)
}

// TestCleanup_CopiedDirectory: a directory of copies isn't named as lost, unless something in it has changed.
func TestCleanup_CopiedDirectory(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.Commit(".gitignore", "secrets/\n")
	s.Commit(".talking-stick.toml", "[worker]\ncopy = ['secrets']\n")
	s.Git("branch", "-f", "integration", "HEAD")
	s.File("secrets/a/key", "k\n")
	s.File("secrets/b", "b\n")

	s.ReadyToMerge("same", ann, bob)
	one := bob.Merge("same").OK().Merged[0]
	s.Check(len(one.Ignored) == 0 && len(one.Removed) == 2, "%+v", one.Remains)

	work := s.ReadyToMerge("changed", ann, bob)
	if err := os.WriteFile(filepath.Join(work.Path, "secrets", "b"), []byte("another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	two := bob.Merge("changed").OK().Merged[0]
	s.Check(slices.Equal(two.Ignored, []string{"secrets/"}) && len(two.Removed) == 2, "%+v", two.Remains)
}

// TestCleanup_IncompleteRescue: a rescue takes no directory with more than 1,000 ignored files. Few
// files among many are kept.
func TestCleanup_IncompleteRescue(t *testing.T) {
	storetest.SkipQuick(t, "worktrees with a thousand ignored files")

	s, ann, bob := cast(t, "")
	s.Commit(".gitignore", "*.sav\nbuild/\ndata/\n")
	s.Commit(".talking-stick.toml", "[worker]\nkeep = ['*.sav', 'build/report.txt', 'data/']\n")
	s.Git("branch", "-f", "integration", "HEAD")

	fill := func(work *scene.Work, pattern string) {
		for i := range 1001 {
			path := filepath.Join(work.Path, fmt.Sprintf(pattern, i))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}

	one := s.ReadyToMerge("one", ann, bob)
	fill(one, "%04d.sav")
	fill(one, "data/%d/top")
	left := bob.Merge("one").OK().Merged[0]
	s.Check(
		left.Rescue == "" &&
			len(left.Kept) == 0 &&
			len(left.Left) == 1 &&
			strings.Contains(string(left.Left[0]), "0003.sav, 0004.sav and 1997 other files"),
		"%+v", left.Remains,
	)

	s.GitIn(one.Path, "clean", "-fdqX", "-e", "!.worker-ctx.json")
	s.Check(len(bob.Merge("one").OK().Merged[0].Left) == 0, "its worktree is still there")

	two := s.ReadyToMerge("two", ann, bob)
	fill(two, "build/%d")
	if err := os.WriteFile(filepath.Join(two.Path, "build", "report.txt"), []byte("all is well\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := bob.Merge("two").OK().Merged[0]
	s.Check(
		slices.Equal(kept.Kept, []string{"build/report.txt"}) && slices.Equal(bob.Holds(kept.Rescue), kept.Kept),
		"%+v", kept.Remains,
	)
}

// TestCleanup_UncommittedWorkKept: a copy of the files that the project names outlives the worktree. A file
// that the room's checkout has just so is neither named nor kept.
func TestCleanup_UncommittedWorkKept(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.Commit(".gitignore", ".env\n*.log\nbuild/\n")
	s.Commit(".talking-stick.toml", "[worker]\ncopy = ['.env']\nkeep = ['.env', '*.log']\n")
	s.Git("branch", "-f", "integration", "HEAD")
	s.File(".env", "KEY=1\n")

	for name, env := range map[string]string{"one": "KEY=1\n", "two": "KEY=2\n"} {
		work := s.ReadyToMerge(name, ann, bob)
		for file, text := range map[string]string{
			".env": env, "build/x": "made anew\n", name + ".log": "it said so\n",
		} {
			path := filepath.Join(work.Path, filepath.FromSlash(file))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}

	one := bob.Merge("one").OK().Merged[0]
	s.Check(
		one.Rescue != "" &&
			slices.Equal(one.Kept, []string{"one.log"}) &&
			slices.Equal(one.Ignored, []string{"build/", "one.log"}),
		"%+v", one.Remains,
	)
	two := bob.Merge("two").OK().Merged[0]
	s.Check(two.Rescue != "" && slices.Equal(two.Kept, []string{".env", "two.log"}), "%+v", two.Remains)
	s.Check(slices.Equal(bob.Holds(two.Rescue), two.Kept), "the rescue holds %v", bob.Holds(two.Rescue))

	// what can't be kept keeps the worktree
	work := s.ReadyToMerge("three", ann, bob)
	huge := filepath.Join(work.Path, "huge.log")
	if err := os.WriteFile(huge, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}

	three := bob.Merge("three").OK().Merged[0]
	s.Check(len(three.Left) == 1 && strings.Contains(string(three.Left[0]), "huge.log") && len(three.Removed) == 0,
		"%+v", three.Remains)
	if _, err := os.Stat(huge); err != nil {
		t.Error(err)
	}
	if err := os.Remove(huge); err != nil {
		t.Fatal(err)
	}
	s.Check(len(bob.Merge("three").OK().Merged[0].Left) == 0, "its worktree is still there")
}
