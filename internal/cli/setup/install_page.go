package setup

import (
	"slices"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/harness"
	"talkingstick/internal/install"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

func stepHarnesses(steps []install.FileChange) []string {
	var names []string
	for _, s := range steps {
		if !slices.Contains(names, s.Harness) && s.Harness != "project" {
			names = append(names, s.Harness)
		}
	}
	return names
}

// showInstalled shows a plan, or what was done.
func showInstalled(p *term.Page, res InstallResult) {
	absent := 0
	for _, s := range res.Steps {
		// The person has seen the plan before the question.
		if res.asked {
			break
		}

		// Where tt has never been, nobody wants to read of.
		if res.all && s.State == install.Absent && s.Note == "" {
			absent++
			continue
		}

		// A plan says what it would do, in the same place.
		if res.planned && s.State == install.Removed {
			s.State = "remove"
		}

		showStep(p, s)
	}

	if absent > 0 {
		p.Linef("nothing to remove in %s", stick.Count(absent, "place"))
	}

	for _, l := range res.Links {
		p.Linef("%-12s %s", "links", l)
	}

	for _, s := range res.Snippets {
		showSnippet(p, s, res.removing)
	}

	// Git's hooks alone connect no agent.
	unfound := res.found && !slices.ContainsFunc(res.Steps, func(s install.FileChange) bool { return s.Harness != install.Git })
	switch {
	case unfound:
		p.Linef("no harness was found; to install for one, name it, as in %s: %s",
			p.Next(stick.Cmd("tt install claude")), stick.Names(harness.Names(), len(harness.Rows)))
	case len(res.Steps)+len(res.Links)+len(res.Snippets) == 0:
		p.Linef("%-12s %s", "links", term.Text("nothing to change"))
	}

	for _, n := range res.Next {
		p.Linef("next: %s", n)
	}

	showDataRemoval(p, res)
	if res.removing && !res.planned {
		showTaskDirectories(p, res)
	}

	switch {
	case res.removing && res.asked:
		p.Linef("done")
	case res.removing && len(res.Steps) == 0 && len(res.Snippets) > 0, res.withData:
	case res.removing:
		p.Linef("the data stays in %s", res.DataDir)
		for _, d := range res.Data {
			if d.What == upkeep.DataCopies {
				p.Linef("copies of uncommitted work are there, too, in %s (%s); to remove all: %s",
					d.Path, app.SizeText(d.Bytes), p.Next(stick.Cmd("tt uninstall --data")))
			}
		}
	case res.Applied && len(res.Steps) > 0 && !unfound:
		p.Linef("done; to see whether harnesses run it: tt doctor")
	}
}

// showTaskDirectories names the directories with worktrees of tasks, because tt uninstall leaves them.
func showTaskDirectories(p *term.Page, res InstallResult) {
	for _, d := range res.Worktrees {
		if d.Worktrees == 0 {
			p.Linef("tt has made %s for worktrees of tasks; none is left there: %s", d.Path,
				p.Next(stick.Cmd("rm -r <directory>", d.Path)))
			continue
		}

		p.Linef("%s in %s; to remove each, if you need nothing in it: %s, then %s",
			tasksWorktrees(d.Worktrees), d.Path, p.Next(stick.Cmd("git worktree unlock <worktree>")),
			p.Next(stick.Cmd("git worktree remove <worktree>")))
	}
}

// tasksWorktrees counts worktrees that stay.
func tasksWorktrees(n int) term.Text {
	if n == 1 {
		return "1 worktree of a task stays"
	}
	return term.Wordsf("%d worktrees of tasks stay", n)
}

// dataNames are what people call the parts of the data.
var dataNames = map[string]term.Text{
	upkeep.DataCopies:   "copies of uncommitted work",
	upkeep.DataDatabase: "the database",
	upkeep.DataBackups:  "backups of the database",
	upkeep.DataReplaced: "a database that was replaced",
	upkeep.DataPairs:    "comparisons of working trees",
}

// showDataRemoval says what goes with --data, or went.
func showDataRemoval(p *term.Page, res InstallResult) {
	if !res.withData || res.asked {
		return
	}

	state := "remove"
	if res.DataGone {
		state = "removed"
	}

	for _, d := range res.Data {
		p.Linef("%-12s %-20s %-8s %s (%s)", "data", dataNames[d.What], state, d.Path, app.SizeText(d.Bytes))
	}

	if res.Stays != "" {
		p.Linef("%-12s the database stays: %s", "data", res.Stays)
	}
	if len(res.Data) == 0 {
		p.Linef("%-12s nothing to remove", "data")
	}
}

// showSnippet shows what a person pastes, or takes out again.
func showSnippet(p *term.Page, s harness.Snippet, removing bool) {
	if removing {
		p.Linef("%-12s tt has written nothing there; take the server %s out of %s yourself",
			s.Harness, harness.ServerName, s.File)
		return
	}
	p.Linef("%-12s paste this into %s, beside what is there:", s.Harness, s.File)
	p.ShowText("    ", s.Text)
	p.Linef("%-12s nobody has tried it in %s; it gets no hooks, so tell its agent to use the tools of %s",
		"", s.Title, harness.ServerName)
}

// showStep shows a change of a file.
func showStep(p *term.Page, s install.FileChange) {
	at := term.FileName(s.File)
	if s.Target != "" {
		at += " -> " + term.FileName(s.Target)
	}
	p.Linef("%-12s %-21s %-8s %s", s.Harness, s.What, s.State, at)
	if s.Note != "" {
		p.Linef("%-12s %s", "", s.Note)
	}
	p.ShowText("    ", s.Diff)
}
