package cli

import (
	"go/ast"
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

// TestSkillQuotesWhatIsPrinted: what the skill tells agents to look for in an answer is printed by a command.
func TestSkillQuotesWhatIsPrinted(t *testing.T) {
	skill, err := os.ReadFile("../harness/files/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	for _, s := range sources(t) {
		ast.Inspect(s.File, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if text, ok := literal(e); ok {
					printed.WriteString(text + "\n")
				}
			}
			return true
		})
	}
	quotes := 0
	for _, item := range regexp.MustCompile("(?m)^- (`[^:]*):").FindAllStringSubmatch(string(skill), -1) {
		for _, quote := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(item[1], -1) {
			if strings.HasPrefix(quote[1], "tt ") {
				continue
			}
			quotes++
			if !strings.Contains(printed.String(), quote[1]) {
				t.Errorf("the skill quotes %q, which no command prints", quote[1])
			}
		}
	}
	if quotes < 5 {
		t.Errorf("the skill quotes %d answers", quotes)
	}
}
