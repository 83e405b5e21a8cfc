// Package harness knows the programs in which agents run: what their processes are like, where they name the
// session, how they talk to hooks, and where they keep their configuration. All that is particular to one
// harness is in its file, in one row of [Rows]. Everything else here reads that table.
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

// Row is all we know about one harness.
type Row struct {
	Name  string      // the prefix of its agents' ids
	Title stick.Words // its name for people

	// Programs are the names of its own program, without ".exe".
	Programs []string

	// Scripts are the names of its script, without the ending, where an interpreter such as node runs it.
	Scripts []string

	// Launchers are those of its scripts that begin a run of it, where that may have more processes than a
	// launcher and a program.
	Launchers []string

	// Packages are parts of the path to its program or script, for installations that start it under
	// another name.
	Packages []string

	// Sandboxes are programs that run its commands in a pid namespace of their own. One of them shows
	// which harness it is, but lives only as long as a command.
	Sandboxes []string

	// SessionEnv are the variables in which its commands find the session id.
	SessionEnv []string

	// SubagentsDiffer says that a sub-agent's hooks and shells name sessions of their own. A sub-agent acts
	// as its parent, so the session that its process is known to carry comes first.
	SubagentsDiffer bool

	// CallSession is the path to the session id in the _meta of an MCP call. Only this harness's calls have
	// its first part.
	CallSession []string

	// Clients are the names by which it introduces itself to MCP servers.
	Clients []string

	// Markers are variables that show a command that it runs inside the harness.
	Markers []string

	// Ties are further variables that tie a command to the one running program.
	Ties []string

	// Hooks are the events that we listen to. There are none where a hook of ours might do harm.
	Hooks []Hook

	// HookField is a field that its hooks' inputs have, and those of the rows before it don't.
	HookField string

	// PromptRepeats says that it fires the hook for a prompt before each call of the model, without a prompt
	// where there is no new one.
	PromptRepeats bool

	// StartSource is its word for the source of a session that begins, where that isn't "startup".
	StartSource string

	// Editors are its tools that change files, including those that run commands.
	Editors []Editor

	// Readers are its tools that show the agent a file. They are heard of after the call only, because
	// nothing is asked before it.
	Readers []Reader

	// MCPTools is a pattern of the tools of all MCP servers, which may change files, too. Empty where our
	// plugin chooses.
	MCPTools string

	// MCPJoint stands between the names of a server and its tool, where no prefix comes before them.
	MCPJoint string

	// HookFlat says that the fields of an answer stand alone, not in hookSpecificOutput.
	HookFlat bool

	// HookDeny is its word for a tool that may not run, where a hook answers with one word. Elsewhere a hook
	// denies a permission.
	HookDeny string

	// HookBlock is its word for an agent that shouldn't stop yet.
	HookBlock string

	// HookSummary says that what a hook prints at HookCompact is added to the instructions for the summary.
	HookSummary bool

	// CompactTrigger is the trigger with which it means HookCompact, where it also fires that without
	// summarizing anything. Empty means every one.
	CompactTrigger string

	// Wake is how an idle agent can be woken.
	Wake Waking

	// QueueCommand, for [WakeQueue], is the command that gives a session something to do. The program is
	// that of [Row.Program].
	QueueCommand func(program, session, text string) []string

	// Inbox is its socket for what other processes have for a session, nil for none.
	Inbox *Inbox

	// Tags are the names of the tags by which it marks what it adds to a prompt itself, or by which its model
	// marks what isn't text. One that ends in * stands for all that begin like it. See [BreakTags].
	Tags []string

	// NoGitHooks is set if git runs no hooks in its shell.
	NoGitHooks bool

	// Interactive is a variable, and the value that it has in hooks when a person uses the harness.
	Interactive [2]string

	// Proves is what the life of its process proves about the session.
	Proves stick.Proof

	// Carriers are arguments with which a process carries sessions and outlives them, as a daemon does.
	Carriers []string

	// Daemons are those of the Carriers with which a process is no agent itself, and serves agents elsewhere.
	Daemons []string

	// Listening are beginnings of a daemon's arguments. With one of them, agents' terminals connect to it.
	// Without, it serves the program that started it, such as an editor, and nobody is at a terminal.
	Listening []string

	// Attached are arguments with which a daemon runs the sessions of a process. Where there are none, it
	// may run those of any process without an argument from Standalone.
	Attached []string

	// Standalone are arguments with which a process runs its sessions itself, daemon or not.
	Standalone []string

	// Unproven says why tests don't run it. What its row says is from its documentation then.
	Unproven string

	// Setup says how tt is installed in it.
	Setup Setup
}

// Waking is a way to wake an idle agent.
type Waking string

// The ways of waking. None of them types into a terminal.
const (
	WakeNone  Waking = ""
	WakeExit  Waking = "exit"  // a hook in the background ends with an exit status that asks for it
	WakeQueue Waking = "queue" // a command of the harness gives the session something to do
)

// Headless reports whether nobody is at the harness. Then no agent of it is ever idle.
func (r Row) Headless(getenv func(string) string) bool {
	return r.Interactive[0] != "" && getenv(r.Interactive[0]) != r.Interactive[1]
}

// Environment lists all variables that show that a command runs inside the harness, and in which session.
func (r Row) Environment() []string {
	all := slices.Concat(r.SessionEnv, r.Markers, r.Ties)
	if r.Interactive[0] != "" {
		all = append(all, r.Interactive[0])
	}
	return all
}

// Program returns the harness's program: the one among the ancestors, if it was started by an absolute
// path, because PATH may lead elsewhere. Otherwise it returns its name.
func (r Row) Program(chain []proc.Info) string {
	for _, p := range chain {
		if len(p.Args) > 0 && filepath.IsAbs(p.Args[0]) &&
			slices.Contains(r.Programs, strings.TrimSuffix(filepath.Base(p.Args[0]), ".exe")) {
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

// Rows is the table of harnesses. Where two of them fit, the earlier counts.
var Rows = []Row{claudeRow, codexRow, geminiRow, antigravityRow, openCodeRow, copilotRow, qwenRow, piRow}

// TaskEnv is the variable that marks what a worker's command runs: the room, the task and the attempt, as in
// room/ui-7/2. To the command it is what a session id is to a harness's.
const TaskEnv = "TT_TASK"

// RunnerName is the name of the process that attends to a worker's command. By that name, the processes below
// it are recognised as a worker's.
const RunnerName = "tt-worker"

// WorkerName is the name of a worker's command as a harness.
const WorkerName = "worker"

// workerRow recognises a command that tt started in the worktree of a task. It is no harness: nothing is
// installed for it. A harness that it runs is nearer to its own commands, so those belong to the harness.
var workerRow = Row{
	Name: WorkerName, Title: "a worker's command", Programs: []string{RunnerName},
	SessionEnv: []string{TaskEnv}, Proves: stick.ProvesSession,
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
