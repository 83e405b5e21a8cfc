package workspace

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// entry is a directory entry that a test makes up.
type entry struct {
	fs.DirEntry
	name string
}

func (e entry) Name() string { return e.name }
func (e entry) IsDir() bool  { return true }

// TestRecordedSpelling plays a file system that ignores case, and takes é in one and in two runes for equal.
func TestRecordedSpelling(t *testing.T) {
	disk := map[string][]string{
		"/":              {"Users", "usr"},
		"/Users":         {"Ann", "Bob"},
		"/Users/Ann":     {"Src", "cafe\u0301"},
		"/Users/Ann/Src": {"App", "app.txt"},
	}

	list := func(dir string) ([]fs.DirEntry, error) {
		names, ok := disk[dir]
		if !ok {
			return nil, errors.New("no permission")
		}

		var es []fs.DirEntry
		for _, n := range names {
			es = append(es, entry{name: n})
		}
		return es, nil
	}

	fold := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "é", "e\u0301")) }
	same := func(a, b string) bool { return fold(a) == fold(b) }

	for given, want := range map[string]string{
		"/":                     "/",
		"/Users/Ann/Src":        "/Users/Ann/Src",
		"/users/ANN/src/app":    "/Users/Ann/Src/App",
		"/users/ann/café":       "/Users/Ann/cafe\u0301",
		"/users/bob/Closed/dir": "/Users/Bob/Closed/dir", // nobody may list Bob's directory
	} {
		if got := recordedSpelling(given, list, same); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}

// TestRecordedSpelling_OnDisk also shows that sameFile tells directories apart.
func TestRecordedSpelling_OnDisk(t *testing.T) {
	dir := tree(t)
	write(t, dir, "Src/App/")
	if got := recordedSpelling(dir+"/Src/App", os.ReadDir, sameFile); got != dir+"/Src/App" {
		t.Errorf("got %s", got)
	}
	if !sameFile(dir+"/Src", dir+"/Src/App/..") ||
		sameFile(dir+"/Src", dir+"/Src/App") ||
		sameFile(dir+"/Src", dir+"/none") {
		t.Error("sameFile can't tell directories apart")
	}
}
