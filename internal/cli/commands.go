package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/room"
	"talkingstick/internal/cli/session"
	"talkingstick/stick"
)

// commandTree is the command tree.
func commandTree(a *app.Run) *cobra.Command {
	name := "tt"
	if a.Name == "bb" || a.Name == "worker" || a.Name == "review-gate" {
		name = a.Name
	}

	// Old scripts call the roster by its own name, with its own flags.
	if a.Name == app.RosterName {
		return rosterRoot(a)
	}

	root := &cobra.Command{
		Use:   name,
		Short: "Several coding agents and people, one codebase, one talking stick",
		Long: "Talking Stick lets several coding agents and people work on one " +
			"codebase at the same time, and nobody's work gets lost.",
		Args:                       app.NoArgs,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		Version:                    a.VersionFlag(),
		RunE:                       func(c *cobra.Command, args []string) error { return room.ShowOverview(c.Context(), a) },
	}

	if name != "tt" {
		root.RunE = func(c *cobra.Command, args []string) error { return c.Help() }
	}

	setUp(a, root)
	groups := commandGroups(a)
	for _, g := range groups {
		// Only the command that is called is made, unless all are to be listed.
		if c := a.CalledCommand(g.commands); c != nil {
			root.AddCommand(c)
			return root
		}
	}

	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			made := c.Make(a)
			made.GroupID = g.id
			root.AddCommand(made)
		}
	}

	root.SetHelpCommand(helpCmd(a, root))
	root.SetCompletionCommandGroupID("care")
	strictHelpers(root)

	// Only a shell that completes a word needs the candidates.
	if len(a.Args) > 0 && strings.HasPrefix(a.Args[0], cobra.ShellCompRequestCmd) {
		addCompletion(a, root)
	}

	return root
}

// setUp gives the outermost command its streams, and the flags of all commands.
func setUp(a *app.Run, root *cobra.Command) {
	root.SetOut(app.HelpOutput{Run: a})
	root.SetErr(a.Stderr)
	root.SetVersionTemplate("tt {{.Version}}\n")
	root.SetIn(a.Stdin)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return badFlag(a, c, err) })
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c.HasSubCommands() && c.Flags().NArg() > 0 {
			// cobra shows the help of what it knows of an unknown command.
			found, rest, err := c.Find(c.Flags().Args())
			if err != nil || len(rest) > 0 {
				a.Helpless = app.NoArgs(c, c.Flags().Args())
				return
			}

			c = found
		}

		showHelp(a, c)
	})

	root.PersistentPreRunE = func(c *cobra.Command, args []string) error { return checkFlags(a, c) }
	f := root.PersistentFlags()
	f.BoolVar(&a.JSON, "json", a.JSON, "print one JSON document")
	f.StringVar(&a.As, "as", "", "act under this agent's name")
	f.StringVar(&a.Color, "color", "auto", "colour: auto, always or never")
}

func rosterRoot(a *app.Run) *cobra.Command {
	root := session.RosterCmd(a)
	root.Use = app.RosterName + " [path]"
	root.SilenceUsage, root.SilenceErrors = true, true
	a.Failure = session.ExitUnsure
	setUp(a, root)
	return root
}

// strictHelpers makes cobra's own commands refuse what they don't know, as all others do.
func strictHelpers(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args = app.NoArgs
			c.Short = "Print shell completion for commands, names and flags"
			c.RunE = func(c *cobra.Command, args []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = app.NoArgs
			}
		}
	}
}

// checkFlags refuses values of the flags that every command has.
func checkFlags(a *app.Run, c *cobra.Command) error {
	switch {
	case a.Color != "auto" && a.Color != "always" && a.Color != "never":
		return stick.Errorf(stick.CodeUsage, "--color must be auto, always or never, not %q",
			stick.Clip(a.Color, 40)).With("field", "color")
	case a.As == "" && c.Flags().Changed("as"):
		return stick.Errorf(stick.CodeUsage, "--as needs a name").With("field", "as").
			Hintf("leave it out to act as yourself")
	}

	if n, err := c.Flags().GetInt("limit"); err == nil && n < 1 {
		// An operation takes 0 for a limit that nobody has given.
		return stick.Errorf(stick.CodeUsage, "--limit must be at least 1").With("field", "limit")
	}

	return nil
}
