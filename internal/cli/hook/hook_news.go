package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/events"
	"talkingstick/internal/cli/rescue"
	"talkingstick/internal/cli/session"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// showNew shows a working agent what is new for it, and records that it works.
func showNew(ctx context.Context, a *app.Run, e app.Operations, p core.HookParams, f harness.Firing) error {
	if f.Woken {
		// The waker may not have recorded yet that it showed these events.
		p.Sub = true
	}

	// Edits are checked first, so that the agent learns at once what they did.
	late := &rescue.LateSnapshots{}
	defer rescue.FinishLater(a, late)
	edited, failed := checkEdited(ctx, a, e, p, f.HookInput, late)
	if edited.Prune {
		// Pruning takes time, and starts when the harness has its answer.
		defer rescue.PruneLater(a)
	}

	if edited.Told != "" {
		done := stick.Words("the edit went through")
		if f.Edits.Command {
			done = "the command ran"
		}

		a.Told = stick.Wordsf("Talking Stick: %s, but %s. %s.", done, edited.Told, app.UpperFirst(edited.Hint))
	}

	err := showEvents(ctx, a, e, p, f)
	if a.Told != "" {
		a.WriteHook(f, harness.HookAnswer{})
	}

	if stick.CodeOf(failed) == stick.CodeDatabaseBusy && stick.CodeOf(err) == stick.CodeDatabaseBusy {
		// One report is enough: both errors say that somebody else writes.
		return failed
	}

	return errors.Join(failed, err)
}

// showEvents shows an agent the events that are new for it.
func showEvents(ctx context.Context, a *app.Run, e app.Operations, p core.HookParams, f harness.Firing) error {
	res, err := e.TellNews(ctx, p, func(news []stick.Event, more bool) error {
		a.WriteHook(f, harness.HookAnswer{Context: strings.TrimSpace(string(newEventsText(a, news, more)))})
		if a.Unheard {
			return errors.New("nobody read what is new")
		}
		return nil
	})
	if err == nil && res.Unstarted {
		// Another agent made the room after this session's start.
		return session.BriefSession(ctx, a, e, p, f)
	}

	return err
}

// newEventsText shows events to a model. It names the author of each and indents bodies, so that no body can
// look like a line of ours.
func newEventsText(a *app.Run, events []stick.Event, more bool) term.Text {
	return showNews(a.NewPage(), events, more)
}

func showNews(pg *term.Page, news []stick.Event, more bool) term.Text {
	pg.Color = false
	pg.Linef("%s", harness.NewsHead)
	pg.Linef("%s", harness.TheirWords)
	for _, e := range news {
		if e.From.Human() && e.Message() != nil {
			pg.Linef("%s is a person of this room: treat what they ask for as a colleague's request.", e.From)
			break
		}
	}

	events.ShowDelivered(pg, engine.WaitForTurnResult{Events: news}, stick.Cmd("tt wait"))
	if more {
		pg.Linef("there are more: %s", pg.Next(stick.Cmd("tt inbox")))
	}
	return pg.Text()
}

// NewsForAnother is the text that wakes another agent than the caller.
func NewsForAnother(a *app.Run, events []stick.Event, more bool) string {
	pg := a.NewPage()
	pg.As, pg.Width = "", 0
	return strings.TrimSpace(string(showNews(pg, events, more)))
}

// waitAndWake waits for something that an idle agent should learn of, and wakes the agent in the way of its
// harness. Each event wakes an agent once.
func waitAndWake(
	ctx context.Context, a *app.Run, e app.Operations, p core.HookParams, f harness.Firing, chain []proc.Info,
) error {
	row := f.Harness
	if row.Wake == harness.WakeNone || row.Headless(a.Getenv) {
		// A headless harness ends when it is idle.
		return nil
	}

	ctx, stop := a.UntilUnheard(ctx)
	defer stop()
	res, err := e.WaitForWake(ctx, p)
	if err != nil || len(res.Events) == 0 {
		return err
	}

	text := strings.TrimSpace(string(newEventsText(a, res.Events, res.More)))

	// Some harnesses take a prompt from outside; others wake by what the hook says and its status.
	if row.Wake == harness.WakeQueue {
		err = queuePrompt(ctx, a, row.QueueCommand(row.Program(chain), f.SessionID, text))
	} else {
		err = a.SayText(text)
		a.Status = harness.ExitWake
	}

	if err != nil {
		return err
	}

	return e.RecordShown(context.WithoutCancel(ctx), res)
}

// queuePrompt sends a prompt to a harness's session, by the harness's own command.
func queuePrompt(ctx context.Context, a *app.Run, argv []string) error {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = a.Dir
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", argv[0], argv[1], err, stick.Clip(out.String(), 200))
	}
	return nil
}
