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

// Status is how a harness stands to us.
type Status struct {
	Harness   string   `json:"harness"`
	Version   string   `json:"version,omitempty"`       // of its program, when PATH finds it and it tells
	Installed string   `json:"installed"`               // all, partly or no
	Scopes    []string `json:"scopes"`                  // where: user, project
	Missing   []string `json:"missing,omitempty"`       // what lacks or is there in another form, when it is installed partly
	Trusted   *bool    `json:"hooks_trusted,omitempty"` // whether it runs our hooks; absent where it doesn't tell
	Problem   string   `json:"problem,omitempty"`       // why it can't be told
}

// How much of us a harness was told.
const (
	All    = "all"
	Partly = "partly"
	No     = "no"
)

// Run runs a program and gives what it prints.
type Run func(ctx context.Context, program string, args ...string) ([]byte, error)

// runLimit bounds how long a harness may think about its version.
const runLimit = 3 * time.Second

// Check tells how each harness that was used on this machine stands to us: in the user's own
// configuration, and with a project in the project's, too. It changes nothing.
func Check(ctx context.Context, t Target, run Run) []Status {
	user := t
	user.Project = ""
	found := Found(user)
	var all []Status
	for _, row := range harness.Rows {
		s := Status{Harness: row.Name, Installed: No, Scopes: []string{}}
		s.add(user, row, "user")
		if t.Project != "" && !same(t.Project, t.Home) {
			s.add(t, row, "project")
		}
		if s.Installed != No || s.Problem != "" || slices.Contains(found, row.Name) {
			all = append(all, s)
		}
	}
	var wg sync.WaitGroup
	for i := range all {
		row, _ := harness.ByName(all[i].Harness)
		wg.Go(func() { all[i].Version = version(ctx, t.Getenv("PATH"), row, run) })
	}
	wg.Wait()
	return all
}

// add adds how a harness stands in a scope.
func (s *Status) add(t Target, row harness.Row, scope string) {
	p := &plan{t: t, files: confedit.Files{Home: t.Home}}
	var missing []string
	told := false
	for _, x := range t.parts(row) {
		has, err := p.has(x)
		if err != nil {
			s.Problem = stick.AsError(explain(err)).Message
			return
		}
		told = told || has && x.what != skill // a skill may be another harness's
		if !has || !p.current(x) {
			missing = append(missing, x.what)
		}
	}
	if !told {
		return
	}
	s.Scopes = append(s.Scopes, scope)
	switch {
	case len(missing) == 0:
		s.Installed, s.Missing = All, nil
	case s.Installed != All:
		s.Installed, s.Missing = Partly, missing
	}
	if trusted := t.trusted(row); s.Trusted == nil || trusted != nil && !*trusted {
		s.Trusted = trusted
	}
}

// current tells whether a part that is there is as we would put it there.
func (p *plan) current(x part) bool {
	if x.text != "" {
		have, err := os.ReadFile(x.file)
		return err == nil && string(have) == x.text
	}
	c, err := p.files.Prepare(x.file, x.set, confedit.Options{})
	return err == nil && !c.Changed()
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+(\.\d+)+[0-9A-Za-z.+-]*`) })

// version asks a harness's program for its version; empty when there is no such program, or it doesn't
// say in time.
func version(ctx context.Context, path string, row harness.Row, run Run) string {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	for _, name := range row.Programs {
		program := lookPath(path, name)
		if program == "" {
			continue
		}
		out, err := run(ctx, program, "--version")
		if err != nil {
			return ""
		}
		return stick.Clip(number().FindString(string(out)), 40)
	}
	return ""
}

// lookPath finds a program in the directories of a PATH.
func lookPath(path, name string) string {
	endings := []string{""}
	if runtime.GOOS == "windows" {
		endings = []string{".exe", ".cmd"}
	}
	for _, dir := range filepath.SplitList(path) {
		for _, ending := range endings {
			file := filepath.Join(dir, name+ending)
			info, err := os.Stat(file)
			if err == nil && filepath.IsAbs(file) && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
				return file
			}
		}
	}
	return ""
}

// Next says what a person has to do for each harness of a plan until it uses what it was told; nothing
// where it was told before, unless it doesn't trust it yet.
func Next(t Target, steps []FileChange) (next []string) {
	for _, row := range harness.Rows {
		asked := slices.ContainsFunc(steps, func(c FileChange) bool { return c.Harness == row.Name })
		changed := slices.ContainsFunc(steps, func(c FileChange) bool { return c.Harness == row.Name && (c.State == New || c.State == Changed) })
		if !asked {
			continue
		}
		trusted := t.trusted(row)
		switch {
		case trusted != nil && !*trusted:
			next = append(next, row.Name+": "+row.Setup.Trust.Review)
		case changed && t.Project != "":
			next = append(next, row.Name+": "+row.Setup.NextInProject)
		case changed:
			next = append(next, row.Name+": "+row.Setup.Next)
		}
	}
	return next
}
