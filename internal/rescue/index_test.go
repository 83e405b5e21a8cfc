package rescue

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// countListings returns how often something has git list the index.
func (s *scratch) countListings(do func()) int {
	s.t.Helper()
	log := filepath.Join(s.t.TempDir(), "listed")
	s.store.Git = s.fake(`case "$*" in *" ls-files -v "*) echo >>'` + log + `';; esac`)
	do()

	listed, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return strings.Count(string(listed), "\n")
}

// An index that hasn't changed since the last snapshot isn't listed again, and what status doesn't tell of it is
// known all the same.
func TestSnapshot_KnownIndex(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the git of this test is a shell script")
	}
	s := newScratch(t)
	s.settle()
	s.git("update-index", "--assume-unchanged", "dir/b.txt")
	s.write("dir/b.txt", "first\n")

	holds := func(text string, listings int, why string) {
		t.Helper()
		var taken Taken
		if n := s.countListings(func() { taken = s.snapshot() }); n != listings {
			t.Errorf("%s: the index was listed %d times", why, n)
		}
		if got := s.blob(taken.ID, "dir/b.txt"); got != text {
			t.Errorf("%s: b.txt is %q", why, got)
		}
	}

	holds("first\n", 1, "nothing is known")
	s.write("dir/b.txt", "second\n")
	holds("second\n", 0, "the index hasn't changed")

	s.write("dir/b.txt", "third\n")
	s.keep("dir/b.txt")
	holds("third\n", 0, "a file was kept alone")

	s.git("update-index", "--no-assume-unchanged", "dir/b.txt")
	s.git("update-index", "--skip-worktree", "dir/b.txt")
	holds("third\n", 1, "the index has changed")
	holds("third\n", 0, "and not again")

	s.write("intended", "new\n")
	s.git("add", "--intent-to-add", "intended")
	holds("third\n", 1, "a file is only intended")
	holds("third\n", 1, "status doesn't know its mode")
}

// Where the index may change within the tick of a clock, it is listed each time.
func TestSnapshot_UnsettledIndex(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the git of this test is a shell script")
	}
	s := newScratch(t)
	for range 2 {
		s.git("update-index", "--index-version", "4")
		s.git("update-index", "--index-version", "2")
		if n := s.countListings(func() { s.snapshot() }); n != 1 {
			t.Errorf("the index was listed %d times", n)
		}
	}
}
