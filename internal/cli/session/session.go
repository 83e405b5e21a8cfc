// Package session starts and ends sessions, briefs agents, and lists who is at work.
package session

import (
	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// Cmd makes tt session.
func Cmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "session", Short: "Start and end an agent's session, and show its role", Args: app.NoArgs,
		Long: "A session is one run of an agent. When it starts, " +
			"the agent learns whether others are at work and what its role is: the primary\n" +
			"of the workspace, or a helper. Hooks start and end sessions. " +
			"An agent without hooks does both itself. It\n" +
			"starts its session before anything else.",
		RunE: func(c *cobra.Command, args []string) error { return c.Help() },
	}
	c.AddCommand(
		sessionStartCmd(a), sessionEndCmd(a), sessionPathCmd(a), sessionRoleCmd(a), sessionEnvCmd(a),
		sessionPromoteCmd(a), sessionListCmd(a),
	)
	return c
}

func sessionStartCmd(a *app.Run) *cobra.Command {
	var helper bool
	c := &cobra.Command{
		Use: "start [path]", Short: "Start the session: see who is here, join, and learn your role",
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Run this first, before any pull. In a room, the agent joins. " +
			"Outside of rooms, an agent that is alone writes nothing;\n" +
			"if others are at work, it makes the room and joins it. The first agent is the primary, " +
			"and the others are helpers. If the\n" +
			"previous primary left its context file and never ended its session, the new primary recovers its work.",
	}

	c.Flags().BoolVar(&helper, "helper", false,
		"be a helper, even if nobody else is here or this session is the primary now (AI_HELPER=1 does the "+
			"same for a new session)")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (roster.StartSessionResult, error) {
			q := startParams(a, core.HookParams{Caller: by, Where: w})
			q.Helper = helper
			return e.StartSession(c.Context(), q)
		}, func(p *term.Page, res roster.StartSessionResult) {
			// An agent that is alone outside of rooms leaves no trace.
			if res.RoomID == "" {
				alone := stick.Words("you are alone here")
				if res.Blind {
					alone = "tt can't see processes from here, so it doesn't know who else is at work"
				}

				p.Linef("%s, and there is no room: nothing was written", alone)
				return
			}

			showBriefing(p, res, false)
		})
	}

	return c
}

func sessionEndCmd(a *app.Run) *cobra.Command {
	var abandon string
	c := &cobra.Command{
		Use: "end", Short: "End the session after its wrap-up: leave the rooms and remove the context file",
		Args: app.NoArgs,
		Long: "End the session when its work is wrapped up. " +
			"First release the stick, and put what others need into a handoff, a note or a\n" +
			"message: tt removes the session's context file, unless somebody changed its first line, " +
			"which says whose file it is. When a\n" +
			"harness ends, its hook ends the session and keeps the file.",
	}

	c.Flags().StringVar(&abandon, "abandon", "", "give up the turn without a handoff, and say why")

	c.RunE = func(c *cobra.Command, args []string) error {
		return app.Answer(a, func(e app.Operations, by core.Caller) (roster.EndSessionResult, error) {
			return e.EndSession(c.Context(), roster.EndSessionParams{
				HookParams: core.HookParams{Caller: by}, Wrapped: true, Abandon: abandon,
			})
		}, func(p *term.Page, res roster.EndSessionResult) {
			if len(res.Left) == 0 {
				p.Linef("there is no session to end")
				return
			}

			p.Linef("the session of %s has ended", res.AgentID)
			for _, f := range res.Removed {
				p.Linef("removed %s", f)
			}

			for _, f := range res.Taken {
				p.Linef("kept %s: another session uses it now", f)
			}

			for _, f := range res.Kept {
				p.Linef("kept %s: its first line doesn't say whose session it belongs to, so tt doesn't remove it", f)
			}
		})
	}

	return c
}

// showSession completes a command that shows something of the caller's session.
func showSession(a *app.Run, c *cobra.Command, text func(*term.Page, roster.GetSessionResult)) *cobra.Command {
	c.Args = app.ArgsBetween(0, 1, "a path")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}
		return app.Show(a, func(e app.Operations, by core.Caller) (roster.GetSessionResult, error) {
			return e.GetSession(c.Context(), roster.GetSessionParams{
				Caller: by, Where: w, Context: a.Getenv("AI_AGENT_ID"),
			})
		}, text)
	}

	return c
}

func sessionPathCmd(a *app.Run) *cobra.Command {
	return showSession(a, &cobra.Command{
		Use: "path [path]", Short: "Print the path of the session's context file",
		Long: "Print the path of the session's context file: the primary's, or a helper's own. " +
			"Before the session has started, it is the\n" +
			"file that AI_AGENT_ID names. A path that isn't plain, such as one with a blank, stands in quotation marks; " +
			"--json has it as it is.",
	}, func(p *term.Page, res roster.GetSessionResult) { p.Linef("%s", res.Context) })
}

func sessionRoleCmd(a *app.Run) *cobra.Command {
	return showSession(a, &cobra.Command{
		Use: "role [path]", Short: "Show the session's role and what it means",
	}, showContract)
}

// showContract shows a role, and what follows from it.
func showContract(p *term.Page, res roster.GetSessionResult) {
	switch {
	case res.Role == "" && res.AgentID.Human() && res.Primary != nil:
		p.Linef("%s is a person and has no session; %s leads", res.AgentID, *res.Primary)
		return
	case res.Role == "" && res.AgentID.Human():
		p.Linef("%s is a person and has no session", res.AgentID)
		return
	case res.Role == "" && res.Primary != nil:
		p.Linef("%s has no session here; %s leads. To start one: %s",
			res.AgentID, *res.Primary, p.Next(stick.Cmd("tt session start")))
		return
	case res.Role == "":
		p.Linef("%s has no session here. To start one: %s", res.AgentID, p.Next(stick.Cmd("tt session start")))
		return
	case res.Role == stick.RolePrimary:
		p.Linef("%s %s", res.AgentID, p.DurationOf("the primary", res.Since))
	case res.Primary != nil:
		p.Linef("%s %s; %s leads", res.AgentID, p.DurationOf("a helper", res.Since), *res.Primary)
	default:
		p.Linef("%s %s, and there is no known primary; if you are alone: %s",
			res.AgentID, p.DurationOf("a helper", res.Since), p.Next(stick.Cmd("tt session promote")))
	}

	p.Linef("your context file: %s", res.Context)
	showCrashedSession(p, res.Recovered)
	p.Linef("you may read everything")
	p.Linef("add to these, but never rewrite them: %s", listPatterns(res.Contract.Append))
	p.Linef("only the primary changes these: %s", listPatterns(res.Contract.PrimaryOnly))

	// A helper leaves to the primary what concerns everybody.
	if res.Role == stick.RoleHelper {
		p.Linef("start: no pull, no update, no cleaning up; read the primary's context file, then begin your task")
		p.Linef("wrap-up: release the stick, tell the primary what you did (%s), then %s",
			p.Next(stick.Cmd("tt msg send role:primary …")), p.Next(stick.Cmd("tt session end")))
		return
	}

	p.Linef("start: do what the workspace needs once, such as a pull; helpers don't")
	p.Linef("wrap-up: release the stick, collect what the helpers report, then %s", p.Next(stick.Cmd("tt session end")))
}

func sessionEnvCmd(a *app.Run) *cobra.Command {
	return showSession(a, &cobra.Command{
		Use: "env [path]", Short: "Print the session's variables for a shell",
		Long: "Print variables for a shell to evaluate, so that programs in it find the session's context " +
			"file: AI_AGENT_ID, and AI_HELPER for\n" +
			"a helper. They point to the context file. They don't change which member you are.",
	}, func(p *term.Page, res roster.GetSessionResult) {
		// A variable without a value is unset, because an earlier one may still be there.
		set := func(name, value string) {
			if value == "" {
				p.Linef("unset %s", name)
			} else {
				// Such a name has only letters, digits, dots, dashes and underscores, and needs no quotes.
				p.Linef("export %s=%s", name, value)
			}
		}

		set("AI_AGENT_ID", res.Name)
		helper := ""
		if res.Role == stick.RoleHelper {
			helper = "1"
		}

		set("AI_HELPER", helper)
	})
}

func sessionPromoteCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "promote [path]", Short: "Make this session the primary, if no primary is left",
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Make this session the primary, if there is no primary or the primary is gone. " +
			"A primary whose process tt can't see may be\n" +
			"replaced after it has been silent for as long as a lease lasts (policy owner_lease_ttl).",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (roster.PromoteSessionResult, error) {
			return e.PromoteSession(c.Context(), roster.PromoteSessionParams{Caller: by, Where: w})
		}, func(p *term.Page, res roster.PromoteSessionResult) {
			p.Linef("%s is the primary%s", res.AgentID, app.AlreadyText(res.Already))
			if res.Replaced != nil {
				p.Linef("that ended the session of %s", *res.Replaced)
			}

			p.Linef("your context file: %s", res.Context)
		})
	}

	return c
}

func sessionListCmd(a *app.Run) *cobra.Command {
	var all bool
	c := &cobra.Command{Use: "list [path]", Short: "List the sessions of the room", Args: app.ArgsBetween(0, 1, "a path")}
	c.Flags().BoolVar(&all, "all", false, "also list sessions that have ended")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}
		return app.Show(a, func(e app.Operations, by core.Caller) (roster.ListSessionsResult, error) {
			return e.ListSessions(c.Context(), roster.ListSessionsParams{Caller: by, Where: w, All: all})
		}, showSessions)
	}

	return c
}

func showSessions(p *term.Page, res roster.ListSessionsResult) {
	if len(res.Sessions) == 0 {
		p.Linef("no sessions in %s", res.Path)
	}

	var t term.Table
	for _, s := range res.Sessions {
		state := "started " + p.Ago(s.Since)
		switch {
		case !s.Running:
			state = "ended"
		case s.Verdict == stick.Gone:
			state = "gone without ending its session"
		}

		var you stick.Words
		if s.Self {
			you = " (you)"
		}

		t.Add(s.Role, term.Wordsf("%s%s", s.AgentID, you), state, term.Cell{Text: term.FileName(s.Context), Hue: "2"})
	}

	p.ShowTable(t)
}
