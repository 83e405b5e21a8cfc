package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// turnCommands are the commands about the stick.
func (a *app) turnCommands() []*cobra.Command {
	pass := a.passCmd()
	pass.Aliases = []string{"assign"}
	return []*cobra.Command{a.waitCmd(), a.tryCmd(), a.releaseCmd(), pass, a.takeCmd(), a.heartbeatCmd(), a.guardCmd()}
}

func (a *app) waitCmd() *cobra.Command {
	var park, turn, replace bool
	var timeout timeoutFlag
	c := &cobra.Command{
		Use: "wait [path]", Short: "Wait for your turn, or for events addressed to you", Args: between(0, 1, "a path"),
		Long: "Wait until there is something to act on: your turn, a takeover that you may make, events addressed to you, or the end of\n" +
			"the room. Waiting costs nothing, however long it takes. If you aren't in the room, you join it; if there is none, tt makes it.\n" +
			"On a terminal it says meanwhile who has the stick since when, what the holder works on, and your place in the order. In a\n" +
			"paused room it waits on, also if you hold the stick.\n\n" +
			"The exit status is 0 whatever the wait returns; read the text, or status in JSON. With --turn, it is 0 for your turn and for\n" +
			"the turn of the agent that started you, and 4 for anything else.",
	}
	f := c.Flags()
	f.BoolVar(&park, "park", false, "wait for events only; you never get the turn")
	f.BoolVar(&turn, "turn", false, "ignore events, and exit with 4 if you didn't get the turn")
	f.BoolVar(&replace, "replace", false, "end your other wait and take its place")
	timeout.add(c, "return after this time (default: wait for ever)")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.of(args, 0)
		if err != nil {
			return err
		}
		if park && turn {
			return stick.Errorf(stick.CodeUsage, "--park waits for events and --turn ignores them: use one or the other")
		}
		limit, err := timeout.get(c)
		if err != nil {
			return stick.AsError(err).Hintf("to take the stick only if it is free: %s; to look: %s", stick.Cmd("tt try"), stick.Cmd("tt status"))
		}
		p := engine.WaitForTurnParams{Where: w, MaxWaitMS: limit, Park: park, TurnOnly: turn, Replace: replace}
		return a.wait(c.Context(), p, turn)
	}
	return c
}

// timeoutFlag limits how long a command waits.
type timeoutFlag time.Duration

func (t *timeoutFlag) add(c *cobra.Command, usage string) {
	c.Flags().DurationVar((*time.Duration)(t), "timeout", 0, usage)
}

// get returns the limit in milliseconds, nil if none was given.
func (t timeoutFlag) get(c *cobra.Command) (*int64, error) {
	if !c.Flags().Changed("timeout") {
		return nil, nil
	}
	if time.Duration(t) < time.Millisecond {
		return nil, stick.Errorf(stick.CodeUsage, "--timeout must be positive, such as 90s").With("field", "timeout")
	}
	return ptr(time.Duration(t).Milliseconds()), nil
}

func (a *app) tryCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "try [path]", Short: "Take the turn if it is free, without waiting", Args: between(0, 1, "a path"),
		Long: "Take the turn if you may have it now. If you don't get it, the exit status is 4. If the agent that started you holds the\n" +
			"stick, you work under its turn, and the exit status is 0.",
	}
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.of(args, 0)
		if err != nil {
			return err
		}
		return a.wait(c.Context(), engine.WaitForTurnParams{Where: w, MaxWaitMS: ptr(int64(0))}, true)
	}
	return c
}

func ptr[T any](v T) *T { return &v }

// wait runs a wait, and prints its result. With mustHave, anything but the turn is a refusal.
func (a *app) wait(ctx context.Context, p engine.WaitForTurnParams, mustHave bool) error {
	e, by, err := a.open()
	if err != nil {
		return err
	}
	var l *live
	if p.MaxWaitMS == nil || *p.MaxWaitMS > 0 {
		var stop func()
		ctx, stop = a.untilUnheard(ctx)
		defer stop()
		l = a.startLive(false)
		p.Shows = a.showsStanding(l)
	}
	p.Caller = by
	res, err := e.WaitForTurn(ctx, p)
	l.end()
	if err != nil {
		return err
	}
	a.kill("before print")
	a.guard(ctx, res.Grant)
	if err := a.print(res, func(p *page) { p.waited(res) }); err != nil {
		return err
	}
	if mustHave && res.Status != stick.YourTurn && res.Status != stick.UnderParent {
		a.status = stick.ExitRefused
	}
	if !a.unheard {
		_ = e.Delivered(context.WithoutCancel(ctx), res) // if it fails, the events come again: each comes at least once
	}
	return nil
}

func (a *app) kill(point string) {
	if a.Kill != nil {
		a.Kill(point)
	}
}

// waited shows the result of a wait.
func (p *page) waited(res engine.WaitForTurnResult) {
	if res.Joined {
		p.linef("you joined the room of %s as %s", stick.Line(res.Path), res.AgentID)
	}
	if res.Note != "" {
		p.linef("note: %s", stick.Line(res.Note))
	}
	switch res.Status {
	case stick.YourTurn: // the grant is last, because it ends with the release command
		p.delivered(res)
		p.grant(res.Grant, res.AgentID, res.Paused)
		return
	case stick.UnderParent:
		p.linef("%s of %s: it started you, and holds the stick", p.strong("you work under turn "+strconv.FormatInt(res.ParentTurn, 10)), *res.Parent)
		p.linef("you may change files now; %s ends the turn, not you", *res.Parent)
		p.linef("others that it started share this turn: %s tells them what you change", p.next(stick.Cmd("tt reserve <path>")))
	case stick.TakeoverAvailable:
		p.linef("%s: %s", p.strong("you can take over"), because(stick.Cause(res.Reason)))
		p.whoHas(res)
		p.linef("take over only if that is right: %s; otherwise keep waiting: %s", p.next(stick.Cmd("tt take --reason …")), p.next(stick.Cmd("tt wait")))
	case stick.GotEvents:
		p.linef("%s", p.strong("events for you"))
	case stick.InPause:
		p.linef("%s", p.strong(stick.Line(res.Paused.Says(p.now))))
		p.whoHas(res)
		if res.AgentID.Human() {
			p.linef("to end the pause: %s", p.next(stick.Cmd("tt resume")))
			break
		}
		p.linef("change no files until a person resumes it: %s", p.next(stick.Cmd("tt wait")))
	case stick.NotYet:
		if res.Owner != nil && *res.Owner == res.AgentID { // it waited for events only
			p.linef("nothing is new for you")
			p.whoHas(res)
			break
		}
		p.linef("it isn't your turn yet")
		p.whoHas(res)
		p.linef("wait for your turn: %s", p.next(stick.Cmd("tt wait")))
	case stick.RoomClosed:
		p.linef("the room is closed; stop here")
	case stick.WasKicked:
		p.linef("you were removed from the room; %s", stick.RejoinStep(res.AgentID).As(p.as).String())
	case stick.HasLeft:
		p.linef("you left the room")
	case stick.WasReplaced:
		p.linef("another wait of yours has replaced this one")
	}
	p.delivered(res)
	if res.Status == stick.GotEvents {
		p.whoHas(res)
		if res.Owner == nil || *res.Owner != res.AgentID {
			p.linef("not your turn: run %s before you change files", p.next(stick.Cmd("tt wait")))
		}
	}
}

// delivered prints the events in a wait's answer, messages with their bodies.
func (p *page) delivered(res engine.WaitForTurnResult) {
	for _, e := range res.Events {
		p.told(e)
	}
	if res.More {
		p.linef("there are more: run %s again", p.next(stick.Cmd("tt wait")))
	}
}

func (p *page) whoHas(res engine.WaitForTurnResult) {
	switch {
	case res.Owner != nil && *res.Owner == res.AgentID:
		p.linef("%s", p.youHold(res.OwnedSince))
	case res.Owner != nil:
		p.linef("%s", stick.Holds(*res.Owner, p.now.Sub(res.OwnedSince)))
	case res.ReservedFor != nil && *res.ReservedFor == res.AgentID:
		p.linef("the stick is reserved for you")
	case res.ReservedFor != nil:
		p.linef("the stick is reserved for %s", *res.ReservedFor)
	}
}

// grant tells the new holder what it needs to know, and ends with the release command.
func (p *page) grant(g *engine.Grant, me stick.AgentID, paused *stick.Pause) {
	your := "your turn"
	if g.Reason == stick.AlreadyOwner {
		your = "still your turn"
	}
	p.linef("%s, turn %d in %s", p.strong(your), g.TurnID, stick.Line(g.Path))
	if paused != nil {
		p.linef("%s; change no files until a person resumes it: %s", stick.Line(paused.Says(p.now)), p.next(stick.Cmd("tt wait")))
	}
	switch {
	case g.Handoff != nil:
		p.linef("handoff from %s:", *g.FromAgentID)
		p.handoff(*g.Handoff)
	case g.Recovery != nil:
		p.linef("the last handoff is from %s, %s; whoever got it didn't finish:", g.Recovery.FromAgentID, p.ago(g.Recovery.CreatedAt))
		p.handoff(g.Recovery.Handoff)
		for _, l := range g.Recovery.Since {
			p.linef("  since then: %s", l)
		}
	}
	if d := g.Drift; d != nil {
		p.linef("since then the tree has moved from %s to %s", at(d.HeadWas, d.BranchWas), at(d.HeadIs, d.BranchIs))
	}
	if g.Notes > 0 {
		p.linef("%s: %s", stick.Count(g.Notes, "unresolved note"), p.next(stick.Cmd("tt notes list")))
	}
	if work := p.noted(g.Changes); work != "" {
		p.linef("%s: %s", work, p.next(stick.Cmd("tt changes")))
	}
	if g.LeaseKeptBy == stick.KeptByHeartbeat && paused == nil {
		p.linef("your lease runs out %s unless you act: %s", p.until(g.LeaseExpiresAt), p.next(stick.Cmd("tt heartbeat")))
	}
	release := stick.Cmd("tt release --turn <turn> --lease <lease> --status … --next-action …", g.TurnID, g.LeaseID)
	if me.Human() { // its own last turn is what release means without them
		release = stick.Cmd("tt release --status … --next-action …")
	}
	p.linef("when you are done: %s", p.next(release))
}

// youHold says for how long the reader has held the stick; [stick.Holds] says it of others.
func (p *page) youHold(since stick.Time) string {
	d := p.now.Sub(since)
	if d < time.Second {
		return "you have just taken the stick"
	}
	return "you have held the stick for " + stick.Age(d)
}

// because says in words why the stick can be taken over, or why it was.
func because(c stick.Cause) string {
	switch c {
	case stick.OwnerGone:
		return "the holder's process has ended"
	case stick.OwnerTimeout:
		return "the holder's lease has run out"
	case stick.OwnerIdle:
		return "the holder is alive, but does nothing"
	case stick.ClaimTimeout:
		return "the stick was offered, but not claimed in time"
	case stick.RecipientGone:
		return "the process of the recipient has ended"
	case stick.OperatorRequested:
		return "a person asked for it"
	}
	return strings.ReplaceAll(string(c), "_", " ")
}

// told shows an event to the member that it is for, and a message with its body.
func (p *page) told(e stick.Event) {
	started, ok := stick.PayloadOf[stick.SessionStartedPayload](e)
	switch {
	case e.Message() != nil:
		p.message(engine.ViewMessage(e), "")
	case ok && started.AlongWith != "": // only the agent itself is told of it
		p.linef("event %d: you are the primary here, because you came before %s: %s", e.Seq, started.AlongWith, p.next(stick.Cmd("tt session role")))
	default:
		p.linef("event %d: %s", e.Seq, e.Tell())
	}
}

// at names a commit with its branch.
func at(commit, branch string) string {
	if branch == "" {
		return short(commit)
	}
	return short(commit) + " on " + stick.Line(branch)
}

func (a *app) releaseCmd() *cobra.Command {
	var h handoffFlags
	var f fenceFlags
	c := &cobra.Command{
		Use: "release [path]", Short: "Release the stick with a handoff", Args: between(0, 1, "a path"),
		Long: "Release the stick. The handoff says what you did and what comes next; whoever has the next turn gets it. The room chooses\n" +
			"the next holder among those who wait. Run it twice, and the second run reports what the first did.",
	}
	h.add(c)
	f.add(c)
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.of(args, 0)
		if err != nil {
			return err
		}
		handoff, err := h.read(a)
		if err != nil {
			return err
		}
		if handoff == nil {
			handoff = &stick.Handoff{}
		}
		return answer(a, func(e operations, by core.Caller) (engine.ReleaseStickResult, error) {
			res, err := e.ReleaseStick(c.Context(), engine.ReleaseStickParams{Caller: by, Where: w, Fence: f.fence(), Handoff: *handoff})
			return res, h.explain(err, stick.Cmd("tt release --status … --next-action …"))
		}, func(p *page, res engine.ReleaseStickResult) {
			p.linef("you released turn %d%s", res.TurnID, already(res.Already))
			if res.ReservedFor != nil {
				p.linef("next is %s", *res.ReservedFor)
			} else {
				p.linef("%s; whoever comes next finds your handoff", res.Nobody)
			}
			p.linef("stay in the loop: %s", p.next(stick.Cmd("tt wait")))
		})
	}
	return c
}

func (a *app) passCmd() *cobra.Command {
	var h handoffFlags
	var f fenceFlags
	c := &cobra.Command{
		Use: "pass <agent|next> [path]", Short: "Pass the stick to one member, with a handoff", Args: between(1, 2, "an agent, or the word next"),
		Long: "Pass the stick to the member that must go next. If that member doesn't claim it in time (policy claim_ttl), others may\n" +
			"take over. If it doesn't matter who goes next, use tt release.",
	}
	h.add(c)
	f.add(c)
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.of(args, 1)
		if err != nil {
			return err
		}
		handoff, err := h.read(a)
		if err != nil {
			return err
		}
		if handoff == nil {
			handoff = &stick.Handoff{}
		}
		return answer(a, func(e operations, by core.Caller) (engine.PassStickResult, error) {
			res, err := e.PassStick(c.Context(), engine.PassStickParams{
				Caller: by, Where: w, Fence: f.fence(), To: stick.AgentID(args[0]), Handoff: *handoff,
			})
			return res, h.explain(err, stick.Cmd("tt pass <agent> --status … --next-action …", stick.Clip(args[0], 60)))
		}, func(p *page, res engine.PassStickResult) {
			p.linef("you passed turn %d to %s%s", res.TurnID, res.ReservedFor, already(res.Already))
			if !res.Reachable {
				p.linef("%s isn't waiting now; if it doesn't come, others may take over %s", res.ReservedFor, p.until(res.ClaimExpiresAt))
			}
			p.linef("stay in the loop: %s", p.next(stick.Cmd("tt wait")))
		})
	}
	return c
}

func (a *app) takeCmd() *cobra.Command {
	var reason string
	var operator bool
	var turn int64
	c := &cobra.Command{
		Use: "take [path]", Short: "Take over the stick from a holder that is gone, idle or late", Args: between(0, 1, "a path"),
		Long: "Take over the stick from a holder that is gone, idle or timed out, or from a recipient that didn't claim it in time.\n" +
			"Your reason goes into the log, and you get the last handoff. What the holder before left uncommitted is kept first, unless the\n" +
			"room has enforce=off: tt rescue shows it.",
	}
	c.Flags().StringVar(&reason, "reason", "", "why you take over (required)")
	c.Flags().BoolVar(&operator, "operator-requested", false, "a person told you to take over, even if the rules don't allow it yet")
	c.Flags().Int64Var(&turn, "turn", 0, "only if this is still the current turn")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.of(args, 0)
		if err != nil {
			return err
		}
		return answer(a, func(e operations, by core.Caller) (engine.TakeoverStickResult, error) {
			res, err := e.TakeoverStick(c.Context(), engine.TakeoverStickParams{
				Caller: by, Where: w, ExpectedTurn: turn, Reason: reason, Operator: operator,
			})
			if err == nil {
				a.guard(c.Context(), res.Grant)
			}
			return res, err
		}, func(p *page, res engine.TakeoverStickResult) {
			if res.From != nil {
				p.linef("you took over from %s: %s", *res.From, because(res.Cause))
			}
			p.tookOver(res)
			p.grant(res.Grant, res.AgentID, nil)
		})
	}
	return c
}

func (a *app) heartbeatCmd() *cobra.Command {
	var f fenceFlags
	c := &cobra.Command{
		Use: "heartbeat [path]", Short: "Say that you still work on your turn", Args: between(0, 1, "a path"),
	}
	f.add(c)
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.of(args, 0)
		if err != nil {
			return err
		}
		return answer(a, func(e operations, by core.Caller) (engine.HeartbeatResult, error) {
			return e.Heartbeat(c.Context(), engine.HeartbeatParams{Caller: by, Where: w, Fence: f.fence()})
		}, func(p *page, res engine.HeartbeatResult) {
			p.heartbeat(res)
		})
	}
	return c
}

// heartbeat says for how long a heartbeat keeps the turn.
func (p *page) heartbeat(res engine.HeartbeatResult) {
	switch {
	case res.IdleAt.IsZero():
		p.linef("turn %d is yours; the lease runs out %s unless you act", res.TurnID, p.until(res.LeaseExpiresAt))
		return
	case res.Takeover != nil:
		p.linef("turn %d is yours, but others can take it over: %s", res.TurnID, because(res.Takeover.Cause))
	case res.IdleAt <= p.now:
		p.linef("turn %d is yours, but you count as idle, and others may soon take it over", res.TurnID)
	default:
		p.linef("turn %d is yours; unless you act, you count as idle %s", res.TurnID, p.until(res.IdleAt))
	}
	switch {
	case res.CountsAsActivity:
		p.linef("heartbeats alone can put that off for another %s", stick.Age(res.HeartbeatsUntil.Sub(p.now).Round(time.Second)))
	case res.HeartbeatsUntil <= p.now:
		p.linef("heartbeats alone no longer count; say what you are doing: %s", p.next(stick.Cmd("tt notes add …")))
	default:
		p.linef("this heartbeat doesn't count as an act of yours, because no process proves who sent it")
	}
}
