package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
)

// denying takes the place of tt in a harness's hooks. It keeps its input before a tool, and denies what
// concerns a file called locked.
const denying = `#!/bin/sh
[ "$1" = hook ] || exec %[1]s/real "$@"
in=$(cat)
case "$in" in *'"%[2]s"'*) ;; *) exit 0;; esac
n=$(ls %[1]s/told | wc -l)
printf '%%s' "$in" > %[1]s/told/$(printf %%03d $n)
case "$in" in *locked*) cat %[1]s/denial;; esac
`

// TestHarnessesAskBeforeEdits: a harness runs the hook that tt install writes before each tool that edits,
// and before those of MCP servers. Its input names the file, a denial stops the tool, and all else passes.
func TestHarnessesAskBeforeEdits(t *testing.T) {
	onlyInPairs(t, realharness.All...)

	for _, h := range realharness.All {
		t.Run(h.Name, func(t *testing.T) { asksBeforeEdits(t, h) })
	}
}

func asksBeforeEdits(t *testing.T, h *realharness.Harness) {
	const reason = "claude:other has held the stick for 3 min"
	row, _ := harness.ByName(h.Name)
	before := row.Hooks[slices.IndexFunc(row.Hooks, func(h harness.Hook) bool {
		return h.Event == harness.HookBeforeTool
	})]
	s := newStage(t)
	dir := ownCopy(t, s)
	file := func(name string) string { return filepath.Join(s.place.Repo, name) }
	if err := os.WriteFile(file("open.txt"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	steps := []modelapi.Script{
		modelapi.Do(modelapi.Write(file("locked.txt"), "x\n")),
		modelapi.Do(modelapi.Shell("echo x > locked2.txt")),
		modelapi.Do(modelapi.Read(file("open.txt"))),
		modelapi.Do(modelapi.Edit(file("open.txt"), "x", "y")),
		modelapi.Do(modelapi.Shell("echo x > open2.txt")),
	}

	if hasMCP(h) {
		steps = append(steps, modelapi.Do(modelapi.MCP("tt", "list_rooms", map[string]any{})))
	}
	a, session := s.prepare(h, modelapi.Steps(append(steps, modelapi.Say("done"))...))

	denial := row.WriteHook(harness.HookInput{Event: before.Event, Name: before.Name}, harness.HookAnswer{Deny: reason})
	for path, text := range map[string]string{
		"denial": string(denial), "tt.new": fmt.Sprintf(denying, dir, before.Name),
	} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}

	for _, move := range [][2]string{{"tt", "real"}, {"tt.new", "tt"}} {
		if err := os.Rename(filepath.Join(dir, move[0]), filepath.Join(dir, move[1])); err != nil {
			t.Fatal(err)
		}
	}

	if r := a.Run(t, "Please.", s.options(h)); r.Exit != 0 || !strings.Contains(r.Text, "done") {
		t.Errorf("%s", r)
	}
	said := results(session)
	if len(said) != len(steps) || !strings.Contains(said[0], reason) || !strings.Contains(said[1], reason) {
		t.Errorf("the model was told\n%s", strings.Join(said, "\n---\n"))
	}

	for name, want := range map[string]string{
		"locked.txt": "", "locked2.txt": "", "open.txt": "y\n", "open2.txt": "x\n",
	} {
		if b, _ := os.ReadFile(file(name)); string(b) != want {
			t.Errorf("%s holds %q", name, b)
		}
	}

	paths, tools := told(t, row, dir)
	diff := cmp.Diff([]string{file("locked.txt"), file("locked2.txt"), file("open.txt"), file("open2.txt")}, paths)
	if diff != "" {
		t.Errorf("what was told before tools:\n%s", diff)
	}
	if asks := row.MCPTools != ""; asks != strings.HasSuffix(tools[len(tools)-1], "list_rooms") {
		t.Errorf("it asked before %v", tools)
	}
}

// ownCopy gives a stage its own copy of the two programs, of which the test may replace tt.
func ownCopy(t *testing.T, s *stage) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"tt", "tt-full"} {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(s.tt), name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o700); err != nil {
			t.Fatal(err)
		}
	}

	s.tt = filepath.Join(dir, "tt")
	if err := os.Mkdir(filepath.Join(dir, "told"), 0o700); err != nil {
		t.Fatal(err)
	}

	return dir
}

// told returns the files and the tools in the inputs of the hook before a tool, in order.
func told(t *testing.T, row harness.Row, dir string) (paths, tools []string) {
	t.Helper()
	inputs, err := filepath.Glob(filepath.Join(dir, "told", "*"))
	if err != nil {
		t.Fatal(err)
	}

	for _, path := range inputs {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		in, err := harness.ReadFiring(
			harness.Input{Getenv: func(string) string { return "" }, Chain: []proc.Info{{Args: row.Programs[:1]}}},
			b,
		)
		if err != nil || in.Event != harness.HookBeforeTool {
			t.Errorf("%s: %v", b, err)
		}
		paths, tools = append(paths, in.Edits.Paths...), append(tools, in.Edits.Tool)
	}

	return paths, tools
}
