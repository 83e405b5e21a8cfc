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
	all := strings.Join(scriptLines(t), "\n")
	for _, c := range tree() {
		run := regexp.MustCompile(`\b` + c.CommandPath() + `\b`)
		if c.Runnable() && c.CommandPath() != "tt mcp" && !run.MatchString(all) {
			t.Errorf("no script in testdata/script runs %s", c.CommandPath())
		}
	}
}

// TestEveryExampleIsRun: the help of each command has an example, and a script runs each line of it as it
// stands there.
func TestEveryExampleIsRun(t *testing.T) {
	run := map[string]bool{}
	who := regexp.MustCompile(`^(exits [0-9]+ |in \w+ |under \w+ |as [\w:]+ )*`)
	shell := regexp.MustCompile(`^sh -c '(.*)'$`)
	for _, line := range scriptLines(t) {
		line = strings.TrimPrefix(who.ReplaceAllString(line, ""), "exec ")
		if i := strings.LastIndex(line, " &"); i > 0 && strings.HasSuffix(line, "&") {
			line = line[:i]
		}
		if m := shell.FindStringSubmatch(line); m != nil {
			line, _, _ = strings.Cut(m[1], ";")
		}
		run[line] = true
	}

	commands := map[string]bool{}
	for _, c := range tree() {
		commands[c.CommandPath()] = true
		if exampleText(c) == "" {
			t.Errorf("the help of %s has no example", c.CommandPath())
		}
	}

	for path, lines := range examples {
		if !commands[path] {
			t.Errorf("there are examples of %s, which is no command", path)
		}

		for _, line := range lines {
			if !run[line] {
				t.Errorf("no script runs the example %q of %s", line, path)
			}
		}
	}
}

// scriptLines are the lines of all scripts, without comments.
func scriptLines(t *testing.T) []string {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}

	var lines []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}

		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}

	return lines
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
