package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/stick/edits"
)

// TestSeeFile: equal bytes are equal sums, and the bytes of an untouched file aren't read again.
func TestSeeFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	put := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	see := func(path string, known edits.FileState) edits.FileState {
		t.Helper()
		s, _, err := StateOfFile(path, known)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}

	put(path, "one")
	one := see(path, edits.FileState{})
	put(filepath.Join(dir, "b"), "one")
	if b := see(filepath.Join(dir, "b"), one); b.Sum != one.Sum || b == one {
		t.Errorf("a copy is %+v, like %+v", b, one)
	}

	put(path, "two")
	if two := see(path, one); two.Sum == one.Sum || two.Size != 3 {
		t.Errorf("other bytes of the same size are %+v", two)
	}

	now := see(path, one)
	pretended := now
	pretended.Sum = "known"
	if got := see(path, pretended); got != pretended {
		t.Errorf("an untouched file was read again: %+v", got)
	}
	if gone := see(filepath.Join(dir, "gone"), one); gone != (edits.FileState{}) {
		t.Errorf("no file is %+v", gone)
	}
	if below := see(filepath.Join(path, "below"), one); below != (edits.FileState{}) {
		t.Errorf("a path below a file is %+v", below)
	}
	if _, _, err := StateOfFile(dir, edits.FileState{}); err == nil {
		t.Error("a directory was taken for a file")
	}

	if err := os.Truncate(path, maxSummed+1); err != nil {
		t.Fatal(err)
	}
	large := see(path, edits.FileState{})
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if again := see(path, large); again.Sum == large.Sum || large.Sum == "" {
		t.Errorf("a large file with another time: %+v, before %+v", again, large)
	}

	link := filepath.Join(dir, "link")
	if err := os.Symlink("b", link); err != nil {
		t.Skip("this system makes no links:", err)
	}
	if s := see(link, edits.FileState{}); s.Sum != SumOf([]byte("b")) || strings.Contains(s.Sum, one.Sum) {
		t.Errorf("a link is %+v", s)
	}
}
