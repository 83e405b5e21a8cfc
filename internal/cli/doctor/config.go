package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/config"
	"talkingstick/internal/term"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// ConfigResult says where what tt does is set. It has no values of variables, because the address of a
// database may hold a password.
type ConfigResult struct {
	DataDir     string   `json:"data_dir"`               // where the database and copies of work lie
	OnServer    bool     `json:"on_server"`              // the database is a PostgreSQL server's
	UserFile    string   `json:"user_file,omitempty"`    // the file with the user's settings; empty if there is none
	ProjectFile string   `json:"project_file,omitempty"` // the file with the project's settings; empty if there is none
	Environment []string `json:"environment"`            // the variables of tt that are set
}

// ConfigCmd makes tt config.
func ConfigCmd(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use: "config", Short: "Show where things are set: files, variables, the room", Args: app.NoArgs,
		Long: "Show which files and variables set what tt does here. A flag comes before a variable, " +
			"a variable before your file, and your file\n" +
			"before the project's. The rules of a room are kept with it: tt policy.",
		RunE: func(c *cobra.Command, args []string) error {
			res, err := findSettings(a)
			if err != nil {
				return err
			}

			a.Reads = true
			return a.Print(res, func(p *term.Page) { showSettings(p, res) })
		},
	}
}

// findSettings finds the files and variables that set something here.
func findSettings(a *app.Run) (ConfigResult, error) {
	res := ConfigResult{Environment: []string{}}
	var err error
	if res.DataDir, err = a.DataDir(); err != nil {
		return res, err
	}

	if err := a.ReadSettings(); err != nil {
		return res, err
	}

	res.OnServer = a.Database != ""

	// A file that isn't there sets nothing.
	if path := filepath.Join(a.ConfigDir(), filepath.FromSlash(config.UserFile)); filepath.IsAbs(path) && isThere(path) {
		res.UserFile = path
	}

	if place, err := workspace.Resolve(".", a.WorkspaceEnv()); err == nil {
		if path := filepath.Join(place.Root, config.FileName); isThere(path) {
			res.ProjectFile = path
		}
	}

	for _, v := range Variables {
		// Of variables that others share, such as HOME, nobody needs to be told.
		isOwn := slices.ContainsFunc([]string{"TT_", "TALKING_STICK_", "AI_"}, func(start string) bool {
			return strings.HasPrefix(v.Name, start)
		})
		if isOwn && a.Getenv(v.Name) != "" {
			res.Environment = append(res.Environment, v.Name)
		}
	}

	return res, nil
}

// isThere reports whether there is a file.
func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// showSettings shows where things are set, and what explains or changes each.
func showSettings(p *term.Page, res ConfigResult) {
	orNone := func(path string) term.Text {
		if path == "" {
			return "none"
		}

		return term.FileName(path)
	}

	database := stick.Words("in a file there")
	if res.OnServer {
		database = "on a PostgreSQL server"
	}

	p.Linef("%-12s %s; the database is %s", "data", term.FileName(res.DataDir), database)
	p.Linef("%-12s %s", stick.Words("your file"), orNone(res.UserFile))
	p.Linef("%-12s %s", stick.Words("the project"), orNone(res.ProjectFile))
	for _, name := range res.Environment {
		p.Linef("%-12s %s", "variable", name)
	}

	p.Linef("the rules of a room, in its directory: %s; what variables mean: %s",
		p.Next(stick.Cmd("tt policy")), p.Next(stick.Cmd("tt help environment")))
}

// Variables are the environment variables that the program reads. Those of harnesses come from
// their table.
var Variables = []struct{ Name, Meaning string }{
	{"TALKING_STICK_DATA_DIR", "the directory of the database; an absolute path"},
	{
		"TALKING_STICK_DATABASE_URL",
		"the address of a PostgreSQL database, such as `postgres://ann@host/project`, " +
			"instead of the file in the data directory; files about this host alone stay there",
	},
	{"XDG_DATA_HOME", "without `TALKING_STICK_DATA_DIR`, the database is in `talking-stick` in this directory " +
		"(Linux, macOS); ignored if it is relative"},
	{"APPDATA", "the same on Windows"},
	{"TT_HARNESS_AGENT_ID", "act under this name, like `--as`, which comes first; it changes the name only"},
	{"AI_AGENT_ID", "the name for a helper's context file; it never names the member"},
	{"AI_HELPER", "a session that starts is a helper's, unless this is `0` or `false`; " +
		"a session that was promoted stays the primary's"},
	{"TMUX", "`tt helper` opens a window where it is set, and `tt watch` goes to the pane of an agent"},
	{"TERM_PROGRAM", "how the terminal shows a notice on the desktop; so do TERM, KITTY_WINDOW_ID, " +
		"ConEmuPID and VTE_VERSION"},
	{"TT_TASK", "set for everything that runs under the command of `tt task new --run`: `<room>/<task>/<attempt>`, " +
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
	{"PAGER", "the program that shows people answers longer than the terminal " +
		"(default `less`; `cat` shows them whole)"},
	{"NO_COLOR", "no colours, unless `--color always` is given"},
	{"TERM", "`dumb`: the line on standard error that says what a command is doing is left out, " +
		"and `tt watch` prints once"},
	{"GIT_DIR", "the git directory, as git tells it to its hooks; it counts for paths inside of its work tree"},
	{"GIT_WORK_TREE", "that work tree; only together with GIT_DIR"},
	{"USER", "a person's name: `human:<name>`; else LOGNAME, USERNAME, and what the system says"},
	{"HOME", "the home directory: where the data lies by default, and where a marker counts only for itself"},
	{"PWD", "the working directory, where the system can't tell it because it was deleted"},
}
