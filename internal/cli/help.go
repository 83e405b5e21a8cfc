package cli

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// helpWidth is how many columns a page of help takes at most.
const helpWidth = 80

// shortHelp names the commands that people need first, under what they are for.
var shortHelp = []struct {
	title string
	names []string
}{
	{"Begin:", []string{"init", "demo"}},
	{"See what happens:", []string{"status", "watch", "log"}},
	{"Step in:", []string{"msg", "pause", "task"}},
	{"Get work back:", []string{"changes", "rescue", "undo"}},
	{"Take turns (agents run these themselves):", []string{"wait", "release"}},
	{"Something is wrong:", []string{"doctor"}},
}

// agentCommands are the commands that agents and harnesses run. People find them in a group of their own.
var agentCommands = []string{
	"ack", "agent", "events", "handoff", "heartbeat", "helper", "hook", "may-edit", "mcp", "roster", "session", "state",
}

// showHelp shows what a command is for, and how it is called.
func showHelp(a *app.Run, c *cobra.Command) {
	if app.IsHandedOver(c) {
		a.Helpless = a.HandOver()
		return
	}

	p := a.NewPage()
	switch {
	case !c.HasParent() && a.Name != "bb" && a.Name != "worker" && a.Name != "review-gate" && a.Name != app.RosterName:
		showShortHelp(p, c)
	default:
		commandHelp(p, c)
	}
	a.Reads = true
	a.Write(p.Text())
}

// showShortHelp shows the dozen commands that people need first.
func showShortHelp(p *term.Page, root *cobra.Command) {
	showWrapped(p, "", root.Long)
	p.Linef("")
	p.Linef("Usage:\n  tt [command]")

	for _, group := range shortHelp {
		p.Linef("\n%s", stick.Words(group.title))
		for _, name := range group.names {
			if c, _, err := root.Find([]string{name}); err == nil {
				showEntry(p, name, c.Short, 11)
			}
		}
	}

	p.Linef("\nMore:")
	showEntry(p, "tt help --all", "every command, also those that agents and harnesses run", 21)
	showEntry(p, "tt help <command>", "what a command does, with examples", 21)
	showEntry(p, "tt help <topic>", "environment, exit-codes or policy", 21)
}

// allHelp shows every command, in groups.
func allHelp(p *term.Page, root *cobra.Command) {
	p.Linef("Every command of tt. To see what one does: tt help <command>")
	for _, g := range root.Groups() {
		p.Linef("\n%s", stick.Words(g.Title))
		for _, c := range root.Commands() {
			if c.GroupID == g.ID && !c.Hidden {
				showEntry(p, c.Name(), c.Short, 14)
			}
		}
	}

	p.Linef("\nFlags of every command:")
	showFlags(p, root.PersistentFlags())
}

// commandHelp shows what one command does: its text, how it is called, examples, its commands and its flags.
func commandHelp(p *term.Page, c *cobra.Command) {
	showWrapped(p, "", strings.TrimRight(c.Short, ".")+".")
	if c.Long != "" {
		p.Linef("")
		showWrapped(p, "", c.Long)
	}

	p.Linef("\nUsage:")
	line := c.UseLine()
	if c.HasAvailableSubCommands() {
		line = c.CommandPath() + " <command>"
	}

	showWrapped(p, "  ", line)
	if len(c.Aliases) > 0 {
		p.Linef("\nAlso called: %s", stick.Words(strings.Join(c.Aliases, ", ")))
	}

	if text := exampleText(c); text != "" {
		p.Linef("\nExamples:")
		p.ShowBlock(text)
	}

	if c.HasAvailableSubCommands() {
		p.Linef("\nCommands:")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				showEntry(p, sub.Name(), sub.Short, 17)
			}
		}
	}

	// Flags that every command has are only named.
	own := c.LocalFlags()
	if c.HasParent() && hasFlags(own) {
		p.Linef("\nFlags:")
		showFlags(p, own)
	}

	if !c.HasAvailableSubCommands() {
		p.Linef("\nFlags of every command: --as, --color, --json")
	}
}

// hasFlags reports whether there is any flag beside that for help.
func hasFlags(f *pflag.FlagSet) (has bool) {
	f.VisitAll(func(f *pflag.Flag) { has = has || isExplained(f) })
	return has
}

// isExplained reports whether a page of help explains a flag.
func isExplained(f *pflag.Flag) bool { return !f.Hidden && f.Name != "help" && f.Name != "version" }

// showFlags explains flags, one after the other. Those that only messages of one category have are named
// together at the end.
func showFlags(p *term.Page, f *pflag.FlagSet) {
	var all [][2]string
	var categories []string
	of := map[string]string{}
	width := 0
	f.VisitAll(func(f *pflag.Flag) {
		name, meaning := flagText(f)

		// A meaning that begins with a category in capitals is one of its messages only.
		category, _, found := strings.Cut(meaning, ": ")
		switch {
		case !isExplained(f):
		case found && category == strings.ToUpper(category):
			if of[category] == "" {
				categories = append(categories, category)
			}

			of[category] += " " + name
		default:
			all = append(all, [2]string{name, meaning})
			width = max(width, len(name)+2)
		}
	})

	for _, f := range all {
		showEntry(p, f[0], f[1], width)
	}

	slices.Sort(categories)
	for _, category := range categories {
		showEntry(p, category, "also"+of[category], width)
	}
}

// flagText returns a flag as it is typed, and what it means.
func flagText(f *pflag.Flag) (name, meaning string) {
	name = "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}

	_, meaning = pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "0", "false", "[]", "0s":
	default:
		meaning += " (default " + f.DefValue + ")"
	}

	return name, meaning
}

// showEntry adds a name with what it means beside it, which begins in the same column on each of its lines.
func showEntry(p *term.Page, name, meaning string, width int) {
	if utf8.RuneCountInString(name) >= width {
		width = utf8.RuneCountInString(name) + 2
	}
	for i, line := range wordsIn(meaning, helpColumns(p)-2-width) {
		// The name stands on the first line only.
		if i > 0 {
			name = ""
		}
		p.Rowf("  %s%s%s", stick.Words(name), term.Padding(width-utf8.RuneCountInString(name)), stick.Words(line))
	}
}

// showWrapped adds a text whose lines break between words. Its paragraphs are separated by empty lines.
func showWrapped(p *term.Page, indent term.Text, text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			p.Linef("")
		}

		if strings.HasPrefix(paragraph, "\t") {
			// A paragraph after a tab is a command to be copied, and isn't broken.
			p.ShowBlock("  " + strings.TrimSpace(paragraph))
			continue
		}

		for _, line := range wordsIn(strings.ReplaceAll(paragraph, "\n", " "), helpColumns(p)-len(indent)) {
			p.Linef("%s%s", indent, stick.Words(line))
		}
	}
}

// helpColumns is how wide help is shown: as the terminal, but no wider than is good to read.
func helpColumns(p *term.Page) int {
	if p.Width > 0 {
		return min(p.Width, helpWidth)
	}
	return helpWidth
}

// wordsIn breaks a text between its words into lines of at most this many columns. A longer word has a line
// of its own.
func wordsIn(text string, columns int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}

	return append(lines, line)
}

// helpCmd is tt help: it explains a command or a topic, or lists all commands.
func helpCmd(a *app.Run, root *cobra.Command) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "help [command or topic]", Short: "Explain a command or a topic, or list all commands",
		GroupID: "care",
		Long: "Explain a command, or one of the topics environment, exit-codes and policy. " +
			"Without either, show the commands that people need first.",
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
			parent, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}

			for _, sub := range parent.Commands() {
				if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), typed) {
					all = append(all, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}

			return all, cobra.ShellCompDirectiveNoFileComp
		},
	}

	c.Flags().BoolVar(&all, "all", false, "list every command, also those that agents and harnesses run")
	c.RunE = func(_ *cobra.Command, args []string) error { return answerHelp(a, root, args, all) }
	return c
}

// answerHelp shows the page that the arguments of tt help name.
func answerHelp(a *app.Run, root *cobra.Command, args []string, all bool) error {
	a.Reads = true
	i := slices.IndexFunc(topics, func(t topic) bool { return len(args) == 1 && slices.Contains(t.names, args[0]) })
	if i >= 0 {
		p := a.NewPage()
		topics[i].show(p)
		a.Write(p.Text())
		return nil
	}

	// A topic comes before a command of the same name, whose own help is tt policy --help.
	found, rest, err := root.Find(args)
	switch {
	case err != nil:
		return app.NoArgs(root, args)
	case len(rest) > 0 && found.HasSubCommands():
		return app.NoArgs(found, rest)
	case len(rest) > 0:
		return stick.Errorf(stick.CodeUsage, "%s has no command %q", stick.Words(found.CommandPath()),
			stick.Clip(rest[0], 40)).Hintf("%s", app.HelpCommand(found))
	case all:
		p := a.NewPage()
		allHelp(p, root)
		a.Write(p.Text())
		return nil
	}

	showHelp(a, found)
	return nil
}
