package task

import (
	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
	stickdiff "talkingstick/stick/diff"
)

func workerCommentCmd(a *app.Run) *cobra.Command {
	var p task.WorkerCommentParams
	var stdin bool
	c := &cobra.Command{
		Use:   "comment <task> [path:line] [text]",
		Short: "Comment on a line of a task's diff, or resolve a comment",
		Args:  app.ArgsBetween(1, 3, "the name of a task, a line such as src/parse.go:12, and a text"),
		Long: "Comment on a line, or on lines such as src/parse.go:12-15, that tt task diff shows. " +
			"The comment is a draft, which only you see, until\n" +
			"you run tt task request-changes or approve: that sends all your drafts to the worker in one " +
			"message. A comment is about the commit that\n" +
			"you last saw with show or diff, or that --head names, and follows its lines through later commits.",
	}

	c.Flags().BoolVar(&stdin, "stdin", false, "read the text from standard input")
	c.Flags().StringVar(&p.Head, "head", "", "the commit you mean (default: the one you saw last)")
	c.Flags().BoolVar(&p.Old, "old", false, "the lines are those before the change: for what the task removes")
	c.Flags().IntVar(&p.Resolve, "resolve", 0, "mark this comment as dealt with")
	c.Flags().IntVar(&p.Delete, "delete", 0, "delete this draft of yours")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) (err error) {
		p.TaskID, p.Where = args[0], path.Where()

		// To resolve or delete a comment its number is enough.
		if len(args) > 1 {
			p.At = args[1]
		}

		switch {
		case stdin && len(args) > 2:
			return stick.Errorf(stick.CodeUsage,
				"give the text on the command line or on standard input, not on both").With("field", "body")
		case stdin:
			if p.Body, err = app.ReadBody(a.Input(), stick.MaxBody); err != nil {
				return err
			}
		case len(args) > 2:
			p.Body = args[2]
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerCommentResult, error) {
			p.Caller = by
			return e.WorkerComment(c.Context(), p)
		}, func(pg *term.Page, res task.WorkerCommentResult) { showCommented(pg, p, res) })
	}

	return c
}

// showCommented says what was done about a comment.
func showCommented(p *term.Page, q task.WorkerCommentParams, res task.WorkerCommentResult) {
	at := term.FileName(res.Comment.At())
	switch {
	case q.Resolve != 0:
		p.Linef("comment %d on %s is resolved by %s%s", res.Comment.ID, at, res.Comment.ResolvedBy,
			app.AlreadyText(res.Already))
		return
	case q.Delete != 0:
		p.Linef("draft %d on %s is deleted", res.Comment.ID, at)
	default:
		p.Linef("draft %d is on %s%s", res.Comment.ID, at, app.AlreadyText(res.Already))
	}

	if res.Drafts > 0 {
		p.Linef("to send your %s: %s", stick.Count(res.Drafts, "draft"),
			p.Next(stick.Cmd("tt task request-changes <task_id>", res.TaskID)))
	}
}

// maxComments is how many comments a text shows.
const maxComments = 50

// showComments lists those comments on a task that wait to be dealt with, and says how many don't.
func showComments(p *term.Page, all []task.ShownComment) {
	shown, resolved := 0, 0
	for _, c := range all {
		switch {
		case !c.ResolvedAt.IsZero():
			resolved++
		case shown < maxComments:
			// Comments that wait come in full, up to a limit; the others are only counted.
			if shown++; shown == 1 {
				p.Linef("comments:")
			}

			showComment(p, "  ", c, true)
		}
	}

	if hidden := len(all) - shown - resolved; hidden > 0 {
		p.Linef("  %s", p.Faint(term.Wordsf("%s more: --json shows all", stick.Count(hidden, "comment"))))
	}
	if resolved > 0 {
		p.Linef("%s", p.Faint(term.Wordsf("%s resolved: --json shows all", stick.Count(resolved, "comment"))))
	}
}

// showComment shows a comment after an indent, with the lines around it if they aren't there already.
func showComment(p *term.Page, indent term.Text, c task.ShownComment, around bool) {
	if !c.ResolvedAt.IsZero() {
		p.Linef("%s%s", indent, p.Faint(term.Wordsf("comment %d by %s was resolved by %s, %s",
			c.ID, c.Author, c.ResolvedBy, p.Ago(c.ResolvedAt))))
		return
	}

	said := term.Wordsf("comment %d by %s, %s", c.ID, c.Author, p.Ago(c.CreatedAt))
	if c.Draft {
		said = term.Wordsf("draft %d of yours", c.ID)
	}

	// A comment follows its lines, so it is shown where they are now.
	at := c.At()
	if c.Now != nil {
		at = c.Now.Path + ":" + c.Now.Lines.String()
	}

	of := term.Text("")
	if c.Old {
		of = ", before the change"
	}
	if c.Outdated {
		of += term.Wordsf("; outdated, it is of commit %s", abbrev(c.From()))
	}

	p.Linef("%s%s, on %s%s", indent, p.Paint("33", said), term.FileName(at), of)
	if around {
		for _, l := range c.Around {
			p.ShowCode(indent+"  "+term.Bar, term.SourceLine(task.CodeText(c.Comment, l)))
		}
	}

	p.ShowText(indent+"  "+term.Quote, c.Body)
}

// showCommentedPatch adds a diff with the comments on its lines, and below it those that it has no lines for.
func showCommentedPatch(p *term.Page, diff string, comments []task.ShownComment) {
	type place struct {
		path string
		old  bool
		line int
	}

	// Comments are found by the last line that they are about.
	at, left := map[place][]task.ShownComment{}, []task.ShownComment{}
	for _, c := range comments {
		if c.Now == nil {
			left = append(left, c)
			continue
		}

		k := place{c.Now.Path, c.Old, c.Now.Lines[1]}
		at[k] = append(at[k], c)
	}

	if len(comments) > 0 {
		p.Linef("lines that begin with > are comments; the diff has no such lines")
	}

	var r stickdiff.PatchReader
	p.ShowPatch(diff, func(line string) {
		l := r.Next(line)

		// A line of a diff has a number before the change, after it, or both.
		for _, k := range []place{{r.Old, true, l.Old}, {r.New, false, l.New}} {
			if k.line == 0 {
				continue
			}

			for _, c := range at[k] {
				// No line of a diff begins with this mark.
				showComment(p, term.Quote, c, false)
			}

			// What stays in the map has no line in the diff.
			delete(at, k)
		}
	})

	for _, c := range comments {
		// Comments on lines where the diff was cut off come last.
		if c.Now != nil && len(at[place{c.Now.Path, c.Old, c.Now.Lines[1]}]) > 0 {
			left = append(left, c)
		}
	}

	if len(left) > 0 {
		p.Linef("")
	}

	for _, c := range left {
		showComment(p, term.Quote, c, true)
	}
}
