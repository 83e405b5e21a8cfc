package cli

import (
	"strconv"
	"strings"

	"talkingstick/stick"
)

// topic is a page of help about something that several commands have in common.
type topic struct {
	names []string // the first is its own
	show  func(*page)
}

var topics = []topic{
	{[]string{"environment", "env", "variables"}, (*page).aboutEnvironment},
	{[]string{"exit-codes", "exit-status", "exit", "exits"}, (*page).aboutExits},
	{[]string{"policy", "policies", "rules"}, (*page).aboutPolicy},
}

// aboutEnvironment explains the variables that the program reads.
func (p *page) aboutEnvironment() {
	p.showWrapped("", "A flag comes before a variable, a variable before your file, "+
		"and your file before the project's.")
	p.linef("")
	for _, v := range variables {
		p.showEntry(v.name, strings.ReplaceAll(v.meaning, "`", ""), 28)
	}
}

// aboutExits explains the exit statuses.
func (p *page) aboutExits() {
	p.showWrapped("", "A command that fails prints one line on standard error, "+
		"and mostly a second one with the next step. With --json both are one object.")
	p.linef("")
	for _, e := range exits {
		p.showEntry(strconv.Itoa(e.status), strings.ReplaceAll(e.meaning, "`", ""), 5)
	}
}

// aboutPolicy explains the rules of a room, with what each is at first.
func (p *page) aboutPolicy() {
	p.showWrapped("", "The rules of a room. To see what yours are: tt policy. To change one: tt policy enforce=stick")
	p.linef("")
	first := stick.DefaultPolicy()
	for _, k := range stick.PolicyKeys {
		meaning := k.Meaning + "; at first " + first.Get(k.Name)
		p.showEntry(k.Name, meaning, 25)
	}
}

// exits are the classes of exit statuses.
var exits = []struct {
	status  int
	meaning string
}{
	{stick.ExitOK, "done; `tt wait` without `--turn` for whatever it returns: read `status`; `tt roster`: alone"},
	{stick.ExitInternal, "a fault of the program; `tt roster`: not alone"},
	{stick.ExitUsage, "the command line or a parameter is wrong; `tt roster`: it couldn't be found out, " +
		"whatever the reason"},
	{stick.ExitNotFound, "what was named doesn't exist"},
	{stick.ExitRefused, "refused now; also `tt try` and `tt wait --turn` without the stick, " +
		"so that `tt wait --turn && …` is safe"},
	{stick.ExitFenced, "fenced: the turn is over, or the lease isn't the current one"},
	{stick.ExitBusy, "the database stayed locked, or its server doesn't answer"},
	{stick.ExitEnvironment, "the environment: file system, permissions, versions; `tt doctor` when it found a fault"},
	{stick.ExitHands, "a conflict, a dirty tree or a red gate needs hands; `left` says what was left in progress"},
	{stick.ExitInterrupted, "interrupted by Ctrl-C; 129 when it was by SIGHUP, 131 by SIGQUIT, 143 by SIGTERM"},
}

// variables are the environment variables that the program reads. Those of harnesses come from
// their table.
var variables = []struct{ name, meaning string }{
	{"TALKING_STICK_DATA_DIR", "the directory of the database; an absolute path"},
	{
		"TALKING_STICK_DATABASE_URL",
		"the address of a PostgreSQL database, such as `postgres://ann@host/project`, " +
			"instead of the file in the data directory; what is of this host stays there",
	},
	{"XDG_DATA_HOME", "without it, the database lies in `talking-stick` in this directory (Linux, macOS); " +
		"ignored where it is relative"},
	{"APPDATA", "the same on Windows"},
	{"TT_HARNESS_AGENT_ID", "act under this name, like `--as`, which comes first; it changes the name only"},
	{"AI_AGENT_ID", "asks for the name of a helper's context file; it never names the member"},
	{"AI_HELPER", "a session that begins is a helper's, unless it is `0` or `false`; " +
		"one that was promoted stays the primary's"},
	{"TMUX", "`tt helper` opens a window where it is set, and `tt watch` goes to the pane of an agent"},
	{"TERM_PROGRAM", "how the terminal shows a notice on the desktop; so do TERM, KITTY_WINDOW_ID, " +
		"ConEmuPID and VTE_VERSION"},
	{"TT_TASK", "marks what a command runs that `tt task new --run` started: `<room>/<task>/<attempt>`, " +
		"as in `room/ui-7/2`. The commands of the worker are fenced with that attempt, as by `--attempt`"},
	{"TT_OFF", "hooks say and do nothing, unless it is `0` or `false`"},
	{"PATH", "where `tt install` finds the path under which harnesses are to call the program"},
	{"CLAUDE_CONFIG_DIR", "where Claude Code's configuration is"},
	{"CODEX_HOME", "where Codex's configuration is"},
	{"COPILOT_HOME", "where Copilot's configuration is"},
	{"QWEN_HOME", "where Qwen Code's configuration is"},
	{"PI_CODING_AGENT_DIR", "where pi's configuration is"},
	{"XDG_CONFIG_HOME", "where OpenCode's configuration is, `opencode` in it, and your own, " +
		"`talking-stick/config.toml`"},
	{"TT_TRACE", "the absolute path of a file to which each wait adds a line of JSON when it reads its " +
		"room, and each operation when it probes processes or runs a transaction again"},
	{"TT_JSON", "print JSON, like `--json`, unless it is `0` or `false`"},
	{"PAGER", "what shows a person an answer that is longer than the terminal, `less` without it; `cat` for none"},
	{"NO_COLOR", "no colours, unless `--color always` is given"},
	{"TERM", "`dumb`: the line on standard error that says what a command is doing is left out, " +
		"and `tt watch` prints once"},
	{"GIT_DIR", "the git directory, as git tells it to its hooks; it counts for paths inside of its work tree"},
	{"GIT_WORK_TREE", "that work tree; only together with GIT_DIR"},
	{"USER", "a person's name: `human:<name>`; else LOGNAME, USERNAME, and what the system says"},
	{"HOME", "the home directory: where the data lies by default, and where a marker counts only for itself"},
	{"PWD", "the working directory, where the system can't tell it because it was deleted"},
}
