package testenv

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestTemplate_is_built_once: a copy has the files and their modes, but for those that were left out.
func TestTemplate_is_built_once(t *testing.T) {
	var template Template
	builds := 0
	copyTo := func(dir string) {
		err := template.Copy(dir, func() error {
			builds++
			if err := os.MkdirAll(filepath.Join(dir, "own"), 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "run"), []byte("text"), 0o700)
		}, "own")
		if err != nil {
			t.Fatal(err)
		}
	}

	copyTo(t.TempDir())
	dir := t.TempDir()
	copyTo(dir)

	text, err := os.ReadFile(filepath.Join(dir, "run"))
	if builds != 1 || string(text) != "text" {
		t.Errorf("built %d times, the copy has %q, %v", builds, text, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "run")); err == nil && runtime.GOOS != "windows" {
		if info.Mode().Perm()&0o100 == 0 {
			t.Errorf("the copy can't be run: %v", info.Mode())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "own")); !os.IsNotExist(err) {
		t.Errorf("the copy has what was left out: %v", err)
	}
}
