package cli

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/full"
	"talkingstick/internal/cli/task"
)

// TestACommandAloneIsTheSame makes each command as if it were called, without the others, and as one of all.
func TestACommandAloneIsTheSame(t *testing.T) {
	for _, name := range []string{"tt", "bb", "worker", "review-gate"} {
		all := commandTree(&app.Run{Env: app.Env{Name: name, Full: full.Commands()}})
		check := func(commands []app.Command, parents ...string) {
			for _, c := range commands {
				path := append(slices.Clone(parents), c.Name)
				root := commandTree(&app.Run{Env: app.Env{Name: name, Args: path, Full: full.Commands()}})
				alone, one := commandAt(t, root, path), commandAt(t, all, path)
				if alone.CommandPath() != one.CommandPath() || alone.UsageString() != one.UsageString() {
					t.Errorf("%s %q alone:\n%s\n%s\nas one of all:\n%s\n%s", name, path, alone.CommandPath(),
						alone.UsageString(), one.CommandPath(), one.UsageString())
				}
				if beside := alone.Parent().Commands(); len(beside) != 1 {
					t.Errorf("%s %q was made beside %d others", name, path, len(beside)-1)
				}
			}
		}

		for _, g := range commandGroups(&app.Run{Env: app.Env{Name: name, Full: full.Commands()}}) {
			check(g.commands)
		}
		if name == "tt" {
			check(task.Commands(), "task")
		}
	}
}

// commandAt returns the command that a path names. There must be one.
func commandAt(t *testing.T, root *cobra.Command, path []string) *cobra.Command {
	t.Helper()
	c, rest, err := root.Find(path)
	if err != nil || len(rest) > 0 {
		t.Fatalf("%q: %v, left %q", path, err, rest)
	}
	return c
}
