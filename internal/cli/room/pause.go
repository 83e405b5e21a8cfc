package room

import (
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// PauseCmd makes tt pause.
func PauseCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "pause <reason>", Short: "Stop the agents in the room until you resume it",
		Args: app.ArgsBetween(1, 1, "a reason in quotes"),
		Long: "Pause the room, as a person. Until tt resume nobody is granted the stick, and agents\n" +
			"shouldn't edit: the policy enforce decides whether their edits are denied or only reported,\n" +
			"even the holder's and those in worktrees of tasks. You can still edit.\n\n" +
			"The holder keeps the stick, waits continue, and nobody loses a place. Messages, notes and\n" +
			"reservations work. Everybody is told the reason; another tt pause replaces it.",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.PauseRoomResult, error) {
			return e.PauseRoom(c.Context(), engine.PauseRoomParams{Caller: by, Where: path.Where(), Reason: args[0]})
		}, func(p *term.Page, res engine.PauseRoomResult) {
			p.Linef("the room of %s is%s paused; %s",
				res.Path, app.AlreadyText(res.Already), stick.Wrote(res.Paused.By, res.Paused.Reason, stick.MaxBody))
			if res.Owner != nil {
				p.Linef("%s keeps the stick", *res.Owner)
			}

			p.Linef("to resume: %s", p.Next(stick.Cmd("tt resume")))
		})
	}

	return c
}

// ResumeCmd makes tt resume.
func ResumeCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "resume [path]", Short: "Let the agents in a paused room go on", Args: app.ArgsBetween(0, 1, "a path"),
		Long: "End the pause of the room, as a person. The holder continues, and if the stick is free, " +
			"the next one waiting gets it. All time limits of the turn start again.",
	}

	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.ResumeRoomResult, error) {
			return e.ResumeRoom(c.Context(), engine.ResumeRoomParams{Caller: by, Where: w})
		}, func(p *term.Page, res engine.ResumeRoomResult) {
			if res.Already {
				p.Linef("the room of %s isn't paused", res.Path)
				return
			}

			// A pause of less than a minute was hardly noticed.
			var lasted stick.Words
			if d := p.Now.Sub(res.Paused.Since); d >= time.Minute {
				lasted = "; it was paused for " + stick.Age(d)
			}

			p.Linef("the room of %s is no longer paused%s", res.Path, lasted)
			switch {
			case res.Owner != nil:
				p.Linef("%s holds the stick", *res.Owner)
			case res.ReservedFor != nil:
				p.Linef("the stick is reserved for %s", *res.ReservedFor)
			}
		})
	}

	return c
}
