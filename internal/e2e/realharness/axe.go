//go:build linux

package realharness

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"talkingstick/internal/testenv"
)

// Axe is the text of axe-core, a script that finds out what keeps people from using a page. It skips like
// [Chromium], which runs it.
func Axe(t testing.TB) string {
	t.Helper()
	testenv.SkipShort(t, testenv.Browser, "pages in Chromium, judged by axe-core")
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

// Chromium is the path of the browser. It skips like [Require].
func Chromium(t testing.TB) string {
	t.Helper()
	testenv.SkipShort(t, testenv.Browser, "pages in Chromium")
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
