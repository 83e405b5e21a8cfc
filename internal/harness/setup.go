package harness

import (
	_ "embed"
	"encoding/json"

	"talkingstick/stick"
)

// Skill is our skill. Instructions are what we add to a project's instructions.
var (
	//go:embed files/SKILL.md
	Skill string
	//go:embed files/instructions.md
	Instructions string
)

// SkillName is the name of our skill, and of anything else in a harness's configuration but the server.
const SkillName = "talking-stick"

// InstructionsFile is the file in a project that harnesses read.
const InstructionsFile = "AGENTS.md"

// ServerName is the name of our MCP server in a harness's configuration.
const ServerName = "tt"

// Setup says how tt is installed in a harness. Paths are relative to the home directory, or to the
// workspace's root.
type Setup struct {
	Config    string // its directory below the home directory: it exists once the harness was used
	ConfigEnv string // the variable that moves it, if there is one

	Skills       Levels // the directory of skills
	Instructions string // the file that it reads instead of [InstructionsFile], if any: we have it import that one

	Hooks      Levels         // the file of hooks, as a map of events to [HookGroup]s
	HookUnit   int            // how it counts a second of Timeout: 1 or 1000
	Background func(*Handler) // has a hook run in the background; nil if hooks can't
	Trust      *Trust         // how it notes which hooks a person trusts; nil if it runs them all

	Server      Levels   // the file of MCP servers
	ServerAt    []string // the path of keys to them
	ServerMoves bool     // ConfigEnv moves the file too, although it isn't below Config
	ServerJSONC bool     // the file may end with .jsonc instead
	TOML        bool     // the file is TOML, not JSON
	Entry       func(tt string) any
	ServerBare  bool     // it starts servers without most of the user's variables
	Sandbox     []string // the path of keys, in the same file, to the directories that its sandbox may write

	LoginShell bool // it runs commands in a login shell, which reads other files than a person's

	Bundle Bundle // our plugin, which its own commands install instead; no format if there is none

	Plugin Levels // our plugin, where it has no file of hooks
	Code   func(tt string) string

	Next          stick.Words // what a person does to start using tt
	NextInProject stick.Words // the same after tt install --project
}

// What a person does in most harnesses, for [Setup.Next] and [Setup.NextInProject].
const (
	newSession      = "start a new session; those that run don't know it yet"
	newSessionTrust = "start a new session here, and trust the folder when it asks"
)

// HookGroup is an element of a list in a harness's file of hooks. Each event has such a list.
type HookGroup struct {
	Matcher string    `json:"matcher,omitempty"` // the tools it is for
	Hooks   []Handler `json:"hooks"`
}

// Handler is what a hook runs.
type Handler struct {
	Type        string `json:"type"`
	Command     string `json:"command"`
	Timeout     int    `json:"timeout,omitempty"`
	Async       bool   `json:"async,omitempty"`
	AsyncRewake bool   `json:"asyncRewake,omitempty"`
}

// Trust says how a harness notes which hooks a person trusts. It skips the others without a word.
type Trust struct {
	File string // a TOML file below Config
	// At returns the path of keys to the harness's note about one hook: a handler in a group of an event.
	At func(file, event string, group, handler int) []string
	// Note returns what the harness notes there when a person trusts the hook.
	Note   func(event string, matcher *string, handler json.RawMessage) string
	Review stick.Words // what a person does to trust them
}

// Levels are the two levels at which tt is installed: a path for a user, and one for a project. Either may be
// empty.
type Levels struct{ User, Project string }

// agents is where most harnesses look for skills.
var agents = Levels{".agents/skills", ".agents/skills"}

// command is the usual form of a server's entry.
type command struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// The forms of a server's entry: the usual one, with its type, and with the command as one list.
func plainEntry(tt string) any { return command{"", tt, []string{"mcp"}} }
func typedEntry(tt string) any { return command{"stdio", tt, []string{"mcp"}} }

func listEntry(tt string) any {
	return struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}{"local", []string{tt, "mcp"}, true}
}
