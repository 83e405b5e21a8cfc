package harness

import (
	_ "embed"
	"strings"

	"talkingstick/stick"
)

//go:embed opencode/plugin.js
var openCodePlugin string

// openCodeRow is OpenCode.
var openCodeRow = Row{
	Name:     "opencode",
	Title:    "OpenCode",
	Programs: []string{"opencode"},
	Scripts:  []string{"opencode"},
	Packages: []string{"/opencode-ai/"},
	Markers:  []string{"OPENCODE"},
	Hooks: []Hook{ // by the names that our plugin gives them
		{HookSessionStart, "session_start"},
		{HookPrompt, "prompt"},
		{HookBeforeTool, "before_tool"},
		{HookAfterTool, "after_tool"},
		{HookStop, "stop"},
		{HookSessionEnd, "session_end"},
		{HookCompact, "compact"}, // after it has summarized
	},
	Editors: []Editor{
		{Tool: "edit", Path: "filePath"},
		{Tool: "write", Path: "filePath", Whole: true},
		{Tool: "multiedit", Path: "filePath"},
		{Tool: "patch", Patch: "patchText"},
		{Tool: "apply_patch", Patch: "patchText"},
		{Tool: "bash", Command: "command", Dir: "workdir"},
	},
	Readers:   []Reader{{"read", "filePath"}},
	HookDeny:  "deny",
	HookBlock: "block",
	Wake:      WakeExit,
	Tags: []string{
		"system-reminder", "task_result", "env",
	},
	Proves:    stick.ProvesSession,
	Carriers:  []string{"serve", "web", "acp", "--port"},
	Daemons:   []string{"serve", "web"},
	Listening: []string{"serve", "web"},
	Attached:  []string{"attach"},

	Setup: Setup{
		Config: ".config/opencode",
		Skills: agents,

		Server:      Levels{".config/opencode/opencode.json", "opencode.json"},
		ServerAt:    []string{"mcp"},
		ServerJSONC: true,
		Entry:       listEntry,

		Plugin: Levels{".config/opencode/plugin/talking-stick.js", ".opencode/plugin/talking-stick.js"},
		Code:   func(tt string) string { return strings.ReplaceAll(openCodePlugin, `"{{tt}}"`, quoteJS(tt)) },

		Bundle: Bundle{
			Format: FormatOpenCode,
			Add:    []string{"opencode plugin " + From + "/opencode --global"},
			ByHand: "take it out of plugin in OpenCode's opencode.json or opencode.jsonc",
			Noted:  Levels{".config/opencode/opencode.json", "opencode.json"}, At: []string{"plugin"},
			Says: namedPackage,
		},

		Next:          pluginSession,
		NextInProject: pluginSession,
	},
}

// pluginSession is what a person does once the plugin is there.
const pluginSession = "start a new session; the first one fetches what plugins need from npm"

// quoteJS writes a path as a string of JavaScript.
func quoteJS(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

//go:embed opencode/index.js
var openCodePackage string

// OpenCodePackage returns the code of our package for OpenCode. The server is its entry in OpenCode's
// configuration.
func OpenCodePackage(server string) string {
	return strings.NewReplacer(
		"{{id}}", PluginName, "{{name}}", ServerName, "{{server}}", server,
	).Replace(openCodePackage)
}
