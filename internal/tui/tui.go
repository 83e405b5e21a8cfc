// Package tui is the screen of tt watch: every room of a user on a terminal, kept up to date, with keys to
// act. It shows a picture that package monitor keeps, and performs the operations of packages engine and task
// for whoever sits in front of it.
//
// The model holds all that the screen depends on; only update changes it, and the view is a function of it.
// Text of others gets to the terminal through package term alone. While nothing happens nothing is drawn, and
// the program sleeps until a picture, a key, or the moment at which an age on the screen changes.
package tui

import (
	"context"
	"errors"
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
	xterm "github.com/charmbracelet/x/term"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// Options say what a screen shows, and where.
type Options struct {
	Operations Operations
	Caller     core.Caller // who watches and acts
	Where      core.Where  // a room; the zero Where means all of them
	In, Out    *os.File    // a terminal
	Term       string      // what kind it is: the variable TERM
	Home       string      // the user's home directory, from which paths are shown
	Color      bool
	ASCII      bool // the terminal shows no UTF-8

	// Jump shows the pane of tmux in which a process runs. If it is nil, that isn't offered.
	Jump func(context.Context, stick.Process) error

	// A scene that is played while somebody looks: Captions say what it shows now, and Next makes it go on.
	// With Looks the keys that act aren't offered.
	Captions <-chan string
	Next     func()
	Looks    bool

	// Tell is called with each picture. It returns what makes the terminal tell its person of something;
	// empty for nothing. It may be nil.
	Tell func(*monitor.Picture) string
}

// Operations are those that the screen performs.
type Operations interface {
	monitor.Operations

	ListChanges(context.Context, guard.ListChangesParams) (guard.ListChangesResult, error)
	GetMessage(context.Context, engine.GetMessageParams) (engine.GetMessageResult, error)
	ReadMessage(context.Context, engine.ReadMessageParams) (engine.MessagesResult, error)
	ShowRescue(context.Context, restore.ShowRescueParams) (restore.ShowRescueResult, error)
	DiffRescue(context.Context, restore.DiffRescueParams) (restore.DiffRescueResult, error)
	ListCalls(context.Context, restore.ListCallsParams) (restore.ListCallsResult, error)
	UndoCall(context.Context, restore.UndoCallParams) (restore.UndoCallResult, error)
	RestoreRescue(context.Context, restore.RestoreRescueParams) (restore.RestoreRescueResult, error)
	AckMessage(context.Context, engine.MessagesParams) (engine.MessagesResult, error)
	SendMessage(context.Context, engine.SendMessageParams) (engine.SendMessageResult, error)
	TakeoverStick(context.Context, engine.TakeoverStickParams) (engine.TakeoverStickResult, error)
	PauseRoom(context.Context, engine.PauseRoomParams) (engine.PauseRoomResult, error)
	ResumeRoom(context.Context, engine.ResumeRoomParams) (engine.ResumeRoomResult, error)

	WorkerShow(context.Context, task.WorkerShowParams) (task.WorkerShowResult, error)
	WorkerDiff(context.Context, task.WorkerDiffParams) (task.WorkerDiffResult, error)
	WorkerLogs(context.Context, task.WorkerLogsParams) (task.WorkerLogsResult, error)
	WorkerApprove(context.Context, task.WorkerApproveParams) (task.WorkerReviewResult, error)
	WorkerRequestChanges(context.Context, task.WorkerRequestChangesParams) (task.WorkerReviewResult, error)
	WorkerComment(context.Context, task.WorkerCommentParams) (task.WorkerCommentResult, error)
	WorkerMerge(context.Context, task.WorkerMergeParams) (task.WorkerMergeResult, error)
	WorkerRun(context.Context, task.WorkerRunParams) (task.WorkerRunResult, error)
	WorkerStop(context.Context, task.WorkerStopParams) (task.WorkerStopResult, error)
}

// IsTerminal reports whether somebody sits at a file.
func IsTerminal(f *os.File) bool { return xterm.IsTerminal(f.Fd()) }

// Run shows the screen until whoever sits there leaves it, or ctx ends. It fails with the error of the
// monitor if that can't go on, and with [stick.CodeOutputUnwritable] if the terminal is gone.
func Run(ctx context.Context, o Options) (err error) {
	width, height, err := xterm.GetSize(o.Out.Fd())
	if err != nil {
		return fmt.Errorf("ask the terminal for its size: %w", err)
	}

	was, err := xterm.MakeRaw(o.In.Fd())
	if err != nil {
		return fmt.Errorf("read single keys from the terminal: %w", err)
	}

	p := &program{model: newModel(o), screen: &screen{out: o.Out}}
	p.width, p.height = width, height

	p.screen.enterScreen()
	// The terminal is put back even when something panics.
	defer func() {
		p.screen.leaveScreen()
		err = errors.Join(err, xterm.Restore(o.In.Fd(), was))
	}()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	// Bubble Tea reads keys and runs the loop. Its own renderer looks sixty times a second whether something
	// has changed, which costs an idle screen ten times of what it may: so it draws nothing, and its ticker
	// is as slow as it can be.
	loop := tea.NewProgram(p,
		tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out),
		tea.WithoutRenderer(), tea.WithFPS(1), tea.WithoutSignalHandler(), tea.WithoutCatchPanics(),
		tea.WithWindowSize(width, height), tea.WithEnvironment([]string{"TERM=" + o.Term}), tea.WithColorProfile(1))
	p.startWatching(ctx, loop, o)

	// What runs beside the loop ends with ctx. It is waited for before the terminal is put back.
	defer p.background.Wait()
	defer cancel()

	_, err = loop.Run()
	switch {
	case p.failed != nil:
		return p.failed
	case ctx.Err() != nil:
		return stick.Errorf(stick.CodeCanceled, "interrupted")
	case p.screen.err != nil:
		return stick.Errorf(stick.CodeOutputUnwritable, "the terminal can't be written to: %w", p.screen.err)
	}

	return err
}
