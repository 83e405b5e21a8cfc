package realharness_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/testenv"
)

// serverArg has the test binary be an MCP server.
const serverArg = "be-an-mcp-server"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serverArg {
		serve()
		os.Exit(0)
	}
	os.Exit(testenv.Run(m))
}

// serve is an MCP server with one tool, which says back what it is told.
func serve() {
	type object = map[string]any
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)

	for in.Scan() {
		var q struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				ProtocolVersion string            `json:"protocolVersion"`
				Arguments       map[string]string `json:"arguments"`
			} `json:"params"`
		}

		if json.Unmarshal(in.Bytes(), &q) != nil || q.ID == nil {
			continue // a notification
		}

		result := object{}
		switch q.Method {
		case "initialize":
			result = object{
				"protocolVersion": q.Params.ProtocolVersion, "capabilities": object{"tools": object{}},
				"serverInfo": object{"name": "parrot", "version": "1"},
			}

		case "tools/list":
			result["tools"] = []object{{
				"name": "repeat", "description": "Says what it is told",
				"inputSchema": object{"type": "object", "properties": object{"words": object{"type": "string"}}},
			}}

		case "tools/call":
			result["content"] = []object{{"type": "text", "text": "parrot: " + q.Params.Arguments["words"]}}
		}

		b, err := json.Marshal(object{"jsonrpc": "2.0", "id": q.ID, "result": result})
		if err != nil {
			panic(err)
		}
		fmt.Println(string(b))
	}
}

// addServer adds the MCP server to the harness's configuration.
func addServer(t *testing.T, a *realharness.Agent) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	entry := map[string]any{"command": exe, "args": []string{serverArg}}
	switch a.Harness {
	case realharness.Claude:
		setJSON(t, filepath.Join(a.Place.Home, ".claude.json"), "mcpServers", entry)
	case realharness.Codex:
		path := filepath.Join(a.Place.Home, ".codex/config.toml")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(b)+fmt.Sprintf("\n[mcp_servers.parrot]\ncommand = %q\nargs = [%q]\n", exe, serverArg))

	case realharness.Gemini:
		setJSON(t, filepath.Join(a.Place.Home, ".gemini/settings.json"), "mcpServers", entry)
	case realharness.Qwen:
		setJSON(t, filepath.Join(a.Place.Home, ".qwen/settings.json"), "mcpServers", entry)
	case realharness.Copilot:
		entry["type"] = "stdio"
		setJSON(t, filepath.Join(a.Place.Home, ".copilot/mcp-config.json"), "mcpServers", entry)
	case realharness.OpenCode:
		entry = map[string]any{"type": "local", "command": []string{exe, serverArg}}
		setJSON(t, filepath.Join(a.Place.Home, ".config/opencode/opencode.json"), "mcp", entry)
	}
}

// setJSON puts the MCP server under a key of a file.
func setJSON(t *testing.T, path, key string, entry any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}

	config := map[string]any{}
	if err := json.Unmarshal(b, &config); err != nil && len(b) > 0 {
		t.Fatal(err)
	}

	config[key] = map[string]any{"parrot": entry}
	if b, err = json.Marshal(config); err != nil {
		t.Fatal(err)
	}
	write(t, path, string(b))
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}
