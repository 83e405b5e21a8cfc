package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// root is the command tree.
func (a *app) root() *cobra.Command {
	name := "tt"
	if a.Name == "bb" || a.Name == "worker" || a.Name == "review-gate" {
		name = a.Name
	}
	if a.Name == rosterName {
		return a.rosterRoot()
	}
	root := &cobra.Command{
		Use:                        name,
		Short:                      "Several coding agents and people, one codebase, one talking stick",
		Args:                       noArgs,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		Version:                    a.versionFlag(),
		RunE:                       func(c *cobra.Command, args []string) error { return a.overview(c.Context()) },
	}
	if name != "tt" {
		root.RunE = func(c *cobra.Command, args []string) error { return c.Help() }
	}
	a.setUp(root)
	groups := a.groups()
	for _, g := range groups {
		if c := a.called(g.commands); c != nil {
			root.AddCommand(c)
			return root
		}
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			made := c.make()
			made.GroupID = g.id
			root.AddCommand(made)
		}
	}
	root.SetHelpCommandGroupID("care")
	root.SetCompletionCommandGroupID("care")
	strictHelpers(root)
	if len(a.Args) > 0 && strings.HasPrefix(a.Args[0], cobra.ShellCompRequestCmd) {
		a.complete(root)
	}
	return root
}

// setUp gives the outermost command its streams, and the flags of all commands.
func (a *app) setUp(root *cobra.Command) {
	root.SetOut(helpOutput{a})
	root.SetErr(a.Stderr)
	root.SetVersionTemplate("tt {{.Version}}\n")
	root.SetIn(a.Stdin)
	root.SetFlagErrorFunc(badFlag)
	show := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c.HasSubCommands() && c.Flags().NArg() > 0 { // cobra shows the help of what it knows of an unknown command
			a.helpless = noArgs(c, c.Flags().Args())
			return
		}
		c.Example = example(c)
		show(c, args)
	})
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error { return a.checkFlags(c) }
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", a.json, "print one JSON document")
	f.StringVar(&a.as, "as", "", "act under this agent's name")
	f.StringVar(&a.color, "color", "auto", "colour: auto, always or never")
}

// rosterName is the name under which the program is only the roster.
const rosterName = "agent-roster"

func (a *app) rosterRoot() *cobra.Command {
	root := a.rosterCmd()
	root.Use = rosterName + " [path]"
	root.SilenceUsage, root.SilenceErrors = true, true
	a.failure = exitUnsure
	a.setUp(root)
	return root
}

// command is a command that is made when it is needed. To make all of them takes up to a tenth of the time of a short one.
type command struct {
	name string
	make func() *cobra.Command
}

// called makes the one of these commands that the arguments name, after the commands above it. It returns nil if they name none.
func (a *app) called(commands []command, parents ...string) *cobra.Command {
	at := len(parents)
	if len(a.Args) <= at || !slices.Equal(a.Args[:at], parents) {
		return nil
	}
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == a.Args[at] })
	if i < 0 {
		return nil
	}
	return commands[i].make()
}

// group is a group of commands in the help.
type group struct {
	id, title string
	commands  []command
}

// groups returns all commands, or those of the name under which the program was called.
func (a *app) groups() []group {
	care := group{"care", "The program:", a.careCommands()}
	switch a.Name {
	case "bb":
		return []group{{"talk", "Talk:", []command{{"agent", a.agentCmd}}}, care}
	case "worker":
		tasks := group{"worker", "Tasks:", a.workerCommands()}
		care.commands = slices.DeleteFunc(care.commands, func(c command) bool { return c.name == "init" }) // init is that of tt task
		return []group{tasks, care}
	case "review-gate":
		return []group{{"worker", "Review:", a.reviewGateCommands()}, care}
	}
	return []group{
		{"stick", "The stick:", a.turnCommands()},
		{"room", "The room:", append(a.roomCommands(), append(a.memberCommands(), a.eventCommands()...)...)},
		{"scope", "Who changes what:", a.scopeCommands()},
		{"session", "Who is here:", a.sessionCommands()},
		{"talk", "Talk:", a.messageCommands()},
		{"task", "Tasks:", []command{{"task", a.taskCmd}}},
		{"harness", "Inside a harness:", a.harnessCommands()},
		care,
	}
}

// strictHelpers makes cobra's own commands refuse what they don't know, as all others do.
func strictHelpers(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(c *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil {
					found, rest = root, args
				}
				return noArgs(found, rest)
			}
		case "completion":
			c.Args = noArgs
			c.RunE = func(c *cobra.Command, args []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = noArgs
			}
		}
	}
}

// badFlag says what is wrong with a flag, without Go's words.
func badFlag(c *cobra.Command, err error) error {
	e := stick.Errorf(stick.CodeUsage, "%s", err).Hintf("%s lists the flags", help(c))
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		what := map[string]string{
			"duration": "a duration such as 90s or 45m", "int": "a number", "int64": "a number", "bool": "true or false",
		}[bad.GetFlag().Value.Type()]
		if what != "" {
			e.Message = fmt.Sprintf("--%s must be %s, not %q", bad.GetFlag().Name, what, stick.Clip(bad.GetValue(), 40))
		}
		e.With("field", bad.GetFlag().Name)
	}
	return e
}

// checkFlags refuses values of the flags that every command has.
func (a *app) checkFlags(c *cobra.Command) error {
	switch {
	case a.color != "auto" && a.color != "always" && a.color != "never":
		return stick.Errorf(stick.CodeUsage, "--color must be auto, always or never, not %q", stick.Clip(a.color, 40)).With("field", "color")
	case a.as == "" && c.Flags().Changed("as"):
		return stick.Errorf(stick.CodeUsage, "--as needs a name").With("field", "as").
			Hintf("leave it out to act as yourself")
	}
	return nil
}

// noArgs and between check the number of arguments, and say what is wrong.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.HasSubCommands() {
		e := stick.Errorf(stick.CodeUsage, "there is no command %q", stick.Clip(strings.TrimPrefix(c.CommandPath()+" "+args[0], "tt "), 60)).Hintf("%s lists the commands", help(c))
		if near := nearest(c, args[0]); near != "" {
			e.Hintf("did you mean %s? %s lists the commands", stick.Cmd(c.CommandPath()+" "+near), help(c))
		}
		return e
	}
	return stick.Errorf(stick.CodeUsage, "%s takes no arguments, but got %q", c.CommandPath(), stick.Clip(args[0], 40))
}

// help returns the command that explains c, under the name by which the program was called.
func help(c *cobra.Command) stick.Command { return stick.Cmd(c.CommandPath() + " --help") }

// guesses are the commands that a mistyped word may be taken for. They only read, because whoever follows a hint runs it.
var guesses = []string{
	"tt calls", "tt changes", "tt conflicts", "tt doctor", "tt events", "tt help", "tt inbox", "tt list", "tt log", "tt msg", "tt msg recv", "tt msg show", "tt notes", "tt notes list",
	"tt policy", "tt reservations", "tt roster", "tt session", "tt session env", "tt session list", "tt session path", "tt session role",
	"tt state", "tt status", "tt timeline", "tt version", "tt whoami", "tt task", "tt task diff", "tt task export", "tt task logs", "tt task prompt",
	"tt task show", "tt task list",
}

// nearest returns the command that was probably meant, if it is one of guesses. Of those that cobra suggests it is the one
// with the most letters in common, which finds the right word for a typing error.
func nearest(c *cobra.Command, typed string) string {
	best, most := "", 0
	for _, name := range c.SuggestionsFor(typed) {
		same, left := 0, typed
		for _, letter := range name {
			if i := strings.IndexRune(left, letter); i >= 0 {
				same, left = same+1, left[:i]+left[i+utf8.RuneLen(letter):]
			}
		}
		if same > most {
			best, most = name, same
		}
	}
	if !slices.Contains(guesses, c.CommandPath()+" "+best) {
		return ""
	}
	return best
}

func between(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return stick.Errorf(stick.CodeUsage, "%s needs %s", c.CommandPath(), what).Hintf("%s", help(c))
		case most >= 0 && len(args) > most:
			return stick.Errorf(stick.CodeUsage, "%s got one argument too many: %q", c.CommandPath(), stick.Clip(args[most], 40)).Hintf("%s", help(c))
		}
		return nil
	}
}

// spot holds the flags that say which room a command means.
type spot struct{ path, room string }

// atPath gives a command the flags --path and --room beside its last argument.
func atPath(c *cobra.Command) *spot {
	s := &spot{}
	c.Flags().StringVar(&s.path, "path", "", "a path in the workspace (default: the working directory)")
	c.Flags().StringVar(&s.room, "room", "", "the room's id, or the start of it, instead of a path")
	return s
}

// where returns the room that the flags mean.
func (s *spot) where() core.Where { return core.Where{RoomID: stick.RoomID(s.room), Path: s.path} }

// of returns the room that a command means: that of its argument at i, if there is one, else that of its flags.
func (s *spot) of(args []string, i int) (core.Where, error) {
	w := s.where()
	if len(args) <= i {
		return w, nil
	}
	if w.Path != "" {
		return w, stick.Errorf(stick.CodeUsage, "give one path, not two: %q and --path %q", stick.Clip(args[i], 60), stick.Clip(w.Path, 60))
	}
	if args[i] == "" {
		return w, stick.Errorf(stick.CodeInvalidPath, "the path is empty").Hintf("leave it out to mean the working directory")
	}
	w.Path = args[i]
	return w, nil
}
