package doctor

import (
	"bufio"
	"strings"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// confirmRepairs returns what asks about each repair. If nobody can be asked, it isn't done. Then, and after a no, the
// exit status says that something is left.
func confirmRepairs(a *app.Run) func(upkeep.Repair) bool {
	answers := bufio.NewReader(a.Input())
	ask := func(r upkeep.Repair) bool {
		if a.JSON || !a.TTY || !a.InTTY {
			return false
		}

		p := a.NewPage()
		p.Linef("%s: %s", stick.Words(r.Check), r.What)
		p.Linef("  repair: %s", r.How)
		a.Write(p.Text() + "Do this? [y/N] ")

		// No answer means no.
		line, _ := answers.ReadString('\n')
		answer := strings.ToLower(strings.TrimSpace(line))
		return answer == "y" || answer == "yes"
	}

	return func(r upkeep.Repair) bool {
		agreed := ask(r)
		if !agreed {
			a.Status = stick.ExitUsage
		}
		return agreed
	}
}

// showRepairs shows what was repaired, and what can be.
func showRepairs(p *term.Page, repairs []upkeep.Repair) {
	open := 0
	for _, r := range repairs {
		switch {
		case r.Done:
			p.Linef("%-8s %-12s %s", "repaired", stick.Words(r.Check), r.Result)
			continue
		case r.Result != "":
			p.Linef("%-8s %-12s %s: %s", "failed", stick.Words(r.Check), r.How, r.Result)
			continue
		}

		open++
		p.Linef("%-8s %-12s %s", stick.Words("to do"), stick.Words(r.Check), r.What)
		p.Linef("         %-12s %s", "", p.Faint(term.Wordsf("repair: %s", r.How)))
	}

	if open > 0 {
		p.Linef("nothing of this was changed; to repair it: %s", p.Next(stick.Cmd("tt doctor --fix --yes")))
	}
}
