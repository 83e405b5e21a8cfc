package watch

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/monitor"
	"talkingstick/internal/notify"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// NotifyCmd makes tt notify.
func NotifyCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "notify [path]", Short: app.NotifyShort,
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Wait, and tell you what needs you in all your rooms, or in the one that a path or --room " +
			"names: a review, a merge, a question of an\n" +
			"agent, a message to accept, a task that hangs, a holder who can't go on. Each is a line " +
			"here; on a terminal it also rings the\n" +
			"bell, and shows on the desktop where the terminal can do that. For anything else set a " +
			"command in\n" +
			"~/.config/talking-stick/config.toml:\n\n" +
			"  [notify]\n" +
			"  command = \"notify-send 'Talking Stick' \\\"$(cat)\\\"\"\n\n" +
			"The command gets the sentence on standard input, and TT_NOTIFY_KIND, TT_NOTIFY_PATH and\n" +
			"other facts in its environment. tt watch does the same while it is open. You are told of\n" +
			"each thing once, however many of them run, and even after they were started again.",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		return printNotices(c.Context(), a, w)
	}

	return c
}

// printNotices tells what needs the caller until it is interrupted, or nobody reads any more.
func printNotices(ctx context.Context, a *app.Run, w core.Where) error {
	e, by, err := openForWatching(a)
	if err != nil {
		return err
	}

	if !by.ActsAsPerson() {
		return stick.Errorf(stick.CodePersonOnly, "only people are told what needs them").
			Hintf("to wait for messages and for your turn: %s", stick.Cmd("tt wait"))
	}

	// The context as it was called tells an interruption from a reader that has gone.
	called := ctx
	ctx, stop := a.UntilUnheard(ctx)
	defer stop()
	tells, err := newTeller(ctx, a, e, by, func(err error) { _ = a.Sayf("tt: %v", err) })
	if err != nil {
		return err
	}

	// The monitor reads the database in a goroutine, and this loop tells what it saw.
	m := monitor.New(monitor.Options{Operations: e, Caller: by, Where: w})
	changed, unhear := m.Changed()
	defer unhear()
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	for {
		select {
		case <-changed:
		case err := <-ended:
			if ctx.Err() != nil && called.Err() == nil {
				// Nobody reads any more.
				return nil
			}

			return err
		}

		notices := tells(m.Picture())
		for _, n := range notices {
			if err := printNotice(a, n); err != nil {
				return err
			}
		}

		if !a.JSON {
			a.RingBell(notify.TerminalOf(a.Getenv).Signal(notices))
		}
	}
}

// printNotice prints a notice.
func printNotice(a *app.Run, n notify.Notice) error {
	if a.JSON {
		return a.PrintLine(n)
	}

	p := a.NewPage()
	p.Linef("%s", p.Strong(term.Wordsf("%s", n.Sentence())))
	if n.NextAction != "" {
		p.Linef("  next: %s", n.NextAction)
	}

	a.Write(p.Text())
	return nil
}

// newTeller returns what finds out of which needs in a picture the caller is to be told. It also runs the
// user's command for each, beside the caller, until ctx ends. Whatever fails is given to failed.
func newTeller(
	ctx context.Context, a *app.Run, e app.Operations, by core.Caller, failed func(error),
) (func(*monitor.Picture) []notify.Notice, error) {
	u, err := a.UserFile()
	if err != nil {
		return nil, err
	}

	t := notify.Teller{Operations: e, Caller: by}
	command := notify.Command{Line: u.Notify, Environ: app.ProjectEnviron(os.Environ()), Dir: a.Home}

	// The command runs beside the caller, which mustn't wait for it.
	queue := make(chan notify.Notice, 100)
	go func() {
		// This goroutine runs until ctx ends.
		for {
			select {
			case n := <-queue:
				if err := command.Run(ctx, n); err != nil && ctx.Err() == nil {
					failed(err)
				}
			case <-ctx.Done():
				return
			}
		}
	}()

	return func(p *monitor.Picture) []notify.Notice {
		untold, err := t.DueNotices(ctx, p)
		if err != nil && ctx.Err() == nil {
			failed(err)
		}

		for _, n := range untold {
			select {
			case queue <- n:
			default:
				// A command that is far too slow misses notices, and holds up nobody.
			}
		}

		return untold
	}, nil
}
