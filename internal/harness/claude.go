package harness

import "talkingstick/stick"

// claudeRow is Anthropic's Claude Code.
var claudeRow = Row{
	Name:       "claude",
	Title:      "Claude Code",
	Programs:   []string{"claude"},
	Scripts:    []string{"claude"},
	Packages:   []string{"/@anthropic-ai/claude-code/", "/claude/versions/"},
	SessionEnv: []string{"CLAUDE_CODE_SESSION_ID"},
	Markers:    []string{"CLAUDECODE"}, // not CLAUDE_PROJECT_DIR: Gemini sets it too
	Hooks: []Hook{
		{HookSessionStart, "SessionStart"},
		{HookPrompt, "UserPromptSubmit"},
		{HookBeforeTool, "PreToolUse"},
		{HookAfterTool, "PostToolUse"},
		{HookStop, "Stop"},
		{HookSessionEnd, "SessionEnd"},
	},
	Editors: []Editor{
		{Tool: "Edit", Path: "file_path"},
		{Tool: "Write", Path: "file_path"},
		{Tool: "MultiEdit", Path: "file_path"},
		{Tool: "NotebookEdit", Path: "notebook_path"},
		{Tool: "Bash", Command: "command", Follows: true},
	},
	HookBlock:   "block",
	Wake:        WakeExit,
	Interactive: [2]string{"CLAUDE_CODE_ENTRYPOINT", "cli"},
	Proves:      stick.ProvesSession,

	Setup: Setup{
		Config: ".claude", ConfigEnv: "CLAUDE_CONFIG_DIR",
		Skills:   Scoped{".claude/skills", ".claude/skills"},
		Hooks:    Scoped{".claude/settings.json", ".claude/settings.json"},
		HookUnit: 1, Async: "asyncRewake",
		Server: Scoped{".claude.json", ".mcp.json"}, ServerAt: []string{"mcpServers"},
		Entry: func(tt string) any { return command{"stdio", tt, []string{"mcp"}} },
	},
}
