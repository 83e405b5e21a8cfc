package harness

import "talkingstick/stick"

// qwenRow is Alibaba's Qwen Code. Its launcher starts a node process, which in a terminal starts itself once
// more.
var qwenRow = Row{
	Name:       "qwen",
	Title:      "Qwen Code",
	Programs:   []string{"qwen"},
	Scripts:    []string{"qwen"},
	Packages:   []string{"/@qwen-code/qwen-code/"},
	Launchers:  []string{"qwen", "cli-entry"},
	SessionEnv: []string{"QWEN_CODE_SESSION_ID"},
	Clients:    []string{"qwen-cli-mcp-client-" + ServerName}, // it adds our name to its own
	Markers:    []string{"QWEN_CODE"},
	Hooks: []Hook{
		{HookSessionStart, "SessionStart"},
		{HookPrompt, "UserPromptSubmit"},
		{HookBeforeTool, "PreToolUse"},
		{HookAfterTool, "PostToolUse"},
		{HookAfterTool, "PostToolUseFailure"},
		{HookStop, "Stop"},
		{HookSessionEnd, "SessionEnd"}, // not with -p
		{HookCompact, "PreCompact"},
		{HookAsks, "Notification"},
	},
	PromptRepeats: true,
	MCPTools:      "mcp__.*",
	Editors: []Editor{
		{Tool: "write_file", Path: "file_path", Whole: true},
		{Tool: "edit", Path: "file_path"},
		{Tool: "notebook_edit", Path: "notebook_path"},
		{Tool: "run_shell_command", Command: "command", Dir: "directory"},
	},
	Readers:   []Reader{{"read_file", "file_path"}, {"read_file", "absolute_path"}},
	HookBlock: "block",
	Tags: []string{
		"system-reminder", "tool_call", "tool_response", "think", "hook_context",
	},
	Proves:   stick.ProvesSession,
	Carriers: []string{"serve", "--acp"},
	Daemons:  []string{"serve"},

	Setup: Setup{
		Config: ".qwen", ConfigEnv: "QWEN_HOME",
		Skills: agents,

		Hooks:    Levels{".qwen/settings.json", ".qwen/settings.json"},
		HookUnit: 1000,

		Server:   Levels{".qwen/settings.json", ".qwen/settings.json"},
		ServerAt: []string{"mcpServers"},
		Entry:    plainEntry,

		Bundle: Bundle{
			Format: FormatClaude,
			Add:    []string{"qwen extensions install " + From + ":" + PluginName},
			Remove: []string{"qwen extensions uninstall " + PluginName},
			Noted:  Levels{User: ".qwen/extensions/" + PluginName + "/qwen-extension.json"},
		},

		Next:          newSession,
		NextInProject: newSessionTrust,
	},
}
