package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/harness"
	"talkingstick/internal/install"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// links are the other names under which the program can be called.
var links = []string{"talking-stick", "bb"}

// installResult is what was done, or would be.
type installResult struct {
	TT      string         `json:"tt"` // the program as harnesses will call it
	Applied bool           `json:"applied"`
	Steps   []install.Step `json:"steps"`
	DataDir string         `json:"data_dir,omitempty"` // of uninstall: where the data lies, which stays
}

func (a *app) installCmd() *cobra.Command {
	var all, project, show bool
	c := &cobra.Command{
		Use: "install [harness]…", Short: "Tell harnesses of tt: skill, hooks, MCP server", Args: between(0, -1, ""),
		Long: "Put the skill, the hooks and the MCP server into the configuration of harnesses: " + strings.Join(harness.Names(), ", ") + ";\n" +
			"links makes the program's other names. Everything else in their files stays as it is, and the first change of a file\n" +
			"leaves a copy beside it. Without a name it shows what was found and would be changed, and asks.",
	}
	f := c.Flags()
	f.BoolVar(&all, "all", false, "every harness, whether or not it was found")
	f.BoolVar(&project, "project", false, "in this workspace, for everybody who works in it, instead of in your home")
	f.BoolVar(&show, "print", false, "show the changes and make none")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.install(args, all, project, show, install.Install)
	}
	return c
}

func (a *app) uninstallCmd() *cobra.Command {
	var project, show bool
	c := &cobra.Command{
		Use: "uninstall [harness]…", Short: "Make harnesses forget tt", Args: between(0, -1, ""),
		Long: "Remove exactly what tt install put into the configuration of harnesses, by default of all of them. The data stays.",
	}
	c.Flags().BoolVar(&project, "project", false, "in this workspace instead of in your home")
	c.Flags().BoolVar(&show, "print", false, "show the changes and make none")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.install(args, len(args) == 0, project, show, install.Uninstall)
	}
	return c
}

// install plans changes and makes them, or shows them.
func (a *app) install(names []string, all, project, show bool, planner func(install.Target, []string) ([]install.Step, error)) error {
	removing := len(names) == 0 && all && !show
	t, err := a.target(project)
	if err != nil {
		return err
	}
	asked := len(names) > 0 || all || show
	withLinks := slices.Contains(names, "links")
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "links" })
	switch {
	case all:
		names = harness.Names()
	case len(names) == 0 && !withLinks:
		names = install.Found(t)
	}
	steps, err := planner(t, names)
	if err != nil {
		return err
	}
	res := installResult{TT: t.TT, Steps: steps}
	pending := slices.ContainsFunc(steps, install.Step.Pending)
	switch {
	case show || !pending:
	case !asked:
		if ok, err := a.agrees(res); err != nil || !ok {
			return err
		}
		fallthrough
	default:
		if err := install.Apply(steps); err != nil {
			return err
		}
		res.Applied = true
		a.logNpm(install.Npm(steps))
	}
	if withLinks && !show {
		if err := a.makeLinks(t.TT); err != nil {
			return err
		}
	}
	if removing {
		res.DataDir = a.dataDir()
	}
	return a.print(res, func(p *page) { p.installed(res, show) })
}

// target is where harnesses are told of this program.
func (a *app) target(project bool) (install.Target, error) {
	t := install.Target{Home: a.Home, DataDir: a.dataDir(), Getenv: a.Getenv, Kill: a.Kill}
	if a.Home == "" {
		return t, stick.Errorf(stick.CodeConfigUnwritable, "there is no home directory").Hintf("set HOME")
	}
	var err error
	if t.TT, err = a.program(); err != nil || !project {
		return t, err
	}
	place, err := workspace.Resolve(".", workspace.Env{Dir: a.Dir, Home: a.Home, GitDir: a.Getenv("GIT_DIR"), GitWorkTree: a.Getenv("GIT_WORK_TREE")})
	t.Project = place.Root
	return t, err
}

// passing is where go run builds what it runs: it is gone with the run.
var passing = regexp.MustCompile(`[/\\]go-build[0-9]+[/\\]b[0-9]+[/\\]exe[/\\]`)

// program is the path by which harnesses call this program: where PATH finds it, because that stays
// when what lies there is replaced by a newer version.
func (a *app) program() (string, error) {
	if passing.MatchString(a.Exe) {
		return "", stick.Errorf(stick.CodeUsage, "this tt is gone when go run ends, so harnesses can't call it").
			Hintf("build it first: go install ./cmd/tt; then: tt install")
	}
	self, err := os.Stat(a.Exe)
	if err != nil {
		return "", stick.Errorf(stick.CodeConfigUnwritable, "the program can't be found: %s", stick.Line(a.Exe))
	}
	name := "tt"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(a.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && os.SameFile(self, info) {
			return path, nil
		}
	}
	return a.Exe, nil
}

// agrees shows a plan and asks whether to go on. Where nobody can be asked, the plan is all there is,
// and the exit status says that nothing was done.
func (a *app) agrees(res installResult) (bool, error) {
	err := a.print(res, func(p *page) { p.installed(res, false) })
	if err != nil || a.json || !a.TTY || !a.InTTY {
		a.status = stick.ExitUsage
		if err == nil && !a.json {
			fmt.Fprintf(a.Stderr, "nothing was changed; to do it: tt install %s\n", strings.Join(stepHarnesses(res.Steps), " "))
		}
		return false, err
	}
	fmt.Fprint(a.Stdout, "go on? [y/N] ")
	line, _ := bufio.NewReader(a.Stdin).ReadString('\n') // no answer is a no
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		a.status = stick.ExitUsage
		return false, nil
	}
	return true, nil
}

func stepHarnesses(steps []install.Step) []string {
	var names []string
	for _, s := range steps {
		if !slices.Contains(names, s.Harness) && s.Harness != "project" {
			names = append(names, s.Harness)
		}
	}
	return names
}

// installed tells a plan, or what was made of it.
func (p *page) installed(res installResult, diffs bool) {
	for _, s := range res.Steps {
		p.linef("%-12s %-20s %-8s %s", s.Harness, s.What, s.State, stick.Line(s.File))
		if s.Note != "" {
			p.linef("%-12s %s", "", stick.Line(s.Note))
		}
		if diffs && s.Pending() {
			for l := range strings.Lines(stick.Block(s.Diff())) {
				p.linef("    %s", strings.TrimRight(l, "\n"))
			}
		}
	}
	if len(res.Steps) == 0 {
		p.linef("no harness was found; name one: %s", strings.Join(harness.Names(), ", "))
	}
	if res.Applied {
		p.linef("done; tt doctor says whether harnesses call it")
	}
	if res.DataDir != "" {
		p.linef("the data stays in %s", stick.Line(res.DataDir))
	}
}

// makeLinks makes the program's other names beside it.
func (a *app) makeLinks(tt string) error {
	for _, name := range links {
		link := filepath.Join(filepath.Dir(tt), name)
		err := os.Symlink(filepath.Base(tt), link)
		if at, rerr := os.Readlink(link); errors.Is(err, os.ErrExist) && rerr == nil && at == filepath.Base(tt) {
			continue
		}
		if err != nil {
			return stick.Errorf(stick.CodeConfigUnwritable, "%s can't be made: %s", stick.Line(link), stick.Line(err.Error())).With("path", link).
				Hintf("see what lies there; nothing of it was changed")
		}
	}
	return nil
}

// logNpm notes which entries of the npm program were removed.
func (a *app) logNpm(gone map[string]json.RawMessage) {
	if len(gone) == 0 || os.MkdirAll(a.dataDir(), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(a.dataDir(), "update-migrations.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	now := time.Now
	if a.Now != nil {
		now = a.Now
	}
	for file, entry := range gone {
		b, _ := json.Marshal(map[string]any{"at": stick.At(now()), "removed": "mcp server", "file": file, "entry": entry}) // of what was just read
		fmt.Fprintf(f, "%s\n", b)
	}
}
