package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

func (a *app) conflictsCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "conflicts [path]", Short: "Show what the working trees would collide on", Args: between(0, 1, "a path"),
		Long: "Try the merge of each pair of working trees of the repository, with what is uncommitted in them, and show which\n" +
			"files conflict, and which ones both changed although they merge. Lines are those of each side's own version.\n" +
			"Nothing is written: not in the room, not in the repository. It needs git 2.38 or newer.",
	}
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := where(args, 0, *path)
		if err != nil {
			return err
		}
		return answer(a, func(e operations, by core.Caller) (engine.GetConflictsResult, error) {
			return e.GetConflicts(c.Context(), engine.GetConflictsParams{Caller: by, Where: w})
		}, (*page).conflicts)
	}
	return c
}

// conflicts adds a table for each pair of sides that collide, and what to do about it.
func (p *page) conflicts(res engine.GetConflictsResult) {
	p.linef("%s", outcome(res))
	agents := map[string]stick.AgentID{}
	for _, s := range res.Sides {
		agents[s.Name] = s.Agent
	}
	for rest := res.Conflicts; len(rest) > 0; {
		first := rest[0]
		n := slices.IndexFunc(rest, func(c engine.Conflict) bool { return c.A != first.A || c.B != first.B })
		if n < 0 {
			n = len(rest)
		}
		p.linef("")
		p.linef("%s × %s", p.side(first.A, agents, res.AgentID), p.side(first.B, agents, res.AgentID))
		p.pair(rest[:n])
		p.linef("  next: %s", talk(first.Agents, res.AgentID))
		rest = rest[n:]
	}
	if len(res.LeftOut) > 0 {
		p.linef("")
		p.linef("not compared:")
	}
	for _, l := range res.LeftOut {
		p.linef("  %s: %s", stick.Line(l.What), stick.Line(l.Why))
	}
}

// outcome is the answer in one line.
func outcome(res engine.GetConflictsResult) string {
	conflicts, both := 0, 0
	for _, c := range res.Conflicts {
		if c.Kind == engine.KindConflict {
			conflicts++
		} else {
			both++
		}
	}
	var found []string
	if conflicts > 0 {
		found = append(found, count(conflicts, "conflict"))
	}
	if both > 0 {
		found = append(found, count(both, "file")+" changed by both that "+verb(both)+" all the same")
	}
	trees := count(len(res.Sides), "working tree")
	switch {
	case len(found) > 0:
		return strings.Join(found, ", ") + ", in " + trees
	case len(res.LeftOut) > 0:
		return "nothing collides in what was compared: " + trees
	case len(res.Sides) < 2:
		return "nothing collides: " + trees
	}
	return "nothing collides: " + trees + " compared"
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

func verb(n int) string {
	if n == 1 {
		return "merges"
	}
	return "merge"
}

// side is a side with whom to talk to about it.
func (p *page) side(name string, agents map[string]stick.AgentID, me stick.AgentID) string {
	shown := p.strong(oneLine(name))
	switch agent := agents[name]; agent {
	case "":
		return shown
	case me:
		return shown + " (you)"
	default:
		return shown + " (" + string(agent) + ")"
	}
}

// maxColumn bounds a column of the table, so that one long path doesn't push all others aside.
const maxColumn = 60

// pair adds the files on which two sides collide.
func (p *page) pair(files []engine.Conflict) {
	kinds := map[string]string{engine.KindConflict: "conflict", engine.KindBothChanged: "both changed"}
	var kind, path int
	for _, f := range files {
		kind = max(kind, utf8.RuneCountInString(kinds[f.Kind]))
		path = max(path, min(maxColumn, utf8.RuneCountInString(oneLine(f.Path))))
	}
	for _, f := range files {
		line := fmt.Sprintf("  %-*s  %-*s  %s", kind, kinds[f.Kind], path, oneLine(f.Path), meeting(f))
		p.linef("%s", strings.TrimRight(line, " "))
	}
}

// meeting says where in a file the two sides meet.
func meeting(f engine.Conflict) string {
	says := ""
	if f.Says != "contents" {
		says = stick.Line(f.Says)
	}
	if len(f.ALines)+len(f.BLines) == 0 {
		return says
	}
	lines := "lines " + some(f.ALines) + " × " + some(f.BLines)
	if says != "" {
		lines = says + ", " + lines
	}
	return lines
}

// some shows the first few ranges of lines.
func some(ranges []string) string {
	const shown = 4
	switch {
	case len(ranges) == 0:
		return "none"
	case len(ranges) > shown:
		return strings.Join(ranges[:shown], ",") + ",…"
	}
	return strings.Join(ranges, ",")
}

// talk is what to do: talk to the other one before going on. Names of files and branches stay out of
// it, because a shell would read them.
func talk(agents []stick.AgentID, me stick.AgentID) string {
	var others []string
	for _, a := range agents {
		if a != me {
			others = append(others, string(a))
		}
	}
	if len(others) == 0 {
		return `tt msg send room "…"`
	}
	return "tt msg send " + strings.Join(others, ",") + ` "…"`
}

// oneLine shows the name of a file or a branch in one line. One that isn't fit for that is quoted.
func oneLine(name string) string {
	if name == stick.Line(name) {
		return name
	}
	return strconv.Quote(name)
}
