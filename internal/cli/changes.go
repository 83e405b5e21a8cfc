package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

func (a *app) changesCmd() *cobra.Command {
	var p engine.ListChangesParams
	c := &cobra.Command{
		Use: "changes", Short: "Show the uncommitted files, and whose they are", Args: noArgs,
		Long: "Show which files of this checkout are uncommitted, and whose they are. Hooks note who edits a file. Work that somebody did while\n" +
			"holding the stick passes with the stick, to whoever holds it next. Work of an agent that didn't hold it stays that agent's, as long as the\n" +
			"agent is there or has reserved the path. Of the other files, nobody has noted who edited them: maybe a person did.",
	}
	agent := c.Flags().String("agent", "", "only files that this agent has edited")
	diff := c.Flags().String("diff", "", "show the diff of the files that this agent has edited")
	c.Flags().IntVar(&p.Limit, "limit", 0, "how many files to show; 0 for 200")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if p.Diff = c.Flags().Changed("diff"); p.Diff {
			if *diff == "" || *agent != "" && *agent != *diff {
				return stick.Errorf(stick.CodeUsage, "--diff takes the name of an agent, and goes without --agent").With("field", "diff")
			}
			agent = diff
		}
		return show(a, func(e operations, by core.Caller) (engine.ListChangesResult, error) {
			p.Caller, p.Where, p.Agent = by, path.where(), stick.AgentID(*agent)
			return e.ListChanges(c.Context(), p)
		}, (*page).changes)
	}
	return c
}

// changes lists uncommitted files: the caller's own first, then those of others.
func (p *page) changes(res engine.ListChangesResult) {
	if res.Count == 0 {
		p.linef("nothing is uncommitted")
		return
	}
	p.linef("%s", stick.Count(res.Count, "uncommitted file"))
	if res.Diff != "" {
		p.patch(res.Diff)
		if res.Cut {
			p.linef("the rest is cut off; to see it: git diff HEAD")
		}
		return
	}
	for _, part := range []struct {
		is   stick.Share
		head string
	}{
		{stick.ShareOwn, "yours"}, {stick.ShareOthers, "others'"}, {stick.SharePassed, "passed on with the stick"}, {stick.ShareNobody, "nobody noted whose"},
	} {
		var t table
		t.indent = "  "
		for _, c := range res.Changes {
			if c.Share == part.is {
				t.add(c.Status, stick.Line(c.Path), p.editors(c.Editors))
			}
		}
		if len(t.rows) > 0 {
			p.linef("%s", part.head)
			p.table(t)
		}
	}
	if more := res.Count - len(res.Changes); more > 0 {
		p.linef("%d more: %s", more, p.next(stick.Cmd(fmt.Sprintf("tt changes --limit %d", res.Count))))
	}
	if res.Enforce == stick.EnforceOff {
		p.linef("this room has enforce=off, so nobody notes who edits what")
	}
}

// editors says who has edited a file, the last one first.
func (p *page) editors(all []stick.Editor) string {
	var said []string
	for i := len(all) - 1; i >= 0; i-- {
		switch e := all[i]; {
		case e.Agent == "" && len(all) > 1:
			said = append(said, "somebody")
		case e.Agent == "":
		case e.Held:
			said = append(said, fmt.Sprintf("%s with the stick, %s", e.Agent, p.ago(e.At)))
		default:
			said = append(said, fmt.Sprintf("%s, %s", e.Agent, p.ago(e.At)))
		}
	}
	return strings.Join(said, "; ")
}
