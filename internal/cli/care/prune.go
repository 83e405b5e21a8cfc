package care

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// PruneCmd makes tt prune.
func PruneCmd(a *app.Run) *cobra.Command {
	var room, age string
	p := upkeep.PruneParams{}
	c := &cobra.Command{
		Use: "prune", Short: "Show how much is stored, and remove what nobody needs", Args: app.NoArgs,
		Long: "Show how much the data directory holds, and what can be removed: rooms that are closed, or whose\n" +
			"workspace is gone, with their logs, messages, notes and tasks; old events in the logs of other rooms; outputs\n" +
			"of gates that nothing names; databases that tt restore or tt doctor put aside. What is younger than 90 days\n" +
			"stays, and so do events that something still needs: a message that somebody has to read or to accept, an open\n" +
			"note, the last handoff, a task that isn't finished. A log without its old events begins with a checkpoint,\n" +
			"which has what they came to.\n\n" +
			"With --yes, tt removes all of this for good. Only a person may do that. To keep a log, export it\n" +
			"first (tt export).",
	}

	c.Flags().BoolVar(&p.Remove, "yes", false, "remove it")
	c.Flags().StringVar(&age, "older-than", "", "remove only what has been inactive for this long, such as 30d (default: 90d)")
	c.Flags().StringVar(&room, "room", "", "only the room with this id, or the start of it")

	c.RunE = func(c *cobra.Command, args []string) error {
		p.OneRoom = c.Flags().Changed("room")
		p.RoomID = stick.RoomID(room)
		if c.Flags().Changed("older-than") {
			d, err := parseAge(age)
			if err != nil {
				return err
			}
			p.OlderThanMS = new(d.Milliseconds())
		}

		a.Reads = !p.Remove
		return app.Answer(a, func(e app.Operations, by core.Caller) (upkeep.PruneResult, error) {
			l := a.StartProgress(true)
			defer l.End()
			l.SetText(func() term.Text { return "looking for what can go" })

			p.Caller = by
			return e.Prune(c.Context(), p)
		}, showPrune)
	}

	return c
}

// parseAge reads a duration that may be in days.
func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}

	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, stick.Errorf(stick.CodeUsage, "--older-than must be a time such as 90d or 12h, not %q",
			stick.Clip(text, 40)).With("field", "older-than").
			Hintf("name it in days: %s", stick.Cmd("tt prune --older-than 90d"))
	}
	return d, nil
}

// showPrune shows how much there is, and what can go or went.
func showPrune(p *term.Page, res upkeep.PruneResult) {
	parts := []stick.Words{}
	for _, part := range res.Parts {
		parts = append(parts, stick.Wordsf("%s %s", part.What, app.SizeText(part.Bytes)))
	}
	if len(parts) > 0 {
		p.Linef("%s: %s", term.FileName(res.DataDir), stick.JoinWords(parts, ", "))
	}

	age := ageText(res.OlderThan)
	if len(res.Items) == 0 {
		p.Linef("nothing older than %s can be removed", age)
		return
	}

	t := term.Table{}
	for _, item := range res.Items {
		t.Add(stick.Words(item.What), pruneName(item), pruneReason(p, item), app.SizeText(item.Bytes))
	}
	p.ShowTable(t)

	if res.Pruned {
		p.Linef("removed, for good")
		return
	}
	next := stick.Cmd("tt prune --older-than <age> --yes", age)
	if res.RoomID != "" {
		next = stick.Cmd("tt prune --room <room> --older-than <age> --yes", res.RoomID, age)
	}
	p.Linef("nothing was changed; to remove this for good: %s", p.NextByPerson(next))
}

// pruneName names what can go.
func pruneName(item upkeep.PruneItem) term.Text {
	if item.What == upkeep.PruneOutputs {
		return term.Wordsf("%s", stick.Count(item.Files, "output"))
	}
	return term.FileName(item.Path)
}

// pruneReason says why something can go.
func pruneReason(p *term.Page, item upkeep.PruneItem) term.Text {
	switch {
	case item.What == upkeep.PruneEvents:
		return term.Wordsf("%s; %d of %s, the last %s", item.Why, item.Events, stick.Count(item.Of, "event"), p.Ago(item.LastAt))
	case item.What == upkeep.PruneRoom:
		return term.Wordsf("%s; %s, the last %s", item.Why, stick.Count(item.Events, "event"), p.Ago(item.LastAt))
	case item.LastAt.IsZero():
		return term.Wordsf("%s", item.Why)
	}
	return term.Wordsf("%s %s", item.Why, p.Ago(item.LastAt))
}

// ageText is a time as --older-than takes it.
func ageText(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d > 0 && d%(24*time.Hour) == 0 {
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	}
	return d.String()
}
