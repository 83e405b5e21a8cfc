package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
	"talkingstick/stick"
)

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

// isCanceled reports whether a failure is an interruption.
func isCanceled(err error) bool {
	return errors.Is(err, context.Canceled) || stick.CodeOf(err) == stick.CodeCanceled
}
