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
	"slices"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/hook"
	"talkingstick/internal/cli/hooklog"
	"talkingstick/stick"
)

// Main runs the program and returns its exit status.
func Main(env app.Env) int {
	app.IgnoreBrokenPipe()
	a := &app.Run{Env: env, TellNews: hook.NewsForAnother}
	// The raw arguments say whether failures are JSON, because parsing the flags may be what fails.
	a.JSON = slices.Contains(env.Args, "--json") || app.IsTrue(env.Getenv("TT_JSON"))
	root := commandTree(a)
	root.SetArgs(env.Args)

	if err := a.CheckHandOver(); err != nil {
		return reportFailure(a, err, context.Background())
	}

	// From here on a signal ends the command, and not the process.
	ctx, stop := a.WithInterrupts(context.Background())
	defer stop()
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.Helpless
	}

	// What a word was probably meant for takes time to find, so it waits for the failure.
	if w, ok := errors.AsType[*app.UnknownWord](err); ok {
		err = noCommand(a, w.Command, w.Typed)
	}

	// A command that only reads has failed if nobody could get its answer.
	if err == nil && a.Reads {
		err = a.OutputFailure()
	}

	if err == nil {
		hooklog.TellOlderHooks(a)
		return a.Status
	}

	return reportFailure(a, err, ctx)
}

// reportFailure prints a failure and returns the exit status.
func reportFailure(a *app.Run, err error, ctx context.Context) int {
	e := stick.AsError(err)
	a.PrintError(e)

	// Who interrupts a program expects the status of the signal.
	if e.Code == stick.CodeCanceled {
		return app.SignalStatus(ctx)
	}

	status := e.Code.Info().Exit

	// Some commands have a status of their own for failures.
	if a.Failure != 0 {
		return a.Failure
	}

	if status == hook.ExitOrder && len(a.Args) > 0 && a.Args[0] == "hook" {
		// Harnesses take that status for an order: to block, or to wake.
		return stick.ExitInternal
	}

	return status
}
