package harness

import "talkingstick/stick"

// codexRow is OpenAI's Codex. npm's launcher is a node process with the native program as its child.
// The terminal program may leave its sessions to a daemon, which is then the ancestor of commands.
var codexRow = Row{
	Name:       "codex",
	Title:      "Codex",
	Programs:   []string{"codex"},
	Scripts:    []string{"codex"},
	Packages:   []string{"/@openai/codex/"},
	Sandboxes:  []string{"codex-linux-sandbox"},
	SessionEnv: []string{"CODEX_SESSION_ID"}, // a sub-agent has its parent's; CODEX_THREAD_ID would be its own
	Markers:    []string{"CODEX_CI"},
	// Its MCP servers get no environment. A sub-agent's calls tell its parent's session here.
	CallSession: []string{"x-codex-turn-metadata", "session_id"},
	Hooks: []Hook{
		{HookSessionStart, "SessionStart"},
		{HookPrompt, "UserPromptSubmit"},
		{HookBeforeTool, "PreToolUse"},
		{HookAfterTool, "PostToolUse"},
		{HookStop, "Stop"},
		{HookSessionEnd, "SessionEnd"},
	},
	Editors:   []Editor{{Tool: "apply_patch", Patch: "command"}, {Tool: "Bash", Command: "command"}},
	HookBlock: "block",
	Wake:      WakeQueue,
	Proves:    stick.ProvesSession,
	Carriers:  []string{"app-server", "mcp-server"},
	Daemons:   []string{"app-server", "mcp-server"},
	Listening: []string{"unix:", "ws:"}, // the value of --listen; an editor talks to it by its standard streams
	Apart:     []string{"exec", "e"},

	Setup: Setup{
		Config: ".codex", ConfigEnv: "CODEX_HOME",
		Skills:   agents,
		Hooks:    Scoped{".codex/hooks.json", ".codex/hooks.json"},
		HookUnit: 1, Async: "async",
		Server: Scoped{".codex/config.toml", ".codex/config.toml"}, ServerAt: []string{"mcp_servers"}, TOML: true,
		Sandbox: []string{"sandbox_workspace_write", "writable_roots"},
		Review:  "open /hooks in Codex once and trust tt's hooks; until then it skips them silently",
	},
}
