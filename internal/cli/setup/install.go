// Package setup sets up a repository and connects harnesses and git to tt; it also removes and updates tt.
package setup

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/harness"
	"talkingstick/internal/install"
	"talkingstick/internal/term"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// InstallResult is what was done, or would be.
type InstallResult struct {
	TT       string               `json:"tt"`      // the program as harnesses will call it
	Applied  bool                 `json:"applied"` // the changes were made, or there were none to make
	Steps    []install.FileChange `json:"steps"`
	Links    []string             `json:"links,omitempty"`    // the program's other names that were made or removed
	Snippets []harness.Snippet    `json:"snippets,omitempty"` // what a person pastes, where tt writes nothing
	Next     []stick.Words        `json:"next,omitempty"`     // of install: what a person has to do now, by harness
	DataDir  string               `json:"data_dir,omitempty"` // of uninstall: where the data lies
	Data     []upkeep.DataPart    `json:"data,omitempty"`     // of uninstall: the database and the copies of uncommitted work there
	DataGone bool                 `json:"data_removed,omitempty"`
	Stays    stick.Words          `json:"database_stays,omitempty"` // why --data doesn't concern the database

	// Worktrees are, of uninstall, the directories for worktrees of tasks of the repository here. They stay.
	Worktrees []core.TaskDirectory `json:"worktrees,omitempty"`

	removing bool
	withData bool
	asked    bool // the plan was shown already
	planned  bool // nothing has been changed so far
	all      bool // no harness was named
	project  bool
	found    bool // it is about the harnesses that were found here
}

// installOptions are the flags of both commands.
type installOptions struct{ all, project, show, prePush, removing, data, yes bool }

// InstallCmd makes tt install.
func InstallCmd(a *app.Run) *cobra.Command {
	var o installOptions
	c := &cobra.Command{
		Use: "install [harness]…", Short: "Connect harnesses and git to tt: skill, hooks, MCP server",
		Args: app.ArgsBetween(0, -1, ""),
		Long: "Put the skill, the hooks and the MCP server into the configuration of harnesses: " +
			strings.Join(harness.Names(), ", ") + ".\n" +
			"Without a name, show which of them were found and what would change, and ask. " +
			"If nobody can be asked, exit with 2.\n" +
			"For " + strings.Join(harness.SnippetNames(), ", ") +
			" print what to paste into their configuration, and write nothing.\n\n" +
			"tt install git puts two hooks into the repository of the working directory. " +
			"They refuse an agent's commit if the room's\n" +
			"policy doesn't let the agent edit, or if it includes what others edited; " +
			"otherwise they run the hooks that were there\n" +
			"before. With --pre-push, a third hook refuses an agent's push that includes other agents' " +
			"commits. tt install links adds the\n" +
			"commands talking-stick, agent-roster, worker, review-gate and bb, which are tt under other names.\n\n" +
			"Everything else in the files stays as it is. Before the first change of a file, " +
			"a copy goes to the data directory.",
	}

	f := c.Flags()
	f.BoolVar(&o.all, "all", false, "every harness, found or not, and git if this is a repository")
	f.BoolVar(&o.project, "project", false,
		"install in this workspace, for everybody who works in it, instead of in your home")
	f.BoolVar(&o.show, "print", false, "show the changes and make none")
	f.BoolVar(&o.prePush, "pre-push", false,
		"with git: also the hook pre-push, which names other agents' commits that a push includes")
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.prePush && !o.all && !slices.Contains(args, install.Git) {
			return stick.Errorf(stick.CodeUsage, "--pre-push is a git hook").With("field", "pre-push").
				Hintf("add git: %s", stick.Cmd("tt install git --pre-push"))
		}

		return runInstall(c.Context(), a, args, o)
	}

	return c
}

// UninstallCmd makes tt uninstall.
func UninstallCmd(a *app.Run) *cobra.Command {
	o := installOptions{removing: true}
	c := &cobra.Command{
		Use: "uninstall [harness]…", Short: "Disconnect harnesses and git from tt", Args: app.ArgsBetween(0, -1, ""),
		Long: "Remove exactly what tt install put into the configuration of harnesses (by default, all of\n" +
			"them) and into the hooks of the repository of the working directory. What several harnesses\n" +
			"share stays as long as one of them uses it. Your data stays, and so does\n" +
			".talking-stick.toml. With --data it also removes the database, its backups and the copies of\n" +
			"uncommitted work, after listing them with their sizes and asking. Only a person may do that, and it\n" +
			"can't be undone.\n\n" +
			"It also removes the MCP server of the npm program of the same name. Without a name, show\n" +
			"what would change, and ask; if nobody can be asked, exit with 2, unless --yes is given. tt\n" +
			"uninstall git removes only those hooks. tt uninstall links removes the program's other\n" +
			"names.",
	}

	c.Flags().BoolVar(&o.project, "project", false, "uninstall from this workspace instead of from your home")
	c.Flags().BoolVar(&o.show, "print", false, "show the changes and make none")
	c.Flags().BoolVar(
		&o.data, "data", false, "remove the database, its backups and the copies of uncommitted work, too",
	)
	c.Flags().BoolVar(&o.yes, "yes", false, "don't ask")

	c.RunE = func(c *cobra.Command, args []string) error {
		o.all = len(args) == 0
		switch {
		case o.data && (o.project || !o.all):
			return stick.Errorf(stick.CodeUsage,
				"--data removes all of tt, so name no harness and no project").With("field", "data")
		}

		return runInstall(c.Context(), a, args, o)
	}

	return c
}

// runInstall plans changes and makes them, or shows them.
func runInstall(ctx context.Context, a *app.Run, names []string, o installOptions) error {
	t, err := InstallTarget(a, o.project)
	if err != nil {
		return err
	}

	data, err := dataOf(ctx, a, o)
	if err != nil {
		return err
	}

	// Nobody is asked about what was named, or is only shown.
	asked := len(names) > 0 || o.all && !o.removing || o.show || o.yes
	if o.data {
		asked = o.yes || o.show
	}

	withLinks := slices.Contains(names, "links")
	names, pasted, err := snippetsOf(t, names)
	if err != nil {
		return err
	}

	var steps []install.FileChange
	if len(names) > 0 || len(pasted) == 0 {
		if steps, err = planSteps(ctx, a, t, names, o); err != nil {
			return err
		}
	}

	res := InstallResult{TT: t.TT, Steps: steps, Snippets: pasted, removing: o.removing, all: o.all, project: o.project}
	if res.Steps == nil {
		res.Steps = []install.FileChange{}
	}

	if o.removing {
		res.DataDir, res.Data, res.Stays = t.DataDir, data.Parts, data.Stays
		res.Worktrees = data.Worktrees
		res.withData = o.data
	}

	res.found = !o.removing && !o.all && len(names) == 0 && len(pasted) == 0

	if withLinks && o.show {
		// With --print this only lists names, so it doesn't fail.
		res.Links, _ = changeLinks(a, t.TT, o)
	}

	if o.show {
		a.Reads = true
		for i := range steps {
			steps[i].Show()
		}

		res.planned = true
		return a.Print(res, func(p *term.Page) { showInstalled(p, res) })
	}

	// The plan is what the person sees before the question.
	if !asked && (o.data || slices.ContainsFunc(steps, install.FileChange.Pending)) {
		if ok, err := confirmPlan(a, res); err != nil || !ok {
			return err
		}

		res.asked = true
	}

	return applyInstall(ctx, a, t, res, o, withLinks)
}

// applyInstall makes the planned changes, and prints what was done.
func applyInstall(
	ctx context.Context, a *app.Run, t install.Target, res InstallResult, o installOptions, withLinks bool,
) (err error) {
	if err := install.Apply(res.Steps); err != nil {
		return err
	}

	res.Applied = len(res.Steps) > 0 || withLinks
	logNpm(a, t.DataDir, install.RemovedNpmEntries(res.Steps))
	if withLinks {
		if res.Links, err = changeLinks(a, t.TT, o); err != nil {
			return err
		}
	}

	if o.data {
		e, by, err := a.Open()
		if err == nil {
			_, err = e.RemoveData(ctx, upkeep.RemoveDataParams{Caller: by, Remove: true})
		}

		if err != nil {
			return err
		}

		res.DataGone = true
	}

	// Steps outside of files, such as trusting hooks, are the user's.
	if !o.removing {
		res.Next = append(install.NextSteps(ctx, t, res.Steps, app.RunProgram), offerCopies(a, res.Steps)...)
	}

	return a.Print(res, func(p *term.Page) { showInstalled(p, res) })
}

// dataOf returns what the data directory keeps, for an uninstall. It refuses an agent that wants to have it
// removed.
func dataOf(ctx context.Context, a *app.Run, o installOptions) (res upkeep.RemoveDataResult, err error) {
	if !o.removing || o.project {
		return res, nil
	}

	e, by, err := a.Open()
	switch {
	case o.data && err != nil:
		return res, err
	case err != nil:
		// What is wrong with the data keeps nobody from removing tt.
		return res, nil
	case o.data && !by.ActsAsPerson():
		return res, stick.Errorf(stick.CodePersonOnly, "only a person may remove the data").
			Hintf("ask a person to run it")
	}

	return e.RemoveData(ctx, upkeep.RemoveDataParams{Caller: by})
}

// snippetsOf takes those names off a list for which tt only prints what to paste into a person's own
// configuration.
func snippetsOf(t install.Target, names []string) (others []string, pasted []harness.Snippet, err error) {
	for _, name := range names {
		s, ok := harness.SnippetFor(name, t.TT)
		switch {
		case !ok:
			others = append(others, name)
		case t.Project != "":
			return nil, nil, stick.Errorf(stick.CodeUsage, "tt can connect %s only in your own "+
				"configuration, not for a project", s.Title).With("field", "project").
				Hintf("leave out --project: %s", stick.Cmd("tt install <harness>", name))
		default:
			pasted = append(pasted, s)
		}
	}

	return others, pasted, nil
}

// planSteps plans the changes for the harnesses that were named, or that were found.
func planSteps(
	ctx context.Context, a *app.Run, t install.Target, names []string, o installOptions,
) (steps []install.FileChange, err error) {
	named := len(names) > 0
	git := slices.Contains(names, install.Git)
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "links" || n == install.Git })
	switch {
	case o.all:
		names = harness.Names()
	case !named:
		names = install.FoundHarnesses(t)
	}

	switch {
	case len(names) == 0:
		// A project gets instructions only with a harness.
	case o.removing:
		steps, err = install.Uninstall(t, names)
	default:
		steps, err = install.Install(t, names)
	}

	// Hooks of git are installed with everything, or by name; other names leave them alone.
	if err != nil || !git && named && !o.all {
		return steps, err
	}

	hooks, err := gitSteps(ctx, a, t, git, o)
	return append(steps, hooks...), err
}

// InstallTarget is where tt is installed: which program, and into which configuration.
func InstallTarget(a *app.Run, project bool) (install.Target, error) {
	t := install.Target{Home: a.Home, Getenv: a.Getenv, Kill: a.Kill}
	if a.Home == "" {
		return t, stick.Errorf(stick.CodeConfigUnwritable, "there is no home directory").Hintf("set HOME")
	}

	var err error
	if t.DataDir, err = a.DataDir(); err != nil {
		return t, err
	}

	// The default directory is the one without any variable that names another.
	bare := a.Env
	bare.Getenv = func(name string) string {
		if name == "APPDATA" {
			// Windows gives it to every process.
			return a.Getenv(name)
		}

		return ""
	}

	// Without a home directory this has failed already, or the variable names the directory.
	t.Default, _ = bare.DataDir()
	if t.TT, err = programPath(a); err != nil {
		return t, err
	}

	// npm replaces the program at an update, and keeps the path of its script.
	if o, npm := ofNpm(t.TT); npm {
		t.Wrapper = o.wrapper
	}

	if !project {
		return t, nil
	}

	place, err := workspace.Resolve(".", a.WorkspaceEnv())
	t.Project = place.Root
	return t, err
}

// temporaryPath matches the paths where go run puts the program: a directory that is removed after the run
// or, from the second run on, a name in the build cache that changes with the program.
var temporaryPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[/\\]go-build[0-9]+[/\\]b[0-9]+[/\\]exe[/\\]|[/\\][0-9a-f]{2}[/\\][0-9a-f]{64}-d[/\\][^/\\]+$`)
})

// programPath returns the path by which harnesses run this program: where PATH finds it, because that path
// stays when a newer version replaces the file.
func programPath(a *app.Run) (string, error) {
	if temporaryPath().MatchString(a.Exe) {
		return "", stick.Errorf(stick.CodeUsage, "harnesses can't run this tt: it is deleted when go run ends").
			Hintf("build it first: %s; then: %s", stick.Cmd("go install ./cmd/..."), stick.Cmd("tt install"))
	}

	self, err := os.Stat(a.Exe)
	if err != nil {
		return "", stick.Errorf(stick.CodeConfigUnwritable, "can't find the program: %s", a.Exe)
	}

	name := "tt"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}

	// The path in PATH stays the same when a package manager replaces the file.
	for _, dir := range filepath.SplitList(a.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && os.SameFile(self, info) {
			return path, nil
		}
	}

	return a.Exe, nil
}

// canAsk reports whether there is somebody at a terminal to answer a question.
func canAsk(a *app.Run) bool { return !a.JSON && a.TTY && a.InTTY }

// confirmPlan shows a plan and asks whether to make the changes. If nobody can be asked, it only shows the
// plan, and the exit status says that nothing was done.
func confirmPlan(a *app.Run, res InstallResult) (bool, error) {
	res.planned = true
	err := a.Print(res, func(p *term.Page) { showInstalled(p, res) })
	if err != nil || !canAsk(a) {
		a.Status = stick.ExitUsage
		again := stick.Words("tt install " + strings.Join(stepHarnesses(res.Steps), " "))
		switch {
		case res.withData:
			again = "tt uninstall --data --yes"
		case res.project && res.removing:
			again = "tt uninstall --project --yes"
		case res.removing:
			again = "tt uninstall --yes"
		}
		if err == nil && !a.JSON {
			_ = a.Sayf("nothing was changed; to make these changes: %s", again)
		}

		return false, err
	}

	a.Write("Make these changes? [y/N] ")

	// No answer means no.
	line, _ := bufio.NewReader(a.Input()).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		a.Write("nothing was changed\n")
		a.Status = stick.ExitUsage
		return false, nil
	}

	return true, nil
}

// HasInstalledBeside reports whether what tt install has written for a harness stands beside the plugin that
// has started this program.
func HasInstalledBeside(a *app.Run, name string, is func(install.Target, harness.Row) bool) bool {
	row, ok := harness.ByName(name)
	return ok && a.Home != "" && is(install.Target{Home: a.Home, Getenv: a.Getenv}, row)
}
