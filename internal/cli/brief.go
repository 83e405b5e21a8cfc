package cli

import (
	"context"
	"fmt"
	"strings"

	"talkingstick/internal/engine"
	"talkingstick/internal/harness"
	"talkingstick/stick"
	"talkingstick/stick/glob"
)

// brief starts a session, and tells the agent what it should know then.
func (a *app) brief(ctx context.Context, e operations, p engine.HookParams, row harness.Row, in harness.HookInput) error {
	q := a.starting(p)
	q.Auto = true
	if in.Event == harness.HookSessionStart {
		q.Source = in.Why
	}
	res, err := e.StartSession(ctx, q)
	if stick.CodeOf(err) == stick.CodeProjectConfig && in.Event == harness.HookSessionStart {
		e := stick.AsError(err)
		a.write(row.WriteHook(in, harness.HookAnswer{Context: fmt.Sprintf("Talking Stick didn't start this session: %s; %s.", stick.Line(e.Message), stick.Line(e.Hint.String()))}))
	}
	if err != nil || res.RoomID == "" {
		return err
	}
	pg := a.page()
	pg.color = false
	pg.briefing(res, in.Why == "compact")
	if f := a.newFaults(pg.now); f != nil {
		pg.linef("Hooks of Talking Stick have failed lately (%s); tell your user: tt doctor.", f.Last)
	}
	a.write(row.WriteHook(in, harness.HookAnswer{Context: strings.TrimSpace(pg.b.String())}))
	return nil
}

// starting is what the environment says of a session that starts.
func (a *app) starting(p engine.HookParams) engine.StartSessionParams {
	return engine.StartSessionParams{HookParams: p, Launched: truthy(a.Getenv("AI_HELPER")), Context: a.Getenv("AI_AGENT_ID")}
}

// briefing says in a few facts where an agent is and what it does first. After a compaction the
// agent knows the rest.
func (p *page) briefing(res engine.StartSessionResult, short bool) {
	p.linef("Talking Stick: you are %s in the room of %s.", res.AgentID, stick.Line(res.Path))
	p.role(res)
	if res.Task != "" {
		p.linef("This is the worktree of task %s: tt worker start tells what to do. You need no stick for what you do in it.", stick.Line(res.Task))
	}
	if !short {
		p.company(res)
		p.recovery(res.Recovered)
	}
	if res.Note != "" {
		p.linef("Note: %s.", stick.Line(res.Note))
	}
	switch {
	case res.YourTurn:
		p.linef("You hold the stick. tt wait tells the turn and its handoff again; tt release ends it.")
	case res.ReservedFor != nil && *res.ReservedFor == res.AgentID:
		p.linef("The stick is reserved for you: tt wait takes the turn and brings the handoff.")
	default:
		p.linef("%s.", stick.Line(res.Holder))
	}
	if res.Unread+res.Unacked > 0 {
		p.linef("For you: %d unread, %d to accept (tt inbox).", res.Unread, res.Unacked)
	}
	if res.Notes > 0 {
		p.linef("Notes: %d unresolved (tt notes list).", res.Notes)
	}
	if !short {
		p.linef("Several agents share this workspace, and only the holder of the stick changes files. tt wait blocks until it is your turn " +
			"(run it in the background if you can) and brings the handoff; reading and planning need no turn. Messages never give the turn.")
	}
	if res.Instructions != "" && !short {
		p.linef("This project adds:")
		for l := range strings.Lines(stick.Block(res.Instructions)) {
			p.linef("  %s", strings.TrimRight(l, "\n"))
		}
	}
}

// role says what a session is here, and what follows for it.
func (p *page) role(res engine.StartSessionResult) {
	if res.Role == stick.RoleHelper {
		of := ", and no primary is known here"
		if res.Primary != nil {
			of = ": " + string(*res.Primary) + " is the primary"
		}
		p.linef("You are a helper%s. Skip your usual startup: no pull, no cleaning up. Your context file: %s. "+
			"Leave to the primary: %s. tt session role says the rest; end with tt session end.",
			of, stick.Line(res.Context), patterns(res.Contract.PrimaryOnly))
		return
	}
	p.linef("You are the primary. Your context file: %s.", stick.Line(res.Context))
}

// company lists the others that are at work.
func (p *page) company(res engine.StartSessionResult) {
	if len(res.Others) == 0 {
		return
	}
	const most = 3
	var names []string
	for _, o := range res.Others[:min(len(res.Others), most)] {
		names = append(names, who(o))
	}
	more := ""
	if n := len(res.Others) - most; n > 0 {
		more = fmt.Sprintf(", and %d more (tt roster)", n)
	}
	p.linef("Also at work: %s%s.", strings.Join(names, "; "), more)
}

// who names an agent of a roster in a few words.
func who(o engine.RosterAgent) string {
	name := string(o.AgentID)
	if name == "" {
		name = o.Harness
	}
	var about []string
	if o.PID != 0 {
		about = append(about, "pid "+itoa(o.PID))
	}
	switch {
	case o.Role != "":
		about = append(about, string(o.Role))
	case !o.Registered:
		about = append(about, "not registered")
	}
	if len(about) == 0 {
		return name
	}
	return name + " (" + strings.Join(about, ", ") + ")"
}

// recovery says what a session that never ended has left.
func (p *page) recovery(r *engine.Recovered) {
	if r == nil {
		return
	}
	whose := "The primary before"
	if r.AgentID != "" {
		whose = string(r.AgentID)
	}
	written := "" // a log of an earlier version doesn't tell
	if !r.WrittenAt.IsZero() {
		written = " (written " + p.ago(r.WrittenAt) + ")"
	}
	p.linef("%s never ended its session: read what it left in your context file%s, and look at the tree, before you begin.", whose, written)
	if r.Handoff != nil {
		p.linef("The last handoff says next: %s", stick.Clip(r.Handoff.NextAction, 160))
	}
}

// patterns lists patterns in a sentence.
func patterns(ps []glob.Pattern) string {
	if len(ps) == 0 {
		return "nothing"
	}
	const most = 6
	var out []string
	for _, p := range ps[:min(len(ps), most)] {
		out = append(out, stick.Line(string(p)))
	}
	if len(ps) > most {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}
