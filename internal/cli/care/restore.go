package care

import (
	"bufio"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// RestoreCmd makes tt restore.
func RestoreCmd(a *app.Run) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "restore [file]", Short: "Restore a backup, or list the backups",
		Args: app.ArgsBetween(0, 1, "a file"),
		Long: "Replace the database with a backup. Only a person may do that. tt first checks the backup, shows what\n" +
			"it would replace, and asks. It keeps the database that was there. Your files and branches stay\n" +
			"as they are.\n\n" +
			"All turns and reservations end, waiting commands end, and handoffs stay. New turns and events get\n" +
			"numbers higher than any used before. Without a file, list the backups in the data directory.",
	}

	c.Flags().BoolVar(&yes, "yes", false, "don't ask")
	c.RunE = func(c *cobra.Command, args []string) error {
		p := upkeep.RestoreDBParams{}
		a.Reads = len(args) == 0
		if len(args) > 0 {
			p.File = backupNamed(a, args[0])
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (upkeep.RestoreDBResult, error) {
			p.Caller = by
			p.Confirm = func(plan upkeep.RestoreDBResult) (bool, error) {
				return yes || confirmRestore(a, plan), nil
			}

			return e.RestoreDB(c.Context(), p)
		}, func(p *term.Page, res upkeep.RestoreDBResult) { showRestore(p, res, a.TTY && a.InTTY) })
	}

	return c
}

// backupNamed is what somebody means by the name of a backup: a bare name may be one of the data directory.
func backupNamed(a *app.Run, name string) string {
	if strings.ContainsAny(name, `/\`) || filepath.IsAbs(name) {
		return absoluteFile(a, name)
	}
	return name
}

// confirmRestore shows what a restore would replace, and asks. If nobody can be asked, the plan is the answer, and
// the exit status says that nothing was done.
func confirmRestore(a *app.Run, plan upkeep.RestoreDBResult) bool {
	a.Status = stick.ExitUsage
	if a.JSON || !a.TTY || !a.InTTY {
		return false
	}

	p := a.NewPage()
	showRestorePlan(p, plan)
	a.Write(p.Text() + "Restore this backup? [y/N] ")

	// No answer means no.
	line, _ := bufio.NewReader(a.Input()).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	if answer != "y" && answer != "yes" {
		return false
	}

	a.Status = stick.ExitOK
	return true
}

// showRestore shows what was restored, what would be, or which backups there are.
func showRestore(p *term.Page, res upkeep.RestoreDBResult, asked bool) {
	switch {
	case res.File == "":
		showBackups(p, res)
	case res.Restored:
		showRestored(p, res)
	case asked:
		p.Linef("nothing was changed")
	default:
		showRestorePlan(p, res)
		p.Linef("nothing was changed; to restore it: %s", p.Next(stick.Cmd("tt restore <file> --yes", res.File)))
	}
}

// showBackups lists the backups of the data directory.
func showBackups(p *term.Page, res upkeep.RestoreDBResult) {
	if len(res.Backups) == 0 {
		p.Linef("no backups in %s", term.FileName(res.DataDir))
		p.Linef("to make one: %s", p.Next(stick.Cmd("tt backup")))
		return
	}

	t := term.Table{}
	for _, b := range res.Backups {
		t.Add(term.FileName(filepath.Base(b.File)), p.Ago(b.At), app.SizeText(b.Bytes))
	}
	p.ShowTable(t)
	p.Linef("to restore one: %s", p.NextByPerson(stick.Cmd("tt restore <file>", filepath.Base(res.Backups[0].File))))
}

// showRestorePlan shows what a restore would do.
func showRestorePlan(p *term.Page, res upkeep.RestoreDBResult) {
	made := stick.Words("")
	if !res.At.IsZero() {
		made = stick.Wordsf(", made %s", p.Ago(res.At))
	}
	p.Linef("backup:   %s%s", contentsText(*res.Backup), made)

	switch {
	case res.Broken && res.Lost > 0:
		p.Linef("replaces: a database that can't be read; up to %s came after the backup",
			stick.Count(res.Lost, "event"))
	case res.Broken:
		p.Linef("replaces: a database that can't be read")
	case res.Replaces == nil:
		p.Linef("replaces: nothing, because there is no database in %s", term.FileName(res.DataDir))
	default:
		p.Linef("replaces: %s; %s", contentsText(*res.Replaces), lostText(res.Lost))
	}
}

// lostText says how many events a backup doesn't have.
func lostText(n int64) stick.Words {
	switch n {
	case 0:
		return "the backup has all of its events"
	case 1:
		return "1 event isn't in the backup"
	}
	return stick.Wordsf("%s aren't in the backup", stick.Count(n, "event"))
}

// showRestored shows what was restored.
func showRestored(p *term.Page, res upkeep.RestoreDBResult) {
	p.Linef("restored %s from %s", contentsText(*res.Backup), term.FileName(res.File))
	if res.Lost > 0 && !res.Broken {
		p.Linef("%s", lostText(res.Lost))
	}
	if res.Aside != "" {
		p.Linef("the database that was there is kept in %s", term.FileName(res.Aside))
	}
	p.Linef("all turns and reservations have ended, and handoffs stay; waiting commands must be run again")
	p.Linef("next: %s", p.Next(stick.Cmd("tt doctor")))
}
