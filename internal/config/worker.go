package config

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"talkingstick/stick/glob"
	"talkingstick/stick/tasks"
)

// Gate is the section [gate]: a command that has to succeed on a commit before the integration branch
// moves to it.
type Gate struct {
	Command string        // a shell command; empty for no gate
	Timeout time.Duration // for one run
	Retries int           // how often to run a failed gate again on the same commit

	IndependentReview bool // an approval by whom an author of the task has started is refused

	Protect []glob.Pattern // files that belong to the gate: a task that changes one is marked

	Env []string // variables that the process that merges by itself keeps, besides the usual ones
}

// Merge is the section [merge]: how approved tasks are merged.
type Merge struct {
	Auto  bool // tt merges by itself what is approved
	Batch int  // how many tasks are merged on top of each other, and gated once
}

// Protects reports whether a file of the project, by its path, belongs to the gate.
func (g Gate) Protects(file string) bool {
	return slices.ContainsFunc(g.Protect, func(p glob.Pattern) bool { return p.Match(file, false) })
}

// Worker is the section [worker]: where tasks are worked on and merged.
type Worker struct {
	Integration string        // the branch that tasks are merged into; empty if the file doesn't say
	Dir         string        // where worktrees are created, relative to the workspace's root: in it, or one level beside it
	Races       int           // how often a landing starts over because somebody else was faster
	TimeLimit   time.Duration // for how long a task's command may run; 0 for any time
	MaxRunning  int           // how many commands of tasks may run on one host at the same time; 0 for any number
	Setup       string        // a shell command that runs in each new worktree; empty for none
	Prefix      string        // the name of a task's branch is this and the task's

	Copy []glob.Pattern // files of the room's checkout that git ignores, and that each new worktree gets a copy of
	Keep []glob.Pattern // files that git doesn't track, of which a copy is kept when a worktree is removed

	Sign bool // sign the commits that tt makes, if the user's git signs commits
}

// repoName stands for the name of the workspace's own directory in the name of one beside it.
const repoName = "{repo}"

// isBeside reports whether a clean path names a directory that lies beside the workspace.
func isBeside(dir string) bool {
	name, ok := strings.CutPrefix(dir, "../")
	plain := strings.ReplaceAll(name, repoName, "repo")
	return ok && isInside(plain) && !strings.ContainsAny(plain, "/{}")
}

// DefaultWorktreeDir is where worktrees lie if the project doesn't say.
const DefaultWorktreeDir = "worktrees"

// IsBeside reports whether worktrees lie beside the workspace, and not in it.
func (w Worker) IsBeside() bool { return isBeside(w.Dir) }

// DirFor returns the directory of worktrees for the workspace at root, relative to it.
func (w Worker) DirFor(root string) string {
	return strings.ReplaceAll(w.Dir, repoName, filepath.Base(root))
}

// BesideSetting is the setting by which worktrees lie beside the workspace, as a person accepts it.
func (w Worker) BesideSetting() tasks.ProjectCommand {
	return tasks.ProjectCommand{Key: tasks.WorktreeDirKey, Command: w.Dir}
}

// Commands lists the settings that count only after a person has accepted them: commands that tt runs, and a
// directory outside of the workspace.
func (c Config) Commands() (all []tasks.ProjectCommand) {
	if c.Worker.IsBeside() {
		all = append(all, c.Worker.BesideSetting())
	}
	if c.Worker.Setup != "" {
		all = append(all, c.Worker.SetupCommand())
	}
	if c.PR.Command != "" {
		all = append(all, c.PR.ProjectCommand())
	}
	return all
}

// SetupCommand is the command that runs in each new worktree.
func (w Worker) SetupCommand() tasks.ProjectCommand {
	return tasks.ProjectCommand{Key: "worker.setup", Command: w.Setup}
}

// PR is the section [pr]: how pull requests are opened.
type PR struct {
	Command string // a shell command that opens them and tells their state; empty for the program of the forge
}

// ProjectCommand is the command that opens pull requests and tells their state.
func (p PR) ProjectCommand() tasks.ProjectCommand {
	return tasks.ProjectCommand{Key: "pr.command", Command: p.Command}
}

// DefaultIntegration is the branch that tasks are merged into by default.
const DefaultIntegration = "integration"

// gateKeys, workerKeys, mergeKeys and prKeys are the keys of the four sections.
var (
	mergeKeys = []key{
		{
			"auto", "true or false",
			"merge approved tasks without a further command, as `tt task approve --merge` does (default false)",
			func(c *Config, v any) error { return assignValue(v, &c.Merge.Auto) },
		},
		{
			"batch", "a number from 1 to 64",
			"how many approved tasks are merged on top of each other and gated once; if the gate is red, tt finds out which of them is to blame (default 1)",
			func(c *Config, v any) error { return readNumber(v, 1, tasks.MaxTrain, &c.Merge.Batch) },
		},
	}
	prKeys = []key{
		{
			"command", "a shell command",
			"a command that opens pull requests and tells their state, instead of gh or glab, once a person has accepted it: see [pull requests](../decisions/pull-requests.md#a-command-of-the-projects-own) (default: none)",
			func(c *Config, v any) error { return assignValue(v, &c.PR.Command) },
		},
	}
	gateKeys = []key{
		{
			"command", "a shell command",
			"a command that has to succeed on a commit before it is merged (default: none)",
			func(c *Config, v any) error { return assignValue(v, &c.Gate.Command) },
		},
		{
			"timeout", "a duration such as 90s or 10m",
			"how long one run of the gate may take (default 10m)", func(c *Config, v any) error {
				d, err := readDuration(v)
				c.Gate.Timeout = d
				return err
			},
		},
		{
			"retries", "a number from 0 to 10",
			"how often to run a failed gate again (default 0)",
			func(c *Config, v any) error { return readNumber(v, 0, 10, &c.Gate.Retries) },
		},
		{
			"independent_review", "true or false",
			"refuse approvals by agents that an author of the task has started (default false)",
			func(c *Config, v any) error { return assignValue(v, &c.Gate.IndependentReview) },
		},
		{
			"protect", "a list of patterns",
			"files that belong to the gate, besides this one and those that its command names; a task that changes one is marked in its review",
			func(c *Config, v any) error { return readPatterns(v, &c.Gate.Protect) },
		},
		{
			"env", "a list of names of variables",
			"variables of your environment that the gate needs where tt merges by itself, besides the usual ones such as PATH and HOME (default: none)",
			func(c *Config, v any) error { return readVariables(v, &c.Gate.Env) },
		},
	}
	workerKeys = []key{
		{
			"integration", "the name of a branch",
			"the branch that tasks are merged into (default `integration`)",
			func(c *Config, v any) error { return assignValue(v, &c.Worker.Integration) },
		},
		{
			"worktree_dir", "a directory inside the workspace, or one beside it such as ../{repo}.tasks",
			"where tt creates the worktrees of tasks; one beside the workspace, in whose name {repo} stands for the workspace's own, once a person has accepted it (default `worktrees`)",
			func(c *Config, v any) error {
				if err := assignValue(v, &c.Worker.Dir); err != nil {
					return err
				}
				c.Worker.Dir = strings.TrimSuffix(c.Worker.Dir, "/")
				dir := filepath.ToSlash(filepath.Clean(filepath.FromSlash(c.Worker.Dir)))
				isPlace := isInside(c.Worker.Dir) || isBeside(dir)
				if !isPlace || strings.ContainsAny(dir, `\:*?"<>|[]`) {
					return errKind
				}
				c.Worker.Dir = dir
				return nil
			},
		},
		{
			"branch_prefix", "the beginning of a branch's name, of at most 64 letters, digits, dots, dashes, underscores and slashes",
			"how the names of tasks' branches begin (default `feat/`)", func(c *Config, v any) error {
				if err := assignValue(v, &c.Worker.Prefix); err != nil || !isBranchPrefix(c.Worker.Prefix) {
					return errKind
				}
				return nil
			},
		},
		{
			"copy", "a list of patterns",
			"files that git ignores, such as .env: each new worktree gets a copy of those in the room's checkout",
			func(c *Config, v any) error { return readPatterns(v, &c.Worker.Copy) },
		},
		{
			"keep", "a list of patterns",
			"files that git doesn't track, of which tt keeps a copy before it removes a worktree",
			func(c *Config, v any) error { return readPatterns(v, &c.Worker.Keep) },
		},
		{
			"setup", "a shell command",
			"a command that runs in each new worktree, once a person has accepted it (default: none)",
			func(c *Config, v any) error { return assignValue(v, &c.Worker.Setup) },
		},
		{
			"sign", "true or false",
			"sign the commits that tt makes, if the user's git has commit.gpgSign; with false they have no signature (default true)",
			func(c *Config, v any) error { return assignValue(v, &c.Worker.Sign) },
		},
		{
			"races", "a number from 1 to 100",
			"how often a merge starts over because somebody else was faster (default 3)",
			func(c *Config, v any) error { return readNumber(v, 1, 100, &c.Worker.Races) },
		},
		{
			"max_running", "a number from 0 to 1000",
			"how many commands of tasks may run on one host at the same time; 0 for any number (default 0)",
			func(c *Config, v any) error { return readNumber(v, 0, 1000, &c.Worker.MaxRunning) },
		},
		{
			"time_limit", "a duration such as 90s or 10m",
			"how long a task's command may run before tt ends it (default: any time)", func(c *Config, v any) error {
				d, err := readDuration(v)
				c.Worker.TimeLimit = d
				return err
			},
		},
	}
)

// ParseTasks parses the sections about tasks. Empty content gives the default. It fails as [Parse] does.
func ParseTasks(content []byte) (Gate, Worker, error) {
	c, err := Parse(content)
	return c.Gate, c.Worker, err
}

// DefaultPrefix begins the names of tasks' branches by default.
const DefaultPrefix = "feat/"

// isBranchPrefix reports whether the names of branches may begin so.
func isBranchPrefix(prefix string) bool {
	if !isPlain(prefix) || len(prefix) > 64 {
		return false
	}

	parts := strings.Split(prefix, "/")
	for i, part := range parts {
		last := i == len(parts)-1
		if part == "" && !last || strings.HasPrefix(part, ".") || strings.HasPrefix(part, "-") || strings.Contains(part, "..") ||
			!last && (strings.HasSuffix(part, ".") || strings.HasSuffix(part, ".lock")) {
			return false
		}
	}
	return true
}

func readDuration(v any) (time.Duration, error) {
	var text string
	if err := assignValue(v, &text); err != nil {
		return 0, err
	}

	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errKind
	}
	return d, nil
}

// readVariables reads a list of names of environment variables.
func readVariables(v any, into *[]string) error {
	list, ok := v.([]any)
	if !ok {
		return errKind
	}

	var names []string
	for _, x := range list {
		name, ok := x.(string)
		if !ok || !isVariable(name) {
			return errKind
		}
		names = append(names, name)
	}

	*into = names
	return nil
}

// isVariable reports whether a word can be the name of an environment variable.
func isVariable(name string) bool {
	isOdd := func(c rune) bool {
		letter := 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
		digit := '0' <= c && c <= '9'
		return !letter && !digit && c != '_'
	}
	return name != "" && len(name) <= 100 && strings.IndexFunc(name, isOdd) < 0
}

func readNumber(v any, least, most int64, into *int) error {
	n, ok := v.(int64)
	if !ok || n < least || n > most {
		return errKind
	}
	*into = int(n)
	return nil
}
