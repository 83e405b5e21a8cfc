// Package cli is the command line of Talking Stick: flags, text, JSON, exit statuses. Every
// command calls one operation of package engine and prints its result.
//
// Rules of output: standard output carries the result, as text for people or as one JSON document;
// standard error carries failures, in lower case and without a full stop, with the next safe step
// on a line of its own.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// Env is everything that a command gets from outside. Nothing below this package reads the
// environment, the working directory or the arguments of the process.
type Env struct {
	Name   string   // the program's name as it was called
	Args   []string // without it
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Dir    string // the working directory
	Home   string
	User   string
	Host   string
	PID    int
	TTY    bool // standard output is a terminal
	InTTY  bool // standard input is a terminal
	Exe    string

	Columns    int        // of the terminal that standard output is; 0 if it isn't known
	ErrColumns func() int // of the terminal that standard error is, now; 0 if it is none

	Procs func() (*proc.Table, error) // the machine's processes

	// For tests; nil or zero in the program.
	GitLimit  time.Duration // how long hooks of git may take
	HookSlack int           // hooks of harnesses may take this many times their limits
	Now       func() time.Time
	Kill      func(point string)
	Local     func(dir string) error
}

// System is the environment of the real process.
func System() Env {
	home, _ := os.UserHomeDir()
	dir, err := os.Getwd()
	if err != nil {
		dir = os.Getenv("PWD") // a deleted directory
	}
	host, _ := os.Hostname()
	exe, _ := os.Executable()
	return Env{
		Name: strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Dir: dir, Home: home, User: userName(), Host: host, PID: os.Getpid(), Exe: exe,
		TTY: isTerminal(os.Stdout), InTTY: isTerminal(os.Stdin), Columns: columns(os.Stdout),
		ErrColumns: func() int { return columns(os.Stderr) },
		Procs:      proc.Host,
	}
}

// userName reads the environment first, because looking up a user may need the network.
func userName() string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if u := os.Getenv(name); u != "" {
			return u
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "someone"
}

// app is one run of the program.
type app struct {
	Env
	json  bool
	as    string
	color string

	operations operations
	trace      *core.Trace
	inHook     bool // the command answers a hook
	caller     *core.Caller
	status     int // exit status of a command that succeeded, if it isn't 0
	failure    int // exit status of a command that failed, if it isn't the one of its code

	live *live // what the command is doing; nil if nobody looks

	helpless error // why there is no help, if help was asked for

	reads   bool  // the command changes nothing: its answer is all that it is for
	unheard bool  // an answer couldn't be written
	lost    error // why, unless its reader has closed the pipe
}

// Main runs the program and returns its exit status.
func Main(env Env) int {
	ignoreBrokenPipe()
	a := &app{Env: env}
	// The raw arguments say whether failures are JSON, because parsing the flags may be what fails.
	a.json = slices.Contains(env.Args, "--json") || isTrue(env.Getenv("TT_JSON"))
	root := a.root()
	root.SetArgs(env.Args)
	ctx, stop := interruptible(context.Background())
	defer stop()
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.helpless
	}
	if err == nil && a.reads {
		err = a.unwritten()
	}
	if err == nil {
		a.tellOlderHooks()
		return a.status
	}
	return a.fail(err, ctx)
}

// fail prints a failure and returns the exit status.
func (a *app) fail(err error, ctx context.Context) int {
	e := stick.AsError(err)
	a.printError(e)
	if e.Code == stick.CodeCanceled {
		return signalStatus(ctx)
	}
	status := e.Code.Info().Exit
	if a.failure != 0 {
		return a.failure
	}
	if status == exitOrder && len(a.Args) > 0 && a.Args[0] == "hook" {
		return stick.ExitInternal // harnesses take that status for an order: to block, or to wake
	}
	return status
}

// dataDir returns the directory of the database, as an absolute path: a relative one would mean another database in
// each working directory. It fails with [stick.CodeDataDirRelative] and [stick.CodeDataDirNotWritable].
func (e Env) dataDir() (string, error) {
	if d := e.Getenv("TALKING_STICK_DATA_DIR"); d != "" {
		if !filepath.IsAbs(d) {
			return "", stick.Errorf(stick.CodeDataDirRelative, "TALKING_STICK_DATA_DIR is %s, a relative path, which means another directory wherever tt runs", stick.Line(d)).
				With("path", d).Hintf("set TALKING_STICK_DATA_DIR to an absolute path, or unset it to use the default directory")
		}
		return filepath.Clean(d), nil
	}
	parent := filepath.Join(e.Home, ".local", "share")
	if runtime.GOOS == "windows" {
		parent = e.Getenv("APPDATA")
	} else if d := e.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) { // the XDG specification says to ignore a relative one
		parent = d
	}
	if !filepath.IsAbs(parent) {
		return "", stick.Errorf(stick.CodeDataDirNotWritable, "there is no home directory to keep the database in").
			Hintf("set TALKING_STICK_DATA_DIR to a directory on a local disk")
	}
	return filepath.Join(parent, "talking-stick"), nil
}

// open makes the operations, and resolves the caller.
func (a *app) open() (operations, core.Caller, error) {
	if a.caller != nil {
		return a.operations, *a.caller, nil
	}
	in, procs, err := a.surroundings()
	if err != nil {
		return operations{}, core.Caller{}, err
	}
	caller, err := harness.Resolve(in)
	if err != nil {
		return operations{}, caller, err
	}
	a.caller, a.operations = &caller, a.newOperations(procs)
	return a.operations, caller, nil
}

// answer is what a command does once it has read its flags: it resolves the caller, runs one operation, and
// prints the result as JSON, or as text by the function text.
func answer[R any](a *app, operation func(operations, core.Caller) (R, error), text func(*page, R)) error {
	e, by, err := a.open()
	if err != nil {
		return err
	}
	res, err := operation(e, by)
	if err != nil {
		return err
	}
	return a.print(res, func(p *page) { text(p, res) })
}

// show is answer for a command that only reads. It fails if its answer can't be written.
func show[R any](a *app, operation func(operations, core.Caller) (R, error), text func(*page, R)) error {
	a.reads = true
	return answer(a, operation, text)
}

// surroundings returns what tells who calls, and the processes of this machine.
func (a *app) surroundings() (harness.Input, *proc.Table, error) {
	if _, err := a.dataDir(); err != nil {
		return harness.Input{}, nil, err
	}
	if err := a.openTrace(); err != nil && !a.inHook { // a hook decides and tells all the same
		return harness.Input{}, nil, err
	}
	procs, err := a.Procs()
	if err != nil {
		return harness.Input{}, nil, err
	}
	procs.OneHost = true // SQLite: nobody else's processes are ever in the database
	chain, complete := procs.Ancestry(a.PID)
	in := harness.Input{
		Getenv: a.Getenv, Chain: chain, Complete: complete, User: a.User, Host: a.Host, As: a.as, AsSource: "--as",
	}
	if in.As == "" {
		in.As, in.AsSource = a.Getenv("TT_HARNESS_AGENT_ID"), "TT_HARNESS_AGENT_ID"
	}
	return in, procs, nil
}

// operations are what commands perform: those on rooms and those on tasks.
type operations struct {
	*engine.Engine
	*task.Tasks
}

// newOperations connects the operations on rooms and those on tasks to one kernel, and each to what it needs
// from the other.
func newOperations(cfg core.Config) operations {
	kernel := core.New(cfg)
	var rooms *engine.Engine
	tasks := task.New(task.Config{Kernel: kernel, MayMove: func(ctx context.Context, by core.Caller, checkout string) error {
		res, err := rooms.MayEdit(ctx, engine.MayEditParams{Caller: by, Where: core.Where{Path: checkout}, Tree: true})
		if err != nil {
			return err
		}
		return res.Refusal()
	}})
	rooms = engine.New(engine.Config{Kernel: kernel, Checks: []core.Check{{Name: "workers", Run: tasks.Check}}})
	return operations{rooms, tasks}
}

func (a *app) newOperations(procs *proc.Table) operations { return newOperations(a.config(procs)) }

// config is the configuration of the operations. Its caller has called surroundings, which checks the data directory.
func (a *app) config(procs *proc.Table) core.Config {
	dir, _ := a.dataDir()
	return core.Config{
		Dir: dir, Procs: procs, Now: a.Now, Kill: a.Kill, Local: a.Local, Environ: projectEnviron(os.Environ()),
		Workspace: a.workspaceEnv(), Trace: a.trace,
	}
}

// now is the time of this machine.
func (a *app) now() stick.Time {
	if a.Now != nil {
		return stick.At(a.Now())
	}
	return stick.At(time.Now())
}

// isTrue reports whether the value of an environment variable means yes.
func isTrue(s string) bool { return s != "" && s != "0" && s != "false" }

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
		Version:                    Version,
		RunE:                       func(c *cobra.Command, args []string) error { return a.overview(c.Context()) },
	}
	if name != "tt" {
		root.RunE = func(c *cobra.Command, args []string) error { return c.Help() }
	}
	a.setUp(root)
	if c := a.fastPath(); c != nil {
		root.AddCommand(c)
		return root
	}
	for _, g := range a.groups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
		}
		root.AddCommand(g.commands...)
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

// fastPath returns the command that was called, if it is one of those that run all day long. Then the others
// aren't made, which would take a tenth of its time. For any other command it returns nil.
func (a *app) fastPath() *cobra.Command {
	if len(a.Args) == 0 || slices.Contains([]string{"bb", "worker", "review-gate"}, a.Name) {
		return nil
	}
	switch a.Args[0] {
	case "hook":
		return a.hookCmd()
	case "may-edit":
		return a.mayEditCmd()
	case "state":
		return a.stateCmd()
	case "wait":
		return a.waitCmd()
	case "try":
		return a.tryCmd()
	case "whoami":
		return a.whoamiCmd()
	}
	return nil
}

// group is a group of commands in the help.
type group struct {
	id, title string
	commands  []*cobra.Command
}

// groups returns all commands, or those of the name under which the program was called.
func (a *app) groups() []group {
	care := group{"care", "The program:", a.careCommands()}
	switch a.Name {
	case "bb":
		return []group{{"talk", "Talk:", []*cobra.Command{a.agentCmd()}}, care}
	case "worker":
		return []group{{"worker", "Tasks:", a.workerCommands()}, care}
	case "review-gate":
		return []group{{"worker", "Review:", a.reviewGateCommands()}, care}
	}
	return []group{
		{"stick", "The stick:", a.turnCommands()},
		{"room", "The room:", append(a.roomCommands(), append(a.memberCommands(), a.eventCommands()...)...)},
		{"scope", "Who changes what:", a.scopeCommands()},
		{"session", "Who is here:", a.sessionCommands()},
		{"talk", "Talk:", a.messageCommands()},
		{"worker", "Tasks:", []*cobra.Command{a.workerCmd()}},
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
	"tt conflicts", "tt doctor", "tt events", "tt help", "tt inbox", "tt list", "tt log", "tt msg", "tt msg recv", "tt msg show", "tt notes", "tt notes list",
	"tt policy", "tt reservations", "tt roster", "tt session", "tt session env", "tt session list", "tt session path", "tt session role",
	"tt state", "tt status", "tt version", "tt whoami", "tt worker", "tt worker diff", "tt worker export", "tt worker prompt",
	"tt worker show", "tt worker status",
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

// isCanceled reports whether a failure is an interruption.
func isCanceled(err error) bool {
	return errors.Is(err, context.Canceled) || stick.CodeOf(err) == stick.CodeCanceled
}
