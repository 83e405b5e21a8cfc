package turn

import (
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// HandoffCmd are the commands about a handoff before it is given.
func HandoffCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "handoff", Short: "Save a draft of your handoff while you hold the stick", Args: app.NoArgs,
		Long: "tt release and tt pass give a handoff. While you work, save a draft of it: " +
			"if your turn ends without a handoff, because your\n" +
			"process ends or somebody takes over, the next holder gets the draft.",
		RunE: func(c *cobra.Command, args []string) error { return c.Help() },
	}
	c.AddCommand(handoffSaveCmd(a))
	return c
}

func handoffSaveCmd(a *app.Run) *cobra.Command {
	var h app.HandoffFlags
	var f app.FenceFlags
	var stdin bool
	c := &cobra.Command{
		Use: "save [text]", Short: "Save a draft of your handoff with your turn", Args: app.ArgsBetween(0, 1, "a text"),
		Long: "Save what the next holder would need if you stopped now: " +
			"free text, any fields of the handoff, or both. A turn has one draft, and\n" +
			"saving again replaces it. Saving doesn't end the turn. The draft is deleted when you release or pass the stick.",
	}

	h.AddFields(c)
	f.AddFlags(c)
	c.Flags().BoolVar(&stdin, "stdin", false, "read the text from standard input")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) (err error) {
		p := engine.SaveDraftParams{Where: path.Where(), Fence: f.Fence()}

		// The text may come from two places, and only one of them.
		switch {
		case stdin && len(args) > 0:
			return stick.Errorf(stick.CodeUsage,
				"give the text on the command line or on standard input, not on both").With("field", "text")
		case stdin:
			if p.Text, err = app.ReadBody(a.Input(), stick.MaxHandoff); err != nil {
				return err
			}
		case len(args) > 0:
			p.Text = args[0]
		}

		if p.Handoff, err = h.ReadHandoff(a); err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.SaveDraftResult, error) {
			p.Caller = by
			return e.SaveDraft(c.Context(), p)
		}, func(p *term.Page, res engine.SaveDraftResult) {
			p.Linef("saved a draft of the handoff of turn %d%s; you still hold the stick",
				res.Turn, app.AlreadyText(res.Already))
		})
	}

	return c
}

// maxDraftShown is how many bytes of each text of a draft a grant shows.
const maxDraftShown = 4 << 10

// showDraft shows the draft of a handoff that was never given.
func showDraft(p *term.Page, d stick.Draft) {
	p.Linef("%s saved this draft of a handoff in turn %d, %s, and never gave it:", d.Agent, d.Turn, p.Ago(d.SavedAt))
	cut := false
	show := func(label stick.Words, text string) {
		if text == "" {
			return
		}

		// A draft may be long, and the grant has more to say.
		if len(text) > maxDraftShown {
			text, cut = strings.ToValidUTF8(text[:maxDraftShown], "")+"…", true
		}

		p.ShowBody(label, text)
	}

	if d.Handoff != nil {
		for _, f := range stick.HandoffFields {
			for _, text := range f.Show(*d.Handoff) {
				show(stick.Words(f.Label), text)
			}
		}
	}

	show("draft", d.Text)
	if cut {
		p.Linef("  the rest is cut off; for all of it: %s", p.Next(stick.Cmd("tt try --json")))
	}
}
