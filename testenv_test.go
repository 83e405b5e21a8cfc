package talkingstick_test

import (
	"maps"
	"slices"
	"testing"
)

// startsProcesses are the packages by which a test starts a process: another program, git, or tt.
var startsProcesses = []string{
	"os/exec", module + "/internal/cli", module + "/internal/clitest", module + "/internal/demo",
	module + "/internal/engine",
	module + "/internal/engine/core", module + "/internal/engine/eventlog", module + "/internal/engine/guard",
	module + "/internal/engine/guard/restore", module + "/internal/engine/guard/stash",
	module + "/internal/engine/roster",
	module + "/internal/engine/scopes", module + "/internal/engine/upkeep", module + "/internal/git", module + "/internal/scene",
	module + "/internal/task",
	module + "/internal/task/command", module + "/internal/task/queue", module + "/internal/task/pull",
	module + "/internal/task/repository",
	module + "/internal/task/runner",
}

// TestProcessesHaveSurroundings: where a test starts processes, TestMain gives them surroundings of their
// own, in which they can't commit into the repository that holds them, as one did at 59de466.
func TestProcessesHaveSurroundings(t *testing.T) {
	starts, surrounded := map[string]string{}, map[string]bool{}
	for _, f := range parse(t) {
		if !f.test || f.dir == "internal/testenv" {
			continue
		}

		for _, path := range f.imports {
			if slices.Contains(startsProcesses, path) {
				starts[f.dir] = f.path
			}
		}

		if len(f.uses(map[string][]string{module + "/internal/testenv": {"Run"}})) > 0 {
			surrounded[f.dir] = true
		}
	}

	if len(starts) == 0 {
		t.Fatal("no test starts a process any more")
	}

	for _, dir := range slices.Sorted(maps.Keys(starts)) {
		if !surrounded[dir] {
			t.Errorf("%s starts processes, and TestMain of %s doesn't call testenv.Run", starts[dir], dir)
		}
	}
}
