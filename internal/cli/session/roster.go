package session

import (
	"cmp"
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// Exit statuses of the roster. Scripts use them to learn whether other agents are at work.
const (
	exitAlone    = 0
	exitNotAlone = 1
	ExitUnsure   = 2 // tt couldn't find out
)

// RosterCmd makes tt roster.
func RosterCmd(a *app.Run) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "roster [path]", Short: "List the other agents at work in this workspace (also as agent-roster)",
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "List the other agents at work in the workspace: " +
			"harnesses that run in it or in one of its linked worktrees, and the active\n" +
			"members of its room. The program that started you and those that you started don't count. " +
			"Exit status 0 means you are alone,\n" +
			"1 not alone, and 2 that tt couldn't find out.",
	}

	c.Flags().BoolVar(&all, "all", false,
		"also show agents elsewhere on this machine and inactive members; they don't count")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		a.Failure = ExitUnsure
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		return answerRoster(c.Context(), a, w, all)
	}

	return c
}

func answerRoster(ctx context.Context, a *app.Run, w core.Where, all bool) error {
	return app.Show(a, func(e app.Operations, by core.Caller) (roster.GetRosterResult, error) {
		res, err := e.GetRoster(ctx, roster.GetRosterParams{Caller: by, Where: w, All: all})
		switch {
		case err != nil:
			// exitUnsure is the status of failures, too.
		case res.Alone == nil:
			a.Status = ExitUnsure
		case !*res.Alone:
			a.Status = exitNotAlone
		}

		return res, err
	}, showRoster)
}

// showRoster lists agents, one a line: first the pid and the working directory.
func showRoster(p *term.Page, res roster.GetRosterResult) {
	for _, o := range res.Others {
		showAgent(p, o)
	}

	alone := res.Alone != nil && *res.Alone
	switch {
	case res.Note != "":
		p.Linef("%s; so tt doesn't know who is at work on it", res.Note)
	case res.Blind && res.RoomID == "":
		p.Linef("tt can't see processes from here, and there is no room, "+
			"so it doesn't know who is at work in %s", res.Path)
	case res.Blind:
		if alone {
			p.Linef("no other member is at work in %s", res.Path)
		}

		p.Linef("tt can't see processes from here, so it knows only the members of the room")
	case alone:
		p.Linef("no other agent is at work in %s", res.Path)
	}

	for _, o := range res.Unreadable {
		p.Linef("tt can't look into process %d (%s), which may work here or elsewhere", o.PID, o.Harness)
	}

	if res.Closed > 0 {
		p.Linef("processes hidden from you: %d", res.Closed)
	}

	if len(res.More) > 0 {
		p.Linef("elsewhere, or not active:")
		for _, o := range res.More {
			showAgent(p, o)
		}
	}
}

func showAgent(p *term.Page, o roster.RosterAgent) {
	pid, cwd, runs, name := "-", "-", cmp.Or(o.Harness, "-"), string(o.AgentID)
	if o.PID != 0 {
		pid = strconv.Itoa(o.PID)
	}
	if o.Cwd != "" {
		cwd = o.Cwd
	}

	var about []stick.Words
	switch {
	case !o.Registered:
		about = append(about, "not registered")
	case o.Role != "":
		about = append(about, stick.Wordsf("%s", o.Role))
	}

	if o.Task != "" {
		about = append(about, stick.Wordsf("works on %s", o.Task))
	}
	if o.PID == 0 {
		about = append(about, "seen "+p.Ago(o.LastSeenAt))
	}

	p.Rowf("%-7s %s  %s %s %s", pid, cwd, runs, name, p.Faint(term.Wordsf("%s", stick.JoinWords(about, ", "))))
}
