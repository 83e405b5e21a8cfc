// Package turn waits for the stick, and gives it on.
package turn

import (
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/rescue"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// showGrant tells the new holder what it needs to know, and ends with the release command.
func showGrant(p *term.Page, g *engine.Grant, me stick.AgentID, paused *stick.Pause) {
	your := term.Text("your turn")
	if g.Reason == stick.AlreadyOwner {
		your = "still your turn"
	}

	p.Linef("%s, turn %d in %s", p.Strong(your), g.TurnID, g.Path)
	if paused != nil {
		p.Linef("%s", paused.Says(p.Now,
			stick.Wordsf("; change no files until a person resumes it: %s", stick.Cmd("tt wait").As(p.As))))
	}
	if me.Human() {
		p.Linef("you hold the stick, so agents wait for you before they edit; you may edit without it, too")
	}

	switch {
	case g.Handoff != nil:
		p.Linef("handoff from %s:", *g.FromAgentID)
		p.ShowHandoff(*g.Handoff)
	case g.Recovery != nil:
		showRecovery(p, *g.Recovery)
	}

	// Whoever asks again has read it.
	own := g.Handoff != nil && *g.FromAgentID == me
	switch {
	case me.Human() || g.Reason == stick.AlreadyOwner:
	case own:
		p.Linef("the handoff is your own; if there is nothing to do, hand over and run %s",
			p.Next(stick.Cmd("tt wait --park")))
	case g.Handoff != nil || g.Recovery != nil && g.Recovery.Handoff != nil:
		p.Linef("your user's task first, then the handoff")
	}

	// A handoff is about a commit, and the tree may be at another one.
	switch d := g.Drift; {
	case d != nil && d.Absent:
		p.Linef("the handoff is about %s, which isn't in this repository: %s; if that doesn't bring it, "+
			"ask its author to push it",
			app.CommitText(d.HeadWas, d.BranchWas), p.Next(stick.Cmd("git fetch")))
	case d != nil:
		p.Linef("since then the tree has moved from %s to %s", app.CommitText(d.HeadWas, d.BranchWas),
			app.CommitText(d.HeadIs, d.BranchIs))
	}

	if g.Notes > 0 {
		p.Linef("%s: %s", stick.Count(g.Notes, "unresolved note"), p.Next(stick.Cmd("tt notes list")))
	}
	if work := app.NotedWork(g.Changes); work != "" {
		p.Linef("%s: %s", work, p.Next(stick.Cmd("tt changes")))
	}
	if g.GuardianWhy != "" {
		p.Linef("%s: %s", g.GuardianWhy, p.Next(stick.Cmd("tt heartbeat")))
	}
	if g.LeaseKeptBy == stick.KeptByHeartbeat && paused == nil {
		p.Linef("your lease runs out %s unless you act: %s", p.Until(g.LeaseExpiresAt),
			p.Next(stick.Cmd("tt heartbeat")))
	}

	release := stick.Cmd("tt release --turn <turn> --lease <lease> --status … --next-action …", g.TurnID, g.LeaseID)
	if me.Human() {
		// Without them, a person's release means that person's own last turn.
		release = stick.Cmd("tt release --status … --next-action …")
	}

	p.Linef("when you are done: %s", p.Next(release))
}

// showRecovery tells a new holder what those before it have left.
func showRecovery(p *term.Page, r engine.Recovery) {
	if r.Handoff != nil {
		p.Linef("the last handoff is from %s, %s; whoever got it didn't finish:", r.FromAgentID, p.Ago(r.CreatedAt))
		p.ShowHandoff(*r.Handoff)
	}

	for _, l := range r.Since {
		p.Linef("  since then: %s", l)
	}

	if r.Draft != nil {
		showDraft(p, *r.Draft)
	}

	for _, d := range r.Drafts {
		p.Linef("%s also saved one in turn %d, %s: %s", d.Agent, d.Turn, p.Ago(d.SavedAt),
			p.Next(stick.Cmd("tt try --json")))
	}
}

// youHold says for how long the reader has held the stick; [stick.Holds] says it of others.
func youHold(p *term.Page, since stick.Time) stick.Words {
	d := p.Now.Sub(since)
	if d < time.Second {
		return "you have just taken the stick"
	}
	return "you have held the stick for " + stick.Age(d)
}

// ReleaseCmd makes tt release.
func ReleaseCmd(a *app.Run) *cobra.Command {
	var h app.HandoffFlags
	var f app.FenceFlags
	c := &cobra.Command{
		Use: "release [path]", Short: "Release the stick with a handoff", Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Release the stick. The handoff says what you did and what comes next; " +
			"whoever has the next turn gets it. The room chooses\n" +
			"the next holder among those who wait. Run it twice, and the second run reports what the first did.",
	}

	h.AddFlags(c)
	f.AddFlags(c)
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		handoff, err := h.ReadRequiredHandoff(a)
		if err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.ReleaseStickResult, error) {
			res, err := e.ReleaseStick(c.Context(), engine.ReleaseStickParams{
				Caller: by, Where: w, Fence: f.Fence(), Handoff: handoff,
			})
			return res, h.ExplainRefusal(err, stick.Cmd("tt release --status … --next-action …"))
		}, func(p *term.Page, res engine.ReleaseStickResult) {
			p.Linef("you released turn %d%s", res.TurnID, app.AlreadyText(res.Already))
			if res.ReservedFor != nil {
				p.Linef("next is %s", *res.ReservedFor)
			} else {
				p.Linef("%s; whoever comes next finds your handoff", res.Nobody)
			}
			if res.Nobody == stick.NobodyWorks {
				p.Linef("if the next step is theirs: %s", p.Next(stick.Cmd("tt msg send room …")))
			}

			showUnpushed(p, res.Unpushed)
			showAfterTurn(p, res.By, res.Rests)
		})
	}

	return c
}

// showAfterTurn says what whoever has ended its turn does next. An agent without work that waits for the turn
// gets it, and gives it away again, until it rests.
func showAfterTurn(p *term.Page, by stick.AgentID, rests bool) {
	if by.Human() {
		p.Linef("next: %s", p.Next(stick.Cmd("tt watch")))
		return
	}

	again := stick.Cmd("tt wait")
	if rests {
		again = stick.Cmd("tt try")
		p.Linef("your turn changed nothing, so nobody names you until something is for you")
	}
	p.Linef("more to do: %s; nothing more: %s, or stop", p.Next(again), p.Next(stick.Cmd("tt wait --park")))
}

// showUnpushed says that others can't get a commit from a remote, if it is one.
func showUnpushed(p *term.Page, commit string) {
	if commit != "" {
		p.Linef("no remote has %s, which your handoff is about; push it, or the others can't get it: %s",
			term.ShortCommit(commit), p.Next(stick.Cmd("git push")))
	}
}

// PassCmd makes tt pass.
func PassCmd(a *app.Run) *cobra.Command {
	var h app.HandoffFlags
	var f app.FenceFlags
	c := &cobra.Command{
		Use: "pass <agent|next> [path]", Aliases: []string{"assign"},
		Short: "Pass the stick to one member, with a handoff",
		Args:  app.ArgsBetween(1, 2, "an agent, or the word next"),
		Long: "Pass the stick to the member that must go next. " +
			"If that member doesn't claim it in time (policy claim_ttl), others may\n" +
			"take over. If it doesn't matter who goes next, use tt release.",
	}

	h.AddFlags(c)
	f.AddFlags(c)
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 1)
		if err != nil {
			return err
		}

		handoff, err := h.ReadRequiredHandoff(a)
		if err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.PassStickResult, error) {
			res, err := e.PassStick(c.Context(), engine.PassStickParams{
				Caller: by, Where: w, Fence: f.Fence(), To: stick.AgentID(args[0]), Handoff: handoff,
			})

			return res, h.ExplainRefusal(err,
				stick.Cmd("tt pass <agent> --status … --next-action …", stick.Clip(args[0], 60)))
		}, func(p *term.Page, res engine.PassStickResult) {
			p.Linef("you passed turn %d to %s%s", res.TurnID, res.ReservedFor, app.AlreadyText(res.Already))

			// Nobody wakes a member that doesn't wait.
			if !res.Reachable {
				p.Linef("%s isn't waiting now; if it doesn't come, others may take over %s",
					res.ReservedFor, p.Until(res.ClaimExpiresAt))
			}

			showUnpushed(p, res.Unpushed)
			showAfterTurn(p, res.By, res.Rests)
		})
	}

	return c
}

// TakeCmd makes tt take.
func TakeCmd(a *app.Run) *cobra.Command {
	var reason string
	var operator bool
	var turn int64
	c := &cobra.Command{
		Use: "take [path]", Short: "Take over the stick from a holder that is gone, idle or late",
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Take over the stick from a holder that is gone, idle or timed out, or from a recipient that\n" +
			"didn't claim it in time. Your reason goes into the log, and you get the last handoff. tt\n" +
			"first copies what the previous holder left uncommitted, unless the room has enforce=off: tt\n" +
			"rescue shows it.",
	}

	c.Flags().StringVarP(&reason, "reason", "m", "", "why you take over (required)")
	c.Flags().BoolVar(&operator, "operator-requested", false,
		"a person told you to take over, even if the rules don't allow it yet")
	c.Flags().Int64Var(&turn, "turn", 0, "only if this is still the current turn")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.TakeoverStickResult, error) {
			res, err := e.TakeoverStick(c.Context(), engine.TakeoverStickParams{
				Caller: by, Where: w, ExpectedTurn: turn, Reason: reason, Operator: operator,
			})

			// The rules bind agents. A person has only to say that it is meant.
			if stick.CodeOf(err) == stick.CodeTakeoverNotAvailable && by.ActsAsPerson() {
				err = stick.AsError(err).Hintf("you may take it in spite of that: %s",
					stick.Cmd("tt take --operator-requested --reason …"))
			}
			return res, err
		}, func(p *term.Page, res engine.TakeoverStickResult) {
			if res.From != nil {
				p.Linef("you took over from %s: %s", *res.From, app.CauseText(res.Cause))
			}

			rescue.ShowTakeoverRescue(p, res)
			showGrant(p, res.Grant, res.AgentID, nil)
		})
	}

	return c
}

// HeartbeatCmd makes tt heartbeat.
func HeartbeatCmd(a *app.Run) *cobra.Command {
	var f app.FenceFlags
	c := &cobra.Command{
		Use: "heartbeat [path]", Short: "Say that you are still working on " +
			"your turn", Args: app.ArgsBetween(0, 1, "a path"),
	}

	f.AddFlags(c)
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.HeartbeatResult, error) {
			return e.Heartbeat(c.Context(), engine.HeartbeatParams{Caller: by, Where: w, Fence: f.Fence()})
		}, func(p *term.Page, res engine.HeartbeatResult) {
			showHeartbeat(p, res)
		})
	}

	return c
}

// showHeartbeat says for how long a heartbeat keeps the turn.
func showHeartbeat(p *term.Page, res engine.HeartbeatResult) {
	switch {
	case res.IdleAt.IsZero():
		p.Linef("turn %d is yours; the lease runs out %s unless you act", res.TurnID, p.Until(res.LeaseExpiresAt))
		return
	case res.Takeover != nil:
		p.Linef("turn %d is yours, but others can take it over: %s", res.TurnID, app.CauseText(res.Takeover.Cause))
	case res.IdleAt <= p.Now:
		p.Linef("turn %d is yours, but you count as idle, and others may soon take it over", res.TurnID)
	default:
		p.Linef("turn %d is yours; unless you act, you count as idle %s", res.TurnID, p.Until(res.IdleAt))
	}

	switch {
	case res.CountsAsActivity:
		p.Linef("heartbeats alone can put that off for another %s",
			stick.Age(res.HeartbeatsUntil.Sub(p.Now).Round(time.Second)))
	case res.HeartbeatsUntil <= p.Now:
		p.Linef("heartbeats alone no longer count; say what you are doing: %s", p.Next(stick.Cmd("tt notes add …")))
	default:
		p.Linef("this heartbeat doesn't count as an act of yours, because no process proves who sent it")
	}
}
