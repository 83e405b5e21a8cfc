package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"talkingstick/internal/cli/app"
	"talkingstick/stick"
)

// otherWord is what people type for a command before they know its name.
type otherWord struct {
	parent  string // the command whose first argument it is
	words   string // separated by blanks
	does    string // what its writer probably wants, after "to"
	command string // which does that
}

// anyWord stands for a word that means nothing and is near no command: an agent, an id or a text, typed where a
// command is needed.
const anyWord = "*"

// otherWordRows name the next step for each word that isn't a command and stands for one elsewhere. A word
// with two meanings has two rows. The reader of a row wants what it says, so it may act. What a typing error
// may stand for is decided by [app.nearestCommands].
var otherWordRows = []otherWord{
	{"tt", "start setup set-up create begin install-hooks", "set this repository up", "tt init"},
	{"tt", "start begin", "start on the task of this worktree", "tt task start"},
	{"tt", "lock claim acquire grab get hold turn", "wait for the stick, and take it", "tt wait"},
	{"tt", "lock claim acquire grab get hold turn who-has whose owner holder stick token mutex", "see who holds it", "tt status"},
	{
		"tt", "done finish finished unlock free drop end commit handover hand-over hand yield give-up",
		"hand the stick over", "tt release --status … --next-action …",
	},
	{"tt", "give handto hand-to", "hand the stick to one member", "tt pass <agent> --status … --next-action …"},
	{"tt", "done finish finished", "end the task of this worktree", "tt task done"},
	{"tt", "steal force takeover take-over unstick", "take over from a holder that is gone", "tt take --reason …"},
	{"tt", "send say tell message ask mail post chat dm broadcast reply ping wake nudge notify-agent", "send a message", "tt msg send <agent> …"},
	{"tt", "messages read mailbox recv receive", "read your messages", "tt inbox"},
	{
		"tt", "agents agent-list ps who whois members users people team sessions waiting waiters",
		"see who is here, and what each does", "tt status",
	},
	{"tt", "tasks todo todos jobs issues board queue workers worktree worktrees", "list the tasks", "tt task list"},
	{"tt", "new spawn create create-task new-task add-task assign-task run-task", "create a task", "tt task new <task> --description …"},
	{"tt", "add", "create a task", "tt task new <task> --description …"},
	{"tt", "add", "reserve a path", "tt reserve <path>"},
	{"tt", "next pick", "take the oldest task that is ready", "tt task next"},
	{"tt", "review approve accept", "approve a task", "tt task approve <task>"},
	{"tt", "issue issues", "list the tasks", "tt task list"},
	{"tt", "pr prs mr pull-request", "see what a task's pull request needs", "tt task show <task>"},
	{"tt", "diff patch", "see what is uncommitted, and whose it is", "tt changes"},
	{"tt", "review diff patch", "read what a task changes", "tt task diff <task>"},
	{"tt", "merge land ship push integrate", "merge the tasks that are approved", "tt task merge"},
	{"tt", "run exec launch", "start the command of a task", "tt task run <task>"},
	{"tt", "cancel abort delete", "give up a task", "tt task cancel <task>"},
	{"tt", "comment", "comment on a task", "tt task comment <task>"},
	{"tt", "ui tui top dashboard monitor live follow htop screen", "watch all rooms, live", "tt watch"},
	{"tt", "ui web gui browser open server http", "watch them in a browser", "tt serve"},
	{"tt", "stop halt freeze block", "have all agents wait", "tt pause …"},
	{"tt", "stop kill", "end the command of a task", "tt task stop <task>"},
	{"tt", "continue unpause unfreeze", "let the agents go on", "tt resume"},
	{"tt", "update upgrade", "see how to get a newer program", "tt self-update"},
	{"tt", "docs doc manual man guide tutorial commands topics", "see all commands", "tt help --all"},
	{"tt", "hello quickstart example try-it play", "see it work", "tt demo"},
	{"tt", "check health diagnose debug test verify validate", "check the program", "tt doctor"},
	{"tt", "logs history activity feed audit tail", "see what happened", "tt log"},
	{"tt", "show info overview summary st", "see the room", "tt status"},
	{"tt", "recover stash snapshot snapshots copy copies checkout switch", "see the copies of uncommitted work", "tt rescue list"},
	{"tt", "rollback revert reset", "undo what a tool call changed", "tt undo"},
	{"tt", "settings setting options option prefs preferences set env", "see where things are set", "tt config"},
	{"tt", "turns", "see who held the stick when", "tt timeline"},
	{"tt", "rename", "act under a name of your choice", "tt join --as <agent>"},
	{"tt", "cleanup clean gc", "see what takes room, and what is wrong", "tt doctor"},
	{"tt", "search find grep", "search what happened", "tt log"},
	{"tt", "cat", "read one message", "tt msg show <message>"},
	{"tt", "pull fetch sync clone remote", "see the state of the room, since git does that", "tt status"},
	{
		"tt", "settings setting options option prefs preferences set",
		"see and change the rules of the room", "tt policy",
	},
	{"tt", "rules mode", "see the rules of the room", "tt policy"},
	{"tt", "enforce strict", "have hooks stop edits without the stick", "tt policy set enforce=stick"},
	{"tt", "notifications alert alerts bell watchdog", "be told when something needs you", "tt notify"},
	{"tt", "note", "leave a note", "tt notes add …"},
	{"tt", "exit quit logout disconnect", "leave the room", "tt leave"},
	{"tt", "remove rm kick-out kill", "remove a member", "tt kick <agent>"},
	{"tt", "enable on", "set this repository up", "tt init"},
	{"tt", "disable off", "see and change the rules of the room", "tt policy"},
	{"tt", "disable off", "disconnect harnesses and git", "tt uninstall"},
	{"tt", "claude codex gemini opencode copilot qwen cursor", "connect a harness to tt", "tt install"},
	{"tt", "rooms room repos projects workspaces", "list the rooms", "tt list --all"},
	{"tt", "files changed uncommitted dirty", "see who changed what", "tt changes"},
	{"tt", "blame", "see which tool call changed what", "tt calls"},
	{"tt", "scopes scope locks reserved claims", "see what is reserved", "tt reservations"},
	{"tt", "login me name identity", "see who you are", "tt whoami"},
	{"tt", "branch branches integration", "choose the branch that tasks are merged into", "tt task init"},

	{"tt task", "create add open make", "create a task", "tt task new <task> --description …"},
	{"tt task", "tasks all board queue", "list the tasks", "tt task list"},
	{"tt task", "assign delegate give", "create a task, with the command of its agent", "tt task new <task> --run …"},
	{"tt task", "begin claim take work", "start on the task of this worktree", "tt task start"},
	{"tt task", "claim take pick get", "take the oldest task that is ready", "tt task next"},
	{"tt task", "finish finished complete submit ready", "ask for a review", "tt task done"},
	{"tt task", "accept ok lgtm", "approve a task", "tt task approve <task>"},
	{"tt task", "reject changes deny", "ask for changes", "tt task request-changes <task> …"},
	{"tt task", "review patch changed", "read what a task changes", "tt task diff <task>"},
	{"tt task", "land ship integrate", "merge the tasks that are approved", "tt task merge"},
	{"tt task", "delete remove rm abort close drop", "give up a task", "tt task cancel <task>"},
	{"tt task", "kill end halt", "end the command of a task", "tt task stop <task>"},
	{"tt task", "log tail output", "see what its agent prints", "tt task logs <task>"},
	{"tt task", "history info view get", "see one task", "tt task show <task>"},
	{"tt task", "restart again reopen", "begin another attempt", "tt task retry <task>"},
	{"tt task", "undo revert", "revert a merged task", "tt task rollback <task>"},

	{"tt msg", "list inbox ls all unread", "read your messages", "tt inbox"},
	{"tt msg", "new say tell reply write", "send a message", "tt msg send <agent> …"},
	{"tt msg", "accept confirm", "accept a message", "tt ack <message>"},
	{"tt msg", "delete undo unsend remove", "withdraw a message", "tt msg withdraw <message>"},
	{"tt notes", "new write create", "leave a note", "tt notes add …"},
	{"tt notes", "delete remove done close", "close a note", "tt notes resolve <note>"},
	{"tt rescue", "get apply recover undo", "bring a copy back", "tt rescue restore <rescue>"},
	{"tt rescue", "delete remove drop", "drop a copy", "tt rescue forget <rescue>"},
	{"tt session", "new begin create", "start a session", "tt session start"},
	{"tt session", "stop close quit", "end the session", "tt session end"},
	{"tt agent", "list ls", "see who is here, and what each does", "tt status"},
	{"tt notes", "rm", "close a note", "tt notes resolve <note>"},
	{"tt policy", "off", "let agents edit without the stick", "tt policy set enforce=off"},
	{"tt policy", "warn", "only warn agents that edit without the stick", "tt policy set enforce=warn"},
	{"tt policy", "scopes", "stop edits outside of reserved paths", "tt policy set enforce=scopes"},
	{"tt policy", "stick strict", "have hooks stop edits without the stick", "tt policy set enforce=stick"},
	{"tt changes", anyWord, "see whose each uncommitted file is", "tt changes"},
	{"tt policy", "get show list", "see the rules of the room", "tt policy"},

	{"tt msg", anyWord, "send a message", "tt msg send <agent> …"},
	{"tt handoff", anyWord, "save a draft of your handoff", "tt handoff save …"},
	{"tt rescue", anyWord, "see the rescues", "tt rescue list"},
	{"tt notes", anyWord, "leave a note", "tt notes add …"},
	{"tt task", anyWord, "see one task", "tt task show <task>"},
}

// meantCommands says what does what a word stands for elsewhere; empty if nothing does.
func meantCommands(parent, typed string) stick.Hint {
	var all stick.Hint
	for _, row := range otherWordRows {
		if row.parent != parent || !slices.Contains(strings.Fields(row.words), strings.ToLower(typed)) {
			continue
		}

		step := stick.Hintf("to %s: %s", stick.Words(row.does), stick.Cmd(row.command))
		if len(all) > 0 {
			step = stick.Hintf("%s; %s", all, step)
		}

		all = step
	}

	return all
}

// noCommand refuses a word that isn't a command, with what it was probably meant for.
func noCommand(a *app.Run, c *cobra.Command, typed string) error {
	said := strings.TrimPrefix(c.CommandPath()+" "+typed, "tt ")
	e := stick.Errorf(stick.CodeUsage, "there is no command %q", stick.Name(said).Cut(60))

	// A word of other programs has a known meaning here, which is better than a guess.
	if hint := meantCommands(c.CommandPath(), typed); len(hint) > 0 {
		return e.Hintf("%s", hint)
	}

	if near := nearestCommands(a, c, typed); len(near) > 0 {
		guess := stick.Hintf("%s", stick.Cmd(near[0]))
		for _, other := range near[1:] {
			guess = stick.Hintf("%s or %s", guess, stick.Cmd(other))
		}
		return e.Hintf("did you mean %s? %s lists the commands", guess, app.HelpCommand(c))
	}

	if hint := meantCommands(c.CommandPath(), anyWord); len(hint) > 0 {
		return e.Hintf("%s; %s lists the commands", hint, app.HelpCommand(c))
	}

	return e.Hintf("%s lists the commands", app.HelpCommand(c))
}

// guesses are the commands that a mistyped word may be taken for where no person reads. They only read,
// because an agent that follows a hint runs it.
var guesses = []string{
	"tt calls", "tt changes", "tt config", "tt conflicts", "tt doctor", "tt events", "tt help", "tt inbox",
	"tt list", "tt log", "tt msg", "tt msg recv", "tt msg show", "tt notes", "tt notes list",
	"tt policy", "tt reservations", "tt roster",
	"tt session", "tt session env", "tt session list", "tt session path", "tt session role",
	"tt state", "tt status", "tt task", "tt task diff", "tt task export", "tt task list", "tt task logs",
	"tt task prompt", "tt task show", "tt timeline", "tt version", "tt whoami",
}

// nearestCommands returns the commands that a mistyped word was probably meant to be: any for a person at a
// terminal, elsewhere those of guesses.
func nearestCommands(a *app.Run, c *cobra.Command, typed string) []string {
	var best []string
	least := len(typed) + 1
	for _, sub := range c.Commands() {
		// An agent may run what a hint names, so it is only led to what reads.
		if sub.Hidden || !isAtTerminal(a) && !slices.Contains(guesses, sub.CommandPath()) {
			continue
		}

		// The nearest of a command's names counts.
		d, near := editDistance(typed, sub.Name())
		for _, name := range sub.Aliases {
			if other, isNear := editDistance(typed, name); isNear && (!near || other < d) {
				d, near = other, true
			}
		}

		// All that are equally near are offered.
		switch {
		case !near || d > least:
		case d < least:
			best, least = []string{sub.CommandPath()}, d
		default:
			best = append(best, sub.CommandPath())
		}
	}

	return best
}

// isAtTerminal reports whether a person at a terminal reads what fails.
func isAtTerminal(a *app.Run) bool { return a.TTY || a.ErrColumns != nil && a.ErrColumns() > 0 }

// editDistance counts the typing errors that make typed out of a name: a letter that is missing, added,
// wrong, or swapped with the next one. A name is near if they are few, or if it begins with what was typed.
func editDistance(typed, name string) (edits int, near bool) {
	a, b := []rune(strings.ToLower(typed)), []rune(name)
	var before, last, row []int
	for j := range len(b) + 1 {
		last = append(last, j)
	}

	// Each row compares one more letter of what was typed with every start of the name.
	for i := range a {
		row = []int{i + 1}
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}

			d := min(row[j]+1, last[j+1]+1, last[j]+cost)

			// Two letters that were swapped are one error.
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}

			row = append(row, d)
		}

		before, last = last, row
	}

	edits = last[len(b)]

	// A start of three letters is taken for an abbreviation.
	if len(a) >= 3 && strings.HasPrefix(name, string(a)) {
		return 1, true
	}

	return edits, edits <= min(2, (len(a)+1)/3)
}

// otherFlagRows name the flags that do what a flag of other programs does: the first that the command has.
var otherFlagRows = map[string]string{
	"message": "status", "msg": "status", "next": "next-action", "todo": "next-action",
	"desc": "description", "title": "description", "why": "reason", "because": "reason",
	"dry-run": "print", "no-pager": "pager", "tail": "follow", "watch": "follow",
	"output-format": "json", "format": "json",
	"user": "as", "agent": "as", "dir": "path", "directory": "path", "colour": "color",
	"max": "limit", "count": "limit", "n": "limit", "t": "timeout", "wait-for": "timeout",
	"port": "addr", "listen": "addr", "quick": "fast",
	"p": "addr path", "author": "from agent", "last": "limit", "1": "limit", "a": "all", "m": "description", "y": "yes",
	"f": "follow force reason", "force": "reason", "name": "as", "next-step": "next-action",
}

// badFlag says what is wrong with a flag, without Go's words, and which one was probably meant.
func badFlag(a *app.Run, c *cobra.Command, err error) error {
	// The flags of a word that is no command say nothing: the word has to be mended first.
	if word := unknownWord(a, c); word != "" {
		return noCommand(a, c, word)
	}

	e := stick.Errorf(stick.CodeUsage, "%s", flagWords(err)).Hintf("%s lists the flags", app.HelpCommand(c))
	if bad, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if near := nearestFlag(a, c, bad.GetSpecifiedName()); near != "" {
			return e.Hintf("did you mean --%s? %s lists the flags", near, app.HelpCommand(c))
		}
	}

	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		explainValue(e, bad)
	}
	return e
}

// unknownWord returns the word after a group of commands that none of them has; empty if there is none.
func unknownWord(a *app.Run, c *cobra.Command) string {
	at := len(strings.Fields(c.CommandPath())) - 1
	if !c.HasSubCommands() || c.Use != c.Name() || at >= len(a.Args) {
		return ""
	}

	if word := a.Args[at]; !strings.HasPrefix(word, "-") {
		return word
	}
	return ""
}

// flagWords says what is wrong with a flag in the words of the library, and names the flag.
func flagWords(err error) stick.Words {
	_, unknown := errors.AsType[*pflag.NotExistError](err)
	_, lacking := errors.AsType[*pflag.ValueRequiredError](err)
	if says, flag, ok := strings.Cut(err.Error(), ": "); ok && (unknown || lacking) {
		// A short flag is named with the letters that it stood among.
		says = strings.Replace(says, "shorthand ", "", 1)
		if _, among, isShort := strings.Cut(flag, " in -"); isShort {
			flag = "-" + among
		}
		return stick.Wordsf("%s: %s", stick.Words(says), flag)
	}
	return stick.Wordsf("%s", err)
}

// explainValue says what a flag's value has to be.
func explainValue(e *stick.Error, bad *pflag.InvalidValueError) {
	kinds := map[string]stick.Words{
		"duration": "a duration such as 90s or 45m", "int": "a number", "int64": "a number", "bool": "true or false",
	}
	if kind := kinds[bad.GetFlag().Value.Type()]; kind != "" {
		e.Message = stick.Errorf(stick.CodeUsage, "--%s must be %s, not %q",
			bad.GetFlag().Name, kind, stick.Name(bad.GetValue()).Cut(40)).Message
	}
	e.With("field", bad.GetFlag().Name)
}

// nearestFlag returns the flag of a command that a mistyped one was probably meant to be; empty if none is
// near, or nobody reads it.
func nearestFlag(a *app.Run, c *cobra.Command, typed string) string {
	if !isAtTerminal(a) {
		return ""
	}

	// What other programs call a flag comes before a guess by letters.
	for other := range strings.FieldsSeq(otherFlagRows[typed]) {
		if c.Flags().Lookup(other) != nil {
			return other
		}
	}

	best, least := "", len(typed)+1
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if d, near := editDistance(typed, f.Name); near && d < least && !f.Hidden {
			best, least = f.Name, d
		}
	})

	return best
}
