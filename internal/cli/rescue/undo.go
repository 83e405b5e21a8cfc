package rescue

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// CallsCmd makes tt calls.
func CallsCmd(a *app.Run) *cobra.Command {
	var p restore.ListCallsParams
	c := &cobra.Command{
		Use: "calls [path] [file…]", Short: "List agents' tool calls that changed files",
		Args: app.ArgsBetween(0, -1, ""),
		Long: "List tool calls of the room's agents that changed files on this machine, the newest\n" +
			"first: when, who, how many files, and the command. Hooks record them, with a snapshot of the\n" +
			"checkout before and after each. tt undo undoes one.\n\n" +
			"Name a file, as in tt calls -- cart.go, and only the calls that changed it are listed, while\n" +
			"their copies exist.",
	}

	agent := c.Flags().String("agent", "", "only calls of this agent")
	c.Flags().BoolVar(&p.All, "all", false, "also calls that changed nothing, or haven't ended")
	c.Flags().IntVar(&p.Limit, "limit", 50, "list at most this many (up to 500)")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if args, p.Paths, err = a.SplitFiles(c, args, "agent"); err != nil {
			return err
		}
		if p.Where, err = path.WhereOf(args, 0); err != nil {
			return err
		}

		return app.Show(a, func(e app.Operations, by core.Caller) (restore.ListCallsResult, error) {
			p.Caller, p.Agent = by, stick.AgentID(*agent)
			return e.ListCalls(c.Context(), p)
		}, func(page *term.Page, res restore.ListCallsResult) {
			if len(res.Calls) == 0 && len(p.Paths) > 0 {
				page.Linef("no call that is known changed that; who edited what is uncommitted: %s",
					page.Next(stick.Cmd("tt changes")))
				return
			}
			showCalls(page, res)
		})
	}

	return c
}

// showCalls lists calls of tools, and says how one is undone.
func showCalls(p *term.Page, res restore.ListCallsResult) {
	if len(res.Calls) == 0 {
		p.Linef("no calls: tt sees only those of agents with hooks, which tt install adds")
		return
	}

	t := term.Table{}
	for _, c := range res.Calls {
		t.Add(strconv.FormatInt(c.ID, 10), p.Ago(c.Started), c.Maker(), callFiles(p, c), c.Title())
	}

	p.ShowTable(t)
	if res.More {
		p.Linef("%s", p.Faint("older ones are hidden: --limit"))
	}

	for _, c := range res.Calls {
		if c.Files > 0 {
			p.Linef("to undo one: %s", p.Next(stick.Cmd("tt undo <call>", c.ID)))
			return
		}
	}
}

// callFiles says how much a call has changed, as far as it is known.
func callFiles(p *term.Page, c edits.Call) stick.Words {
	switch {
	case c.Runs(p.Now):
		return "still running"
	case c.Ended.IsZero():
		return "its end was never seen"
	case c.Overlapped:
		return stick.Count(c.Files, "file") + ", beside another's call"
	}
	return stick.Count(c.Files, "file")
}

// UndoCmd makes tt undo.
func UndoCmd(a *app.Run) *cobra.Command {
	var p restore.UndoCallParams
	c := &cobra.Command{
		Use: "undo [call] [path…]", Short: "Undo what a tool call changed", Args: app.ArgsBetween(0, -1, ""),
		Long: "Undo what a tool call changed: each file that is still as the call left it returns to " +
			"its earlier state. A file that the call made is removed, and one that it deleted comes back.\n" +
			"A file that somebody has changed since stays, and its state from before the call is put\n" +
			"beside it, as FILE.before-CALL. If another agent's call ran at the same time, tt undoes only\n" +
			"what this call alone touched. HEAD, branches and the index stay as they are: if the call " +
			"moved HEAD, tt prints the git commands that move it back.\n\n" +
			"Without a call, tt undoes an agent's own last call that changed something, and shows a\n" +
			"person the list. An undo is a call itself: undo again, and it is undone. An agent may only\n" +
			"change what it may edit now. Paths are relative to the top level of the checkout, or\n" +
			"absolute. The exit status is 8 if something was left as it is.",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		p.Where, p.Paths = path.Where(), args

		// A first word that isn't a number is a path, and the call is the last one.
		if len(args) > 0 {
			if id, err := strconv.ParseInt(args[0], 10, 64); err == nil && id > 0 {
				p.ID, p.Paths = id, args[1:]
			}
		}

		return undoCall(c.Context(), a, p)
	}

	return c
}

// undoCall undoes a call. A person that names none gets the list.
func undoCall(ctx context.Context, a *app.Run, p restore.UndoCallParams) error {
	e, by, err := a.Open()
	if err != nil {
		return err
	}

	// A person has no last call of its own, so only the list can say which one is meant.
	if p.ID == 0 && by.ActsAsPerson() && len(p.Paths) > 0 {
		return stick.Errorf(stick.CodeUsage, "name the call that is to be undone").
			With("field", "call").With("path", p.Paths[0]).
			Hintf("see the calls: %s; then: %s", stick.Cmd("tt calls"), stick.Cmd("tt undo <call> <path>"))
	}
	if p.ID == 0 && by.ActsAsPerson() {
		a.Reads = true
		res, err := e.ListCalls(ctx, restore.ListCallsParams{Caller: by, Where: p.Where})
		if err != nil {
			return err
		}

		return a.Print(res, func(pg *term.Page) { showCalls(pg, res) })
	}

	p.Caller = by
	res, err := e.UndoCall(ctx, p)
	if err != nil {
		return err
	}

	// What stays as it is needs hands, and scripts learn it from the status.
	if res.HasLeft() {
		a.Status = stick.ExitHands
	}

	return a.Print(res, func(pg *term.Page) { showUndone(pg, res) })
}

// showUndone says what an undo has done.
func showUndone(p *term.Page, res restore.UndoCallResult) {
	if res.Joined {
		p.Linef("you joined the room as %s", res.AgentID)
	}

	p.Linef("call %d of %s, %s: %s", res.Call.ID, res.Call.Maker(), p.Ago(res.Call.Started), res.Call.Title())
	if n := len(res.Restored); n > 0 {
		p.Linef("%s as before it in %s:", stick.Count(n, "file"), term.FileName(res.Checkout))
		showFiles(p, res.Restored)
	}

	if n := len(res.Removed); n > 0 {
		p.Linef("%s removed that it had made:", stick.Count(n, "file"))
		showFiles(p, res.Removed)
	}

	// Files that were as before already are only counted.
	switch n := len(res.Same); {
	case res.Already:
		p.Linef("nothing to undo: the files in %s are as they were before it", term.FileName(res.Checkout))
	case n > 0:
		p.Linef("%s as before it already", stick.Count(n, "other file"))
	}

	leftFiles(p, res.Left)
	undoneHead(p, res)

	for _, who := range res.Told {
		p.Linef("tt has told %s", who)
	}

	if res.UndoID != 0 {
		p.Linef("to undo this: %s", p.Next(stick.Cmd("tt undo <call>", res.UndoID)))
	}
	if res.Warning != "" {
		p.Linef("note: %s; %s", res.Warning, res.Hint)
	}
}

// leftFiles names the files that stay as they are.
func leftFiles(p *term.Page, left []restore.LeftFile) {
	for i, l := range left {
		if i == mostFiles && len(left) > mostFiles+1 {
			p.Linef("%s", p.Faint(term.Wordsf("and %d more that stay: --json", len(left)-mostFiles)))
			return
		}

		by, beside := stick.Words(""), term.Text("")
		if len(l.By) > 0 {
			by = stick.Wordsf(" (by %s)", stick.Names(l.By, len(l.By)))
		}
		if l.Beside != "" {
			beside = term.Wordsf("; its state from before is %s", term.FileName(l.Beside))
		}

		p.Linef("%s stays: %s%s%s", term.FileName(l.Path), l.Why, by, beside)
	}
}

// undoneHead says what git has to take back.
func undoneHead(p *term.Page, res restore.UndoCallResult) {
	if res.Unstage != "" {
		p.Linef("to unstage what it has staged: %s", res.Unstage)
	}

	if h := res.Head; h != nil {
		p.Linef("HEAD stays at %s, and was at %s; to bring it back:", app.CommitText(h.To, h.ToBranch),
			app.CommitText(h.From, h.FromBranch))
		for _, c := range h.Back {
			p.Linef("  %s", c)
		}
	}

	if res.HeadWhy != "" {
		p.Linef("whether it has moved HEAD isn't known: %s", res.HeadWhy)
	}
}

// CallCandidates are the numbers of the calls that have changed files.
func CallCandidates(ctx context.Context, a *app.Run, at core.Where) []cobra.Completion {
	return app.FindCandidates(a, func(e app.Operations, by core.Caller) (restore.ListCallsResult, error) {
		return e.ListCalls(ctx, restore.ListCallsParams{Caller: by, Where: at})
	}, func(r restore.ListCallsResult) []edits.Call { return r.Calls }, func(c edits.Call) cobra.Completion {
		return app.DescribedWord(strconv.FormatInt(c.ID, 10), string(c.Agent)+": "+string(c.Title()))
	})
}
