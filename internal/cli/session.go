package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// sessionCommands are the commands about sessions and who else is there.
func (a *app) sessionCommands() []*cobra.Command {
	return []*cobra.Command{a.rosterCmd(), a.sessionCmd(), a.helperCmd()}
}

func (a *app) sessionCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "session", Short: "Start and end an agent's session, and tell its role", Args: noArgs,
		Long: "A session is one run of an agent. When it starts it learns whether it is alone, and what that makes it: the primary of the\n" +
			"workspace, or a helper beside it. Hooks start and end sessions; an agent without hooks does it itself, before anything else.",
		RunE: func(c *cobra.Command, args []string) error { return c.Help() },
	}
	c.AddCommand(a.sessionStartCmd(), a.sessionEndCmd(), a.sessionPathCmd(), a.sessionRoleCmd(), a.sessionEnvCmd(), a.sessionPromoteCmd(), a.sessionListCmd())
	return c
}

func (a *app) sessionStartCmd() *cobra.Command {
	var helper bool
	c := &cobra.Command{
		Use: "start [path]", Short: "Start the session: look who is there, join, and learn the role", Args: between(0, 1, "a path"),
		Long: "The first thing that an agent does, before any pull. Outside of rooms it only looks: alone it writes nothing; else it makes the\n" +
			"room and joins it. In a room it joins. The first one is the primary, the others are helpers. If the primary before left\n" +
			"its context file and never ended its session, the new one recovers.",
	}
	c.Flags().BoolVar(&helper, "helper", false, "be a helper, whoever else is there, also where the session leads by now (AI_HELPER=1 makes a helper of one that begins)")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := where(args, 0, *path)
		if err != nil {
			return err
		}
		return answer(a, func(e operations, by core.Caller) (engine.StartSessionResult, error) {
			q := a.starting(engine.HookParams{Caller: by, Where: w})
			q.Helper = helper
			return e.StartSession(c.Context(), q)
		}, func(p *page, res engine.StartSessionResult) {
			if res.RoomID == "" {
				alone := "you are alone here"
				if res.Blind {
					alone = "processes can't be seen from here, so that it isn't known who else is at work"
				}
				p.linef("%s, and there is no room: nothing was written", alone)
				return
			}
			p.briefing(res, false)
		})
	}
	return c
}

func (a *app) sessionEndCmd() *cobra.Command {
	var abandon string
	c := &cobra.Command{
		Use: "end", Short: "End the session after its wrap-up: leave the rooms, remove the context file", Args: noArgs,
		Long: "End the session when its work is wrapped up: give the stick back first, and put what others need into a handoff, a note or a\n" +
			"message, because the session's context file is removed, unless its first line, which says whose it is, was changed. When a harness ends, its hook ends the session and keeps the file.",
	}
	c.Flags().StringVar(&abandon, "abandon", "", "why a turn ends without a handoff")
	c.RunE = func(c *cobra.Command, args []string) error {
		return answer(a, func(e operations, by core.Caller) (engine.EndSessionResult, error) {
			return e.EndSession(c.Context(), engine.EndSessionParams{HookParams: engine.HookParams{Caller: by}, Wrapped: true, Abandon: abandon})
		}, func(p *page, res engine.EndSessionResult) {
			if len(res.Left) == 0 {
				p.linef("there was no session to end")
				return
			}
			p.linef("the session of %s has ended", res.AgentID)
			for _, f := range res.Removed {
				p.linef("removed %s", stick.Line(f))
			}
			for _, f := range res.Taken {
				p.linef("left %s: another session has begun with it", stick.Line(f))
			}
			for _, f := range res.Kept {
				p.linef("left %s: its first line doesn't tell whose session's it is, so it isn't tt's to remove", stick.Line(f))
			}
		})
	}
	return c
}

// showSession completes a command that tells something of the caller's session.
func (a *app) showSession(c *cobra.Command, text func(*page, engine.GetSessionResult)) *cobra.Command {
	c.Args = between(0, 1, "a path")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := where(args, 0, *path)
		if err != nil {
			return err
		}
		return answer(a, func(e operations, by core.Caller) (engine.GetSessionResult, error) {
			return e.GetSession(c.Context(), engine.GetSessionParams{Caller: by, Where: w, Context: a.Getenv("AI_AGENT_ID")})
		}, text)
	}
	return c
}

func (a *app) sessionPathCmd() *cobra.Command {
	return a.showSession(&cobra.Command{
		Use: "path [path]", Short: "Print where the session keeps its context",
		Long: "Print the path of the session's context file: the primary's, or a helper's own. Before the session has started it is\n" +
			"the one that AI_AGENT_ID names.",
	}, func(p *page, res engine.GetSessionResult) { p.linef("%s", stick.Line(res.Context)) })
}

func (a *app) sessionRoleCmd() *cobra.Command {
	return a.showSession(&cobra.Command{
		Use: "role [path]", Short: "Tell the session's role, and what goes with it",
	}, (*page).contract)
}

// contract tells a role and its contract.
func (p *page) contract(res engine.GetSessionResult) {
	switch {
	case res.Role == "" && res.AgentID.Human() && res.Primary != nil:
		p.linef("%s is a person and has no session; %s is the primary", res.AgentID, *res.Primary)
		return
	case res.Role == "" && res.AgentID.Human():
		p.linef("%s is a person and has no session", res.AgentID)
		return
	case res.Role == "" && res.Primary != nil:
		p.linef("%s has no session here; %s is the primary. Start one: tt session start", res.AgentID, *res.Primary)
		return
	case res.Role == "":
		p.linef("%s has no session here. Start one: tt session start", res.AgentID)
		return
	case res.Role == stick.RolePrimary:
		p.linef("%s is the primary since %s", res.AgentID, stick.Age(p.now.Sub(res.Since)))
	case res.Primary != nil:
		p.linef("%s is a helper since %s; %s is the primary", res.AgentID, stick.Age(p.now.Sub(res.Since)), *res.Primary)
	default:
		p.linef("%s is a helper since %s, and no primary is known; if you are the only one: tt session promote", res.AgentID, stick.Age(p.now.Sub(res.Since)))
	}
	p.linef("your context file: %s", stick.Line(res.Context))
	p.recovery(res.Recovered)
	p.linef("everything may be read")
	p.linef("only added to, never rewritten: %s", patterns(res.Contract.Append))
	p.linef("only the primary's: %s", patterns(res.Contract.PrimaryOnly))
	if res.Role == stick.RoleHelper {
		p.linef("light start: no pull, no update, no cleaning up; read the primary's context file, and begin with your task")
		p.linef("wrap-up: release the stick, tell the primary what you did (tt msg send role:primary \"…\"), then tt session end;")
		p.linef("  what concerns the whole workspace (archives, logs, the last push) is the primary's")
		return
	}
	p.linef("start: you do what the workspace needs once, such as a pull; helpers don't")
	p.linef("wrap-up: release the stick, gather what the helpers report, then tt session end")
}

func (a *app) sessionEnvCmd() *cobra.Command {
	return a.showSession(&cobra.Command{
		Use: "env [path]", Short: "Print the session's variables for a shell",
		Long: "Print what a shell evaluates so that programs in it find the session's context file: AI_AGENT_ID, and AI_HELPER for a helper.\n" +
			"They name the context file, never the member.",
		Example: "  eval \"$(tt session env)\"",
	}, func(p *page, res engine.GetSessionResult) {
		set := func(name, value string) {
			if value == "" {
				p.linef("unset %s", name)
			} else {
				p.linef("export %s=%s", name, value) // a name of letters, digits, dots, dashes and underscores
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

func (a *app) sessionPromoteCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "promote [path]", Short: "Make the session the primary, where no primary is left", Args: between(0, 1, "a path"),
		Long: "Make the session the primary, where there is none that isn't gone. One of which nothing is known, and that was silent for\n" +
			"as long as a lease lives (policy owner_lease_ttl), may be replaced.",
	}
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := where(args, 0, *path)
		if err != nil {
			return err
		}
		return answer(a, func(e operations, by core.Caller) (engine.PromoteSessionResult, error) {
			return e.PromoteSession(c.Context(), engine.PromoteSessionParams{Caller: by, Where: w})
		}, func(p *page, res engine.PromoteSessionResult) {
			p.linef("%s is the primary%s", res.AgentID, already(res.Already))
			if res.Replaced != nil {
				p.linef("the session of %s is over by that", *res.Replaced)
			}
			p.linef("your context file: %s", stick.Line(res.Context))
		})
	}
	return c
}

func (a *app) sessionListCmd() *cobra.Command {
	var all bool
	c := &cobra.Command{Use: "list [path]", Short: "List the sessions of the room", Args: between(0, 1, "a path")}
	c.Flags().BoolVar(&all, "all", false, "those that have ended, too")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := where(args, 0, *path)
		if err != nil {
			return err
		}
		return answer(a, func(e operations, by core.Caller) (engine.ListSessionsResult, error) {
			return e.ListSessions(c.Context(), engine.ListSessionsParams{Caller: by, Where: w, All: all})
		}, (*page).sessions)
	}
	return c
}

func (p *page) sessions(res engine.ListSessionsResult) {
	if len(res.Sessions) == 0 {
		p.linef("no session runs in %s", stick.Line(res.Path))
	}
	for _, s := range res.Sessions {
		state := "since " + stick.Age(p.now.Sub(s.Since))
		switch {
		case !s.Running:
			state = "ended"
		case s.Verdict == stick.Gone:
			state = "gone, without an end"
		}
		you := ""
		if s.Self {
			you = " (you)"
		}
		p.linef("%s", strings.TrimSpace(fmt.Sprintf("%-8s %s%s  %s  %s", s.Role, s.AgentID, you, state, p.faint(stick.Line(s.Context)))))
	}
}
