package room

import (
	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// LeaveCmd makes tt leave.
func LeaveCmd(a *app.Run) *cobra.Command {
	var h app.HandoffFlags
	var f app.FenceFlags
	var abandon string
	c := &cobra.Command{
		Use: "leave [path]", Short: "Leave the room", Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Leave the room. If you hold the stick, give a handoff, or say with --abandon why there is none.",
	}

	h.AddFlags(c)
	f.AddFlags(c)
	c.Flags().StringVar(&abandon, "abandon", "", "give up the turn without a handoff, and say why")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		// Whoever holds the stick leaves it with a handoff, or abandons it.
		handoff, err := h.ReadHandoff(a)
		if err != nil {
			return err
		}

		if handoff != nil && abandon != "" {
			return stick.Errorf(stick.CodeUsage, "give a handoff or --abandon, not both")
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.LeaveRoomResult, error) {
			res, err := e.LeaveRoom(c.Context(), engine.LeaveRoomParams{
				Caller: by, Where: w, Fence: f.Fence(), Handoff: handoff, Abandon: abandon,
			})
			return res, h.ExplainRefusal(err, stick.Cmd("tt leave --status … --next-action …"))
		}, func(p *term.Page, res engine.LeaveRoomResult) {
			p.Linef("%s left the room%s", res.AgentID, app.AlreadyText(res.Already))
			switch {
			case res.Abandoned && res.DraftKept:
				p.Linef("you gave up the turn without a handoff; the next holder gets your draft")
			case res.Abandoned:
				p.Linef("you gave up the turn without a handoff; the next holder gets the previous one")
			}

			if res.ReservedFor != nil {
				p.Linef("next is %s", *res.ReservedFor)
			}
		})
	}

	return c
}

// KickCmd makes tt kick.
func KickCmd(a *app.Run) *cobra.Command {
	var force bool
	var reason string
	c := &cobra.Command{
		Use: "kick <agent> [path]", Short: "Remove a member that is gone",
		Args: app.ArgsBetween(1, 2, "the agent to remove"),
	}

	c.Flags().BoolVar(&force, "force", false, "even if it isn't gone; only when a person told you to")
	c.Flags().StringVarP(&reason, "reason", "m", "", "why (for the log)")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 1)
		if err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.KickMemberResult, error) {
			return e.KickMember(c.Context(), engine.KickMemberParams{
				Caller: by, Where: w, AgentID: stick.AgentID(args[0]), Force: force, Reason: reason,
			})
		}, func(p *term.Page, res engine.KickMemberResult) {
			p.Linef("%s was removed%s", res.AgentID, app.AlreadyText(res.Already))
			if res.EndedTurn {
				p.Linef("its turn has ended; the next holder gets the last handoff")
			}
			if res.ReservedFor != nil {
				p.Linef("next is %s", *res.ReservedFor)
			}
		})
	}

	return c
}

// WhoamiCmd makes tt whoami.
func WhoamiCmd(a *app.Run) *cobra.Command {
	var explain bool
	c := &cobra.Command{Use: "whoami", Short: "Show the name that others know you by", Args: app.NoArgs}
	c.Flags().BoolVar(&explain, "explain", false, "also show how tt knows")
	c.RunE = func(c *cobra.Command, args []string) error {
		return app.Show(a, func(e app.Operations, by core.Caller) (roster.WhoamiResult, error) {
			return e.Whoami(c.Context(), roster.WhoamiParams{Caller: by, Explain: explain})
		}, func(p *term.Page, res roster.WhoamiResult) {
			p.Linef("%s", res.AgentID)
			if res.Note != "" {
				p.Linef("note: %s", res.Note)
			}

			for _, l := range res.Explain {
				p.Linef("  %s", l)
			}
		})
	}

	return c
}
