package msg

import (
	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/talk"
)

// NotesCmd are the commands about notes.
func NotesCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "notes", Short: "Add, list and resolve notes", Args: app.NoArgs,
		Long: "Notes stay until somebody resolves them; a message is for those who are here now, " +
			"and a handoff is for the next holder.",
		RunE: func(c *cobra.Command, args []string) error { return c.Help() },
	}
	c.AddCommand(notesAddCmd(a), notesListCmd(a), notesResolveCmd(a))
	return c
}

func notesAddCmd(a *app.Run) *cobra.Command {
	var stdin, turn bool
	c := &cobra.Command{Use: "add [note]", Short: "Add a note", Args: app.ArgsBetween(0, 1, "a note")}
	c.Flags().BoolVar(&stdin, "stdin", false, "read the note from standard input")
	c.Flags().BoolVar(&turn, "turn", false, "only for the current turn, or for the next one if nobody has the stick")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		p := engine.AddNoteParams{Where: path.Where(), AboutTurn: turn}
		switch {
		case stdin && len(args) > 0:
			return stick.Errorf(stick.CodeUsage,
				"give the note on the command line or on standard input, not on both").With("field", "body")
		case stdin:
			var err error
			if p.Body, err = app.ReadBody(a.Input(), talk.MaxNote); err != nil {
				return err
			}
		case len(args) > 0:
			p.Body = args[0]
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.AddNoteResult, error) {
			p.Caller = by
			return e.AddNote(c.Context(), p)
		}, func(p *term.Page, res engine.AddNoteResult) { p.Linef("note %d was added", res.ID) })
	}

	return c
}

func notesListCmd(a *app.Run) *cobra.Command {
	var p engine.ListNotesParams
	c := &cobra.Command{Use: "list [path]", Short: "List unresolved notes", Args: app.ArgsBetween(0, 1, "a path")}
	c.Flags().BoolVar(&p.All, "all", false, "also list resolved notes, and those for other turns")
	c.Flags().IntVar(&p.Limit, "limit", 50, "list at most this many notes (up to 500)")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if p.Where, err = path.WhereOf(args, 0); err != nil {
			return err
		}

		return app.Show(a, func(e app.Operations, by core.Caller) (engine.ListNotesResult, error) {
			p.Caller = by
			return e.ListNotes(c.Context(), p)
		}, func(p *term.Page, res engine.ListNotesResult) {
			if res.More {
				p.Linef("%s", p.Faint("older ones are hidden: --limit"))
			}

			for _, n := range res.Notes {
				showNote(p, n)
			}

			if len(res.Notes) == 0 {
				p.Linef("no notes")
			}
		})
	}

	return c
}

func showNote(p *term.Page, n stick.Note) {
	line := term.Wordsf("note %d from %s, %s", n.ID, n.Author, p.Ago(n.CreatedAt))
	if n.Turn != 0 {
		line += term.Wordsf(", for turn %d", n.Turn)
	}
	if !n.ResolvedAt.IsZero() {
		line += term.Wordsf(", resolved by %s", n.ResolvedBy)
	}
	p.Linef("%s", line)
	p.ShowText("  ", n.Body)
}

func notesResolveCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{Use: "resolve <note>", Short: "Resolve a note", Args: app.ArgsBetween(1, 1, "the number of a note")}
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		ids, err := app.ParseNumbers("note", args)
		if err != nil {
			return err
		}
		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.ResolveNoteResult, error) {
			return e.ResolveNote(c.Context(), engine.ResolveNoteParams{Caller: by, Where: path.Where(), NoteID: ids[0]})
		}, func(p *term.Page, res engine.ResolveNoteResult) {
			p.Linef("note %d is resolved%s", res.ID, app.AlreadyText(res.Already))
		})
	}

	return c
}
