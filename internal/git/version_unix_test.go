//go:build unix

package git

import (
	"os"
	"path/filepath"
	"testing"
)

// A process asks a git for its version once, and again after it was replaced.
func TestVersionIsAskedOnce(t *testing.T) {
	dir := t.TempDir()
	c := Client{Path: filepath.Join(dir, "git")}
	install := func(version string) {
		t.Helper()
		script := "#!/bin/sh\necho x >>" + filepath.Join(dir, "asked") + "\necho git version " + version + "\n"
		next := filepath.Join(dir, "next")
		if err := os.WriteFile(next, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.Rename(next, c.Path); err != nil {
			t.Fatal(err)
		}
	}

	for _, version := range []string{"2.39.5", "2.30.1"} {
		install(version)
		for range 2 {
			said, err := c.gitVersion(t.Context(), dir)
			if err != nil || said != "git version "+version {
				t.Errorf("git %s says %q, %v", version, said, err)
			}
		}
	}

	if asked, err := os.ReadFile(filepath.Join(dir, "asked")); err != nil || string(asked) != "x\nx\n" {
		t.Errorf("asked %q, %v", asked, err)
	}
}
