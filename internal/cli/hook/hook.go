// Package hook answers hooks of harnesses in their own formats.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/githook"
	"talkingstick/internal/cli/hooklog"
	"talkingstick/internal/cli/rescue"
	"talkingstick/internal/cli/session"
	"talkingstick/internal/cli/setup"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/git"
	"talkingstick/internal/harness"
	"talkingstick/internal/install"
	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// Limits of hooks. A harness waits for its hooks, and some harnesses for little more than a second.
const (
	hookLimit = time.Second
	maxHook   = 8 << 20 // bytes of input; it may hold whole files

	// A decision before an edit comes in time, or the tool runs without it. A hook that another writer keeps
	// waiting for longer than it may wait records nothing.
	editLimit  = 250 * time.Millisecond
	hookReads  = 100 * time.Millisecond
	stopWrites = 150 * time.Millisecond

	// What others change meanwhile is taken for the work of a command whose beginning isn't recorded.
	commandWrites = 150 * time.Millisecond

	// What a decision may take beyond editLimit where a command takes work away: to find whose it is, and for
	// a copy, which itself ends after a second.
	whoseLimit  = 400 * time.Millisecond
	rescueLimit = whoseLimit + 1200*time.Millisecond

	lookLimit = 100 * time.Millisecond // for finding what a command has changed

	// A hook collects garbage when its heap has grown by this many percent: with the snapshot of a large tree
	// once, at 16 MB.
	hookGarbage = 400

	// How long git may take of editLimit to say what words stand for. It is asked about commands that git
	// doesn't have.
	aliasLimit = 100 * time.Millisecond
)

// extendLimit returns a limit as it holds here: tests may extend it.
func extendLimit(a *app.Run, limit time.Duration) time.Duration {
	return limit * time.Duration(max(a.HookSlack, 1))
}

// ExitOrder is the exit status that harnesses take for an order: to deny, to block or to wake. Only entries
// of earlier versions get it from a hook, for waking, because they pass on what the program says.
const ExitOrder = 2

// See docs/decisions/hooks.md.
func Cmd(a *app.Run) *cobra.Command {
	var wake, child, plugin bool
	c := &cobra.Command{
		Use: "hook [harness]", Short: "Answer a harness's hook", Args: app.ArgsBetween(0, 1, ""),
		Long: "Read a hook's input from standard input, and answer in the harness's own format: what an " +
			"agent should know when its session\n" +
			"starts, new messages after a tool call, and whether it still has the stick or a task when " +
			"it wants to stop. Outside of rooms,\n" +
			"and if anything fails, it prints nothing and exits with 0. tt install puts it into the " +
			"harness's configuration.\n\n" +
			"tt finds out itself which harness it is: from its processes, else from their variables, else\n" +
			"from the input. Earlier versions of tt put the harness's name into the command. It is still\n" +
			"accepted, but has no effect.",
	}

	c.AddCommand(githook.Cmd(a))
	c.Flags().BoolVar(&wake, "wake", false, "wait until there is something to wake an idle agent for")
	c.Flags().BoolVar(&child, "child", false,
		"answer in a separate process, so that the harness doesn't take a crash for an answer (on Windows)")
	c.Flags().BoolVar(&plugin, "plugin", false,
		"as a plugin of the harness runs it: say nothing if tt install has written hooks that answer")

	c.RunE = func(c *cobra.Command, args []string) error {
		a.InHook = true
		if child {
			return hookInChild(a, wake)
		}
		if err := checkHarness(args); err != nil || app.IsTrue(a.Getenv("TT_OFF")) {
			return err
		}
		if !wake {
			// The process ends in a moment, and collecting garbage would take a tenth of its time.
			debug.SetGCPercent(hookGarbage)
		}

		var f harness.Firing
		err := app.CatchPanic(func() error { return answerHook(c.Context(), a, &f, wake, plugin) })
		if a.Status == harness.ExitWake && len(args) > 0 {
			a.Status = ExitOrder
		}

		if _, crashed := errors.AsType[*app.Crash](err); crashed {
			// What was shown may not be recorded: waking the agent would show it again, and again.
			a.Status = 0
		}

		if err != nil && c.Context().Err() == nil {
			// A fault of ours stops no harness.
			hooklog.LogHook(a, f, err)
		}

		return nil
	}

	return c
}

// hookInChild does what the command of a hook does where there is a shell: whatever becomes of the hook, the
// status is 0, except where it asks to wake the agent.
func hookInChild(a *app.Run, wake bool) error {
	args := []string{"hook"}
	if wake {
		args = append(args, "--wake")
	}

	c := exec.Command(a.Exe, args...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = a.Dir, a.Stdin, a.Stdout, a.Stderr

	// The child has logged what went wrong, if it could.
	_ = c.Run()
	if c.ProcessState != nil && c.ProcessState.ExitCode() == harness.ExitWake {
		a.Status = ExitOrder
	}
	return nil
}

// checkHarness refuses an argument that isn't the name of a harness.
func checkHarness(args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, ok := harness.ByName(args[0]); ok {
		return nil
	}
	return stick.Errorf(stick.CodeUsage, "%q isn't a known harness", stick.Clip(args[0], 40)).With("field", "harness").
		Hintf("the harnesses are %s", stick.Names(harness.Names(), len(harness.Rows)))
}

// answerHook answers one hook, and fills in f with what it has read.
func answerHook(ctx context.Context, a *app.Run, f *harness.Firing, wake, plugin bool) error {
	b, err := io.ReadAll(io.LimitReader(a.Input(), maxHook))
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}

	from, procs, err := a.ReadSurroundings()
	if err != nil {
		return err
	}

	// The time for a decision runs from here, also while git is asked about aliases.
	until := time.Now().Add(extendLimit(a, editLimit))
	asks, enough := context.WithTimeout(ctx, extendLimit(a, aliasLimit))
	defer enough()
	from.Alias = func(dir, name string) string { return git.Client{}.ReadAlias(asks, dir, name) }
	if *f, err = harness.ReadFiring(from, b); err != nil || f.Event == "" {
		return err
	}

	// Installed hooks answer already, and two answers would be shown twice.
	if plugin && setup.HasInstalledBeside(a, f.Harness.Name, install.HasOwnHooks) {
		return nil
	}

	e, p, err := hookCaller(a, from, procs, *f, wake)
	if err != nil {
		return err
	}

	if wake {
		return waitAndWake(ctx, a, e, p, *f, from.Chain)
	}

	// Beyond this the harness may have given up, and nobody hears the answer.
	ctx, cancel := context.WithTimeout(ctx, extendLimit(a, hookLimit+rescueLimit))
	defer cancel()
	switch f.Event {
	case harness.HookBeforeTool:
		return beforeTool(ctx, a, e, p, *f, until)
	case harness.HookSessionStart:
		return session.BriefSession(ctx, a, e, p, *f)
	case harness.HookPrompt, harness.HookAfterTool:
		return showNew(ctx, a, e, p, *f)
	case harness.HookStop:
		res, err := e.CheckStop(ctx, roster.CheckStopParams{HookParams: p, Held: f.AlreadyBlocked})
		if err == nil && res.Block {
			a.WriteHook(*f, harness.HookAnswer{Block: string(res.Reason)})
		}

		return err
	case harness.HookCompact:
		return beforeSummary(ctx, a, e, p, *f)
	case harness.HookAsks:
		return e.AskedPerson(ctx, p)
	case harness.HookSessionEnd:
		_, err := e.EndSession(ctx, roster.EndSessionParams{HookParams: p, Why: f.Why})
		return err
	}

	return nil
}

// hookCaller resolves the agent whose hook this is. The input names the session.
func hookCaller(
	a *app.Run, from harness.Input, procs *proc.Table, f harness.Firing, patient bool,
) (app.Operations, core.HookParams, error) {
	from.SessionHarness, from.SessionID = f.Harness.Name, f.SessionID
	by, err := harness.Resolve(from)
	if err != nil {
		return app.Operations{}, core.HookParams{}, err
	}

	by.Helper = f.Helper
	c := a.KernelConfig(procs)

	// A hook that waits to wake its agent has time; all others are waited for.
	if !patient {
		c.WriteWait, c.ReadWait = extendLimit(a, hookLimit), extendLimit(a, hookReads)
		switch f.Event {
		case harness.HookBeforeTool:
			c.WriteWait = extendLimit(a, app.EditWrites)
			if f.Edits.Command {
				c.WriteWait = extendLimit(a, commandWrites)
			}
		case harness.HookAfterTool:
			// The other half of the time is for showing what is new.
			c.WriteWait = extendLimit(a, hookLimit/2)
		case harness.HookStop:
			// The decision is written in the transaction that makes it.
			c.WriteWait = extendLimit(a, stopWrites)
		}
	}

	p := core.HookParams{
		Caller: by, Where: core.Where{Path: f.Dir}, Sub: f.Subagent,
		Began: hookStart(a, procs, from.Chain), Tool: f.Edits.Tool,
		Prompted: f.Event == harness.HookPrompt && !f.Woken,
	}
	p.Inbox.Socket, p.Inbox.Token = f.Harness.InboxOf(a.Getenv)

	// Only an edit says which file the agent works on; a command may name many paths.
	if len(f.Edits.Paths) > 0 && !f.Edits.Command {
		p.File = f.Edits.Paths[0]
	}

	// What the hook answers names other agents.
	// A hook has no time for more than to start a process that has died.
	a.Caller, a.Operations = &by, app.NewOperations(c, app.Starters{Lander: a.LanderStarter()})
	return a.Operations, p, nil
}

// hookStart returns when the harness started this hook: when this process began, or the shell that runs it as
// the hook's command. Where that isn't known, it is the present time.
func hookStart(a *app.Run, procs *proc.Table, chain []proc.Info) stick.Time {
	oldest := time.Duration(0)
	self, err := procs.Self()
	if age, ok := proc.AgeOf(self); err == nil && ok {
		oldest = age
	}

	// The shell that runs the hook's command began before this process.
	isHook := func(arg string) bool { return strings.Contains(arg, " hook") }
	if len(chain) > 0 && slices.ContainsFunc(chain[0].Args, isHook) {
		if age, ok := proc.AgeOf(chain[0].ID); ok {
			oldest = max(oldest, age)
		}
	}

	if a.Now != nil {
		// A test's clock isn't that of processes.
		oldest = 0
	}

	return a.CurrentTime().Add(-oldest)
}

// beforeTool decides whether a tool may run. Silence allows it, and so does a decision that fails or isn't
// there in time: only the database denies.
func beforeTool(
	ctx context.Context, a *app.Run, e app.Operations, p core.HookParams, f harness.Firing, until time.Time,
) error {
	q := editOf(p, f.HookInput)
	rescuing := make(chan struct{})
	q.LookFor = extendLimit(a, whoseLimit)
	q.Rescuing = sync.OnceFunc(func() { close(rescuing) })
	late := &rescue.LateSnapshots{}
	q.Late = late.Add
	defer rescue.FinishLater(a, late) // when the harness has its answer
	type decision struct {
		res guard.MayEditResult
		err error
	}

	// The channel has room, so that a decision after the limit blocks nobody.
	decided := make(chan decision, 1)
	go func() {
		var d decision
		d.err = app.CatchPanic(func() (err error) { d.res, err = e.CheckEdit(ctx, q); return err })
		decided <- d
	}()

	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	for {
		select {
		case d := <-decided:
			if !d.res.Allowed {
				a.WriteHook(f, harness.HookAnswer{
					Deny: string("Talking Stick: " + d.res.Reason + ". " + app.UpperFirst(d.res.Hint) + "."),
				})
			}

			return errors.Join(d.err, e.EditChecked(ctx, q, d.res))
		case <-rescuing:
			// A copy of the work that the tool takes away may take longer than a decision.
			rescuing = nil
			timer.Reset(time.Until(until) + extendLimit(a, rescueLimit))
		case <-timer.C:
			return fmt.Errorf("no decision in time, so %s was allowed", f.Edits.Tool)
		}
	}
}

// beforeSummary asks the holder of the stick for a draft of its handoff, because its conversation gets
// summarized. It is told so as of any event, after that. Where the harness takes it, the summary is asked to
// keep what the draft needs.
func beforeSummary(ctx context.Context, a *app.Run, e app.Operations, p core.HookParams, f harness.Firing) error {
	res, err := e.AskDraft(ctx, p)
	if err == nil && res.TurnID != 0 {
		a.WriteHook(f, harness.HookAnswer{
			Summary: fmt.Sprintf("The agent holds the talking stick (turn %d) and will have to hand over its work. "+
				"Keep in the summary what it did and learned in this turn, what is unfinished, "+
				"and what comes next.", res.TurnID),
		})
	}
	return err
}

func editOf(p core.HookParams, in harness.HookInput) guard.CheckEditParams {
	x := in.Edits
	return guard.CheckEditParams{
		HookParams: p, Paths: x.Paths, Names: x.Names, Trees: x.Trees, Acts: x.Acts, Text: x.Text, Call: in.Call,
		Unread: x.Command && !x.Reads, Wholes: x.Wholes, Shown: x.Shown, Failed: in.Failed,
	}
}

// checkEdited checks what a tool has changed. If somebody else is writing, it leaves half of the time for
// delivering what is new.
func checkEdited(
	ctx context.Context, a *app.Run, e app.Operations, p core.HookParams, in harness.HookInput, late *rescue.LateSnapshots,
) (guard.EditedResult, error) {
	ctx, cancel := context.WithTimeout(ctx, extendLimit(a, hookLimit)/2+extendLimit(a, rescueLimit-whoseLimit))
	defer cancel()
	q := editOf(p, in)
	q.LookFor = extendLimit(a, lookLimit)
	q.Late = late.Add
	return e.CheckEdited(ctx, q)
}
