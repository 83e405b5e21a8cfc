package harness

import "talkingstick/stick"

// geminiRow is Google's Gemini CLI. A node process that starts itself again with more memory.
var geminiRow = Row{
	Name:       "gemini",
	Title:      "Gemini CLI",
	Programs:   []string{"gemini"},
	Scripts:    []string{"gemini"},
	Packages:   []string{"/@google/gemini-cli/"},
	SessionEnv: []string{"GEMINI_SESSION_ID"}, // in hooks only
	Clients:    []string{"gemini-cli-mcp-client"},
	Markers:    []string{"GEMINI_CLI"},
	Hooks: []Hook{
		{HookSessionStart, "SessionStart"},
		{HookPrompt, "BeforeAgent"},
		{HookBeforeTool, "BeforeTool"},
		{HookAfterTool, "AfterTool"},
		{HookStop, "AfterAgent"},
		{HookSessionEnd, "SessionEnd"},
		{HookCompact, "PreCompress"},
		{HookAsks, "Notification"},
	},
	MCPTools:  "mcp_.*",
	HookField: "timestamp",
	Editors: []Editor{
		{Tool: "write_file", Path: "file_path", Whole: true},
		{Tool: "replace", Path: "file_path"},
		{Tool: "run_shell_command", Command: "command", Dir: "dir_path"},
	},
	Readers:   []Reader{{"read_file", "file_path"}, {"read_file", "absolute_path"}},
	HookDeny:  "deny",
	HookBlock: "deny",
	// By itself it fires PreCompress before every call of the model, whether it then summarizes or not.
	CompactTrigger: "manual",
	NoGitHooks:     true, // it sets core.hooksPath to nothing
	Tags: []string{
		"hook_context", "session_context", "loaded_context", "project_context", "global_context", "state_snapshot",
		"untrusted_context", "start_of_turn", "end_of_turn",
	},
	Proves: stick.ProvesSession,

	Setup: Setup{
		Config:       ".gemini",
		Skills:       agents,
		Instructions: "GEMINI.md",

		Hooks:    Levels{".gemini/settings.json", ".gemini/settings.json"},
		HookUnit: 1000,

		Server:   Levels{".gemini/settings.json", ".gemini/settings.json"},
		ServerAt: []string{"mcpServers"},
		Entry:    plainEntry,

		Bundle: Bundle{
			Format: FormatGemini,
			Add:    []string{"gemini extensions install " + From + "/gemini"},
			Remove: []string{"gemini extensions uninstall " + PluginName},
			Noted:  Levels{User: ".gemini/extensions/" + PluginName + "/gemini-extension.json"},
		},

		Next:          newSession,
		NextInProject: newSessionTrust,
	},
}
