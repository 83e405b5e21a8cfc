package session

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/hooklog"
	"talkingstick/internal/cli/setup"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/harness"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/glob"
)

// BriefSession starts a session, and tells the agent what it should know at its start.
func BriefSession(ctx context.Context, a *app.Run, e app.Operations, p core.HookParams, f harness.Firing) error {
	q := startParams(a, p)
	q.Auto = true
	if f.Event == harness.HookSessionStart {
		q.Source = f.Why
	}

	res, err := e.StartSession(ctx, q)

	// A fault in the project's file is the user's to mend, so the agent hears of it.
	unstarted := stick.CodeOf(err) == stick.CodeProjectConfig || stick.CodeOf(err) == stick.CodeRepositoryMissing
	if unstarted && f.Event == harness.HookSessionStart {
		e := stick.AsError(err)
		a.WriteHook(f, harness.HookAnswer{
			Context: string(term.Wordsf("Talking Stick couldn't start this session: %s; %s.", e, e.Hint)),
		})
	}

	if stick.CodeOf(err) == stick.CodeRepositoryMissing {
		// A session outside of a repository is no failure of the hook.
		return nil
	}

	// Outside of rooms, and where another hook has answered, there is nothing to say.
	if err != nil || res.RoomID == "" || res.Answered {
		return err
	}

	// A model reads this, so it has no colours.
	pg := a.NewPage()
	pg.Color = false
	showBriefing(pg, res, f.Why == "compact")
	if faults := hooklog.NewFaults(a, pg.Now); faults != nil {
		pg.Linef("Hooks of Talking Stick have failed lately (%s). Tell your user to run tt doctor.", faults.Last)
	}

	for _, r := range hooklog.RefusedHooks(a, pg.Now) {
		pg.Linef("%s. Tell your user.", app.UpperFirst(hooklog.SayRefused(pg, r)))
	}

	if f.Event == harness.HookSessionStart {
		warnOfOtherTT(ctx, a, pg, f.Harness)
	}
	if older := hooklog.OlderFiles(a, f.Harness.Name); older != "" {
		pg.Linef("%s.", app.UpperFirst(older))
	}

	a.WriteHook(f, harness.HookAnswer{Context: strings.TrimSpace(string(pg.Text()))})
	return nil
}

// warnOfOtherTT tells an agent where its harness doesn't run tt as the hook does.
func warnOfOtherTT(ctx context.Context, a *app.Run, p *term.Page, row harness.Row) {
	t, err := setup.InstallTarget(a, false)
	if err != nil {
		// A program that can't be installed can still answer hooks.
		return
	}

	if !t.FindsProgram(ctx, row, app.RunProgram) {
		p.Linef("Your shell doesn't find tt: write %s instead.", t.TT)
	}
	if dir := t.ServerDir(row); dir != t.DataDir {
		p.Linef("Your tt MCP server opens another database, in %s. "+
			"Use the commands only, and tell your user to run tt install %s.", dir, row.Name)
	}
}

// startParams returns the parameters of a session start, with what the environment adds to them.
func startParams(a *app.Run, p core.HookParams) roster.StartSessionParams {
	return roster.StartSessionParams{
		HookParams: p, Launched: app.IsTrue(a.Getenv("AI_HELPER")), Context: a.Getenv("AI_AGENT_ID"),
	}
}

// showBriefing tells an agent where it is and what to do first. With short it leaves out what the agent still
// knows after a compaction.
func showBriefing(p *term.Page, res roster.StartSessionResult, short bool) {
	wait := p.Next(stick.Cmd("tt wait"))
	p.Linef("Talking Stick: you are %s in the room of %s.", res.AgentID, res.Path)
	showRole(p, res)
	if res.Task != "" {
		// The agent may have the prompt of the task already.
		p.Linef("This is the worktree of task %s: before anything else, run %s. "+
			"You don't need the stick for work in it.", res.Task, p.Next(stick.Cmd("tt task start")))
	} else if !short && res.Parent == nil {
		showRule(p, res, wait)
	}

	// After a compaction the agent still knows these.
	if !short {
		if res.Task == "" {
			showOtherAgents(p, res)
		}

		showCrashedSession(p, res.Recovered)
		showAbandonedTurn(p, res)
		showLeftDraft(p, res.Draft)
	}

	if res.Note != "" {
		p.Linef("Note: %s.", res.Note)
	}

	switch {
	case res.Paused != nil:
		p.Linef("%s", res.Paused.Says(p.Now,
			stick.Wordsf("; change no files until a person resumes it: %s", stick.Words(wait))))
	case res.Parent != nil:
		p.Linef("%s started you and holds the stick: you may change files under its turn, "+
			"and it ends the turn, not you. "+
			"Others that it started share the turn: %s tells them what you change; tasks keep you apart.",
			*res.Parent, p.Next(stick.Cmd("tt reserve <path>")))
	case res.YourTurn:
		p.Linef("You have the stick. %s shows the turn and its handoff again; %s ends it.",
			wait, p.Next(stick.Cmd("tt release")))
	case res.ReservedFor != nil && *res.ReservedFor == res.AgentID:
		p.Linef("The stick is reserved for you: %s takes the turn and shows the handoff.", wait)
	case res.Task == "":
		p.Linef("%s.", res.Holder)
	}

	if len(res.OlderHooks) > 0 {
		p.Linef("An older tt answers the hooks of %s: %s. Tell your user to run tt doctor.",
			stick.Names(res.OlderHooks, len(res.OlderHooks)), upkeep.OlderHooksRisk)
	}
	if res.Unread+res.Unacked > 0 {
		p.Linef("For you: %d unread, %d to accept (%s).", res.Unread, res.Unacked, p.Next(stick.Cmd("tt inbox")))
	}
	if res.Notes > 0 {
		p.Linef("Notes: %d unresolved (%s).", res.Notes, p.Next(stick.Cmd("tt notes list")))
	}
	if work := app.NotedWork(res.Changes); work != "" && res.Task == "" {
		p.Linef("The tree has %s (%s).", work, p.Next(stick.Cmd("tt changes")))
	}

	if res.NoSnapshots && !short {
		p.Linef("%s Commit before you run a command that could destroy uncommitted work.", noCopies)
	}

	if res.Instructions != "" && !short {
		p.Linef("This project adds:")
		p.ShowText("  ", res.Instructions)
	}
}

// showRule says when an agent may change files, and what it does before.
func showRule(p *term.Page, res roster.StartSessionResult, wait term.Text) {
	if res.Worktree != "" {
		p.Linef("This is a linked worktree, %s: its files need no turn, so change them without waiting. "+
			"The stick is for %s: there only its holder changes files%s; before that, run %s.",
			res.Worktree, res.Path, enforcementText(res.Enforce), wait)
		return
	}

	only, elsewhere := term.Text("Only"), term.Text("")
	if res.Apart {
		only = "Agents share this room from several checkouts. In the holder's, only"
		elsewhere = " In another checkout you may change files; a push to the branch that all share needs the stick."
	}

	p.Linef("%s the stick's holder changes files%s.%s First run %s in the background; "+
		"edit only after \"your turn\". Reading needs no turn; messages give none.",
		only, enforcementText(res.Enforce), elsewhere, wait)
}

// noCopies says that the room makes no copies of uncommitted work.
const noCopies term.Text = "This room has snapshots=off: tt keeps no copy of uncommitted work that a command destroys."

// enforcementText says what becomes of an edit without the stick, as a part of a sentence.
func enforcementText(e stick.Enforce) term.Text {
	switch e {
	case stick.EnforceWarn:
		return "; hooks report other edits"
	case stick.EnforceScopes:
		return ", and other agents only what they have reserved (tt reserve); hooks stop other edits"
	case stick.EnforceStick:
		return "; hooks stop other edits"
	}
	return ""
}

// showRole tells a session its role, and what follows from it.
func showRole(p *term.Page, res roster.StartSessionResult) {
	if res.Role == stick.RoleHelper {
		of := stick.Words(", and there is no known primary here")
		if res.Parent != nil {
			of = ""
		}
		if res.Primary != nil {
			of = stick.Wordsf(": %s leads", *res.Primary)
		}

		// The project may have rules of its own.
		var rest term.Text
		if len(res.Contract.Append) > 0 {
			rest = term.Wordsf(" For the rest: %s.", p.Next(stick.Cmd("tt session role")))
		}

		p.Linef("You are a helper%s. Don't pull, clean up or change %s.%s Your file: %s. End with %s.",
			of, listPatterns(res.Contract.PrimaryOnly), rest, res.Context, p.Next(stick.Cmd("tt session end")))
		return
	}

	p.Linef("You are the primary. Your context file: %s.", res.Context)
}

// showOtherAgents names the other agents at work.
func showOtherAgents(p *term.Page, res roster.StartSessionResult) {
	// A helper has read who its primary is.
	others := slices.DeleteFunc(slices.Clone(res.Others), func(o roster.RosterAgent) bool {
		return res.Primary != nil && o.AgentID == *res.Primary
	})
	if len(others) == 0 {
		return
	}

	const most = 3
	var names []stick.Words
	for _, o := range others[:min(len(others), most)] {
		names = append(names, agentSummary(o))
	}

	var more term.Text
	if n := len(others) - most; n > 0 {
		more = term.Wordsf(", and %d more (%s)", n, p.Next(stick.Cmd("tt roster")))
	}

	p.Linef("Also at work: %s%s.", stick.JoinWords(names, "; "), more)
}

// agentSummary describes an agent of a roster in a few words.
func agentSummary(o roster.RosterAgent) stick.Words {
	name := string(o.AgentID)
	if name == "" {
		name = o.Harness
	}

	var about []stick.Words
	if o.PID != 0 {
		about = append(about, stick.Wordsf("pid %d", o.PID))
	}

	switch {
	case o.Role != "":
		about = append(about, stick.Wordsf("%s", o.Role))
	case !o.Registered:
		about = append(about, "not registered")
	}

	if len(about) == 0 {
		return stick.Wordsf("%s", name)
	}

	return stick.Wordsf("%s (%s)", name, stick.JoinWords(about, ", "))
}

// showCrashedSession tells the next session what a session that never ended has left.
func showCrashedSession(p *term.Page, r *roster.Recovered) {
	if r == nil {
		return
	}

	whose := stick.Words("The previous primary")
	if r.AgentID != "" {
		whose = stick.Wordsf("%s", r.AgentID)
	}

	// The log of an earlier version doesn't say when it was written.
	var written stick.Words
	if !r.WrittenAt.IsZero() {
		written = " (written " + p.Ago(r.WrittenAt) + ")"
	}

	p.Linef("%s never ended its session. Before you begin, read what it left in your context file%s, "+
		"and look at the tree.", whose, written)
	if r.Handoff != nil {
		p.Linef("The last handoff, by %s, names a next step. %s", r.From, harness.TheirWords)
		p.ShowText("  ", stick.Clip(r.Handoff.NextAction, app.MaxNextAction))
	}
}

// showAbandonedTurn tells a session that the one before it gave up a turn, and what it left in the tree.
func showAbandonedTurn(p *term.Page, res roster.StartSessionResult) {
	t := res.Abandoned
	if t == nil {
		return
	}

	// The session before may have been the agent's own.
	who := stick.Wordsf("%s, the session before yours,", t.AgentID)
	if t.AgentID == res.AgentID {
		who = "You"
	}

	var why stick.Words
	if t.Ending != nil {
		why = " (" + t.Ending.Words() + ")"
	}
	p.Linef("%s gave up turn %d without a handoff %s%s. %s To go on, take the turn again: %s.",
		who, t.TurnID, p.Ago(t.At), why, leftInTree(t.Tree), p.Next(stick.Cmd("tt wait")))
	if t.Reason != "" && t.Ending == nil {
		p.Linef("%s", stick.Wrote(t.AgentID, t.Reason, 80))
	}
}

// showLeftDraft tells a session of the draft that it gets with the stick.
func showLeftDraft(p *term.Page, d *stick.Draft) {
	if d == nil {
		return
	}

	p.Linef("%s saved a draft of its handoff in turn %d, %s, and left no handoff; %s gives you the draft with "+
		"the turn. %s",
		d.Agent, d.Turn, p.Ago(d.SavedAt), p.Next(stick.Cmd("tt wait")), harness.TheirWords)

	// What comes next is what a session wants to know first.
	text := d.Text
	if d.Handoff != nil {
		text = cmp.Or(strings.TrimSpace(d.Handoff.NextAction), text, d.Handoff.Status)
	}

	p.ShowText("  ", stick.Clip(text, app.MaxNextAction))
}

// leftInTree says in a sentence what is uncommitted in a tree, which may be unknown.
func leftInTree(w *stick.Workspace) stick.Words {
	if w == nil {
		return "See what it left in the tree."
	}
	if w.DirtyCount == 0 {
		return "The tree has no uncommitted changes."
	}

	const most = 5
	names := stick.Names(w.Dirty[:min(len(w.Dirty), most)], most)
	if w.DirtyCount > most {
		names += ", …"
	}
	return stick.Wordsf("The tree has %s: %s. Look at them first.",
		stick.Count(w.DirtyCount, "uncommitted file"), names)
}

// listPatterns lists patterns in a sentence.
func listPatterns(ps []glob.Pattern) stick.Words {
	if len(ps) == 0 {
		return "nothing"
	}

	const most = 6
	var out []stick.Words
	for _, p := range ps[:min(len(ps), most)] {
		out = append(out, stick.Wordsf("%s", p))
	}

	if len(ps) > most {
		out = append(out, "…")
	}
	return stick.JoinWords(out, ", ")
}
