package harness

import (
	"encoding/json"
	"strings"
	"testing"
)

// editsOf is what a tool call in /home/ann/app is about.
func editsOf(t *testing.T, harness, tool string, with any) Edits {
	t.Helper()
	input, err := json.Marshal(with)
	if err != nil {
		t.Fatal(err)
	}
	row, ok := ByName(harness)
	if !ok {
		t.Fatal(harness)
	}

	return row.editsOf(toolCall{tool: tool, input: input, dir: "/home/ann/app"})
}

func TestRow_Readers(t *testing.T) {
	const file = "/home/ann/app/a.go"
	for _, c := range []struct {
		harness, tool string
		input         any
		want          string
	}{
		{"claude", "Read", map[string]any{"file_path": file, "limit": 20}, file},
		{"codex", "Bash", map[string]any{"command": "sed -n 1,200p a.go"}, file},
		{"gemini", "read_file", map[string]any{"file_path": "a.go"}, file},
		{"gemini", "read_file", map[string]any{"absolute_path": file}, file},
		{"opencode", "read", map[string]any{"filePath": file}, file},
		{"copilot", "Read", map[string]any{"path": file}, file},
		{"qwen", "read_file", map[string]any{"absolute_path": file}, file},
		{"pi", "read", map[string]any{"path": "a.go"}, file},
		{"claude", "mcp__filesystem__read_text_file", map[string]any{"path": file}, file},
		{"codex", "mcp__serena__read_file", map[string]any{"relative_path": "a.go"}, file},
		{"copilot", "desktop-commander-read_file", map[string]any{"path": file}, file},

		{"claude", "Read", map[string]any{}, ""},
		{"claude", "Read", map[string]any{"file_path": "a\x00b"}, ""},
		{"claude", "Grep", map[string]any{"path": file}, ""},
		{"claude", "Edit", map[string]any{"file_path": file}, ""},
		{"claude", "mcp__other__read_file", map[string]any{"path": file}, ""},
	} {
		got := editsOf(t, c.harness, c.tool, c.input)
		if shown := strings.Join(got.Shown, " "); shown != c.want || got.Any() != (c.tool == "Edit") {
			t.Errorf("%s %s %v: shows %q, want %q; changes %v", c.harness, c.tool, c.input, shown, c.want, got.Paths)
		}
	}
}

// TestEdits_Wholes: an edit that fails by itself when the text has moved isn't one that replaces the whole
// file.
func TestEdits_Wholes(t *testing.T) {
	const file = "/home/ann/app/a.go"
	for _, c := range []struct {
		harness, tool string
		input         any
		want          string
	}{
		{"claude", "Write", map[string]any{"file_path": file}, file},
		{"codex", "Bash", map[string]any{"command": "cat > a.go"}, file},
		{"gemini", "write_file", map[string]any{"file_path": file}, file},
		{"opencode", "write", map[string]any{"filePath": file}, file},
		{"copilot", "Write", map[string]any{"path": file}, file},
		{"qwen", "write_file", map[string]any{"file_path": file}, file},
		{"pi", "write", map[string]any{"path": file}, file},
		{"claude", "mcp__filesystem__write_file", map[string]any{"path": file}, file},
		{"claude", "mcp__desktop-commander__write_file", map[string]any{"path": file, "mode": "rewrite"}, file},
		{"claude", "mcp__serena__create_text_file", map[string]any{"relative_path": "a.go"}, file},

		{"claude", "mcp__desktop-commander__write_file", map[string]any{"path": file, "mode": "append"}, ""},
		{"claude", "mcp__filesystem__edit_file", map[string]any{"path": file}, ""},
		{"claude", "Edit", map[string]any{"file_path": file}, ""},
		{"claude", "NotebookEdit", map[string]any{"notebook_path": file}, ""},
		{
			"codex",
			"apply_patch",
			map[string]any{"command": "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch"},
			"",
		},
		{"codex", "Bash", map[string]any{"command": "sed -i s/a/b/ a.go"}, ""},
	} {
		if got := strings.Join(editsOf(t, c.harness, c.tool, c.input).Wholes, " "); got != c.want {
			t.Errorf("%s %s %v: replaces %q, want %q", c.harness, c.tool, c.input, got, c.want)
		}
	}
}
