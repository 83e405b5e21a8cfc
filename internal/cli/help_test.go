package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/full"
)

// helpOf returns the help of a command at a terminal of so many columns.
func helpOf(path string, columns int) string {
	var out, err bytes.Buffer
	Main(app.Env{
		Full: full.Commands(),
		Name: "tt", Args: append(strings.Fields(path)[1:], "--help"), Stdin: strings.NewReader(""),
		Stdout: &out, Stderr: &err,
		Getenv: func(string) string { return "" }, TTY: columns > 0, Columns: columns,
	})
	return out.String() + err.String()
}

// isExample reports whether a line of help is to be copied, and may be as long as it has to be.
func isExample(line string) bool {
	return strings.HasPrefix(line, "  tt ") || strings.Contains(line, `"$(tt`)
}

// TestHelpFitsAScreen: the help of each command has at most 40 lines at 80 columns, and no word breaks at 60.
// An example is one line to copy.
func TestHelpFitsAScreen(t *testing.T) {
	for _, c := range tree() {
		path := c.CommandPath()
		if silent.MatchString(path) {
			continue
		}
		if lines := strings.Count(helpOf(path, 80), "\n"); lines > 40 {
			t.Errorf("the help of %s has %d lines", path, lines)
		}

		for _, columns := range []int{60, 80} {
			for line := range strings.Lines(helpOf(path, columns)) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns && !isExample(line) {
					t.Errorf("the help of %s at %d columns has a line of %d: %s", path, columns, n, line)
				}
			}
		}
	}
}

// TestShortHelpNamesADozen: what people see first is few, and begins with how to begin.
func TestShortHelpNamesADozen(t *testing.T) {
	names := 0
	for _, g := range shortHelp {
		names += len(g.names)
	}
	if names < 10 || names > 14 || shortHelp[0].names[0] != "init" {
		t.Errorf("the short help has %d commands, and begins with %s", names, shortHelp[0].names[0])
	}

	said := helpOf("tt", 80)
	for _, g := range shortHelp {
		for _, name := range g.names {
			if !strings.Contains(said, "\n  "+name+" ") {
				t.Errorf("the short help doesn't explain %s:\n%s", name, said)
			}
		}
	}

	for _, name := range agentCommands {
		if strings.Contains(said, "\n  "+name+" ") {
			t.Errorf("the short help names %s, which agents run", name)
		}
	}
}
