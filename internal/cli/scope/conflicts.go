package scope

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// ConflictsCmd makes tt conflicts.
func ConflictsCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "conflicts [path]", Short: "Show which files would conflict between working trees",
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Try to merge each pair of working trees of the repository, " +
			"including their uncommitted changes. Show which files conflict,\n" +
			"and which files both sides changed although they merge. " +
			"Line numbers are those of each side's own version. It writes\n" +
			"nothing, neither to the room nor to the repository. It needs git 2.38 or newer.",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		return app.Show(a, func(e app.Operations, by core.Caller) (scopes.GetConflictsResult, error) {
			l := a.StartProgress(true)
			defer l.End()

			l.SetText(func() term.Text { return term.Textf("reading the working trees") })
			return e.GetConflicts(c.Context(), scopes.GetConflictsParams{Caller: by, Where: w, Shows: showsPairs(l)})
		}, showConflicts)
	}

	return c
}

// showsPairs has a line on the terminal say how many pairs are compared: with many working trees that takes
// seconds.
func showsPairs(l *app.ProgressLine) func(done, pairs int) {
	return func(done, pairs int) {
		l.SetText(func() term.Text {
			return term.Textf("comparing working trees: %d of %d pairs", done, pairs)
		})
	}
}

// showConflicts adds a table for each pair of sides that collide, and the next step.
func showConflicts(p *term.Page, res scopes.GetConflictsResult) {
	p.Linef("%s", conflictsOutcome(res))
	agents := map[string]stick.AgentID{}
	for _, s := range res.Sides {
		agents[s.Name] = s.Agent
	}

	// Conflicts are sorted by their two sides.
	for rest := res.Conflicts; len(rest) > 0; {
		first := rest[0]
		n := slices.IndexFunc(rest, func(c scopes.Conflict) bool { return c.A != first.A || c.B != first.B })
		if n < 0 {
			n = len(rest)
		}

		p.Linef("")
		p.Linef("%s × %s", sideName(p, first.A, agents, res.AgentID), sideName(p, first.B, agents, res.AgentID))
		showPair(p, rest[:n])
		p.Linef("  next: %s", p.Next(talkCommand(first.Agents, res.AgentID)))
		rest = rest[n:]
	}

	if len(res.LeftOut) > 0 {
		p.Linef("")
		p.Linef("not compared:")
	}

	for _, l := range res.LeftOut {
		p.Linef("  %s: %s", l.What, l.Why)
	}
}

// conflictsOutcome returns the answer in one line.
func conflictsOutcome(res scopes.GetConflictsResult) stick.Words {
	conflicts, both := 0, 0
	for _, c := range res.Conflicts {
		if c.Kind == scopes.KindConflict {
			conflicts++
		} else {
			both++
		}
	}

	var found []stick.Words
	if conflicts > 0 {
		found = append(found, stick.Count(conflicts, "conflict"))
	}
	if both > 0 {
		found = append(found, stick.Count(both, "file")+" that both sides changed and that "+mergeVerb(both))
	}

	trees := stick.Count(len(res.Sides), "working tree")

	// That nothing conflicts is only said of what was compared.
	switch {
	case len(found) > 0:
		return stick.JoinWords(found, ", ") + ", in " + trees
	case len(res.LeftOut) > 0:
		return "no conflicts in what was compared: " + trees
	case len(res.Sides) < 2:
		return "no conflicts: " + trees
	}

	return "no conflicts: " + trees + " compared"
}

func mergeVerb(n int) stick.Words {
	if n == 1 {
		return "merges"
	}
	return "merge"
}

// sideName names a side, and the agent who works there.
func sideName(p *term.Page, name string, agents map[string]stick.AgentID, me stick.AgentID) term.Text {
	side := p.Strong(term.FileName(name))
	switch agent := agents[name]; agent {
	case "":
		return side
	case me:
		return side + " (you)"
	default:
		return side + term.Wordsf(" (%s)", agent)
	}
}

// showPair adds the files on which two sides collide.
func showPair(p *term.Page, files []scopes.Conflict) {
	kinds := map[string]stick.Words{scopes.KindConflict: "conflict", scopes.KindBothChanged: "both changed"}
	t := term.Table{Indent: "  "}
	for _, f := range files {
		t.Add(kinds[f.Kind], term.FileName(f.Path), conflictPlace(f))
	}
	p.ShowTable(t)
}

// conflictPlace says where in a file the two sides conflict.
func conflictPlace(f scopes.Conflict) stick.Words {
	var says stick.Words
	if f.Says != "contents" {
		says = stick.Wordsf("%s", f.Says)
	}

	if len(f.ALines)+len(f.BLines) == 0 {
		return says
	}

	lines := "lines " + firstRanges(f.ALines) + " × " + firstRanges(f.BLines)
	if says != "" {
		lines = says + ", " + lines
	}
	return lines
}

// firstRanges lists the first few ranges of lines.
func firstRanges(ranges []string) stick.Words {
	const shown = 4
	switch {
	case len(ranges) == 0:
		return "none"
	case len(ranges) > shown:
		return stick.Wordsf("%s,…", strings.Join(ranges[:shown], ","))
	}
	return stick.Wordsf("%s", strings.Join(ranges, ","))
}

// talkCommand returns the next step: talk to the other side before you go on. It has no names of files or
// branches, because they would have to be quoted for a shell.
func talkCommand(agents []stick.AgentID, me stick.AgentID) stick.Command {
	var others []string
	for _, a := range agents {
		if a != me {
			others = append(others, string(a))
		}
	}

	if len(others) == 0 {
		return stick.Cmd("tt msg send room …")
	}
	return stick.Cmd("tt msg send <agent> …", strings.Join(others, ","))
}
