package cli

import (
	"context"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

func waitCmd(a *app) *cobra.Command {
	var park, turn, replace bool
	var timeout timeoutFlag
	c := &cobra.Command{
		Use: "wait [path]", Short: "Wait for your turn, or for events addressed to you",
		Args: between(0, 1, "a path"),
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
	timeout.addFlag(c, "return after this time (default: wait for ever)")
	path := atPath(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.whereOf(args, 0)
		if err != nil {
			return err
		}

		if park && turn {
			return stick.Errorf(stick.CodeUsage,
				"--park waits for events and --turn ignores them: use one or the other")
		}

		// Whoever asks for no wait at all wants another command.
		limit, err := timeout.milliseconds(c)
		if err != nil {
			return stick.AsError(err).Hintf("to take the stick only if it is free: %s; to look: %s",
				stick.Cmd("tt try"), stick.Cmd("tt status"))
		}

		p := engine.WaitForTurnParams{Where: w, MaxWaitMS: limit, Park: park, TurnOnly: turn, Replace: replace}
		return waitForTurn(c.Context(), a, p, turn)
	}

	return c
}

func tryCmd(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "try [path]", Short: "Take the turn if it is free, without waiting", Args: between(0, 1, "a path"),
		Long: "Take the turn if you may have it now. If you don't get it, the exit status is 4. " +
			"If the agent that started you holds the\n" +
			"stick, you work under its turn, and the exit status is 0.",
	}

	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.whereOf(args, 0)
		if err != nil {
			return err
		}
		return waitForTurn(c.Context(), a, engine.WaitForTurnParams{Where: w, MaxWaitMS: new(int64)}, true)
	}

	return c
}

// waitForTurn runs a wait, and prints its result. With mustHave, anything but the turn is a refusal.
func waitForTurn(ctx context.Context, a *app, p engine.WaitForTurnParams, mustHave bool) error {
	a.inWait = p.MaxWaitMS == nil || *p.MaxWaitMS > 0
	e, by, err := a.open()
	if err != nil {
		return err
	}

	var l *progressLine

	// Who waits may lose the reader of the answer, and wants to see who has the stick.
	if a.inWait {
		var stop func()
		ctx, stop = a.untilUnheard(ctx)
		defer stop()
		l = a.startProgress(false)
		p.Shows = showsStanding(a, l)
	}

	p.Caller = by
	res, err := e.WaitForTurn(ctx, p)
	l.end()
	if err != nil {
		return err
	}

	killAt(a, "before print")

	// The guardian comes before the answer, which says who keeps the lease.
	startGuardian(ctx, a, res.Grant)
	if err := a.print(res, func(page *page) { showWaited(page, res, p.Park) }); err != nil {
		return err
	}

	if mustHave && res.Status != stick.YourTurn && res.Status != stick.UnderParent {
		a.status = stick.ExitRefused
	}

	// Events count as delivered only after somebody could read them.
	if !a.unheard {
		// If this fails, the events come again: each comes at least once.
		_ = e.Delivered(context.WithoutCancel(ctx), res)
	}

	return nil
}

func killAt(a *app, point string) {
	if a.Kill != nil {
		a.Kill(point)
	}
}

// showWaited shows the result of a wait. It is parked if it was for events only; then no next step sends its reader to wait for the turn,
// except before changes of files.
func showWaited(p *page, res engine.WaitForTurnResult, parked bool) {
	again := stick.Cmd("tt wait")
	if parked {
		again = stick.Cmd("tt wait --park")
	}

	if res.Joined {
		p.linef("you joined the room of %s as %s", res.Path, res.AgentID)
	}
	if res.Note != "" {
		p.linef("note: %s", res.Note)
	}

	switch res.Status {
	case stick.YourTurn:
		// The grant is last, because it ends with the release command.
		showDelivered(p, res, again)
		showGrant(p, res.Grant, res.AgentID, res.Paused)
		return
	case stick.UnderParent:
		p.linef("%s of %s: it started you, and holds the stick",
			p.strong(term.Wordsf("you work under turn %d", res.ParentTurn)), *res.Parent)
		p.linef("you may change files now; %s ends the turn, not you", *res.Parent)
		p.linef("others that it started share this turn: %s tells them what you change",
			p.next(stick.Cmd("tt reserve <path>")))
	case stick.TakeoverAvailable:
		p.linef("%s: %s", p.strong("you can take over"), causeText(stick.Cause(res.Reason)))
		whoHas(p, res)
		p.linef("take over only if that is right: %s; otherwise keep waiting: %s",
			p.next(stick.Cmd("tt take --reason …")), p.next(stick.Cmd("tt wait")))
	case stick.GotEvents:
		p.linef("%s", p.strong("events for you"))
	case stick.InPause:
		p.linef("%s", p.strong(term.Wordsf("%s", res.Paused.Says(p.now, ""))))
		whoHas(p, res)

		// Only a person ends a pause.
		if res.AgentID.Human() {
			p.linef("to end the pause: %s", p.next(stick.Cmd("tt resume")))
			break
		}

		p.linef("change no files until a person resumes it: %s", p.next(again))
	case stick.NotYet:
		showNotYet(p, res, parked, again)
	case stick.RoomClosed:
		p.linef("the room is closed; stop here")
	case stick.WasKicked:
		p.linef("you were removed from the room; %s", stick.RejoinStep(res.AgentID).As(p.as))
	case stick.HasLeft:
		p.linef("you left the room")
	case stick.WasReplaced:
		p.linef("another wait of yours has replaced this one")
	}

	showDelivered(p, res, again)

	// Messages never give the turn, and whoever got one should know who has it.
	if res.Status == stick.GotEvents {
		whoHas(p, res)
		if res.Owner == nil || *res.Owner != res.AgentID {
			p.linef("not your turn: run %s before you change files", p.next(stick.Cmd("tt wait")))
		}
	}
}

// showNotYet shows that a wait has brought nothing, and how to wait on.
func showNotYet(p *page, res engine.WaitForTurnResult, parked bool, again stick.Command) {
	if !parked {
		p.linef("it isn't your turn yet")
		whoHas(p, res)
		p.linef("wait for your turn: %s", p.next(again))
		return
	}

	p.linef("nothing is new for you")
	whoHas(p, res)

	// The holder has work to do, and needs no wait.
	if res.Owner == nil || *res.Owner != res.AgentID {
		p.linef("wait on for messages alone: %s", p.next(again))
	}
}

func whoHas(p *page, res engine.WaitForTurnResult) {
	switch {
	case res.Owner != nil && *res.Owner == res.AgentID:
		p.linef("%s", youHold(p, res.OwnedSince))
	case res.Owner != nil:
		p.linef("%s", stick.Holds(*res.Owner, p.now.Sub(res.OwnedSince)))
	case res.ReservedFor != nil && *res.ReservedFor == res.AgentID:
		p.linef("the stick is reserved for you")
	case res.ReservedFor != nil:
		p.linef("the stick is reserved for %s", *res.ReservedFor)
	}
}

// showsStanding returns what tells l for what a wait waits, nil if there is no line. It says since when by
// the clock, so that nothing has to run while the wait sleeps.
func showsStanding(a *app, l *progressLine) func(engine.Standing) {
	if l == nil {
		return nil
	}
	return func(s engine.Standing) { l.setText(func() term.Text { return standingText(a.page(), s) }) }
}

// standingText says for what a wait waits.
func standingText(p *page, s engine.Standing) term.Text {
	if s.Paused.On() {
		return term.Wordsf("%s", s.Paused.Says(p.now, ""))
	}

	who := term.Text("nobody has the stick")
	switch {
	case s.Owner != "":
		who = term.Wordsf("%s has held the stick since %s", s.Owner, p.clock(s.OwnedSince))
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
		who += term.Wordsf("; the last handoff names the next step: %s", stick.Quote(s.NextAction, maxNextAction))
	}

	return who
}
