package harness

import (
	_ "embed"
	"encoding/json"
)

// Skill is the text of our skill, and Instructions what the instructions of a project say of us.
var (
	//go:embed files/SKILL.md
	Skill string
	//go:embed files/instructions.md
	Instructions string
)

// SkillName is the name of our skill, and of what we put into a harness's configuration where that
// isn't the server.
const SkillName = "talking-stick"

// InstructionsFile is the file of a project in which harnesses look for instructions.
const InstructionsFile = "AGENTS.md"

// ServerName is the name of our MCP server in a harness's configuration.
const ServerName = "tt"

// Setup says where and how a harness is told of us. Paths are relative: below the home directory, or
// below the workspace's root.
type Setup struct {
	Config    string // the directory that shows that the harness was used here, below the home directory
	ConfigEnv string // the variable that moves it, if there is one

	Skills       Scoped // the directory of skills
	Instructions string // the file that it reads instead of [InstructionsFile], if it does: it is made to import that

	Hooks      Scoped         // the file of hooks, in the layout that harnesses have in common
	HookUnit   int            // what a second is in the file of hooks: 1, or 1000
	Background func(*Handler) // has a hook run beside the session, without holding it up; nil where none can
	Trust      *Trust         // whom its hooks have to be trusted by before they run; nil where they just run

	Server      Scoped   // the file of MCP servers
	ServerAt    []string // where in it they stand
	ServerMoves bool     // ConfigEnv moves the file too, though it isn't below Config
	ServerJSONC bool     // the file may have the ending .jsonc instead
	TOML        bool     // the file is TOML, else JSON
	Entry       func(tt string) any
	Sandbox     []string // where Server lists the directories that its sandbox may write, if it has one

	Plugin Scoped // a file of ours
	Code   func(tt string) string

	Next          string // what a person does until it uses what it was told
	NextInProject string // the same where a project tells it
}

// What a person does in most harnesses, for [Setup.Next] and [Setup.NextInProject].
const (
	newSession      = "start a new session; those that run don't know it yet"
	newSessionTrust = "start a new session here, and trust the folder when it asks"
)

// HookGroup and Handler are how hooks stand in a harness's file: for each event a list of groups.
type HookGroup struct {
	Matcher string    `json:"matcher,omitempty"` // the tools that it is for
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

// Trust says how a harness notes which hooks a person has trusted. It skips the others, and tells nobody.
type Trust struct {
	File string // a TOML file below Config
	// At is where in it stands what the harness notes of a hook: of a file, and in it of an event's group
	// and handler.
	At func(file, event string, group, handler int) []string
	// Note is what it notes there of a hook that it trusts.
	Note   func(event string, matcher *string, handler json.RawMessage) string
	Review string // what a person does to trust them
}

// Scoped is a path for a person and one for a project; empty where there is none.
type Scoped struct{ User, Project string }

// agents is where all but Claude Code look for skills.
var agents = Scoped{".agents/skills", ".agents/skills"}

// command is a server's entry as most harnesses have it.
type command struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}
