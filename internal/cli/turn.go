package cli

import (
	"context"
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
	var timeout time.Duration
	c := &cobra.Command{
		Use: "wait [path]", Short: "Wait for your turn, or for events addressed to you", Args: between(0, 1, "a path"),
		Long: "Wait until there is something to act on: your turn, a takeover that is open, events addressed to you, or the end of\n" +
			"the room. Silence never ends it, and waiting costs nothing. It joins the room, and makes it when there is none.\n\n" +
			"It exits with 0 whatever it returns (read status), unless --turn is given: then only your turn is 0.",
	}
	f := c.Flags()
	f.BoolVar(&park, "park", false, "wait for events only; you are never given the turn")
	f.BoolVar(&turn, "turn", false, "ignore events, and exit with 4 if the turn didn't come")
	f.BoolVar(&replace, "replace", false, "end another wait of yours")
	f.DurationVar(&timeout, "timeout", 0, "return after this time (default: never)")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := where(args, 0, *path)
		if err != nil {
			return err
		}
		if park && turn {
			return stick.Errorf(stick.CodeUsage, "--park waits for events and --turn ignores them: give one of them")
		}
		if timeout < 0 || c.Flags().Changed("timeout") && timeout < time.Millisecond {
			return stick.Errorf(stick.CodeUsage, "--timeout is a positive duration such as 90s").With("field", "timeout").
				Hintf("to look without waiting: %s", stick.Cmd("tt try"))
		}
		p := engine.WaitForTurnParams{Where: w, Park: park, TurnOnly: turn, Replace: replace}
		if timeout > 0 {
			p.MaxWaitMS = ptr(timeout.Milliseconds())
		}
		return a.wait(c.Context(), p, turn)
	}
	return c
}

func (a *app) tryCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "try [path]", Short: "Take the turn if it is free, without waiting", Args: between(0, 1, "a path"),
		Long: "Look once, and take the turn if you may have it. It exits with 4 without the turn.",
	}
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := where(args, 0, *path)
		if err != nil {
			return err
		}
		return a.wait(c.Context(), engine.WaitForTurnParams{Where: w, MaxWaitMS: ptr(int64(0))}, true)
	}
	return c
}

func ptr[T any](v T) *T { return &v }

// wait runs a wait and prints what it came to. With mustHave anything but the turn is a refusal.
func (a *app) wait(ctx context.Context, p engine.WaitForTurnParams, mustHave bool) error {
	e, by, err := a.open()
	if err != nil {
		return err
	}
	if p.MaxWaitMS == nil || *p.MaxWaitMS > 0 {
		var stop func()
		ctx, stop = a.untilUnheard(ctx)
		defer stop()
	}
	p.Caller = by
	res, err := e.WaitForTurn(ctx, p)
	if err != nil {
		return err
	}
	a.kill("before print")
	a.guard(ctx, res.Grant)
	if err := a.print(res, func(p *page) { p.waited(res) }); err != nil {
		return err
	}
	if mustHave && res.Status != stick.YourTurn {
		a.status = stick.ExitRefused
	}
	if !a.unheard {
		_ = e.Delivered(context.WithoutCancel(ctx), res) // else the events come again, as at least once allows
	}
	return nil
}

func (a *app) kill(point string) {
	if a.Kill != nil {
		a.Kill(point)
	}
}

// waited tells what a wait came to.
func (p *page) waited(res engine.WaitForTurnResult) {
	if res.Joined {
		p.linef("you joined the room of %s as %s", stick.Line(res.Path), res.AgentID)
	}
	if res.Note != "" {
		p.linef("note: %s", stick.Line(res.Note))
	}
	switch res.Status {
	case stick.YourTurn: // last, because it ends with the command that gives the stick back
		p.delivered(res)
		p.grant(res.Grant)
		return
	case stick.TakeoverAvailable:
		p.linef("%s: %s", p.strong("a takeover is open"), strings.ReplaceAll(res.Reason, "_", " "))
		p.whoHas(res)
		p.linef(`take it over only if that is right: tt take --reason "…"; else wait on: tt wait`)
	case stick.GotEvents:
		p.linef("%s", p.strong("events for you"))
	case stick.NotYet:
		p.linef("not yet your turn")
		p.whoHas(res)
		p.linef("wait for it: tt wait")
	case stick.RoomClosed:
		p.linef("the room is closed; stop here")
	case stick.WasKicked:
		p.linef("you were removed from the room; ask a person before you come back")
	case stick.HasLeft:
		p.linef("you left the room")
	case stick.WasReplaced:
		p.linef("another wait of yours has replaced this one")
	}
	p.delivered(res)
	if res.Status == stick.GotEvents {
		p.whoHas(res)
		if res.Owner == nil || *res.Owner != res.AgentID {
			p.linef("not your turn: before you change files, tt wait")
		}
	}
}

// delivered prints the events in a wait's answer, messages with their bodies.
func (p *page) delivered(res engine.WaitForTurnResult) {
	for _, e := range res.Events {
		p.told(e)
	}
	if res.More {
		p.linef("and more: tt wait again")
	}
}

func (p *page) whoHas(res engine.WaitForTurnResult) {
	switch {
	case res.Owner != nil && *res.Owner == res.AgentID:
		p.linef("you have held the stick for %s", stick.Age(p.now.Sub(res.OwnedSince)))
	case res.Owner != nil:
		p.linef("%s", stick.Holds(*res.Owner, p.now.Sub(res.OwnedSince)))
	case res.ReservedFor != nil && *res.ReservedFor == res.AgentID:
		p.linef("the stick is reserved for you")
	case res.ReservedFor != nil:
		p.linef("the stick is reserved for %s", *res.ReservedFor)
	}
}

// grant tells the new holder what it needs to know, and ends with the command that gives the
// stick back.
func (p *page) grant(g *engine.Grant) {
	switch {
	case g.Reason == stick.AlreadyOwner:
		p.linef("%s since an earlier call, turn %d in %s", p.strong("your turn"), g.TurnID, stick.Line(g.Path))
	default:
		p.linef("%s, turn %d in %s", p.strong("your turn"), g.TurnID, stick.Line(g.Path))
	}
	switch {
	case g.Handoff != nil:
		p.linef("handoff from %s:", *g.FromAgentID)
		p.handoff(*g.Handoff)
	case g.Recovery != nil:
		p.linef("the last handoff, from %s, %s; its receiver didn't finish:", g.Recovery.FromAgentID, p.ago(g.Recovery.CreatedAt))
		p.handoff(g.Recovery.Handoff)
		for _, l := range g.Recovery.Since {
			p.linef("  since then: %s", l)
		}
	}
	if d := g.Drift; d != nil {
		p.linef("the tree has moved since: from %s to %s", at(d.HeadWas, d.BranchWas), at(d.HeadIs, d.BranchIs))
	}
	if g.Notes > 0 {
		p.linef("%d unresolved note%s: tt notes list", g.Notes, plural(g.Notes))
	}
	if g.LeaseKeptBy == stick.KeptByHeartbeat {
		p.linef("your lease runs out %s unless you act: tt heartbeat", p.until(g.LeaseExpiresAt))
	}
	p.linef(`when you are done: tt release --turn %d --lease %s --status "…" --next-action "…"`, g.TurnID, g.LeaseID)
}

// told tells one event to the one it is for: a message with its body.
func (p *page) told(e stick.Event) {
	if e.Message() != nil {
		p.message(engine.ViewMessage(e), "")
	} else {
		p.linef("event %d: %s", e.Seq, e.Say())
	}
}

// plural is the ending of a word for n things.
func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
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
		Use: "release [path]", Short: "Give the stick back with a handoff", Args: between(0, 1, "a path"),
		Long: "Give the stick back. The handoff says what was done and what comes next; whoever has the turn next gets it.\n" +
			"The room names the next one among those who wait. Repeated, it answers its first result.",
		Example: "  tt release --status \"wrote the parser; tests pass\" --next-action \"review src/parse.go\" --artifact src/parse.go:1-80:review",
	}
	h.add(c)
	f.add(c)
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := where(args, 0, *path)
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
			return e.ReleaseStick(c.Context(), engine.ReleaseStickParams{Caller: by, Where: w, Fence: f.fence(), Handoff: *handoff})
		}, func(p *page, res engine.ReleaseStickResult) {
			p.linef("you released turn %d%s", res.TurnID, already(res.Already))
			if res.ReservedFor != nil {
				p.linef("next is %s", *res.ReservedFor)
			} else {
				p.linef("%s; whoever comes next finds your handoff", res.Nobody)
			}
			p.linef("stay in the loop: tt wait")
		})
	}
	return c
}

func (a *app) passCmd() *cobra.Command {
	var h handoffFlags
	var f fenceFlags
	c := &cobra.Command{
		Use: "pass <agent|next> [path]", Short: "Pass the stick to a member with a handoff", Args: between(1, 2, "the agent to pass to, or next"),
		Long: "Pass the stick to one member that has to go next. If it doesn't claim it in time (policy claim_ttl), others may\n" +
			"take over. Where it doesn't matter who goes next, release instead.",
		Example: "  tt pass codex --status \"found a race in claim\" --next-action \"check the fence\"",
	}
	h.add(c)
	f.add(c)
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := where(args, 1, *path)
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
			return e.PassStick(c.Context(), engine.PassStickParams{
				Caller: by, Where: w, Fence: f.fence(), To: stick.AgentID(args[0]), Handoff: *handoff,
			})
		}, func(p *page, res engine.PassStickResult) {
			p.linef("you passed turn %d to %s%s", res.TurnID, res.ReservedFor, already(res.Already))
			if !res.Reachable {
				p.linef("it isn't listening now; from %s on others may take over", res.ClaimExpiresAt)
			}
			p.linef("stay in the loop: tt wait")
		})
	}
	return c
}

func (a *app) takeCmd() *cobra.Command {
	var reason string
	var operator bool
	var turn int64
	c := &cobra.Command{
		Use: "take [path]", Short: "Take the stick over when a takeover is open", Args: between(0, 1, "a path"),
		Long: "Take the stick over from an owner that is gone, idle or timed out, or from a recipient that doesn't claim it.\n" +
			"The reason goes into the log. You get the last handoff.",
	}
	c.Flags().StringVar(&reason, "reason", "", "why you take over (required)")
	c.Flags().BoolVar(&operator, "operator-requested", false, "a person told you to, whatever is open")
	c.Flags().Int64Var(&turn, "turn", 0, "only if this turn is current")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := where(args, 0, *path)
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
				p.linef("taken over from %s (%s)", *res.From, strings.ReplaceAll(string(res.Cause), "_", " "))
			}
			p.grant(res.Grant)
		})
	}
	return c
}

func (a *app) heartbeatCmd() *cobra.Command {
	var f fenceFlags
	c := &cobra.Command{
		Use: "heartbeat [path]", Short: "Renew your lease where no process vouches for you", Args: between(0, 1, "a path"),
	}
	f.add(c)
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := where(args, 0, *path)
		if err != nil {
			return err
		}
		return answer(a, func(e operations, by core.Caller) (engine.HeartbeatResult, error) {
			return e.Heartbeat(c.Context(), engine.HeartbeatParams{Caller: by, Where: w, Fence: f.fence()})
		}, func(p *page, res engine.HeartbeatResult) {
			if res.LeaseExpiresAt.IsZero() {
				p.linef("turn %d is yours while your process lives; no heartbeat is needed", res.TurnID)
				return
			}
			p.linef("turn %d is yours; the lease runs out %s unless you act", res.TurnID, p.until(res.LeaseExpiresAt))
		})
	}
	return c
}
