package setup

import (
	"slices"

	"talkingstick/internal/harness"
	"talkingstick/internal/install"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// heldTo says what each word of the policy enforce means.
var heldTo = map[stick.Enforce]term.Text{
	stick.EnforceOff:    "agents may edit without the stick",
	stick.EnforceWarn:   "agents that edit without the stick are told so, and so is its holder",
	stick.EnforceScopes: "without the stick, agents may edit only what they have reserved",
	stick.EnforceStick:  "agents may edit only with the stick",
}

// showInitialised shows what tt init did, or would do, and how things stand.
func showInitialised(p *term.Page, res InitResult) {
	for _, s := range res.Steps {
		showStep(p, s)
	}

	p.Linef("%-8s %s", "room", roomOf(p, res))
	edits := term.Wordsf("enforce=%s: %s", res.Enforce, heldTo[res.Enforce])
	if res.Was != "" {
		edits += term.Wordsf(" (was %s)", res.Was)
	}

	p.Linef("%-8s %s", "edits", edits)
	if !res.Applied {
		p.Linef("nothing was changed")
		return
	}

	ShowGitHooks(p, &res.Git)
	for _, h := range res.Harnesses {
		p.Linef("%-8s %s", h.Harness, connectionText(p, h))
	}
	showCopies(p, res)

	gate := term.Text("without a test first")
	if res.Gate != "" {
		gate = term.Wordsf("if this passes: %q", stick.Name(res.Gate))
	}

	p.Linef("%-8s approved ones are merged into the branch %s, %s", "tasks", term.FileName(res.Integration), gate)
	if !res.Changed {
		p.Linef("nothing had to be changed")
	}

	for _, n := range res.Next {
		p.Linef("next: %s", n)
	}
}

// showCopies says what hooks of harnesses keep, which helps somebody who works with one agent alone, too.
func showCopies(p *term.Page, res InitResult) {
	hasHooks := slices.ContainsFunc(res.Harnesses, func(h install.Status) bool {
		row, _ := harness.ByName(h.Harness)
		return h.Installed == install.All && len(row.Hooks) > 0
	})
	keepsCopies := !res.NoSnapshots && res.Enforce != stick.EnforceOff
	if !hasHooks || !keepsCopies {
		return
	}

	p.Linef("%-8s tt copies uncommitted work before and after each tool call, even of an agent that works alone; "+
		"to bring it back: %s", "copies", p.Next(stick.Cmd("tt undo")))
}

// showInitPlan lists what tt init is going to do.
func showInitPlan(p *term.Page, s *initSite, plan initPlan) {
	p.Linef("\ntt is going to:")
	switch {
	case s.room == nil:
		p.Linef("  make the room of %s, and join it as you", s.path)
	case plan.join:
		p.Linef("  join the room of %s", s.path)
	}

	p.Linef("  set enforce=%s: %s", plan.enforce, heldTo[plan.enforce])

	for _, step := range plan.pendingSteps() {
		p.Linef("  write %s (%s, %s)", step.File, step.Harness, step.What)
		if step.Note != "" {
			p.Linef("    %s", step.Note)
		}
	}

	p.Linef("  merge approved tasks into the branch %s, once there are any", term.FileName(plan.integration))
	p.Linef("The settings of harnesses are backed up first. To disconnect git and harnesses again: %s",
		p.Next(stick.Cmd("tt uninstall")))
}

// roomOf says what became of the room.
func roomOf(p *term.Page, res InitResult) term.Text {
	what := stick.Wordsf("you are in it as %s", res.AgentID)
	switch {
	case res.Created && !res.Applied:
		what = "would be made"
	case res.Joined && !res.Applied:
		what = "you would join it"
	case res.Created:
		what = stick.Wordsf("you made and joined it as %s", res.AgentID)
	case res.Joined:
		what = stick.Wordsf("you joined it as %s", res.AgentID)
	}

	return term.Wordsf("%s: %s", p.Strong(term.Wordsf("%s", res.Path)), what)
}

// connectionText says how far a harness is connected.
func connectionText(p *term.Page, h install.Status) term.Text {
	fix := p.Next(stick.Cmd("tt install <harness>", h.Harness))
	switch {
	case h.Problem != "":
		return term.Wordsf("not connected: %s", h.Problem)
	case h.Installed == install.All:
		return "connected"
	case h.Installed == install.Partly:
		return term.Wordsf("partly connected; missing or changed: %s (%s)", stick.JoinWords(h.Missing, ", "), fix)
	}

	return term.Wordsf("not connected (%s)", fix)
}
