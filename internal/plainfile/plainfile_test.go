package plainfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"one", "another, longer text", ""} {
		if err := Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path); err != nil || string(got) != text {
			t.Errorf("after %q: %q, %v", text, got, err)
		}
	}
	if err := Replace(filepath.Join(dir, "absent", "file"), nil); err == nil {
		t.Error("a directory that isn't there was written to")
	}

	below := filepath.Join(dir, "directory")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(below, nil); err == nil {
		t.Error("a directory was replaced")
	}

	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v are left", left, err)
	}
}
