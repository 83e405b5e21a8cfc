package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStash: what is in the stash is read from its log, the newest entry first, as git stash list has it.
func TestStash(t *testing.T) {
	common := t.TempDir()
	if entries, ok := ReadStash(common); !ok || len(entries) > 0 {
		t.Errorf("without a stash: %v, %v", entries, ok)
	}

	one, two, three := strings.Repeat("1", 40), strings.Repeat("2", 40), strings.Repeat("3", 40)
	log := strings.Repeat("0", 40) + " " + one + " Ann A <a@example.com> 1700000000 +0100\tWIP on main: 1a2b3c4 first\n" +
		one + " " + two + " Ann A <a@example.com> 1700000001 +0100\tOn feat/x: half: done\n" +
		"not a line\n" +
		two + " " + three + " <a@example.com> 1700000002 +0100\tWIP on (no branch): 1a2b3c4 first\n"

	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(common, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	write("logs/refs/stash", log)
	entries, ok := ReadStash(common)
	if !ok || len(entries) != 3 {
		t.Fatalf("%v, %v", entries, ok)
	}

	for i, want := range []struct {
		commit, branch string
		at             int64
	}{{three, "", 1700000002}, {two, "feat/x", 1700000001}, {one, "main", 1700000000}} {
		if e := entries[i]; e.Commit != want.commit || e.Branch() != want.branch || e.At.Unix() != want.at {
			t.Errorf("entry %d is %v, on %q", i, e, e.Branch())
		}
	}

	write("logs/refs/stash", strings.Repeat(log, maxStashLog/len(log)+1))
	if _, ok := ReadStash(common); ok {
		t.Error("a log that is too large was read")
	}
}

// TestStashWithoutFiles: of a repository whose refs aren't files, nothing is said.
func TestStashWithoutFiles(t *testing.T) {
	common := t.TempDir()
	if err := os.Mkdir(filepath.Join(common, "reftable"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, ok := ReadStash(common); ok {
		t.Error("something was read")
	}
}
