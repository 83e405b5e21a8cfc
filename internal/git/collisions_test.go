package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/stick"
)

// collide shows the collisions of the repository at dir, one a line.
func collide(t *testing.T, ctx context.Context, dir string) (found []string, seen Collisions) {
	t.Helper()
	seen, err := Client{}.Collisions(ctx, dir, Known{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return describeCollisions(seen), seen
}

// describeCollisions shows collisions, one a line.
func describeCollisions(seen Collisions) (found []string) {
	found = []string{}
	for _, c := range seen.Found {
		kind := "both"
		if c.Conflict {
			kind = c.Kind
		}
		found = append(found,
			fmt.Sprintf("%s × %s: %q %s %v × %v", c.A.Name, c.B.Name, c.Path, kind, c.ALines, c.BLines))
	}

	return found
}

// numbered is a file of n lines, of which some are replaced.
func numbered(n int, other map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if s, ok := other[i]; ok {
			b.WriteString(s)
			continue
		}
		fmt.Fprintln(&b, i)
	}

	return b.String()
}

// pairOfTrees makes a repository with a file of 30 lines, and a linked worktree on the branch fix.
func pairOfTrees(t *testing.T) (dir, fix string) {
	t.Helper()
	dir, _ = repository(t)
	write(t, dir, "n.txt", numbered(30, nil))
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "numbers")
	fix = filepath.Join(t.TempDir(), "fix")
	git(t, dir, "worktree", "add", "-q", "-b", "fix", fix)
	return dir, fix
}

func TestCollisions(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, dir, fix string)
		want   []string
	}{
		{"nothing", func(*testing.T, string, string) {}, nil},
		{"one side only", func(t *testing.T, dir, _ string) { write(t, dir, "n.txt", "") }, nil},
		{"several places of one file, of which two collide", func(t *testing.T, dir, fix string) {
			write(t, dir, "n.txt", numbered(30, map[int]string{2: "two\n", 10: "ten\nten\n", 20: "twenty\n"}))
			write(t, fix, "n.txt", numbered(30, map[int]string{10: "X\n", 21: "", 28: "Y\n"}))
		}, []string{`main × fix: "n.txt" contents [10-11 21] × [10 20]`}},
		{"staged here, not added there", func(t *testing.T, dir, fix string) {
			write(t, dir, "new.txt", "a\n")
			git(t, dir, "add", "new.txt")
			write(t, fix, "new.txt", "b\nb\n")
		}, []string{`main × fix: "new.txt" contents [1] × [1-2]`}},
		{"what is staged is one thing, and what lies there another", func(t *testing.T, dir, fix string) {
			write(t, dir, "n.txt", "staged\n")
			git(t, dir, "add", "n.txt")
			write(t, dir, "n.txt", numbered(30, nil))
			write(t, fix, "n.txt", numbered(30, map[int]string{1: "one\n"}))
		}, nil},
		{"lines taken out, elsewhere", func(t *testing.T, dir, fix string) {
			write(t, dir, "n.txt", numbered(30, map[int]string{1: "", 2: ""}))
			write(t, fix, "n.txt", numbered(30, map[int]string{20: "", 21: ""}))
		}, []string{`main × fix: "n.txt" both [1] × [19]`}},
		{"gone on both sides", func(t *testing.T, dir, fix string) {
			git(t, dir, "rm", "-q", "n.txt")
			git(t, fix, "rm", "-q", "n.txt")
		}, nil},
		{"a file that became a directory, and a change of it", func(t *testing.T, dir, fix string) {
			git(t, dir, "rm", "-q", "n.txt")
			write(t, dir, "n.txt/x", "x\n")
			write(t, fix, "n.txt", numbered(30, map[int]string{3: "three\n"}))
		}, []string{`main × fix: "n.txt" file/directory [] × [3]`}},
		{"renamed here, changed there", func(t *testing.T, dir, fix string) {
			git(t, dir, "mv", "n.txt", "m.txt")
			write(t, fix, "n.txt", numbered(30, map[int]string{3: "three\n"}))
		}, []string{`main × fix: "n.txt" both [] × [3]`}},
		{"a name that looks like a pattern, and one that looks like a flag", func(t *testing.T, dir, fix string) {
			for i, d := range []string{dir, fix} {
				write(t, d, ":(glob)*", fmt.Sprintln(i))
				write(t, d, "-x", fmt.Sprintln(i))
				write(t, d, "~\n\t\"\\\xff", fmt.Sprintln(i))
			}
		}, []string{
			`main × fix: "-x" contents [1] × [1]`, `main × fix: ":(glob)*" contents [1] × [1]`,
			`main × fix: "~\n\t\"\\\xff" contents [1] × [1]`,
		}},
		{"git variables of a hook, and settings of a person", func(t *testing.T, dir, fix string) {
			t.Setenv("GIT_DIR", filepath.Join(dir, "nowhere"))
			t.Setenv("GIT_INDEX_FILE", filepath.Join(dir, "no-index"))
			for _, s := range []string{
				"diff.noprefix true",
				"diff.external false",
				"color.ui always",
				"core.quotePath false",
				"merge.conflictStyle diff3",
				"core.splitIndex true",
			} {
				k, v, _ := strings.Cut(s, " ")
				git(t, dir, "config", k, v)
			}

			write(t, dir, "n.txt", numbered(30, map[int]string{3: "A\n"}))
			write(t, fix, "n.txt", numbered(30, map[int]string{3: "B\n"}))
			git(t, fix, "add", ".")
		}, []string{`main × fix: "n.txt" contents [3] × [3]`}},
		{"another git is writing the index", func(t *testing.T, dir, fix string) {
			write(t, dir, "n.txt", "A\n")
			write(t, fix, "n.txt", "B\n")
			write(t, dir, ".git/index.lock", "")
		}, []string{`main × fix: "n.txt" contents [1] × [1]`}},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, fix := pairOfTrees(t)
			tt.change(t, dir, fix)
			before := files(t, filepath.Join(dir, ".git"))
			got, seen := collide(t, t.Context(), dir)
			if diff := cmp.Diff(append([]string{}, tt.want...), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(seen.LeftOut) > 0 {
				t.Errorf("left out: %v", seen.LeftOut)
			}
			if diff := cmp.Diff(before, files(t, filepath.Join(dir, ".git"))); diff != "" {
				t.Errorf("the repository was written to (-before +after)\n%s", diff)
			}
		})
	}
}

// files are all files below dir with what they hold.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		found[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return found
}

// TestCollisionsLeaveNothing: no hook of the repository runs, and nothing stays in the temporary
// directory, whose name may hold what separates paths in a list.
func TestCollisionsLeaveNothing(t *testing.T) {
	dir, fix := pairOfTrees(t)
	moved := filepath.Join(t.TempDir(), "a:b\"c")
	if err := os.Rename(dir, moved); err != nil {
		t.Skip("no such name here:", err)
	}
	git(t, moved, "worktree", "repair", fix)

	called := filepath.Join(t.TempDir(), "called")
	for _, hook := range []string{"post-index-change", "reference-transaction", "fsmonitor-watchman"} {
		write(t, moved, ".git/hooks/"+hook, "#!/bin/sh\necho "+hook+" >>'"+called+"'\n")
		if err := os.Chmod(filepath.Join(moved, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	git(t, moved, "config", "core.fsmonitor", filepath.Join(moved, ".git/hooks/fsmonitor-watchman"))
	write(t, moved, "n.txt", "A\n")
	write(t, fix, "n.txt", "B\n")
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	found, _ := collide(t, t.Context(), moved)
	if len(found) != 1 {
		t.Errorf("found %v", found)
	}
	if b, err := os.ReadFile(called); err == nil {
		t.Errorf("hooks ran: %s", b)
	}
	if left := files(t, tmp); len(left) > 0 {
		t.Errorf("files were left: %v", left)
	}
}

// TestCollisionsSameMoment: a file that was changed in the moment in which the index was written, and
// to the same size, is seen all the same.
func TestCollisionsSameMoment(t *testing.T) {
	dir, fix := pairOfTrees(t)
	write(t, fix, "n.txt", "B\n")
	index := filepath.Join(dir, ".git/index")
	write(t, dir, "same.txt", "aaaa\n")
	git(t, dir, "add", "same.txt")
	git(t, dir, "commit", "-q", "-m", "same")
	write(t, dir, "same.txt", "bbbb\n")
	info, err := os.Stat(filepath.Join(dir, "same.txt"))
	if err != nil {
		t.Fatal(err)
	}

	if err := os.Chtimes(index, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	write(t, fix, "same.txt", "cccc\n")
	found, _ := collide(t, t.Context(), dir)
	if diff := cmp.Diff([]string{`main × fix: "same.txt" contents [1] × [1]`}, found); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestCollisionsInTime: when the time is up, what was found by then is told, and what wasn't
// compared.
func TestCollisionsInTime(t *testing.T) {
	dir, fix := pairOfTrees(t)
	write(t, dir, "n.txt", "A\n")
	write(t, fix, "n.txt", "B\n")
	trees, err := Client{}.Worktrees(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}

	s, err := Client{}.newScratch(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.removeFiles()
	x := &comparison{scratch: s, dir: dir, cache: map[[2]string]map[string]string{}}
	x.readSides(t.Context(), trees)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	x.compareSides(over)
	diff := cmp.Diff([]LeftOut{{"1 of 1 pairs", "time ran out"}}, x.result.LeftOut)
	if diff != "" || len(x.result.Found) > 0 {
		t.Errorf("found %v (-want +got)\n%s", x.result.Found, diff)
	}
	if _, err := (Client{}).Collisions(over, dir, Known{}, nil); err == nil {
		t.Error("no failure where nothing could be asked in time")
	}
}

func TestCollisionsBounds(t *testing.T) {
	dir, fix := pairOfTrees(t)
	for i := range maxPaths + 3 {
		write(t, dir, fmt.Sprintf("f%03d", i), "a\n")
		write(t, fix, fmt.Sprintf("f%03d", i), "b\n")
	}

	for i := range maxSides {
		git(t, dir, "worktree", "add", "-q", "--no-checkout", "--detach", filepath.Join(t.TempDir(), fmt.Sprint(i)))
	}
	large, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		t.Fatal(err)
	}

	if err := large.Truncate(maxFile + 1); err != nil {
		t.Fatal(err)
	}
	large.Close()
	seen, err := Client{}.Collisions(t.Context(), dir, Known{}, nil)
	if err != nil {
		t.Fatal(err)
	}

	why := map[stick.Words]int{}
	for _, l := range seen.LeftOut {
		why[l.Why]++
	}

	want := map[stick.Words]int{
		"3 more files that both changed": 1, "large is uncommitted and larger than 64 MB": 1,
		"only 40 working trees are compared": 2,
	}
	for w, n := range want {
		if why[w] != n {
			t.Errorf("%q is said %d times, not %d: %v", w, why[w], n, seen.LeftOut)
		}
	}

	if len(seen.Sides) != maxSides {
		t.Errorf("%d sides", len(seen.Sides))
	}
}

func TestVersion(t *testing.T) {
	for said, code := range map[string]stick.Code{
		"git version 2.38.0": "", "git version 2.39.5 (Apple Git-154)": "",
		"git version 2.50.1.windows.1": "", "git version 3.0.0-rc1": "",
		"something else": "", "git version 2.37.9": stick.CodeGitTooOld, "git version 1.99": stick.CodeGitTooOld,
	} {
		if err := checkVersion(said, 2, 38); stick.CodeOf(err) != code {
			t.Errorf("%s: %v", said, err)
		}
	}

	if _, err := (Client{Path: filepath.Join(t.TempDir(), "git")}).Collisions(t.Context(), ".", Known{}, nil); stick.CodeOf(err) != stick.CodeGitMissing {
		t.Errorf("without git: %v", err)
	}
	if _, err := (Client{}).Collisions(t.Context(), t.TempDir(), Known{}, nil); stick.CodeOf(err) != stick.CodeNoRepository {
		t.Errorf("outside of a repository: %v", err)
	}
}
