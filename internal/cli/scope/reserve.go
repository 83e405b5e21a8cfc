// Package scope reserves paths, and shows who may edit them and where work collides.
package scope

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
)

// ReserveCmd makes tt reserve.
func ReserveCmd(a *app.Run) *cobra.Command {
	var p scopes.ReservePathsParams
	var ttl time.Duration
	c := &cobra.Command{
		Use: "reserve <pattern>…", Short: "Reserve paths, so that others know who will change them",
		Args: app.ArgsBetween(1, -1, "a file, a directory or a pattern"),
		Long: "Reserve files, directories and patterns for yourself. " +
			"Write them relative to the root of the workspace: * and ? match within\n" +
			"a name, ** matches any directories, and a directory means everything below it. " +
			"Put quotes around patterns, or the shell\n" +
			"expands them. If somebody else has reserved the same paths, you are refused. " +
			"If your paths overlap only in part, tt tells both\n" +
			"of you, with a path as an example. A reservation ends with tt unreserve, with your session, " +
			"or some time after your last act.",
	}

	c.Flags().DurationVar(&ttl, "ttl", scope.DefaultTTL, "how long it lasts after your last act")
	c.Flags().StringVar(&p.TaskID, "task", "", "the task it is for")
	c.Flags().BoolVar(&p.Strict, "strict", false, "be refused even if the paths overlap only in part")
	c.Flags().BoolVar(&p.TakeStale, "takeover-stale", false,
		"take over a reservation that has expired or whose owner is gone")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("ttl") {
			// An explicit 0 isn't the default.
			if err := scope.CheckTTL(ttl); err != nil {
				return err
			}
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (scopes.ReservePathsResult, error) {
			p.Caller, p.Where, p.Paths, p.TTL = by, path.Where(), args, stick.Millis(ttl.Milliseconds())
			return e.ReservePaths(c.Context(), p)
		}, showReserved)
	}

	return c
}

func showReserved(p *term.Page, res scopes.ReservePathsResult) {
	if res.Joined {
		p.Linef("you joined the room as %s", res.AgentID)
	}

	for _, v := range res.Reservations {
		p.Linef("%s %s%s; it ends %s, unless you act", p.Strong("reserved"), string(v.Pattern),
			app.AlreadyText(res.Already), p.Until(v.ExpiresAt))
	}

	for _, m := range res.Overlaps {
		// A stale reservation stops nobody, and the same paths are taken over from its owner.
		switch {
		case m.Stale && m.Overlap == glob.Exact:
			p.Linef("you took it over from %s, whose process is %s; tt has told it", m.Agent, m.Verdict)
		case m.Stale:
			p.Linef("it overlaps with %s of %s, as in %s; that reservation is stale and stops nobody",
				string(m.Pattern), m.Agent, m.Witness)
		default:
			p.Linef("%s with %s of %s, as in %s; tt has told both of you", p.Strong("it overlaps"),
				string(m.Pattern), m.Agent, m.Witness)
			p.Linef("agree who changes what: %s", p.Next(stick.Cmd("tt msg send <agent> …", m.Agent)))
		}
	}

	if res.Warning != "" {
		p.Linef("warning: %s", res.Warning)
	}
}

// UnreserveCmd makes tt unreserve.
func UnreserveCmd(a *app.Run) *cobra.Command {
	var p scopes.ReleasePathsParams
	c := &cobra.Command{
		Use: "unreserve [pattern or number]…", Short: "Release reserved paths", Args: app.ArgsBetween(0, -1, ""),
		Long: "Release paths that you reserved, by the pattern or the number that tt reservations shows. " +
			"A person can release anybody's\n" +
			"reservation by its number.",
	}

	c.Flags().BoolVar(&p.All, "all", false, "release all that you reserved")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		if p.All && len(args) > 0 {
			return stick.Errorf(stick.CodeUsage, "--all means all of yours: give --all or %q, not both",
				stick.Clip(args[0], 60)).With("field", "all")
		}

		for _, arg := range args {
			// A word that looks exactly like a number is one; 007 is a pattern.
			if id, err := strconv.ParseInt(arg, 10, 64); err == nil && id > 0 && strconv.FormatInt(id, 10) == arg {
				p.ReservationIDs = append(p.ReservationIDs, id)
			} else {
				p.Paths = append(p.Paths, arg)
			}
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (scopes.ReleasePathsResult, error) {
			p.Caller, p.Where = by, path.Where()
			return e.ReleasePaths(c.Context(), p)
		}, func(p *term.Page, res scopes.ReleasePathsResult) {
			for _, v := range res.Released {
				var of stick.Words

				// A person may have released what somebody else reserved.
				if v.Agent != res.AgentID {
					of = stick.Wordsf(" of %s", v.Agent)
				}

				p.Linef("%s%s is released", string(v.Pattern), of)
			}

			if len(res.Released) == 0 {
				p.Linef("none of that is reserved%s", app.AlreadyText(res.Already))
			}
		})
	}

	return c
}

// ReservationsCmd makes tt reservations.
func ReservationsCmd(a *app.Run) *cobra.Command {
	var p scopes.ListReservationsParams
	var agent string
	c := &cobra.Command{Use: "reservations [path]", Short: "List reserved paths", Args: app.ArgsBetween(0, 1, "a path")}
	c.Flags().StringVar(&agent, "of", "", "only what this agent reserved")
	c.Flags().StringVar(&p.TaskID, "task", "", "only what is reserved for this task")
	c.Flags().IntVar(&p.Limit, "limit", 50, "list at most this many (up to 500)")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if p.Where, err = path.WhereOf(args, 0); err != nil {
			return err
		}

		return app.Show(a, func(e app.Operations, by core.Caller) (scopes.ListReservationsResult, error) {
			p.Caller, p.Agent = by, stick.AgentID(agent)
			return e.ListReservations(c.Context(), p)
		}, showReservations)
	}

	return c
}

func showReservations(p *term.Page, res scopes.ListReservationsResult) {
	if len(res.Reservations) == 0 {
		p.Linef("nothing is reserved")
		return
	}

	var t term.Table
	for _, v := range res.Reservations {
		who, task, until := stick.Wordsf("%s", v.Agent), stick.Words(""), "ends "+p.Until(v.ExpiresAt)
		if v.Agent == res.AgentID {
			who += " (you)"
		}
		if v.Task != "" {
			task = stick.Wordsf("for %s", v.Task)
		}
		if v.Stale {
			until = "stale"
		}

		t.Add(strconv.FormatInt(v.ID, 10), term.FileName(string(v.Pattern)), who, until, task)
	}

	p.ShowTable(t)
	if res.More {
		p.Linef("%s", p.Faint("older ones are hidden: --limit"))
	}
}

// MayEditCmd makes tt may-edit.
func MayEditCmd(a *app.Run) *cobra.Command {
	var p guard.MayEditParams
	c := &cobra.Command{
		Use: "may-edit <path>…", Short: "Ask whether you may change paths now", Args: app.ArgsBetween(0, -1, ""),
		Long: "Ask whether the room's policy enforce (tt policy) lets you change files now. " +
			"Exit status 0 means yes, and 4 means no. With\n" +
			"enforce=warn the answer is always yes, and says which rule an edit would break. " +
			"The hooks that tt install sets up ask the same before every edit.",
	}

	c.Flags().BoolVar(&p.Tree, "tree", false, "ask for anything in the shared working tree")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return app.Show(a, func(e app.Operations, by core.Caller) (guard.MayEditResult, error) {
			p.Caller, p.Where, p.Paths = by, path.Where(), args
			res, err := e.MayEdit(c.Context(), p)
			if err != nil {
				return res, err
			}

			res.Hint = res.Step().As(a.As).Words()
			return res, res.Refusal()
		}, showMayEdit)
	}

	return c
}

func showMayEdit(p *term.Page, res guard.MayEditResult) {
	switch {
	case res.RoomID == "":
		p.Linef("%s: there is no room here", p.Strong("yes"))
	case res.Told != "":
		p.Linef("%s, but %s", p.Strong("yes"), res.Told)
		p.Linef("hint: %s", res.Hint)
	case res.Holder == res.AgentID && res.Holder != "":
		p.Linef("%s: you have the stick", p.Strong("yes"))
	case res.Enforce == stick.EnforceOff && res.Holder != "":
		p.Linef("%s: this room doesn't enforce turns, but %s has the stick", p.Strong("yes"), res.Holder)
	case res.Enforce == stick.EnforceOff:
		p.Linef("%s: this room doesn't enforce turns (%s: enforce is off)",
			p.Strong("yes"), p.Next(stick.Cmd("tt policy")))
	default:
		p.Linef("%s", p.Strong("yes"))
	}

	for _, v := range res.Reserved {
		p.Linef("%s has reserved %s", v.Agent, string(v.Pattern))
	}
}
