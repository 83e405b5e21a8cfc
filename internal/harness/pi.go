package harness

import (
	_ "embed"
	"strings"

	"talkingstick/stick"
)

//go:embed pi/extension.ts
var piExtension string

// piRow is pi, which has no MCP. It calls its process by its name, which node runs.
var piRow = Row{
	Name:       "pi",
	Title:      "pi",
	Programs:   []string{"pi"},
	Scripts:    []string{"pi"},
	Packages:   []string{"/@earendil-works/pi-coding-agent/"},
	SessionEnv: []string{"PI_SESSION_ID"}, // in its shell only
	Markers:    []string{"PI_CODING_AGENT"},
	Hooks: []Hook{ // by the names that our extension gives them
		{HookSessionStart, "session_start"},
		{HookPrompt, "prompt"},
		{HookBeforeTool, "before_tool"},
		{HookAfterTool, "after_tool"},
		{HookStop, "stop"},
		{HookSessionEnd, "session_end"},
		{HookCompact, "compact"},
	},
	Editors: []Editor{
		{Tool: "edit", Path: "path"},
		{Tool: "write", Path: "path", Whole: true},
		{Tool: "bash", Command: "command"},
	},
	Readers:   []Reader{{"read", "path"}},
	HookDeny:  "deny",
	HookBlock: "block",
	Wake:      WakeExit,
	Tags: []string{
		"available_skills", "skill", "project_context",
	},
	Proves: stick.ProvesSession,

	Setup: Setup{
		Config: ".pi/agent", ConfigEnv: "PI_CODING_AGENT_DIR",
		Skills: agents,

		Plugin: Levels{".pi/agent/extensions/talking-stick.ts", ".pi/extensions/talking-stick.ts"},
		Code:   func(tt string) string { return strings.ReplaceAll(piExtension, `"{{tt}}"`, quoteJS(tt)) },

		Next:          newSession,
		NextInProject: newSessionTrust,
	},
}
