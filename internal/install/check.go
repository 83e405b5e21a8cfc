package install

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
	"talkingstick/stick"
)

// Status is how far tt is installed in a harness.
type Status struct {
	Harness   string   `json:"harness"`
	Version   string   `json:"version,omitempty"` // of its program, when PATH finds it and it answers
	Installed string   `json:"installed"`         // all, partly or no
	Levels    []string `json:"scopes"`            // where: user, project, plugin

	// what is missing or outdated, when tt is installed partly
	Missing []stick.Words `json:"missing,omitempty"`
	Trusted *bool         `json:"hooks_trusted,omitempty"` // whether it runs our hooks; absent where it doesn't say
	Plugin  bool          `json:"plugin,omitempty"`        // it has our plugin, which its own command has installed
	Problem stick.Words   `json:"problem,omitempty"`       // why its configuration can't be read

	// the data directory that its MCP server opens, if that isn't the one of this shell
	DataDir string `json:"server_data_dir,omitempty"`

	// what its shell finds, where that isn't the one that runs this command
	Shell *Shell `json:"shell,omitempty"`

	// directories that its sandbox names and that don't exist
	Roots []string `json:"missing_roots,omitempty"`

	// what its entries in a project run as tt, if PATH finds that in the project itself
	Local string `json:"project_program,omitempty"`
}

// How far tt is installed.
const (
	All    = "all"
	Partly = "partly"
	No     = "no"
)

// Run runs a program and returns what it prints.
type Run func(ctx context.Context, program string, args ...string) ([]byte, error)

// runLimit bounds how long a harness may take to print its version.
const runLimit = 3 * time.Second

// Check is [InstalledStatus], and asks the programs of the harnesses for their versions and their shells for
// tt.
func Check(ctx context.Context, t Target, run Run) []Status {
	all := InstalledStatus(t)
	var wg sync.WaitGroup
	for i := range all {
		row, _ := harness.ByName(all[i].Harness)
		wg.Go(func() { all[i].Version = programVersion(ctx, t.Getenv("PATH"), row, run) })
		if all[i].Installed != No {
			wg.Go(func() { all[i].Shell = t.Shell(ctx, row, run) })
		}
	}

	wg.Wait()
	return all
}

// InstalledStatus reports how far tt is installed in each harness that was used on this machine: in the
// user's own configuration and, with a project, in the project's too. It changes nothing, and runs no
// program.
func InstalledStatus(t Target) []Status {
	defer confedit.CacheParsed()()
	user := t
	user.Project = ""
	found := FoundHarnesses(user)
	var all []Status

	for _, row := range harness.Rows {
		s := Status{Harness: row.Name, Installed: No, Levels: []string{}}
		s.addTarget(user, row, "user")
		levels := []Target{user}
		if t.Project != "" && !isSameFile(t.Project, t.Home) {
			s.addTarget(t, row, "project")
			levels = append(levels, t)
		}

		s.addPlugin(row, levels...)
		if s.Installed != No || s.Problem != "" || slices.Contains(found, row.Name) {
			all = append(all, s)
		}
	}

	return all
}

// addTarget adds what is installed at a level.
func (s *Status) addTarget(t Target, row harness.Row, level string) {
	p := &plan{t: t, files: t.editFiles()}
	var missing []stick.Words
	any := false

	for _, x := range t.partsOf(row) {
		if t.leadsOutside(x.file) || x.dir {
			// Install writes nothing there; missingRoots is about directories.
			continue
		}

		has, err := p.hasPart(x)
		if err != nil {
			s.Problem = stick.AsError(explainError(err)).Words()
			return
		}

		// Some parts are shared with other harnesses, so they show nothing.
		any = any || has && x.showsInstall()
		if !has || !p.isCurrent(x) {
			missing = append(missing, x.what)
		}
	}

	if !any {
		return
	}

	// One level that has everything is enough.
	s.Levels = append(s.Levels, level)
	switch {
	case len(missing) == 0:
		s.Installed, s.Missing = All, nil
	case s.Installed != All:
		s.Installed, s.Missing = Partly, missing
	}

	if level == "user" {
		s.Roots = t.missingRoots(row.Setup)
	} else {
		s.Local = t.LocalProgram()
	}

	// A user's entry adds to a project's.
	if dir := t.ServerDir(row); dir != t.DataDir && s.Levels[0] == level {
		s.DataDir = dir
	}
	if trusted := t.isTrusted(row); s.Trusted == nil || trusted != nil && !*trusted {
		s.Trusted = trusted
	}
}

// isCurrent reports whether a part looks as we would install it now.
func (p *plan) isCurrent(x part) bool {
	if x.text != "" {
		have, err := confedit.Read(x.file)
		return err == nil && string(have) == x.text
	}

	c, err := p.files.Prepare(x.file, x.set, confedit.Options{})
	return err == nil && !c.Changed()
}

// missingRoots lists the directories that a harness's sandbox is told of, and that aren't there.
func (t Target) missingRoots(s harness.Setup) (missing []string) {
	if len(s.Sandbox) == 0 {
		return nil
	}

	// A file that can't be read was reported.
	src, _ := confedit.Read(t.serverFile(s))
	list, _, _ := confedit.TOMLGet(src, s.Sandbox)
	roots, _ := list.([]any)

	for _, r := range roots {
		if dir, ok := r.(string); ok && filepath.IsAbs(dir) {
			if _, err := os.Stat(dir); os.IsNotExist(err) {
				missing = append(missing, dir)
			}
		}
	}

	return missing
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+(\.\d+)+[0-9A-Za-z.+-]*`) })

// programVersion asks a harness's program for its version. It is empty when there is no such program, or when
// that doesn't answer in time.
func programVersion(ctx context.Context, path string, row harness.Row, run Run) string {
	for _, name := range row.Programs {
		if program := lookPath(path, name); program != "" {
			return versionOf(ctx, program, run)
		}
	}

	return ""
}

// versionOf asks a program for its version. It is empty when that doesn't answer in time.
func versionOf(ctx context.Context, program string, run Run) string {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	out, err := run(ctx, program, "--version")
	if err != nil {
		return ""
	}
	return stick.Clip(number().FindString(string(out)), 40)
}

// lookPath finds a program in the directories of path. It is empty when there is none.
func lookPath(path, name string) string {
	if all := lookPaths(path, name); len(all) > 0 {
		return all[0]
	}
	return ""
}

// lookPaths finds all programs of a name in the directories of path, in their order.
func lookPaths(path, name string) (all []string) {
	endings := []string{""}
	if runtime.GOOS == "windows" {
		endings = []string{".exe", ".cmd"}
	}

	for _, dir := range filepath.SplitList(path) {
		for _, ending := range endings {
			file := filepath.Join(dir, name+ending)
			info, err := os.Stat(file)
			if err == nil && filepath.IsAbs(file) && info.Mode().IsRegular() &&
				(runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
				all = append(all, file)
			}
		}
	}

	return all
}

// NextSteps says what a person has to do before each harness of a plan uses what was installed. It says
// nothing about a harness that had everything before, unless that still has to trust the hooks. If PATH finds
// another tt first, it says that before everything else: the agents would run that one.
func NextSteps(ctx context.Context, t Target, steps []FileChange, run Run) (next []stick.Words) {
	for _, other := range t.OtherPrograms(ctx, run) {
		if other.First {
			next = append(next, other.ProblemText()+"; "+other.Fix)
		}
	}

	for _, row := range harness.Rows {
		asked := slices.ContainsFunc(steps, func(c FileChange) bool { return c.Harness == row.Name })
		changed := slices.ContainsFunc(steps, func(c FileChange) bool {
			return c.Harness == row.Name && (c.State == New || c.State == Changed)
		})
		if !asked {
			continue
		}

		trusted := t.isTrusted(row)
		switch {
		case trusted != nil && !*trusted:
			next = append(next, stick.Wordsf("%s: %s", row.Name, row.Setup.Trust.Review))
		case changed && t.Project != "":
			next = append(next, stick.Wordsf("%s: %s", row.Name, row.Setup.NextInProject))
		case changed:
			next = append(next, stick.Wordsf("%s: %s", row.Name, row.Setup.Next))
		}

		// A project's entry names no directory.
		if dir := t.ServerDir(row); dir != t.DataDir {
			next = append(
				next, stick.Wordsf(
					"%s: its MCP server opens another database, in %s; tt install %s", row.Name, dir, row.Name,
				),
			)
		}

		if s := t.Shell(ctx, row, run); s != nil && s.Problem != "" {
			next = append(next, stick.Wordsf("%s: %s; %s", row.Name, s.Problem, s.Fix))
		}
	}

	if t.Project != "" && len(next) > 0 {
		if file := t.LocalProgram(); file != "" {
			next = append(
				next, stick.Wordsf(
					"PATH finds tt in this project, so what these files run is %s, which others may change; %s",
					file, FixLocal(file),
				),
			)
		}
	}

	return next
}

// FixLocal says how a project's entries run tt again, where PATH finds another program in the project first.
func FixLocal(file string) stick.Words {
	return stick.Wordsf("take %s off PATH, or put it after the directory of tt", filepath.Dir(file))
}
