package harness

import "talkingstick/stick"

// antigravityRow is Google's Antigravity, from its documentation: nobody has seen how its processes look.
// Gemini CLI's settings directory is its, too.
var antigravityRow = Row{
	Name:     "antigravity",
	Title:    "Antigravity",
	Programs: []string{"agy", "antigravity"},
	Proves:   stick.ProvesCarrier, // until it is known: its life proves nothing
	Unproven: "only its documentation is known (decision 34)",

	// Its hooks fail closed on an answer that they don't expect, and nobody has tried ours there, so
	// it gets none.
	Setup: Setup{
		Config: ".gemini/config",
		Skills: agents,

		Server:   Scoped{".gemini/config/mcp_config.json", ".agents/mcp_config.json"},
		ServerAt: []string{"mcpServers"},
		Entry:    func(tt string) any { return command{"", tt, []string{"mcp"}} },

		Next:          "start a new session; it gets no hooks, so tell it to use tt, and nobody has tried it yet",
		NextInProject: newSessionTrust,
	},
}
