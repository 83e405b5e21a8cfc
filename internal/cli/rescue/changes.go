package rescue

import (
	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// ChangesCmd makes tt changes.
func ChangesCmd(a *app.Run) *cobra.Command {
	var p guard.ListChangesParams
	c := &cobra.Command{
		Use: "changes", Short: "Show the uncommitted files, and whose they are", Args: app.NoArgs,
		Long: "Show which files of this checkout are uncommitted, and whose they are. " +
			"Hooks record who edits a file. Work that somebody did while\n" +
			"holding the stick passes with the stick, to whoever holds it next. " +
			"Work of an agent that didn't hold it stays that agent's, as long as the\n" +
			"agent is there or has reserved the path. " +
			"Nothing is recorded for other files: a person may have edited them.",
	}

	agent := c.Flags().String("agent", "", "only files that this agent has edited")
	diff := c.Flags().String("diff", "", "show the diff of the files that this agent has edited")
	c.Flags().IntVar(&p.Limit, "limit", 200, "show at most this many files")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, _ []string) error {
		// Both flags name an agent, and two different ones contradict each other.
		if p.Diff = c.Flags().Changed("diff"); p.Diff {
			if *diff == "" || *agent != "" && *agent != *diff {
				return stick.Errorf(stick.CodeUsage,
					"--diff needs the name of an agent, and doesn't go with --agent").With("field", "diff")
			}

			agent = diff
		}

		return app.Show(a, func(e app.Operations, by core.Caller) (guard.ListChangesResult, error) {
			p.Caller, p.Where, p.Agent = by, path.Where(), stick.AgentID(*agent)
			return e.ListChanges(c.Context(), p)
		}, func(pg *term.Page, res guard.ListChangesResult) {
			if res.Count == 0 && p.Agent != "" {
				pg.Linef("%s has edited no uncommitted file, as far as hooks have noted", p.Agent)
				return
			}

			showChanges(pg, res)
		})
	}

	c.AddCommand(changesMineCmd(a), changesAdoptCmd(a))
	return c
}

func changesMineCmd(a *app.Run) *cobra.Command {
	var p guard.ClaimChangesParams
	c := &cobra.Command{
		Use: "mine <path>…", Short: "People only: say that uncommitted changes are yours",
		Args: app.ArgsBetween(1, -1, "a file or a directory with uncommitted changes"),
		Long: "Say that you made the uncommitted changes of files, or of all files in a directory. " +
			"Hooks don't record what a person edits. Until these files are committed, tt protects your " +
			"changes\n" +
			"from agents, as it protects those of other agents.",
	}

	c.Flags().BoolVar(&p.Not, "not", false, "say that they aren't yours after all")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return app.Answer(a, func(e app.Operations, by core.Caller) (guard.ClaimChangesResult, error) {
			p.Caller, p.Where, p.Paths = by, path.Where(), args
			return e.ClaimChanges(c.Context(), p)
		}, func(pg *term.Page, res guard.ClaimChangesResult) {
			if res.Joined {
				pg.Linef("you joined the room as %s", res.AgentID)
			}

			said := stick.Words("yours now")
			if p.Not {
				said = "not yours any more"
			}

			showOwner(pg, res.Paths, said)
		})
	}

	return c
}

func changesAdoptCmd(a *app.Run) *cobra.Command {
	var p guard.AdoptChangesParams
	c := &cobra.Command{
		Use: "adopt <path>…", Short: "Make others' uncommitted changes yours",
		Args: app.ArgsBetween(1, -1, "a file or a directory with uncommitted changes, or an entry of the stash"),
		Long: "Make uncommitted changes yours, of files or of all files in a directory, whoever made " +
			"them. You need the right to change\n" +
			"these files now, as for an edit. The files stay as they are. " +
			"tt makes a rescue of them first, and tells the agents whose changes they were.\n\n" +
			"Adopt a stash entry by its name, such as 'stash@{1}': " +
			"all checkouts of a repository share one stash, and hooks record who makes an entry.",
	}

	c.Flags().StringVarP(&p.Reason, "reason", "m", "",
		"why you do this, for those whose changes they were (required)")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return app.Answer(a, func(e app.Operations, by core.Caller) (guard.AdoptChangesResult, error) {
			p.Caller, p.Where, p.Paths = by, path.Where(), args
			return e.AdoptChanges(c.Context(), p)
		}, showAdopted)
	}

	return c
}

// showOwner says whose files are.
func showOwner(p *term.Page, files []string, said stick.Words) {
	const most = 10
	switch n := len(files); {
	case n == 0:
		p.Linef("all of them are %s already", said)
	case n == 1:
		p.Linef("%s is %s", files[0], said)
	default:
		var more stick.Words
		if n > most {
			more = ", …"
		}

		p.Linef("%s are %s: %s%s", stick.Count(n, "file"), said, app.PathNames(files[:min(n, most)]), more)
	}
}

func showAdopted(p *term.Page, res guard.AdoptChangesResult) {
	if res.Joined {
		p.Linef("you joined the room as %s", res.AgentID)
	}

	if len(res.Stash) > 0 {
		p.Linef("yours now: %s", stick.Names(res.Stash, len(res.Stash)))
	} else {
		showOwner(p, res.Paths, "yours now")
	}

	for _, from := range res.From {
		p.Linef("tt has told %s", from)
	}

	switch {
	case res.Already:
		// Nothing changed hands, so no copy was made.
	case len(res.Stash) > 0 && res.RescueWhy == "":
		// git keeps them.
	case res.Rescue == nil:
		p.Linef("there is no copy of them: %s", res.RescueWhy)
	default:
		p.Linef("rescue %s has a copy", res.Rescue.ID)
		for _, l := range res.Rescue.LeftOut {
			p.Linef("  without %s: %s", l.Path, l.Why)
		}
	}

	if res.Told != "" {
		p.Linef("note: %s; %s", res.Told, res.Hint)
	}
}

// showChanges lists uncommitted files: the caller's own first, then those of others.
func showChanges(p *term.Page, res guard.ListChangesResult) {
	if res.Count == 0 {
		p.Linef("nothing is uncommitted")
		return
	}

	p.Linef("%s", stick.Count(res.Count, "uncommitted file"))
	if res.Diff != "" {
		p.ShowPatch(res.Diff, nil)
		if res.Cut {
			p.Linef("the rest is cut off; to see it: git diff HEAD")
		}

		return
	}

	for _, part := range []struct {
		is   edits.Share
		head stick.Words
	}{
		{edits.ShareOwn, "yours"},
		{edits.ShareOthers, "of others"},
		{edits.SharePassed, "passed on with the stick"},
		{edits.ShareNobody, "no record of whose"},
	} {
		var t term.Table
		t.Indent = "  "
		for _, c := range res.Changes {
			if c.Share == part.is {
				t.Add(stick.Words(c.Status), c.Path, listEditors(p, c.Editors))
			}
		}

		if len(t.Rows) > 0 {
			p.Linef("%s", part.head)
			p.ShowTable(t)
		}
	}

	if more := res.Count - len(res.Changes); more > 0 {
		p.Linef("%d more: %s", more, p.Next(stick.Cmd("tt changes --limit <limit>", res.Count)))
	}

	// Without hooks that note edits, everything looks like nobody's.
	if res.Enforce == stick.EnforceOff {
		p.Linef("this room has enforce=off, so tt doesn't record who edits what")
	}
}

// listEditors says who has edited a file, the last one first.
func listEditors(p *term.Page, all []edits.Editor) stick.Words {
	var said []stick.Words
	for i := len(all) - 1; i >= 0; i-- {
		switch e := all[i]; {
		case e.Agent == "" && len(all) > 1:
			// Between known editors an unknown one matters.
			said = append(said, "somebody")
		case e.Agent == "":
		case e.Held:
			said = append(said, stick.Wordsf("%s with the stick, %s", e.Agent, p.Ago(e.At)))
		default:
			said = append(said, stick.Wordsf("%s, %s", e.Agent, p.Ago(e.At)))
		}
	}

	return stick.JoinWords(said, "; ")
}
