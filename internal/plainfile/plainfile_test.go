package plainfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

func TestCauseOf(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent")
	_, open := os.Open(absent)

	for name, err := range map[string]error{
		"a file":     open,
		"two files":  os.Rename(absent, absent+"2"),
		"with words": fmt.Errorf("it isn't kept: %w", open),
	} {
		if got := CauseOf(err); !errors.Is(got, fs.ErrNotExist) || strings.Contains(got.Error(), "absent") {
			t.Errorf("%s: %v", name, got)
		}
	}

	if other := errors.New("too large"); CauseOf(other) != other || CauseOf(nil) != nil {
		t.Error("an error without a file is another one")
	}
}
