package harness

import "talkingstick/stick"

// copilotRow is GitHub's Copilot CLI. npm's launcher is a node process with the native program as its child,
// which the kernel knows as MainThread. It also runs the hooks of Claude Code in a folder that its person
// trusts.
var copilotRow = Row{
	Name:            "copilot",
	Title:           "GitHub Copilot CLI",
	Programs:        []string{"copilot"},
	Scripts:         []string{"copilot"},
	Packages:        []string{"/@github/copilot/"}, // not its language server for editors
	SessionEnv:      []string{"COPILOT_AGENT_SESSION_ID"},
	SubagentsDiffer: true,
	Clients:         []string{"copilot-cli"},
	Markers:         []string{"COPILOT_CLI"},
	Hooks: []Hook{ // by Claude Code's names, with which it sends the inputs of Claude Code
		{HookSessionStart, "SessionStart"},
		{HookPrompt, "UserPromptSubmit"},
		{HookBeforeTool, "PreToolUse"},
		{HookAfterTool, "PostToolUse"},
		{HookAfterTool, "PostToolUseFailure"},
		{HookStop, "Stop"},
		{HookSessionEnd, "SessionEnd"},
		{HookCompact, "PreCompact"},
		{HookAsks, "Notification"},
	},
	StartSource: "new",
	MCPTools:    ".+-.+",
	MCPJoint:    "-",
	Editors: []Editor{ // it translates the names of its tools, and not their fields
		{Tool: "Write", Path: "path", Whole: true},
		{Tool: "Edit", Path: "path"},
		{Tool: "Edit", Patch: whole}, // apply_patch, which some models get instead
		{Tool: "Bash", Command: "command"},
	},
	Readers:   []Reader{{"Read", "path"}},
	HookFlat:  true,
	HookBlock: "block",
	Tags: []string{
		"reminder", "system_notification", "current_datetime", "environment_context",
	},
	Proves:   stick.ProvesSession,
	Carriers: []string{"--acp"},

	Setup: Setup{
		Config: ".copilot", ConfigEnv: "COPILOT_HOME",
		Skills: agents,

		Hooks:    Levels{".copilot/hooks/talking-stick.json", ".github/hooks/talking-stick.json"},
		HookUnit: 1,

		Server:   Levels{".copilot/mcp-config.json", ".mcp.json"},
		ServerAt: []string{"mcpServers"},
		Entry:    typedEntry,

		Bundle: Bundle{
			Format: FormatClaude,
			Add: []string{
				"copilot plugin marketplace add " + From, "copilot plugin install " + PluginName + "@" + PluginName,
			},
			Remove: []string{
				"copilot plugin uninstall " + PluginName + "@" + PluginName,
				"copilot plugin marketplace remove " + PluginName,
			},
			Noted: Levels{User: ".copilot/settings.json"}, At: []string{"enabledPlugins"},
			Says: enabledPlugin,
		},

		Next:          newSession,
		NextInProject: newSessionTrust,
	},
}
