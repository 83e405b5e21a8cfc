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
	Clients:    []string{"claude-code"},
	Markers:    []string{"CLAUDECODE"},           // not CLAUDE_PROJECT_DIR: Gemini sets it too
	Ties:       []string{"CLAUDE_CODE_SSE_PORT"}, // its editor's
	Hooks: []Hook{
		{HookSessionStart, "SessionStart"},
		{HookPrompt, "UserPromptSubmit"},
		{HookBeforeTool, "PreToolUse"},
		{HookAfterTool, "PostToolUse"},
		{HookAfterTool, "PostToolUseFailure"}, // a command that fails may have changed files, too
		{HookStop, "Stop"},
		{HookSessionEnd, "SessionEnd"},
		{HookCompact, "PreCompact"},
		{HookAsks, "PermissionRequest"}, // at once
		{HookAsks, "Notification"},      // of a permission only when nobody has answered for some seconds
	},
	MCPTools: "mcp__.*",
	Editors: []Editor{
		{Tool: "Edit", Path: "file_path"},
		{Tool: "Write", Path: "file_path", Whole: true},
		{Tool: "MultiEdit", Path: "file_path"},
		{Tool: "NotebookEdit", Path: "notebook_path"},
		{Tool: "Bash", Command: "command", Follows: true},
	},
	Readers:     []Reader{{"Read", "file_path"}},
	HookBlock:   "block",
	HookSummary: true,
	Wake:        WakeExit,
	Inbox:       claudeInbox,
	Interactive: [2]string{"CLAUDE_CODE_ENTRYPOINT", "cli"},
	Tags: []string{
		"system-reminder", "function_calls", "function_results", "invoke", "parameter", "antml:*",
		"tool_use_error", "task-notification", "teammate-message", "user-prompt-submit-hook", "command-name",
		"command-message", "command-args", "command-contents", "local-command-*", "bash-input", "bash-stdout",
		"bash-stderr", "ide_*", "channel", "thinking",
	},
	Proves: stick.ProvesSession,

	Setup: Setup{
		Config: ".claude", ConfigEnv: "CLAUDE_CONFIG_DIR",
		Skills:       Levels{".claude/skills", ".claude/skills"},
		Instructions: "CLAUDE.md",

		Hooks:      Levels{".claude/settings.json", ".claude/settings.json"},
		HookUnit:   1,
		Background: func(h *Handler) { h.AsyncRewake = true },

		Server:      Levels{".claude.json", ".mcp.json"},
		ServerAt:    []string{"mcpServers"},
		ServerMoves: true,
		Entry:       typedEntry,

		Bundle: Bundle{
			Format: FormatClaude,
			Add: []string{
				"claude plugin marketplace add " + From, "claude plugin install " + PluginName + "@" + PluginName,
			},
			Remove: []string{
				"claude plugin uninstall " + PluginName + "@" + PluginName,
				"claude plugin marketplace remove " + PluginName,
			},
			Noted: Levels{".claude/settings.json", ".claude/settings.json"}, At: []string{"enabledPlugins"},
			Says:  enabledPlugin,
			Apart: true,
		},

		Next:          newSession,
		NextInProject: "start a new session here, trust the folder and allow the server tt when it asks",
	},
}
