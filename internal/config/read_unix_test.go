//go:build unix

package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"talkingstick/stick"
)

// TestReadWaitsForNobody: a FIFO at the place of the file isn't opened.
func TestReadWaitsForNobody(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, FileName), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); stick.CodeOf(err) != stick.CodeProjectConfig {
		t.Errorf("a FIFO: %v", err)
	}

	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if f, err := Open(root, FileName); err != ErrNotPlain {
		t.Errorf("%v, %v", f, err)
	}
}
