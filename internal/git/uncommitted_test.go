package git

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/stick"
)

// TestUncommitted lists each kind of change, and names as they are.
func TestUncommitted(t *testing.T) {
	dir, _ := repository(t)
	for _, name := range []string{"both", "gone", "kept", "moved from", "odd\n\"ü", "tree", "*"} {
		write(t, dir, name, name+"\n")
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "more")
	for _, name := range []string{"both", "tree", "odd\n\"ü", "new/file", "new/staged"} {
		write(t, dir, name, "changed\n")
	}
	git(t, dir, "add", "both", "new/staged")
	write(t, dir, "both", "changed again\n")
	write(t, dir, ".gitignore", "ignored\n")
	write(t, dir, "ignored", "x")
	git(t, dir, "rm", "-q", "gone")
	git(t, dir, "mv", "moved from", "moved to")

	list := func(paths ...string) string {
		all, err := Client{}.Uncommitted(t.Context(), dir, paths...)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, u := range all {
			staged := ""
			if u.IsStaged() {
				staged = ", staged"
			}
			fmt.Fprintf(&b, "%c%c %q%s; ", u.Index, u.Tree, u.Path, staged)
		}

		return strings.TrimSuffix(b.String(), "; ")
	}

	want := `MM "both", staged; D  "gone", staged; D  "moved from", staged; A  "moved to", staged; A  "new/staged", staged;  M "odd\n\"ü";  M "tree"; ?? ".gitignore"; ?? "new/file"`
	if got := list(); got != want {
		t.Errorf("uncommitted is\n%s\nwant\n%s", got, want)
	}
	if got, want := list("new", "*", "tree"), `A  "new/staged", staged;  M "tree"; ?? "new/file"`; got != want {
		t.Errorf("of some paths\n%s\nwant\n%s", got, want)
	}
	if _, err := (Client{}).Uncommitted(t.Context(), t.TempDir()); stick.CodeOf(err) != stick.CodeGitFailed {
		t.Errorf("outside of a repository: %v", err)
	}
}

// TestUncommittedInAConflict: a file in conflict isn't staged.
func TestUncommittedInAConflict(t *testing.T) {
	dir, _ := repository(t)
	git(t, dir, "checkout", "-qb", "other")
	write(t, dir, "a.txt", "theirs\n")
	git(t, dir, "commit", "-qam", "theirs")
	git(t, dir, "checkout", "-q", "-")
	if err := os.Remove(filepath.Join(dir, "a.txt")); err != nil {
		t.Fatal(err)
	}

	git(t, dir, "commit", "-qam", "gone")
	if err := exec.Command("git", "-C", dir, "merge", "-q", "other").Run(); err == nil {
		t.Fatal("there is no conflict")
	}

	all, err := Client{}.Uncommitted(t.Context(), dir)
	if err != nil || len(all) != 1 || !all[0].IsConflict() || all[0].IsStaged() {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestCommittedSince: of each file the newest commit since a time counts, and none before it.
func TestCommittedSince(t *testing.T) {
	dir, _ := repository(t)
	commit := func(at int, names ...string) {
		for _, name := range names {
			write(t, dir, name, fmt.Sprint(at))
		}
		git(t, dir, "add", "-A")
		cmd := exec.Command("git", "-C", dir, "commit", "-qm", "x")
		cmd.Env = append(readEnvironment(os.Environ(), false), fmt.Sprintf("GIT_COMMITTER_DATE=@%d +0000", at))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}

	commit(2000000000, "old", "*", "a b")
	commit(2000000100, "*")
	commit(2000000200, "a b", "odd\n\"ü", "not asked")
	commit(2000000300, "a b")
	got, err := Client{}.CommittedSince(t.Context(), dir, 2000000100*1000,
		[]string{"old", "*", "a b", "odd\n\"ü", "never"})
	want := map[string]stick.Time{"*": 2000000100000, "a b": 2000000300000, "odd\n\"ü": 2000000200000}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}

	empty := t.TempDir()
	git(t, empty, "init", "-q")
	if got, err := (Client{}).CommittedSince(t.Context(), empty, 1, []string{"a"}); err != nil || len(got) > 0 {
		t.Errorf("without a commit: %v, %v", got, err)
	}
}
