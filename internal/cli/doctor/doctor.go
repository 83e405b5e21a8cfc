// Package doctor checks tt and its database for problems, and shows where settings come from.
package doctor

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/hooklog"
	"talkingstick/internal/cli/setup"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/harness"
	"talkingstick/internal/install"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// Cmd makes tt doctor.
func Cmd(a *app.Run) *cobra.Command {
	var adopt, setAside, all, fix, yes bool
	var file string
	c := &cobra.Command{
		Use: "doctor", Short: "Check tt and its database for problems", Args: app.NoArgs,
		Long: "Check the data directory, the database and whether it has lost anything, whether commands " +
			"can write, and whether waiting\n" +
			"commands are woken. Show for each harness whether tt is installed, whether the harness " +
			"trusts the hooks (if it says so),\n" +
			"when a hook last ran, and whether its shell finds tt and opens the same database. The exit " +
			"status is 7 if the data directory,\n" +
			"the database, writing or waking has a problem.\n\n" +
			"If it finds a fault in the database, a person can start over with --set-aside: tt keeps\n" +
			"the files, and you begin without rooms. If the database has lost its last changes, you don't have to do\n" +
			"anything: the next command that writes ends all turns, and continues with numbers\n" +
			"higher than any used before.\n\n" +
			"With --fix, a person repairs what tt can repair: for each finding tt says what it would do, and asks.\n" +
			"For a bug report, --report report.json writes what was found, without paths and texts of yours.",
	}

	c.Flags().BoolVar(&adopt, "adopt", false,
		"move another program's rooms.sqlite aside and start a new one; only a person may")
	c.Flags().BoolVar(&setAside, "set-aside", false,
		"keep a damaged database in a directory of its own and start a new one; only a person may")
	c.Flags().BoolVar(&fix, "fix", false,
		"repair what can be repaired, such as a room that its log brings back; only a person may")
	c.Flags().BoolVar(&yes, "yes", false, "with --fix: don't ask")
	c.Flags().StringVar(&file, "report", "",
		"write what was found into this new file for a bug report, without paths and texts of yours")
	c.Flags().BoolVar(&all, "all", false, "list everything that a check found, not only the first")

	c.RunE = func(c *cobra.Command, args []string) error {
		a.Examines = true
		if yes && !fix {
			return stick.Errorf(stick.CodeUsage, "--yes is for --fix, which asks").With("field", "yes").
				Hintf("repair what can be repaired: %s", stick.Cmd("tt doctor --fix --yes"))
		}
		if err := requireNewReport(a, file); err != nil {
			return err
		}
		return app.Show(a, func(e app.Operations, by core.Caller) (DoctorResult, error) {
			l := a.StartProgress(true)
			defer l.End()

			// Checks take seconds on a slow disk, so a line says which one runs.
			checks := showsCheck(a, l)
			configured, err := a.FileDatabase()
			if err != nil {
				return DoctorResult{}, err
			}

			ask := confirmRepairs(a)
			res, err := e.Doctor(c.Context(), upkeep.DoctorParams{
				Caller: by, Adopt: adopt, SetAside: setAside, Configured: configured, Shows: checks,
				Fix: fix, Confirm: func(r upkeep.Repair) (bool, error) { return yes || ask(r), nil },
			})
			if err != nil {
				return DoctorResult{}, err
			}

			// Harnesses and hooks of git don't count: tt works without them.
			if !res.Healthy {
				a.Status = stick.ExitEnvironment
			}

			checks(upkeep.Checking{Check: "harnesses"})
			found := checkAround(c.Context(), a, res)
			if found.Report = file; file != "" {
				err = writeReport(a, file, found)
			}
			return found, err
		}, func(p *term.Page, res DoctorResult) { showDoctor(p, res, all) })
	}

	return c
}

// checkAround adds what lies outside of the database to what the doctor found: the program, harnesses and git.
func checkAround(ctx context.Context, a *app.Run, res upkeep.DoctorResult) DoctorResult {
	res.Findings = append(res.Findings, checkProgram(a)...)
	now := a.NewPage().Now
	return DoctorResult{
		DoctorResult: res, Harnesses: checkHarnesses(ctx, a, res.Hooks), Programs: otherPrograms(ctx, a),
		Git: setup.GitStatus(ctx, a), Log: hooklog.ReadFaults(a, now), Refused: hooklog.RefusedHooks(a, now),
	}
}

// checkProgram says whether the program is whole. The server of MCP that harnesses start is in the part that may
// be missing, and they show nobody why a server ends.
func checkProgram(a *app.Run) []core.Finding {
	if !a.LacksFull() {
		return nil
	}
	return []core.Finding{{
		Check: "program", Status: core.FindingWarning, Fix: app.FullFix(),
		Detail: stick.Wordsf("%s isn't beside %s: tt watch, serve, notify and mcp need it", app.FullName, a.Exe),
	}}
}

// DoctorResult is what the doctor found in the program and in harnesses.
type DoctorResult struct {
	upkeep.DoctorResult
	Harnesses []harnessStatus       `json:"harnesses"`               // those that were used on this machine
	Programs  []install.Program     `json:"programs,omitempty"`      // other programs in PATH that are called tt
	Git       *install.GitStatus    `json:"git,omitempty"`           // the hooks of the repository of the working directory
	Log       *hooklog.Faults       `json:"log,omitempty"`           // what hooks couldn't say when they failed
	Refused   []hooklog.RefusedHook `json:"refused_hooks,omitempty"` // unanswered lately: that tt is too old for the database
	Report    string                `json:"report,omitempty"`        // the file that was written for a bug report
}

// showDoctor shows what the doctor found, with all of each check or only the first.
func showDoctor(p *term.Page, res DoctorResult, all bool) {
	p.Linef("data directory: %s", res.DataDir)
	showRepairs(p, res.Repairs)
	for _, f := range res.Findings {
		p.Linef("%-8s %-12s %s", f.Status, stick.Words(f.Check), f.Detail)
		showFix(p, f.Fix)

		// One finding of each check is enough to act on.
		if n := len(f.More); n > 0 && !all {
			p.Linef("         %-12s %d more: tt doctor --all", "", n)
			continue
		}

		for _, m := range f.More {
			p.Linef("         %-12s %s", "", m.Detail)
			showFix(p, m.Fix)
		}
	}

	for _, h := range res.Harnesses {
		showHarness(p, h)
	}

	for _, other := range res.Programs {
		p.Linef("%-8s %-12s %s", core.FindingWarning, "program", other.ProblemText())
		showFix(p, other.Fix)
	}

	setup.ShowGitHooks(p, res.Git)
	hooklog.ShowFaults(p, res.Log)
	for _, r := range res.Refused {
		p.Linef("%-8s %-12s %s", core.FindingWarning, "hooks", hooklog.SayRefused(p, r))
	}

	if res.Report != "" {
		p.Linef("wrote %s, without paths and texts of yours; read it before you send it", term.FileName(res.Report))
	}
}

// showFix shows the next step for what the doctor found.
func showFix(p *term.Page, how stick.Words) {
	if how != "" {
		p.Linef("         %-12s %s", "", p.Faint(term.Wordsf("fix: %s", how)))
	}
}

// harnessStatus says whether tt is installed in a harness, and works there.
type harnessStatus struct {
	install.Status
	LastHook stick.Time  `json:"hooks_last_at"`       // when a hook of it last fired in a room
	GitHooks string      `json:"git_hooks,omitempty"` // off if its shell disables git's hooks: then only its own hooks refuse edits
	Fix      stick.Words `json:"fix,omitempty"`       // the next step until it works
}

// checkHarnesses checks whether tt is installed in harnesses, and works there.
func checkHarnesses(ctx context.Context, a *app.Run, last map[string]stick.Time) []harnessStatus {
	all := []harnessStatus{}
	t, err := setup.InstallTarget(a, true)
	if t.Home == "" {
		return all
	}

	if err != nil && t.TT == "" {
		// A program that can't be installed can still check.
		t.TT = a.Exe
	}

	for _, s := range install.Check(ctx, t, app.RunProgram) {
		h := harnessStatus{Status: s, LastHook: last[s.Harness]}
		row, _ := harness.ByName(s.Harness)
		if row.NoGitHooks {
			h.GitHooks = "off"
		}

		// Of several faults the first one has the next step: the others may go with it.
		switch {
		case s.Problem != "":
			// What can't be read has no step that is sure to help.
		case s.Plugin && slices.Contains(s.Levels, "user"):
			h.Fix = stick.Wordsf("tt uninstall %s, because its plugin brings the same", s.Harness)
		case s.Installed != install.All:
			h.Fix = stick.Wordsf("tt install %s", s.Harness)
			if s.Installed == install.Partly && s.Levels[0] == "project" {
				h.Fix += " --project"
			}
		case s.DataDir != "" || slices.Contains(s.Roots, t.DataDir):
			h.Fix = stick.Wordsf("tt install %s", s.Harness)
		case len(s.Roots) > 0:
			h.Fix = stick.Wordsf("make %s, or remove it from %s", s.Roots[0], strings.Join(row.Setup.Sandbox, "."))
		case s.Local != "":
			h.Fix = install.FixLocal(s.Local)
		case s.Trusted != nil && !*s.Trusted:
			h.Fix = row.Setup.Trust.Review
		case s.Shell != nil && s.Shell.Problem != "":
			h.Fix = s.Shell.Fix
		case h.LastHook.IsZero() && len(row.Hooks) > 0:
			h.Fix = "start a new " + row.Title + " session in a workspace that has a room"
		}

		all = append(all, h)
	}

	return all
}

// otherPrograms lists the other programs in PATH that are called tt.
func otherPrograms(ctx context.Context, a *app.Run) []install.Program {
	t, err := setup.InstallTarget(a, false)
	if err != nil && t.TT == "" {
		// A program that can't be installed can still check.
		t.TT = a.Exe
	}
	return t.OtherPrograms(ctx, app.RunProgram)
}

// showHarness shows whether tt is installed in a harness, and works there.
func showHarness(p *term.Page, h harnessStatus) {
	row, _ := harness.ByName(h.Harness)
	var says []stick.Words
	if h.Version != "" {
		says = append(says, stick.Wordsf("%s", h.Version))
	}

	// How far it is installed comes first, and then what keeps it from working.
	levels := stick.Names(h.Levels, len(h.Levels))
	switch {
	case h.Problem != "":
		says = append(says, h.Problem)
	case h.Installed == install.No:
		says = append(says, "not installed")
	case h.Installed == install.Partly:
		says = append(says, stick.Wordsf("partly installed (%s); missing or changed: %s",
			levels, stick.JoinWords(h.Missing, ", ")))
	default:
		says = append(says, stick.Wordsf("installed (%s)", levels))
	}

	if h.DataDir != "" {
		says = append(says, stick.Wordsf("its MCP server opens another database, in %s", h.DataDir))
	}
	if h.Shell != nil && h.Shell.Problem != "" {
		says = append(says, h.Shell.Problem)
	}
	if h.Local != "" {
		says = append(says, stick.Wordsf("what the project's entries run is %s, which others may change", h.Local))
	}

	for _, dir := range h.Roots {
		says = append(says, stick.Wordsf("its sandbox is told of %s, which isn't there", dir))
	}

	if h.Trusted != nil && !*h.Trusted {
		says = append(says, "hooks not trusted")
	}

	switch {
	case !h.LastHook.IsZero():
		says = append(says, "hooks last ran "+p.Ago(h.LastHook))
	case len(h.Levels) > 0 && len(row.Hooks) == 0:
		says = append(says, "no hooks")
	case len(h.Levels) > 0:
		says = append(says, "no hook has run so far")
	}

	if h.GitHooks != "" {
		says = append(says, "only its own hooks refuse edits: its shell disables git's hooks")
	}

	p.Linef("%-8s %s: %s", "harness", h.Harness, stick.JoinWords(says, ", "))
	if h.Fix != "" {
		p.Linef("         %-12s %s", "", p.Faint(term.Wordsf("fix: %s", h.Fix)))
	}
}

// MigrateDBCmd makes tt migrate-db.
func MigrateDBCmd(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:   "migrate-db",
		Short: "Move the database of this machine to a PostgreSQL server",
		Args:  app.NoArgs,
		Long: "Move the rooms of this machine, with their logs, messages and tasks, into an empty\n" +
			"PostgreSQL database: the one that config.toml or TALKING_STICK_DATABASE_URL names. tt moves\n" +
			"everything or nothing, and checks it against the log. The file stays, but tt no longer opens\n" +
			"it. Agents can continue, but waiting commands end and must be run again.",
		RunE: func(c *cobra.Command, args []string) error {
			return app.Answer(a, func(e app.Operations, by core.Caller) (upkeep.MigrateDBResult, error) {
				return e.MigrateDB(c.Context(), upkeep.MigrateDBParams{Caller: by})
			}, showMigration)
		},
	}
}

// showMigration shows what was moved to a server.
func showMigration(p *term.Page, res upkeep.MigrateDBResult) {
	to := stick.Words(res.To) // it says in our words where the server is
	if res.Already {
		p.Linef("the rooms of this machine are in %s already", to)
		return
	}

	p.Linef("moved %s with %s and %s to %s", stick.Count(len(res.Rooms), "room"),
		stick.Count(res.Events, "event"), stick.Count(res.Tasks, "task"), to)
	for _, r := range res.Rooms {
		p.Linef("  %s: %s", r.Path, r.Key)
		if r.Alone {
			p.Linef("    %s", p.Faint(term.Wordsf("another room has the key of its repository; in other clones: %s",
				p.Next(stick.Cmd("tt join --room <key>", r.Key)))))
		}
	}

	// On a server, persons of several machines share rooms, and some are renamed.
	for _, was := range slices.Sorted(maps.Keys(res.Persons)) {
		p.Linef("%s is %s now", was, res.Persons[was])
	}

	p.Linef("%s stays where it is, and tt doesn't open it any more", res.From)
	p.Linef("next: %s; on other machines %s in each clone", p.Next(stick.Cmd("tt doctor")),
		p.Next(stick.Cmd("tt join")))
}

// showsCheck returns what tells l which check of the doctor runs, and how far it is.
func showsCheck(a *app.Run, l *app.ProgressLine) func(upkeep.Checking) {
	var check string
	var began stick.Time

	return func(c upkeep.Checking) {
		if c.Check != check {
			check, began = c.Check, a.CurrentTime()
		}

		l.SetText(func() term.Text {
			text := stick.Words(c.Check)
			if c.All > 0 {
				text += stick.Wordsf(": %d of %s", c.Events, stick.Count(c.All, "event"))
			}
			return term.Wordsf("checking %s%s", text, a.NewPage().DurationText(began))
		})
	}
}
