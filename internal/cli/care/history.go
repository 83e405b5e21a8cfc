package care

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// ExportCmd makes tt export.
func ExportCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "export", Short: "Write the whole log of a room as JSON lines", Args: app.NoArgs,
		Long: "Write the whole log of the room to standard output: a line about the room, then a line for each\n" +
			"event, as tt events --json prints it, with its checksum. tt import makes the room elsewhere. The format is\n" +
			"in docs/PROTOCOL.md, and new versions only add fields. The output of gates isn't in it.",
	}

	place := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		a.Reads = true
		e, by, err := a.Open()
		if err != nil {
			return err
		}

		_, err = e.ExportRoom(c.Context(), upkeep.ExportRoomParams{
			Caller: by, Where: place.Where(), Write: func(line any) error {
				if err := a.PrintLine(line); err != nil {
					return err
				}
				return c.Context().Err()
			},
		})
		return err
	}

	return c
}

// ImportCmd makes tt import.
func ImportCmd(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use: "import <file>", Short: "Make a room from its exported log", Args: app.ArgsBetween(1, 1, "a file"),
		Long: "Make the room that tt export wrote, with its turns, messages, notes and tasks. Only a\n" +
			"person may. tt checks the checksums of the log, and that the room follows from it. It refuses a\n" +
			"room that is here already, and one whose event numbers are in use: events are never renumbered.\n" +
			"Turns and reservations end. A - reads standard input.",
		RunE: func(c *cobra.Command, args []string) error {
			from := a.Input()
			if args[0] != "-" {
				f, err := a.OpenInput(absoluteFile(a, args[0]))
				if err != nil {
					return stick.Errorf(stick.CodeNotFound, "the file %s can't be read: %w", args[0], causeOf(err)).
						With("path", args[0]).Hintf("name the file that %s wrote", stick.Cmd("tt export"))
				}
				defer f.Close()
				from = f
			}

			return app.Answer(a, func(e app.Operations, by core.Caller) (upkeep.ImportRoomResult, error) {
				return e.ImportRoom(c.Context(), upkeep.ImportRoomParams{Caller: by, From: from})
			}, showImport)
		},
	}
}

// causeOf is why a file can't be read, without its path.
func causeOf(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// showImport shows the room that was made.
func showImport(p *term.Page, res upkeep.ImportRoomResult) {
	p.Linef("imported the room of %s with %s", term.FileName(res.Path), stick.Count(res.Events, "event"))
	p.Linef("next: %s", p.Next(stick.Cmd("tt log --room <room>", res.RoomID)))
}
