package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryCommandHasAScript: a script runs each command that people see, and is its manual. tt mcp speaks
// its protocol in the tests of package mcpserver.
func TestEveryCommandHasAScript(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	comments := regexp.MustCompile(`(?m)^#.*$`)
	scripts := comments.ReplaceAllString(all.String(), "")
	for _, c := range tree() {
		run := regexp.MustCompile(`\b` + c.CommandPath() + `\b`)
		if c.Runnable() && c.CommandPath() != "tt mcp" && !run.MatchString(scripts) {
			t.Errorf("no script in testdata/script runs %s", c.CommandPath())
		}
	}
}
