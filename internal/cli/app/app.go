// Package app is one run of the program: what it gets from outside, the operations that it performs, the flags that
// many commands have, and how an answer, a failure or a question reaches whoever runs it. The commands themselves are
// in packages beside it, a noun each, and package cli puts them together.
package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// Run is one run of the program.
type Run struct {
	Env
	JSON  bool
	As    string
	Color string

	Database   string // the address of the database; empty for the one in the data directory
	snapshots  config.Snapshots
	Operations Operations
	trace      *core.Trace
	InWait     bool        // the command is about to wait
	Several    bool        // the command performs several operations at a time
	InHook     bool        // the command answers a hook
	OnScreen   bool        // the command draws the whole screen
	Examines   bool        // the command says itself what is wrong with the database
	Told       stick.Words // what the next answer to a harness begins with
	Caller     *core.Caller
	Status     int // exit status of a command that succeeded, if it isn't 0
	Failure    int // exit status of a command that failed, if it isn't the one of its code

	Interrupts Interrupts

	TellNews func(a *Run, events []stick.Event, more bool) string // [core.Config.News], in the words of hooks

	naming sync.Mutex // guards names
	names  map[stick.AgentID]string

	progress *ProgressLine // what the command is doing; nil if nobody looks

	Helpless error // why there is no help, if help was asked for

	Reads   bool  // the command changes nothing: its answer is all that it is for
	Unheard bool  // an answer couldn't be written
	lost    error // why, unless its reader has closed the pipe
}

// ReadSettings reads what the environment and the user's file set. A hook goes on in spite of a fault in what
// it doesn't need: a pattern of what is never copied or, where the environment names the database, all of the
// file.
func (a *Run) ReadSettings() error {
	u, err := a.UserFile()
	a.Database, a.snapshots = a.Getenv("TALKING_STICK_DATABASE_URL"), u.Snapshots

	// A hook has to answer even if the file has a fault.
	needsFile := a.Database == "" || !a.InHook
	if needsFile && err != nil {
		return err
	}

	a.Database = cmp.Or(a.Database, u.Database)
	if a.InHook {
		return nil
	}
	return u.BadSnapshots
}

// Open makes the operations, and resolves the caller.
func (a *Run) Open() (Operations, core.Caller, error) {
	// Several steps of a command share one database and one caller.
	if a.Caller != nil {
		return a.Operations, *a.Caller, nil
	}

	in, procs, err := a.ReadSurroundings()
	if err != nil {
		return Operations{}, core.Caller{}, err
	}

	caller, err := harness.Resolve(in)
	if err != nil {
		return Operations{}, caller, err
	}

	a.Caller, a.Operations = &caller, a.NewOperations(procs)
	return a.Operations, caller, nil
}

// Answer is what a command does once it has read its flags: it resolves the caller, runs one operation, and
// prints the result as JSON, or as text by the function text.
func Answer[R any](a *Run, operation func(Operations, core.Caller) (R, error), text func(*term.Page, R)) error {
	e, by, err := a.Open()
	if err != nil {
		return err
	}
	res, err := operation(e, by)
	if err != nil {
		return err
	}
	return a.Print(res, func(p *term.Page) { text(p, res) })
}

// Show is answer for a command that only reads. It fails if its answer can't be written.
func Show[R any](a *Run, operation func(Operations, core.Caller) (R, error), text func(*term.Page, R)) error {
	a.Reads = true
	return Answer(a, operation, text)
}

// ReadSurroundings returns what tells who calls, and the processes of this machine.
func (a *Run) ReadSurroundings() (harness.Input, *proc.Table, error) {
	if _, err := a.DataDir(); err != nil {
		return harness.Input{}, nil, err
	}

	if err := a.ReadSettings(); err != nil {
		return harness.Input{}, nil, err
	}

	if err := a.openTrace(); err != nil && !a.InHook {
		// A hook decides and tells without a trace, too.
		return harness.Input{}, nil, err
	}

	procs, err := a.Procs()
	if err != nil {
		return harness.Input{}, nil, err
	}

	// With SQLite, nobody else's processes are ever in the database.
	procs.OneHost = a.Database == ""

	// The processes above this one tell which harness calls.
	chain, complete := procs.Ancestry(a.PID)
	in := harness.Input{
		Getenv: a.Getenv, Chain: chain, Complete: complete, User: a.User, Host: a.Host, As: a.As, AsSource: "--as",
	}

	// The flag comes before the variable.
	if in.As == "" {
		in.As, in.AsSource = a.Getenv("TT_HARNESS_AGENT_ID"), "TT_HARNESS_AGENT_ID"
	}

	return in, procs, nil
}

// KernelConfig is the configuration of the operations. Its caller has called readSurroundings, which checks
// the data directory.
func (a *Run) KernelConfig(procs *proc.Table) core.Config {
	dir, _ := a.DataDir()
	return core.Config{
		Dir: dir, Database: a.Database, Host: a.Host, Procs: procs, Now: a.Now, Clock: a.Clock,
		Kill: a.Kill, Local: a.Local, Environ: ProjectEnviron(os.Environ()), Alone: !a.Several,
		Snapshots: a.snapshots, Workspace: a.WorkspaceEnv(), Trace: a.trace, Slack: a.HookSlack,
		Waits: a.InWait, StopGrace: a.StopGrace, SignLimit: a.SignLimit,
		News: a.newsForAnother, Lost: a.sayLoss,
	}
}

// newsForAnother is the text that wakes another agent than the caller.
func (a *Run) newsForAnother(events []stick.Event, more bool) string {
	return a.TellNews(a, events, more)
}

// sayLoss says what the database has lost. A hook has it logged, which the next session hears of, and adds it
// to what it answers.
func (a *Run) sayLoss(warning stick.Words) {
	switch {
	case a.Examines:
		// The command's own answer says what was lost.
	case a.InHook:
		a.Logf("%s", warning)
		a.Told = stick.Words(strings.TrimSpace(string(a.Told + "\nTalking Stick: " + warning + ".")))
	case a.OnScreen:
		a.Logf("%s", warning)
	default:
		_ = a.Sayf("tt: %s", warning)
		_ = a.Sayf("hint: say again what got lost; more: %s", stick.Cmd("tt doctor"))
	}
}

// CurrentTime is the time by the clock of the database, if the command has opened one: another machine's times are
// compared with it.
func (a *Run) CurrentTime() stick.Time {
	switch {
	case a.Operations.Engine != nil:
		return a.Operations.Now()
	case a.Now != nil:
		return stick.At(a.Now())
	case a.Clock != nil:
		return stick.At(a.Clock())
	}
	return stick.At(time.Now())
}

// IsCanceled reports whether a failure is an interruption.
func IsCanceled(err error) bool {
	return errors.Is(err, context.Canceled) || stick.CodeOf(err) == stick.CodeCanceled
}
