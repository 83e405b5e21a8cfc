// Package care has the commands that keep the rooms of a machine safe and small.
package care

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/store"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// BackupCmd makes tt backup.
func BackupCmd(a *app.Run) *cobra.Command {
	var p upkeep.BackupDBParams
	c := &cobra.Command{
		Use: "backup [file]", Short: "Back up the rooms, their logs, messages and tasks",
		Args: app.ArgsBetween(0, 1, "a file"),
		Long: "Back up the database and the output of gates into one file, while agents go on working. It\n" +
			"contains everything that tt had recorded when it began. tt checks the backup, as tt doctor checks\n" +
			"a database, before it gives the file its name. If you name no file, it goes into the directory\n" +
			"backups in the data directory.\n\n" +
			"Your files and branches aren't in it: they are in git. With --rescues, the copies of uncommitted\n" +
			"work are.",
	}

	c.Flags().BoolVar(&p.Force, "force", false, "replace the file if it exists")
	c.Flags().BoolVar(&p.Rescues, "rescues", false, "add the copies of uncommitted work (tt rescue list)")
	c.Flags().IntVar(&p.Keep, "keep", 0, "then remove all but the newest `n` backups in the data directory")

	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			p.File = absoluteFile(a, args[0])
		}
		if c.Flags().Changed("keep") && p.Keep == 0 {
			p.Keep = -1 // to keep none is no backup
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (upkeep.BackupDBResult, error) {
			l := a.StartProgress(true)
			defer l.End()
			l.SetText(func() term.Text { return "backing up" })

			p.Caller = by
			return e.BackupDB(c.Context(), p)
		}, showBackup)
	}

	return c
}

// absoluteFile is the path of a file that somebody names.
func absoluteFile(a *app.Run, file string) string {
	if filepath.IsAbs(file) {
		return filepath.Clean(file)
	}
	return filepath.Join(a.Dir, file)
}

// showBackup shows which backup was made.
func showBackup(p *term.Page, res upkeep.BackupDBResult) {
	p.Linef("backed up %s to %s (%s)", contentsText(res.Contents), term.FileName(res.File), app.SizeText(res.Bytes))
	for _, file := range res.Removed {
		p.Linef("removed %s", term.FileName(file))
	}
	p.Linef("to restore it: %s", p.NextByPerson(stick.Cmd("tt restore <file>", res.File)))
}

// contentsText says what a database has.
func contentsText(c store.Contents) stick.Words {
	return stick.Wordsf("%s with %s and %s", stick.Count(c.Rooms, "room"), stick.Count(c.Events, "event"),
		stick.Count(c.Tasks, "task"))
}
