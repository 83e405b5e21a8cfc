package turn

import (
	"context"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/events"
	"talkingstick/internal/engine"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// WaitCmd makes tt wait.
func WaitCmd(a *app.Run) *cobra.Command {
	var park, turn, replace bool
	var timeout app.TimeoutFlag
	c := &cobra.Command{
		Use: "wait [path]", Short: "Wait for your turn, or for events addressed to you",
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Wait until there is something to act on: your turn, a takeover that you may make, events\n" +
			"addressed to you, or the end of the room. Waiting costs nothing, however long it takes. If\n" +
			"you aren't in the room, you join it; if there is none, tt makes it. Meanwhile, on a\n" +
			"terminal, it shows who has the stick and since when, what the holder works on, and your\n" +
			"place in the order. In a paused room it keeps waiting, even if you hold the stick.\n\n" +
			"The exit status is 0 whatever the wait returns; read the text, or status in JSON. With " +
			"--turn, it is 0 for your turn and for\n" +
			"the turn of the agent that started you, and 4 for anything else.",
	}

	f := c.Flags()
	f.BoolVar(&park, "park", false, "wait for events only; you never get the turn")
	f.BoolVar(&turn, "turn", false, "ignore events, and exit with 4 if you didn't get the turn")
	f.BoolVar(&replace, "replace", false, "end your other wait and take its place")
	timeout.AddFlag(c, "return after this time (default: wait forever)")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		if park && turn {
			return stick.Errorf(stick.CodeUsage,
				"--park waits for events and --turn ignores them: use one or the other")
		}

		// Whoever asks for no wait at all wants another command.
		limit, err := timeout.Milliseconds(c)
		if err != nil {
			return stick.AsError(err).Hintf("to take the stick only if it is free: %s; to look: %s",
				stick.Cmd("tt try"), stick.Cmd("tt status"))
		}

		p := engine.WaitForTurnParams{Where: w, MaxWaitMS: limit, Park: park, TurnOnly: turn, Replace: replace}
		return waitForTurn(c.Context(), a, p, turn)
	}

	return c
}

// TryCmd makes tt try.
func TryCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "try [path]", Short: "Take the turn if it is free, without waiting", Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Take the turn if you may have it now. If you don't get it, the exit status is 4. " +
			"If the agent that started you holds the\n" +
			"stick, you work under its turn, and the exit status is 0.",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}
		return waitForTurn(c.Context(), a, engine.WaitForTurnParams{Where: w, MaxWaitMS: new(int64)}, true)
	}

	return c
}

// waitForTurn runs a wait, and prints its result. With mustHave, anything but the turn is a refusal.
func waitForTurn(ctx context.Context, a *app.Run, p engine.WaitForTurnParams, mustHave bool) error {
	a.InWait = p.MaxWaitMS == nil || *p.MaxWaitMS > 0
	e, by, err := a.Open()
	if err != nil {
		return err
	}

	var l *app.ProgressLine

	// Who waits may lose the reader of the answer, and wants to see who has the stick.
	if a.InWait {
		var stop func()
		ctx, stop = a.UntilUnheard(ctx)
		defer stop()
		l = a.StartProgress(false)
		p.Shows = showsStanding(a, l)
	}

	p.Caller = by
	res, err := e.WaitForTurn(ctx, p)
	l.End()
	if err != nil {
		return err
	}

	killAt(a, "before print")
	if err := a.Print(res, func(page *term.Page) { showWaited(page, res, p.Park) }); err != nil {
		return err
	}

	if mustHave && res.Status != stick.YourTurn && res.Status != stick.UnderParent {
		a.Status = stick.ExitRefused
	}

	// Events count as delivered only after somebody could read them.
	if !a.Unheard {
		// If this fails, the events come again: each comes at least once.
		_ = e.RecordShown(context.WithoutCancel(ctx), res)
	}

	return nil
}

func killAt(a *app.Run, point string) {
	if a.Kill != nil {
		a.Kill(point)
	}
}

// showWaited shows the result of a wait. It is parked if it was for events only; then no next step sends its reader to wait for the turn,
// except before changes of files.
func showWaited(p *term.Page, res engine.WaitForTurnResult, parked bool) {
	again := stick.Cmd("tt wait")
	if parked {
		again = stick.Cmd("tt wait --park")
	}

	if res.Joined {
		p.Linef("you joined the room of %s as %s", res.Path, res.AgentID)
	}
	if res.Note != "" {
		p.Linef("note: %s", res.Note)
	}
	if res.Worktree != "" && !res.AgentID.Human() {
		p.Linef("files in this linked worktree need no turn; the stick is for %s", res.Path)
	}

	switch res.Status {
	case stick.YourTurn:
		// The grant is last, because it ends with the release command.
		events.ShowDelivered(p, res, again)
		showGrant(p, res.Grant, res.AgentID, res.Paused)
		return
	case stick.UnderParent:
		p.Linef("%s of %s: it started you, and holds the stick",
			p.Strong(term.Wordsf("you work under turn %d", res.ParentTurn)), *res.Parent)
		p.Linef("you may change files now; %s ends the turn, not you", *res.Parent)
		p.Linef("others that it started share this turn: %s tells them what you change",
			p.Next(stick.Cmd("tt reserve <path>")))
	case stick.TakeoverAvailable:
		p.Linef("%s: %s", p.Strong("you can take over"), app.CauseText(stick.Cause(res.Reason)))
		whoHas(p, res)
		p.Linef("take over only if that is right: %s; otherwise keep waiting: %s",
			p.Next(stick.Cmd("tt take --reason …")), p.Next(stick.Cmd("tt wait")))
	case stick.GotEvents:
		p.Linef("%s", p.Strong("events for you"))
	case stick.InPause:
		p.Linef("%s", p.Strong(term.Wordsf("%s", res.Paused.Says(p.Now, ""))))
		whoHas(p, res)

		// Only a person ends a pause.
		if res.AgentID.Human() {
			p.Linef("to end the pause: %s", p.Next(stick.Cmd("tt resume")))
			break
		}

		p.Linef("change no files until a person resumes it: %s", p.Next(again))
	case stick.NotYet:
		showNotYet(p, res, parked, again)
	case stick.RoomClosed:
		p.Linef("the room is closed; stop here")
	case stick.WasKicked:
		p.Linef("you were removed from the room; %s", stick.RejoinStep(res.AgentID).As(p.As))
	case stick.HasLeft:
		p.Linef("you left the room")
	case stick.WasReplaced:
		p.Linef("another wait of yours has replaced this one")
	}

	events.ShowDelivered(p, res, again)

	// Messages never give the turn, and whoever got one should know who has it.
	if res.Status == stick.GotEvents {
		whoHas(p, res)
		isOwner := res.Owner != nil && *res.Owner == res.AgentID
		if !isOwner && res.Worktree == "" {
			p.Linef("not your turn: run %s before you change files", p.Next(stick.Cmd("tt wait")))
		}
	}
}

// showNotYet shows that a wait has brought nothing, and how to wait on.
func showNotYet(p *term.Page, res engine.WaitForTurnResult, parked bool, again stick.Command) {
	if !parked {
		p.Linef("it isn't your turn yet")
		whoHas(p, res)
		if res.Rests {
			p.Linef("your last turn changed nothing, so nobody names you until something is for you")
			p.Linef("more to do: %s; nothing more: %s, or stop", p.Next(stick.Cmd("tt try")), p.Next(stick.Cmd("tt wait --park")))
			return
		}

		if res.Worktree != "" {
			p.Linef("to change files there: %s", p.Next(again))
			return
		}

		p.Linef("wait for your turn: %s", p.Next(again))
		return
	}

	p.Linef("nothing is new for you")
	whoHas(p, res)

	// The holder has work to do, and needs no wait.
	if res.Owner == nil || *res.Owner != res.AgentID {
		p.Linef("wait on for messages alone: %s", p.Next(again))
	}
}

func whoHas(p *term.Page, res engine.WaitForTurnResult) {
	switch {
	case res.Owner != nil && *res.Owner == res.AgentID:
		p.Linef("%s", youHold(p, res.OwnedSince))
	case res.Owner != nil:
		p.Linef("%s", stick.Holds(*res.Owner, p.Now.Sub(res.OwnedSince)))
	case res.ReservedFor != nil && *res.ReservedFor == res.AgentID:
		p.Linef("the stick is reserved for you")
	case res.ReservedFor != nil:
		p.Linef("the stick is reserved for %s", *res.ReservedFor)
	}
}

// showsStanding returns what tells l for what a wait waits, nil if there is no line. It says since when by
// the clock, so that nothing has to run while the wait sleeps.
func showsStanding(a *app.Run, l *app.ProgressLine) func(engine.Standing) {
	if l == nil {
		return nil
	}
	return func(s engine.Standing) { l.SetText(func() term.Text { return standingText(a.NewPage(), s) }) }
}

// standingText says for what a wait waits.
func standingText(p *term.Page, s engine.Standing) term.Text {
	if s.Paused.On() {
		return term.Wordsf("%s", s.Paused.Says(p.Now, ""))
	}

	who := term.Text("nobody has the stick")
	switch {
	case s.Owner != "":
		who = term.Wordsf("%s has held the stick since %s", s.Owner, p.Clock(s.OwnedSince))
	case s.ReservedFor != "":
		who = term.Wordsf("the stick is reserved for %s", s.ReservedFor)
	}

	switch {
	case s.Place == 1:
		who += "; you are next"
	case s.Place > 1:
		who += term.Wordsf("; you are number %d of %d", s.Place, s.Of)
	default:
		who += "; you wait for events"
	}

	if s.NextAction != "" {
		who += term.Wordsf("; the last handoff names the next step: %s", stick.Quote(s.NextAction, app.MaxNextAction))
	}

	return who
}
