// Package harness knows the coding agents' programs ("harnesses"): how their processes look, how
// they tell the session, and what their processes prove. What is known of a harness stands in
// one row of [Rows]; everything else here reads that table.
package harness

import "talkingstick/stick"

// Human is the harness name of a person.
const Human = "human"

// Row is what is known of one harness.
type Row struct {
	Name  string // the prefix of its agents' ids
	Title string // its name for people

	// Programs are the names by which its own program runs, without ".exe".
	Programs []string

	// Scripts are the names of the scripts by which an interpreter such as node runs it, without
	// their endings.
	Scripts []string

	// Packages are pieces of the path of its program or script, for installations that start
	// it under another name.
	Packages []string

	// Sandboxes are programs inside of which it runs commands in a pid namespace of their own.
	// Seeing one tells the harness, but its life is only that of a command.
	Sandboxes []string

	// SessionEnv are the environment variables in which it tells its session id to the commands
	// it runs.
	SessionEnv []string

	// Markers are environment variables by which it tells commands that they run inside of it.
	Markers []string

	// Proves says what its process tells about the session in it.
	Proves stick.Proof

	// Carriers are arguments with which its process carries sessions for others and outlives
	// them, as a daemon does.
	Carriers []string
}

// Rows is the table of harnesses. When nothing else tells which of two it is, the earlier counts.
var Rows = []Row{
	{
		Name:       "claude",
		Title:      "Claude Code",
		Programs:   []string{"claude"},
		Scripts:    []string{"claude"},
		Packages:   []string{"/@anthropic-ai/claude-code/", "/claude/versions/"},
		SessionEnv: []string{"CLAUDE_CODE_SESSION_ID"},
		Markers:    []string{"CLAUDECODE"}, // not CLAUDE_PROJECT_DIR: Gemini sets it too
		Proves:     stick.ProvesSession,
	},
	{
		// npm's launcher is a node process with the native program as its child. The terminal
		// program may leave its sessions to a daemon, which is then the ancestor of commands.
		Name:       "codex",
		Title:      "Codex",
		Programs:   []string{"codex"},
		Scripts:    []string{"codex"},
		Packages:   []string{"/@openai/codex/"},
		Sandboxes:  []string{"codex-linux-sandbox"},
		SessionEnv: []string{"CODEX_SESSION_ID"}, // a sub-agent has its parent's; CODEX_THREAD_ID would be its own
		Markers:    []string{"CODEX_CI"},
		Proves:     stick.ProvesSession,
		Carriers:   []string{"app-server", "mcp-server"},
	},
	{
		// A node process that starts itself again with more memory.
		Name:       "gemini",
		Title:      "Gemini CLI",
		Programs:   []string{"gemini"},
		Scripts:    []string{"gemini"},
		Packages:   []string{"/@google/gemini-cli/"},
		SessionEnv: []string{"GEMINI_SESSION_ID"}, // in hooks only
		Markers:    []string{"GEMINI_CLI"},
		Proves:     stick.ProvesSession,
	},
	{
		Name:     "opencode",
		Title:    "OpenCode",
		Programs: []string{"opencode"},
		Scripts:  []string{"opencode"},
		Packages: []string{"/opencode-ai/"},
		Markers:  []string{"OPENCODE"},
		Proves:   stick.ProvesSession,
		Carriers: []string{"serve", "web", "acp", "--port"},
	},
}

// ByName returns the row of a harness.
func ByName(name string) (Row, bool) {
	for _, r := range Rows {
		if r.Name == name {
			return r, true
		}
	}
	return Row{}, false
}
