package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/testenv"
)

// TestFromNothingToTwoAgents types what docs/guide/start.md says, in a fresh home with two real harnesses:
// once as it stands, and once with plugins instead of what tt init writes for agents. Then the two take
// turns, as the page promises.
func TestFromNothingToTwoAgents(t *testing.T) {
	leavesPlugins := testenv.LeavesToFull(t, *allPairs, "the same with plugins")
	realharness.Require(t, realharness.Claude, realharness.Codex)

	t.Parallel()
	page := commandsOf(t, "../../docs/guide/start.md")
	if len(page) < 3 || !slices.Equal(page[:3], []string{"tt init", "tt status", "tt log"}) {
		t.Fatalf("the page has other commands than this test types: %q", page)
	}

	const byPlugins = "by plugins"
	for _, way := range []struct {
		name    string
		connect func(*stage, ...*realharness.Agent)
	}{
		{"as it stands", func(s *stage, _ ...*realharness.Agent) { s.run("init") }},
		{byPlugins, func(s *stage, both ...*realharness.Agent) {
			s.run("init", "--harness", "none")
			for _, a := range both {
				s.plug(a)
			}
			s.run("install", "codex") // tells its sandbox where the data is
		}},
	} {
		if way.name == byPlugins && leavesPlugins {
			continue
		}

		t.Run(way.name, func(t *testing.T) {
			s := newStage(t)
			begun := time.Now()
			s.takeTurns(realharness.Claude, realharness.Codex, func(both ...*realharness.Agent) {
				way.connect(s, both...)
				s.run("status")
			})

			if told := s.run("log"); strings.Count(told, " took the stick (turn ") != 2 {
				t.Errorf("the log says\n%s", told)
			}
			t.Logf("it took %v, the work of the agents included", time.Since(begun).Round(time.Second))
		})
	}
}

// commandsOf returns the commands of a page of the guide, in their order.
func commandsOf(t *testing.T, page string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}

	for l := range strings.Lines(string(text)) {
		if c, ok := strings.CutPrefix(l, "    $ "); ok {
			all = append(all, strings.TrimSpace(c))
		}
	}

	return all
}
