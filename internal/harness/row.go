// Package harness knows the coding agents' programs ("harnesses"): how their processes look, how
// they tell the session, and what their processes prove. What is known of a harness stands in
// one row of [Rows]; everything else here reads that table.
package harness

import (
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

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

	// CallSession is the path by which a call of an MCP tool tells the session in its remarks. Its
	// first part is also how such a call is recognised.
	CallSession []string

	// Markers are environment variables by which it tells commands that they run inside of it.
	Markers []string

	// Ties are other variables that tie a command to the very program that runs it.
	Ties []string

	// Hooks are the events that we listen to; none where its hooks can't be trusted to be harmless.
	Hooks []Hook

	// Editors are its tools that change files, those that run commands among them.
	Editors []Editor

	// HookDeny is its word for a tool that may not run, where it decides in one word; else it is the
	// permission that is denied.
	HookDeny string

	// HookBlock is its word for an agent that shouldn't stop yet.
	HookBlock string

	// Wake says how an idle agent of it can be woken.
	Wake Waking

	// QueueCommand is the command that gives a session something to do, with a program as [Row.Program]
	// finds it. It is there for [WakeQueue].
	QueueCommand func(program, session, text string) []string

	// NoGitHooks says that git runs no hooks in its shell.
	NoGitHooks bool

	// Interactive is the variable and the value by which hooks see that a person is at it.
	Interactive [2]string

	// Proves says what its process tells about the session in it.
	Proves stick.Proof

	// Carriers are arguments with which its process carries sessions for others and outlives
	// them, as a daemon does.
	Carriers []string

	// Daemons are those of them with which it is no agent's at all, and serves agents that run elsewhere.
	Daemons []string

	// Listening are beginnings of a daemon's arguments by which it shows that agents' terminals come to it.
	// Another one serves the program that started it, such as an editor, and nobody is at a terminal.
	Listening []string

	// Attached are arguments by which a process shows that its sessions are a daemon's; without them
	// each may be, but for those with an argument that is listed in Standalone.
	Attached []string

	// Standalone are arguments with which a process has its sessions itself, whatever daemon there is.
	Standalone []string

	// Unproven says why nobody has seen it run with us; empty for one that tests run. Then what its row
	// says is from its documentation.
	Unproven string

	// Setup says how it is told of us.
	Setup Setup
}

// Waking says how an idle agent is woken.
type Waking string

// The ways of waking. None of them types into a terminal.
const (
	WakeNone  Waking = ""
	WakeExit  Waking = "exit"  // a hook that runs in the background ends with a status that means it
	WakeQueue Waking = "queue" // by a command of the harness
)

// Headless tells whether nobody is at the harness, so that nothing of it is ever idle.
func (r Row) Headless(getenv func(string) string) bool {
	return r.Interactive[0] != "" && getenv(r.Interactive[0]) != r.Interactive[1]
}

// Environment lists the variables by which a command shows that it runs inside of the harness, and where.
func (r Row) Environment() []string {
	all := slices.Concat(r.SessionEnv, r.Markers, r.Ties)
	if r.Interactive[0] != "" {
		all = append(all, r.Interactive[0])
	}
	return all
}

// Program is the harness's own program: the one that runs among the ancestors, where it was started by an
// absolute path, which PATH needn't lead to. Else it is its name.
func (r Row) Program(chain []proc.Info) string {
	for _, p := range chain {
		if len(p.Args) > 0 && filepath.IsAbs(p.Args[0]) && slices.Contains(r.Programs, strings.TrimSuffix(filepath.Base(p.Args[0]), ".exe")) {
			return p.Args[0]
		}
	}
	return r.Programs[0]
}

// Names lists the names of the harnesses.
func Names() []string {
	names := make([]string, len(Rows))
	for i, r := range Rows {
		names[i] = r.Name
	}
	return names
}

// Rows is the table of harnesses. When nothing else tells which of two it is, the earlier counts.
var Rows = []Row{claudeRow, codexRow, geminiRow, antigravityRow, openCodeRow}

// workerRow recognises a command that tt started in the worktree of a task. It is no harness: nothing is
// installed for it, and a harness inside of it is nearer to its own commands, and is who they belong to.
var workerRow = Row{Name: "worker", Title: "a worker's command", Programs: []string{"tt-worker"}, Proves: stick.ProvesSession}

// ByName returns the row of a harness.
func ByName(name string) (Row, bool) {
	for _, r := range Rows {
		if r.Name == name {
			return r, true
		}
	}
	return Row{}, false
}

// SessionOfCall tells the harness and the session that a call of an MCP tool names in its remarks;
// both are empty where it names none.
func SessionOfCall(meta map[string]any) (harness, session string) {
	for _, r := range Rows {
		var at any = meta
		for _, part := range r.CallSession {
			inner, _ := at.(map[string]any)
			at = inner[part]
		}
		if id, ok := at.(string); ok && id != "" {
			return r.Name, id
		}
	}
	return "", ""
}
