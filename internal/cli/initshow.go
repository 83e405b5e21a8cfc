package cli

import (
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
func showInitialised(p *page, res initResult) {
	for _, s := range res.Steps {
		showStep(p, s)
	}

	p.linef("%-8s %s", "room", roomOf(p, res))
	edits := term.Wordsf("enforce=%s: %s", res.Enforce, heldTo[res.Enforce])
	if res.Was != "" {
		edits += term.Wordsf(" (was %s)", res.Was)
	}

	p.linef("%-8s %s", "edits", edits)
	if !res.Applied {
		p.linef("nothing was changed")
		return
	}

	showGitHooks(p, &res.Git)
	for _, h := range res.Harnesses {
		p.linef("%-8s %s", h.Harness, connectionText(p, h))
	}

	gate := term.Text("no gate")
	if res.Gate != "" {
		gate = term.Wordsf("after %q", stick.Name(res.Gate))
	}

	p.linef("%-8s merged into %s, %s", "tasks", file(res.Integration), gate)
	if !res.Changed {
		p.linef("nothing had to be changed")
	}

	for _, n := range res.Next {
		p.linef("next: %s", n)
	}
}

// showInitPlan lists what tt init is going to do.
func showInitPlan(p *page, s *initSite, plan initPlan) {
	p.linef("\ntt is going to:")
	switch {
	case s.room == nil:
		p.linef("  make the room of %s, and join it as you", s.path)
	case plan.join:
		p.linef("  join the room of %s", s.path)
	}

	p.linef("  set enforce=%s: %s", plan.enforce, heldTo[plan.enforce])

	for _, step := range plan.pendingSteps() {
		p.linef("  write %s (%s, %s)", step.File, step.Harness, step.What)
		if step.Note != "" {
			p.linef("    %s", step.Note)
		}
	}

	p.linef("  merge approved tasks into %s, once you have them", file(plan.integration))
	p.linef("The settings of harnesses are backed up first. To disconnect git and harnesses again: %s",
		p.next(stick.Cmd("tt uninstall")))
}

// roomOf says what became of the room.
func roomOf(p *page, res initResult) term.Text {
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

	return term.Wordsf("%s: %s", p.strong(term.Wordsf("%s", res.Path)), what)
}

// connectionText says how far a harness is connected.
func connectionText(p *page, h install.Status) term.Text {
	fix := p.next(stick.Cmd("tt install <harness>", h.Harness))
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
