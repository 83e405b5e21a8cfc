package confedit_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/diff"

	"talkingstick/internal/confedit"
)

var update = flag.Bool("update", false, "write the golden files")

type mcpServer struct {
	Type    string            `json:"type,omitempty"`
	Command any               `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Enabled bool              `json:"enabled,omitempty"`
}

// TestFiles sets what an installer sets, in files of each harness as people write them. It compares the
// difference with the golden one, and removes it again.
func TestFiles(t *testing.T) {
	stdio := mcpServer{Command: "/usr/bin/tt", Args: []string{"mcp"}}
	hook := func(path ...string) (set, remove confedit.Edit) {
		return confedit.JSONPutHook(path, ours, ourGroup), confedit.JSONRemoveHook(path, ours, 0)
	}
	preTool, noPreTool := hook("hooks", "PreToolUse")
	stop, noStop := hook("hooks", "Stop")
	start, noStart := hook("hooks", "SessionStart")

	before, noBefore := hook("hooks", "BeforeTool")
	for file, c := range map[string]struct{ set, remove confedit.Edit }{
		"claude.json": {
			confedit.JSONSet([]string{"mcpServers", "tt"}, mcpServer{
				Type: "stdio", Command: "/usr/bin/tt", Args: []string{"mcp"},
				Env: map[string]string{"A": "<&>"},
			}),
			confedit.JSONRemove([]string{"mcpServers", "tt"}, 0),
		},
		"claude-settings.json": {
			confedit.JoinEdits(preTool, stop, start), confedit.JoinEdits(noPreTool, noStop, noStart),
		},
		"mcp.json": {
			confedit.JSONSet([]string{"mcpServers", "tt"}, stdio),
			confedit.JSONRemove([]string{"mcpServers", "tt"}, 0),
		},
		"codex-hooks.json": {confedit.JoinEdits(start, preTool), confedit.JoinEdits(noPreTool, noStart)},
		"gemini-settings.json": {
			confedit.JoinEdits(before, confedit.JSONSet([]string{"mcpServers", "tt"}, stdio)),
			confedit.JoinEdits(noBefore, confedit.JSONRemove([]string{"mcpServers", "tt"}, 0)),
		},
		"opencode.jsonc": {
			confedit.JSONSet([]string{"mcp", "tt"}, mcpServer{
				Type: "local", Command: []string{"/usr/bin/tt", "mcp"}, Enabled: true,
			}),
			confedit.JSONRemove([]string{"mcp", "tt"}, 0),
		},
		"antigravity-hooks.json": {
			confedit.JSONSet([]string{"talking-stick"}, map[string]any{"PreToolUse": []group{ourGroup}}),
			confedit.JSONRemove([]string{"talking-stick"}, 0),
		},
		"codex-config.toml": {
			confedit.JoinEdits(confedit.TOMLAddElement(rootsPath, "/home/ann/.tt"),
				confedit.TOMLSetTable(serverPath, server)),
			confedit.JoinEdits(confedit.TOMLRemoveElement(rootsPath, "/home/ann/.tt", true),
				confedit.TOMLRemoveTable(serverPath)),
		},
		"CLAUDE.md": {confedit.SetImport("AGENTS.md"), confedit.RemoveBlock()},
		"AGENTS.md": {confedit.SetBlock("## Talking Stick\n\nAsk before you edit.\n"), confedit.RemoveBlock()},
	} {
		t.Run(file, func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join("testdata", "files", file))
			if err != nil {
				t.Fatal(err)
			}
			out, changed, err := c.set(src)
			if err != nil || !changed {
				t.Fatal(changed, err)
			}

			golden(t, file, diff.Diff("before", src, "after", out))
			if again, changed, err := c.set(out); changed || err != nil {
				t.Errorf("twice isn't once: %v\n%s", err, again)
			}

			back, _, err := c.remove(out)
			if d := cmp.Diff(string(src), string(back)); err != nil || d != "" {
				t.Error("it doesn't come back:", err, d)
			}
			if _, changed, err := c.remove(src); changed || err != nil {
				t.Error("there was nothing to remove", err)
			}
		})
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	name := filepath.Join("testdata", "files", file+".diff")
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Error(d)
	}
}
