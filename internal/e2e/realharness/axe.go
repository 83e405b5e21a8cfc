//go:build linux

package realharness

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Axe is the text of axe-core, a script that finds out what keeps people from using a page. It skips like [Harness.Require], but also runs
// with -short.
func Axe(t testing.TB) string {
	t.Helper()
	dir, err := npmDir()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	switch {
	case err == nil:
	case os.Getenv("TT_REQUIRE_ALL") != "1":
		t.Skip("axe-core isn't installed: make deps-test")
	default:
		t.Fatalf("axe-core isn't installed: %v: make deps-test", err)
	}
	return string(script)
}

// Chromium is the path of the browser. It skips like [Harness.Require]; with -short it skips too.
func Chromium(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no browser is started")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("TT_REQUIRE_ALL") == "1" {
		t.Fatal("chromium isn't installed: make deps-test")
	}
	t.Skip("chromium isn't installed: make deps-test")
	return ""
}
