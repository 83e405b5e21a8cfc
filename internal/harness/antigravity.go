package harness

import "talkingstick/stick"

// antigravityRow is Google's Antigravity, as its documentation describes it. It shares Gemini CLI's
// settings directory.
var antigravityRow = Row{
	Name:     "antigravity",
	Title:    "Antigravity",
	Programs: []string{"agy", "antigravity"},
	Tags: []string{
		"start_of_turn", "end_of_turn", "user_request", "additional_metadata", "ephemeral_message",
	},
	Proves:   stick.ProvesCarrier, // until it is known: its life proves nothing
	Unproven: "only its documentation is known",

	// It gets no hooks. It treats an unexpected answer as a refusal, and nobody has tried our answers there.
	// See docs/decisions/hooks.md#what-each-harness-does.
	Setup: Setup{
		Config: ".gemini/config",
		Skills: agents,

		Server:   Levels{".gemini/config/mcp_config.json", ".agents/mcp_config.json"},
		ServerAt: []string{"mcpServers"},
		Entry:    plainEntry,

		Next:          "start a new session; it gets no hooks, so tell it to use tt, and nobody has tried it yet",
		NextInProject: newSessionTrust,
	},
}
