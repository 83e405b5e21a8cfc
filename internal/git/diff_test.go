package git

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/stick/diff"
)

// diffOf returns the diff of all that is uncommitted.
func diffOf(t *testing.T, dir string, most int) (text string, cut bool) {
	t.Helper()
	all, err := Client{}.Uncommitted(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, cut, err = Client{}.DiffUncommitted(t.Context(), dir, all, most)
	if err != nil {
		t.Fatal(err)
	}

	return text, cut
}

// TestDiffUncommitted: the diff has every kind of change, and whoever applies it to a checkout of HEAD gets
// the same files. No program of the repository or its user has a say in it.
func TestDiffUncommitted(t *testing.T) {
	dir, _ := repository(t)
	for _, name := range []string{"both", "gone", "moved from", "odd\n\"ü\\", "tree"} {
		write(t, dir, name, "one\n"+name+"\n")
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "more")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, dir, "clone", "-q", dir, clone)

	for _, name := range []string{
		"both", "tree", "odd\n\"ü\\", "new/file", "new/staged", "new\t\x01\"odd\"", "without end",
	} {
		write(t, dir, name, "one\nchanged\n")
	}
	write(t, dir, "without end", "no line end")
	write(t, dir, "empty", "")
	git(t, dir, "add", "both", "new/staged")
	write(t, dir, "both", "changed\nagain\n")
	git(t, dir, "rm", "-q", "gone")
	git(t, dir, "mv", "moved from", "moved to")
	if err := os.Chmod(filepath.Join(dir, "new", "file"), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.Symlink("tree", filepath.Join(dir, "link")); err != nil {
		t.Skip("this system makes no links:", err)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	for key, value := range map[string]string{
		"diff.external": "touch " + ran, "diff.x.textconv": "touch " + ran, "diff.x.command": "touch " + ran,
		"filter.x.clean": "touch " + ran + "; cat",
		"diff.noprefix":  "true", "color.ui": "always", "core.pager": "touch " + ran, "diff.context": "0",
	} {
		git(t, dir, "config", key, value)
	}

	write(t, dir, filepath.Join(".git", "info", "attributes"), "* diff=x filter=x\n")
	text, cut := diffOf(t, dir, 1<<20)
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository ran")
	}

	apply := exec.Command("git", "-C", clone, "apply", "-")
	apply.Stdin = strings.NewReader(text)
	if said, err := apply.CombinedOutput(); err != nil || cut {
		t.Fatalf("%v: %s\n%s", err, said, text)
	}

	same := exec.Command("diff", "-r", "--no-dereference", "--exclude=.git", dir, clone)
	if said, err := same.CombinedOutput(); err != nil {
		t.Errorf("%v: %s\n%s", err, said, text)
	}
}

// TestDiffUncommittedWithoutCommits: before the first commit everything is new. What can't be shown is named.
func TestDiffUncommittedWithoutCommits(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, dir, "staged", "one\n")
	git(t, dir, "add", "staged")
	write(t, dir, "binary", "\x00")
	git(t, filepath.Join(dir), "init", "-q", "inner")
	write(t, dir, "inner/file", "x\n")

	text, cut := diffOf(t, dir, 1<<20)
	for _, want := range []string{
		"+++ b/staged\n@@ -0,0 +1 @@\n+one\n",
		"Binary files /dev/null and b/binary differ\n",
		"inner/ can't be shown: it is a repository of its own\n",
	} {
		if !strings.Contains(text, want) || cut {
			t.Errorf("%q lacks %q", text, want)
		}
	}

	if objects := git(t, dir, "count-objects"); !strings.HasPrefix(objects, "1 ") {
		t.Errorf("the diff has written objects: %s", objects)
	}
}

// TestDiffUncommittedEnds: of a long diff the beginning is there, in whole lines.
func TestDiffUncommittedEnds(t *testing.T) {
	dir, _ := repository(t)
	write(t, dir, "a.txt", "changed\n")
	write(t, dir, "long", string(bytes.Repeat([]byte("a line\n"), 100)))
	write(t, dir, "other", "x\n")

	for most, want := range map[int]bool{50: false, 500: false, 4000: true} {
		text, cut := diffOf(t, dir, most)
		if cut == want ||
			strings.Contains(text, "+++ b/other") != want ||
			len(text) > most ||
			!strings.HasSuffix(text, "\n") {
			t.Errorf("of %d bytes, cut %t: %q", most, cut, text)
		}
	}
}

// TestStat_names_the_paths_that_Changed_lists: who has counted the lines needn't ask git for the paths.
func TestStat_names_the_paths_that_Changed_lists(t *testing.T) {
	dir, from := repository(t)
	write(t, dir, "mode.sh", "#!/bin/sh\n")
	write(t, dir, "a/deep.txt", "deep\n")
	write(t, dir, "bytes", "\x00\x01")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "more")

	git(t, dir, "mv", "old name.txt", "new\tname ä.txt")
	git(t, dir, "update-index", "--chmod=+x", "mode.sh")
	git(t, dir, "rm", "-q", "--cached", "a/deep.txt")
	git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+from+",module")
	git(t, dir, "commit", "-q", "-m", "all kinds")

	tips := []string{from, git(t, dir, "rev-parse", "HEAD~1"), git(t, dir, "rev-parse", "HEAD")}
	for _, to := range tips {
		for _, from := range tips {
			files, err := (Client{}).Stat(t.Context(), dir, from, to)
			if err != nil {
				t.Fatal(err)
			}

			want, err := (Client{}).Changed(t.Context(), dir, from, to)
			if got := diff.Paths(files); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s..%s: counted %q, changed %q, %v", from[:7], to[:7], got, want, err)
			}
		}
	}
}
