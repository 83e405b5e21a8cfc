package harness

import _ "embed"

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

// ServerName is the name of our MCP server in a harness's configuration.
const ServerName = "tt"

// Setup says where and how a harness is told of us. Paths are relative: below the home directory, or
// below the workspace's root.
type Setup struct {
	Config    string // the directory that shows that the harness was used here, below the home directory
	ConfigEnv string // the variable that moves it, if there is one

	Skills   Scoped // the directory of skills
	Hooks    Scoped // the file of hooks, in the layout that harnesses have in common
	HookUnit int    // what a second is in the file of hooks: 1, or 1000
	Async    string // the field by which a hook runs beside the session
	Server   Scoped // the file of MCP servers
	ServerAt []string
	TOML     bool // the file of servers is TOML, else JSON
	Entry    func(tt string) any
	Sandbox  []string // where Server lists the directories that its sandbox may write, if it has one
	Plugin   Scoped   // a file of ours
	Code     func(tt string) string

	Review   string // what a person has to do before hooks run
	Unproven bool   // from its documentation; never seen running
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
