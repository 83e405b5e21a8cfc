// Package cli is the command line of Talking Stick: flags, text, JSON, exit statuses. Every
// command calls one operation of package engine and prints its result.
//
// Rules of output: standard output carries the result, as text for people or as one JSON document;
// standard error carries failures, in lower case and without a full stop, with the next safe step
// on a line of its own.
package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
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
	Rows       int        // of the same terminal; 0 if it isn't known
	ErrColumns func() int // of the terminal that standard error is, now; 0 if it is none

	Procs func() (*proc.Table, error) // the machine's processes

	// For tests; nil or zero in the program.
	GitLimit  time.Duration // how long hooks of git may take
	HookSlack int           // hooks of harnesses, rescues and the tree of a handoff may take this many times their limits
	StopGrace time.Duration // how long a worker's processes that are asked to end have for it
	SignLimit time.Duration // how long the signature of a commit may take
	Now       func() time.Time
	Clock     func() time.Time // this machine's, where Now is nil
	Kill      func(point string)
	Local     func(dir string) error
}

// System is the environment of the real process.
func System() Env {
	// An empty home is reported where it is needed.
	home, _ := os.UserHomeDir()
	dir, err := os.Getwd()
	if err != nil {
		// A directory that was deleted has no path any more, but the shell still names it.
		dir = os.Getenv("PWD")
	}

	host, _ := os.Hostname()
	exe, _ := os.Executable()
	return Env{
		Name: strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), Args: os.Args[1:], Stdin: os.Stdin,
		Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Dir: dir, Home: home, User: userName(), Host: host, PID: os.Getpid(), Exe: exe,
		TTY: isTerminal(os.Stdout), InTTY: isTerminal(os.Stdin), Columns: terminalColumns(os.Stdout),
		Rows:       terminalRows(os.Stdout),
		ErrColumns: func() int { return terminalColumns(os.Stderr) },
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

	// Only without a variable the system is asked.
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

	database   string // the address of the database; empty for the one in the data directory
	snapshots  config.Snapshots
	operations operations
	trace      *core.Trace
	inWait     bool        // the command is about to wait
	several    bool        // the command performs several operations at a time
	inHook     bool        // the command answers a hook
	onScreen   bool        // the command draws the whole screen
	examines   bool        // the command says itself what is wrong with the database
	told       stick.Words // what the next answer to a harness begins with
	caller     *core.Caller
	status     int // exit status of a command that succeeded, if it isn't 0
	failure    int // exit status of a command that failed, if it isn't the one of its code

	interrupts interrupts

	tellNews func(a *app, events []stick.Event, more bool) string // [core.Config.News], in the words of hooks

	progress *progressLine // what the command is doing; nil if nobody looks

	helpless error // why there is no help, if help was asked for

	reads   bool  // the command changes nothing: its answer is all that it is for
	unheard bool  // an answer couldn't be written
	lost    error // why, unless its reader has closed the pipe
}

// Main runs the program and returns its exit status.
func Main(env Env) int {
	ignoreBrokenPipe()
	a := &app{Env: env, tellNews: newsForAnother}
	// The raw arguments say whether failures are JSON, because parsing the flags may be what fails.
	a.json = slices.Contains(env.Args, "--json") || isTrue(env.Getenv("TT_JSON"))
	root := a.commandTree()
	root.SetArgs(env.Args)

	// From here on a signal ends the command, and not the process.
	ctx, stop := a.withInterrupts(context.Background())
	defer stop()
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.helpless
	}

	// What a word was probably meant for takes time to find, so it waits for the failure.
	if w, ok := errors.AsType[*unknownWord](err); ok {
		err = a.noCommand(w.command, w.typed)
	}

	// A command that only reads has failed if nobody could get its answer.
	if err == nil && a.reads {
		err = a.outputFailure()
	}

	if err == nil {
		a.tellOlderHooks()
		return a.status
	}

	return a.reportFailure(err, ctx)
}

// reportFailure prints a failure and returns the exit status.
func (a *app) reportFailure(err error, ctx context.Context) int {
	e := stick.AsError(err)
	a.printError(e)

	// Who interrupts a program expects the status of the signal.
	if e.Code == stick.CodeCanceled {
		return signalStatus(ctx)
	}

	status := e.Code.Info().Exit

	// Some commands have a status of their own for failures.
	if a.failure != 0 {
		return a.failure
	}

	if status == exitOrder && len(a.Args) > 0 && a.Args[0] == "hook" {
		// Harnesses take that status for an order: to block, or to wake.
		return stick.ExitInternal
	}

	return status
}

// dataDir returns the directory of the database, as an absolute path: a relative one would mean another
// database in each working directory. It fails with [stick.CodeDataDirRelative] and
// [stick.CodeDataDirNotWritable].
func (e Env) dataDir() (string, error) {
	if d := e.Getenv("TALKING_STICK_DATA_DIR"); d != "" {
		if !filepath.IsAbs(d) {
			return "", stick.Errorf(stick.CodeDataDirRelative,
				"TALKING_STICK_DATA_DIR is %s, a relative path, which means another directory wherever tt runs", d).
				With("path", d).
				Hintf("set TALKING_STICK_DATA_DIR to an absolute path, or unset it to use the default directory")
		}

		return filepath.Clean(d), nil
	}

	parent := filepath.Join(e.Home, ".local", "share")
	if runtime.GOOS == "windows" {
		parent = e.Getenv("APPDATA")
	} else if d := e.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		// The XDG specification says to ignore a relative one.
		parent = d
	}

	if !filepath.IsAbs(parent) {
		return "", stick.Errorf(stick.CodeDataDirNotWritable, "there is no home directory to keep the database in").
			Hintf("set TALKING_STICK_DATA_DIR to a directory on a local disk")
	}

	return filepath.Join(parent, "talking-stick"), nil
}

// readSettings reads what the environment and the user's file set. A hook goes on in spite of a fault in what
// it doesn't need: a pattern of what is never copied or, where the environment names the database, all of the
// file.
func (a *app) readSettings() error {
	u, err := a.userFile()
	a.database, a.snapshots = a.Getenv("TALKING_STICK_DATABASE_URL"), u.Snapshots

	// A hook has to answer even if the file has a fault.
	needsFile := a.database == "" || !a.inHook
	if needsFile && err != nil {
		return err
	}

	a.database = cmp.Or(a.database, u.Database)
	if a.inHook {
		return nil
	}
	return u.BadNever
}

// fileDatabase returns the address of the database in the user's file, or nothing.
func (e Env) fileDatabase() (string, error) {
	u, err := e.userFile()
	return u.Database, err
}

// userFile reads what the user sets for all projects.
func (e Env) userFile() (config.User, error) {
	dir := e.configDir()
	if !filepath.IsAbs(dir) {
		return config.User{}, nil
	}
	return config.ReadUser(dir)
}

// configDir returns the directory of users' configuration files; a relative one if nothing names it.
func (e Env) configDir() string {
	dir := filepath.Join(e.Home, ".config")
	if runtime.GOOS == "windows" {
		dir = e.Getenv("APPDATA")
	} else if d := e.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(d) {
		dir = d
	}
	return dir
}

// open makes the operations, and resolves the caller.
func (a *app) open() (operations, core.Caller, error) {
	// Several steps of a command share one database and one caller.
	if a.caller != nil {
		return a.operations, *a.caller, nil
	}

	in, procs, err := a.readSurroundings()
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

// readSurroundings returns what tells who calls, and the processes of this machine.
func (a *app) readSurroundings() (harness.Input, *proc.Table, error) {
	if _, err := a.dataDir(); err != nil {
		return harness.Input{}, nil, err
	}

	if err := a.readSettings(); err != nil {
		return harness.Input{}, nil, err
	}

	if err := a.openTrace(); err != nil && !a.inHook {
		// A hook decides and tells without a trace, too.
		return harness.Input{}, nil, err
	}

	procs, err := a.Procs()
	if err != nil {
		return harness.Input{}, nil, err
	}

	// With SQLite, nobody else's processes are ever in the database.
	procs.OneHost = a.database == ""

	// The processes above this one tell which harness calls.
	chain, complete := procs.Ancestry(a.PID)
	in := harness.Input{
		Getenv: a.Getenv, Chain: chain, Complete: complete, User: a.User, Host: a.Host, As: a.as, AsSource: "--as",
	}

	// The flag comes before the variable.
	if in.As == "" {
		in.As, in.AsSource = a.Getenv("TT_HARNESS_AGENT_ID"), "TT_HARNESS_AGENT_ID"
	}

	return in, procs, nil
}

// kernelConfig is the configuration of the operations. Its caller has called readSurroundings, which checks
// the data directory.
func (a *app) kernelConfig(procs *proc.Table) core.Config {
	dir, _ := a.dataDir()
	return core.Config{
		Dir: dir, Database: a.database, Host: a.Host, Procs: procs, Now: a.Now, Clock: a.Clock,
		Kill: a.Kill, Local: a.Local, Environ: projectEnviron(os.Environ()), Alone: !a.several,
		Snapshots: a.snapshots, Workspace: a.workspaceEnv(), Trace: a.trace, Slack: a.HookSlack,
		Waits: a.inWait, StopGrace: a.StopGrace, SignLimit: a.SignLimit,
		News: a.newsForAnother, Lost: a.sayLoss,
	}
}

// newsForAnother is the text that wakes another agent than the caller.
func (a *app) newsForAnother(events []stick.Event, more bool) string {
	return a.tellNews(a, events, more)
}

// sayLoss says what the database has lost. A hook has it logged, which the next session hears of, and adds it
// to what it answers.
func (a *app) sayLoss(warning stick.Words) {
	switch {
	case a.examines:
		// The command's own answer says what was lost.
	case a.inHook:
		a.logf("%s", warning)
		a.told = stick.Words(strings.TrimSpace(string(a.told + "\nTalking Stick: " + warning + ".")))
	case a.onScreen:
		a.logf("%s", warning)
	default:
		_ = a.sayf("tt: %s", warning)
		_ = a.sayf("hint: say again what got lost; more: %s", stick.Cmd("tt doctor"))
	}
}

// now is the time by the clock of the database, if the command has opened one: another machine's times are
// compared with it.
func (a *app) now() stick.Time {
	switch {
	case a.operations.Engine != nil:
		return a.operations.Now()
	case a.Now != nil:
		return stick.At(a.Now())
	case a.Clock != nil:
		return stick.At(a.Clock())
	}
	return stick.At(time.Now())
}

// isTrue reports whether the value of an environment variable means yes.
func isTrue(s string) bool { return s != "" && s != "0" && s != "false" }

// isCanceled reports whether a failure is an interruption.
func isCanceled(err error) bool {
	return errors.Is(err, context.Canceled) || stick.CodeOf(err) == stick.CodeCanceled
}
