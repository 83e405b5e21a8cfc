package harness

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/proc"

	"github.com/google/go-cmp/cmp"
)

// TestEdits: for each tool that edits, the files that it is going to change are known. Of other tools nothing
// is claimed.
func TestEdits(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: a.go\n*** Move to: sub/b.go\n@@\n-x\n+*** Delete File: no.go\n" +
		"*** Delete File: /tmp/c.go\n*** Update File: ./a.go\n*** End Patch"
	for _, c := range []struct {
		harness, tool string
		input         any
		want          string
	}{
		{"claude", "Edit", map[string]any{"file_path": "/home/ann/app/a.go", "old_string": "x"}, "/home/ann/app/a.go"},
		{
			"claude",
			"Write",
			map[string]any{"file_path": "/home/ann/app/sub/../a.go", "content": "x"},
			"/home/ann/app/a.go",
		},
		{"claude", "MultiEdit", map[string]any{"file_path": "/tmp/a.go", "edits": []any{}}, "/tmp/a.go"},
		{"claude", "NotebookEdit", map[string]any{"notebook_path": "/home/ann/app/a.ipynb"}, "/home/ann/app/a.ipynb"},
		{
			"claude",
			"Bash",
			map[string]any{"command": "cd sub && sed -i s/a/b/ a.go > log"},
			"/home/ann/app/sub/log /home/ann/app/sub/a.go",
		},
		{"claude", "Bash", map[string]any{"command": "git stash"}, "tree /home/ann/app"},
		{"claude", "Bash", map[string]any{"command": []string{"rm", "a.go"}}, ""},
		{"claude", "Read", map[string]any{"file_path": "/home/ann/app/a.go"}, ""},
		{"claude", "Edit", map[string]any{"file_path": ""}, ""},
		{"claude", "Edit", map[string]any{"file_path": "a\x00b"}, ""},
		{"claude", "Edit", map[string]any{}, ""},
		{"claude", "Edit", nil, ""},
		{"claude", "Edit", []int{1}, ""},
		{"claude", "", map[string]any{"file_path": "/home/ann/app/a.go"}, ""},
		{
			"codex",
			"apply_patch",
			map[string]any{"command": patch},
			"/home/ann/app/a.go /home/ann/app/sub/b.go /tmp/c.go",
		},
		{
			"codex",
			"Bash",
			map[string]any{"command": "apply_patch <<'EOF'\n" + patch + "\nEOF"},
			"/home/ann/app/a.go /home/ann/app/sub/b.go /tmp/c.go",
		},
		{"codex", "Bash", map[string]any{"command": "bash -lc 'cat > a.go'"}, "/home/ann/app/a.go"},
		{"codex", "Edit", map[string]any{"file_path": "/home/ann/app/a.go"}, ""},
		{"gemini", "write_file", map[string]any{"file_path": "a.go", "content": "x"}, "/home/ann/app/a.go"},
		{"gemini", "replace", map[string]any{"file_path": "/home/ann/app/a.go"}, "/home/ann/app/a.go"},
		{
			"gemini",
			"run_shell_command",
			map[string]any{"command": "rm a.go", "dir_path": "sub"},
			"/home/ann/app/sub/a.go",
		},
		{"gemini", "run_shell_command", map[string]any{"command": "git reset --hard", "dir_path": "/tmp"}, "tree /tmp"},
		{"opencode", "edit", map[string]any{"filePath": "/home/ann/app/a.go"}, "/home/ann/app/a.go"},
		{"opencode", "write", map[string]any{"filePath": "a.go"}, "/home/ann/app/a.go"},
		{"opencode", "multiedit", map[string]any{"filePath": "a.go"}, "/home/ann/app/a.go"},
		{
			"opencode",
			"apply_patch",
			map[string]any{"patchText": patch},
			"/home/ann/app/a.go /home/ann/app/sub/b.go /tmp/c.go",
		},
		{
			"opencode",
			"patch",
			map[string]any{"patchText": patch},
			"/home/ann/app/a.go /home/ann/app/sub/b.go /tmp/c.go",
		},
		{"opencode", "bash", map[string]any{"command": "rm a.go", "workdir": "/tmp"}, "/tmp/a.go"},
		{"copilot", "Write", map[string]any{"path": "/home/ann/app/a.go", "file_text": "x"}, "/home/ann/app/a.go"},
		{"copilot", "Edit", map[string]any{"path": "a.go", "old_str": "x"}, "/home/ann/app/a.go"},
		{"copilot", "Edit", patch, "/home/ann/app/a.go /home/ann/app/sub/b.go /tmp/c.go"},
		{"copilot", "Bash", map[string]any{"command": "rm a.go", "mode": "async"}, "/home/ann/app/a.go"},
		{"qwen", "write_file", map[string]any{"file_path": "/home/ann/app/a.go", "content": "x"}, "/home/ann/app/a.go"},
		{"qwen", "edit", map[string]any{"file_path": "/home/ann/app/a.go", "old_string": "x"}, "/home/ann/app/a.go"},
		{"qwen", "notebook_edit", map[string]any{"notebook_path": "/home/ann/app/a.ipynb"}, "/home/ann/app/a.ipynb"},
		{"qwen", "run_shell_command", map[string]any{"command": "rm a.go", "directory": "/tmp"}, "/tmp/a.go"},
		{"pi", "edit", map[string]any{"path": "/home/ann/app/a.go", "edits": []any{}}, "/home/ann/app/a.go"},
		{"pi", "write", map[string]any{"path": "a.go", "content": "x"}, "/home/ann/app/a.go"},
		{"pi", "bash", map[string]any{"command": "rm a.go"}, "/home/ann/app/a.go"},
		{"antigravity", "write_to_file", map[string]any{"TargetFile": "/home/ann/app/a.go"}, ""},
	} {
		row, _ := ByName(c.harness)
		got := changes(t, row, c.tool, c.input, c.want)
		if got.Tool != c.tool || got.Any() != (c.want != "") {
			t.Errorf("%s: %+v", c.tool, got)
		}
	}
}

// changes checks which files and trees a tool call in /home/ann/app changes, by what it is called with.
func changes(t *testing.T, row Row, tool string, with any, want string) Edits {
	t.Helper()
	input, err := json.Marshal(with)
	if err != nil {
		t.Fatal(err)
	}
	got := row.editsOf(toolCall{tool: tool, input: input, dir: "/home/ann/app"})
	all := got.Paths
	for _, tree := range got.Trees {
		all = append(all, "tree "+tree)
	}
	if diff := cmp.Diff(want, strings.Join(all, " ")); diff != "" {
		t.Errorf("%s %s %s:\n%s", row.Name, tool, input, diff)
	}

	return got
}

// TestEditsAfterACommand: after a command, Claude Code reports the directory to which a cd in it led.
func TestEditsAfterACommand(t *testing.T) {
	for _, c := range []struct{ harness, dir, command, want string }{
		{"claude", "/app", "rm a", "/app/a"},
		{"claude", "/app/sub", "rm a; cd sub && rm b", "/app/a /app/sub/b"},
		{"claude", "/app", "cd sub && rm b && cd ..", "/app/sub/b"},
		{"claude", "/app", "cd sub && rm b", "/app/sub/b"}, // it went back to where the session was
		{"claude", "/app/sub", "rm a; cd /app/sub && rm b && git stash", "/app/sub/b /app/sub"},
		{"claude", "/app", "cd .. && rm b /c", "/c"},
		{"claude", "/app", "cd $x; rm b /c", "/c"},
		{"codex", "/app/sub", "cd sub && rm b", "/app/sub/sub/b"},
		{"opencode", "/app", "cd .. && rm b", "/b"},
	} {
		row, _ := ByName(c.harness)
		told, err := json.Marshal(map[string]any{
			"hook_event_name": row.Hooks[slices.IndexFunc(row.Hooks, func(h Hook) bool {
				return h.Event == HookAfterTool
			})].Name,
			"cwd": c.dir, "tool_name": row.Editors[len(row.Editors)-1].Tool,
			"tool_input": map[string]string{"command": c.command},
		})
		if err != nil {
			t.Fatal(err)
		}

		in, err := readHook(row, told)
		diff := cmp.Diff(c.want, strings.Join(slices.Concat(in.Edits.Paths, in.Edits.Trees), " "))
		if diff != "" || err != nil {
			t.Errorf("%s %s (%v):\n%s", c.harness, c.command, err, diff)
		}
	}
}

// TestEditsOfServers: tools of MCP servers whose fields are known change the files in them. Of other tools
// only a name that says so, with a whole path, is believed.
func TestEditsOfServers(t *testing.T) {
	for _, c := range []struct {
		harness, tool string
		input         any
		want          string
	}{
		{"claude", "mcp__filesystem__write_file", map[string]any{"path": "a.go", "content": "x"}, "/home/ann/app/a.go"},
		{
			"codex",
			"mcp__filesystem__edit_file",
			map[string]any{"path": "/home/ann/app/a.go", "edits": []any{}},
			"/home/ann/app/a.go",
		},
		{"claude", "mcp__filesystem__edit_file", map[string]any{"path": "a.go", "dryRun": true}, ""},
		{
			"gemini",
			"mcp_my_files_move_file",
			map[string]any{"source": "a.go", "destination": "/tmp/b.go"},
			"/home/ann/app/a.go /tmp/b.go",
		},
		{"claude", "mcp__filesystem__create_directory", map[string]any{"path": "sub/x"}, "/home/ann/app/sub/x"},
		{"claude", "mcp__filesystem__read_file", map[string]any{"path": "/home/ann/app/a.go"}, ""},
		{
			"claude",
			"mcp__desktop-commander__edit_block",
			map[string]any{"file_path": "/home/ann/app/a.go"},
			"/home/ann/app/a.go",
		},
		{
			"claude",
			"mcp__desktop-commander__start_process",
			map[string]any{"command": "git stash", "timeout_ms": 1},
			"tree /home/ann/app",
		},
		{
			"claude",
			"mcp__plugin_x_serena__replace_symbol_body",
			map[string]any{"relative_path": "a.py", "body": "x"},
			"/home/ann/app/a.py",
		},
		{
			"codex",
			"mcp__serena__execute_shell_command",
			map[string]any{"command": "rm a.py", "cwd": "sub"},
			"/home/ann/app/sub/a.py",
		},
		{"claude", "mcp__github__create_or_update_file", map[string]any{"owner": "x", "repo": "y", "path": "a.go"}, ""},
		{"claude", "mcp__sandbox__write_file", map[string]any{"path": "a.go"}, ""},
		{"claude", "mcp__other__delete_file", map[string]any{"path": "/home/ann/app/a.go"}, "/home/ann/app/a.go"},
		{"gemini", "mcp_other_insert_text", map[string]any{"file_path": "/home/ann/app/a.go"}, "/home/ann/app/a.go"},
		{"claude", "mcp__other__search", map[string]any{"path": "/home/ann/app"}, ""},
		{"claude", "mcp__tt__release_stick", map[string]any{"path": "/home/ann/app"}, ""},
		{"copilot", "my-files-write_file", map[string]any{"path": "a.go"}, "/home/ann/app/a.go"},
		{"copilot", "other-delete_file", map[string]any{"path": "/home/ann/app/a.go"}, "/home/ann/app/a.go"},
		{"copilot", "tt-release_stick", map[string]any{"path": "/home/ann/app"}, ""},
		{"opencode", "filesystem_write_file", map[string]any{"path": "/home/ann/app/a.go"}, ""},
	} {
		row, _ := ByName(c.harness)
		changes(t, row, c.tool, c.input, c.want)
		if matcher := regexp.MustCompile(row.EditorTools()); row.MCPTools != "" && !matcher.MatchString(c.tool) {
			t.Errorf("no hook of %s runs before %s", c.harness, c.tool)
		}
	}
}

// TestEditsCarryActs: what a command may cost comes along, and git's aliases and the home directory are
// known.
func TestEditsCarryActs(t *testing.T) {
	in := Input{
		Getenv: func(name string) string { return map[string]string{"HOME": "/home/ann"}[name] },
		Chain:  []proc.Info{{Comm: "claude", Args: []string{"claude"}}},
		Alias:  func(dir, name string) string { return map[string]string{"undo": "reset --hard"}[name] },
	}

	for command, want := range map[string]string{
		"git undo":                 "takes git reset --hard /app",
		"cd /x && git checkout .":  "takes git checkout . /x",
		"git -C ~/app stash clear": "drops git stash clear /home/ann/app",
		"git status":               "reads",
		"make":                     "",
	} {
		for _, event := range []string{"PreToolUse", "PostToolUse"} {
			told, err := json.Marshal(map[string]any{
				"hook_event_name": event, "cwd": "/app", "tool_name": "Bash",
				"tool_input": map[string]string{"command": command},
			})
			if err != nil {
				t.Fatal(err)
			}
			f, err := ReadFiring(in, told)
			got := ""
			if f.Edits.Reads {
				got = "reads"
			}
			for _, a := range f.Edits.Acts {
				got += string(a.Kind) + " " + a.Form + " " + a.Dir
			}
			if got != want || err != nil {
				t.Errorf("%s, %s: %s (%v)", event, command, got, err)
			}
		}
	}
}

// TestPlugins: the plugins of OpenCode and of pi ask before exactly those tools whose input we can read, and
// wake at tt's own status.
func TestPlugins(t *testing.T) {
	for name, text := range map[string]string{"opencode": openCodePlugin, "pi": piExtension} {
		row, _ := ByName(name)
		want := `const EDITORS = ["` + strings.ReplaceAll(strings.Trim(row.EditorTools(), "^()$"), "|", `", "`) + `"]`
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the plugin of %s lacks %s", name, want)
		}
		if want := fmt.Sprintf("const WAKE = %d\n", ExitWake); !strings.Contains(text, want) {
			t.Errorf("the plugin of %s lacks %s", name, want)
		}
	}
}
