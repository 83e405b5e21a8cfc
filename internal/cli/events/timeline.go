package events

import (
	"bytes"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/picture"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/timeline"
)

// TimelineCmd makes tt timeline.
func TimelineCmd(a *app.Run) *cobra.Command {
	var since time.Duration
	var svg bool
	p := eventlog.GetTimelineParams{}
	c := &cobra.Command{
		Use: "timeline [path]", Short: "Show who held the stick when, and who waited for it",
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Show over time who held the stick, for whom it was reserved and who waited for it, with\n" +
			"takeovers, overlapping scopes and pauses. The chart ends now, and has a row for each agent\n" +
			"with its turns, how long it held the stick, and how long it waited. It shows a wait only if\n" +
			"it ended with a turn, or is still going on. --svg prints a picture for a browser. It writes\n" +
			"nothing to the room.",
	}

	f := c.Flags()
	f.DurationVar(&since, "since", 0, "show only the last hours, such as 24h (default: as far back as --limit allows)")
	f.IntVar(&p.Limit, "limit", 500, "read at most this many events about the turn (up to 2000)")
	f.Int64Var(&p.Before, "before", 0, "show what came before this event, whose number an earlier answer gave")
	f.BoolVar(&svg, "svg", false, "print a picture as SVG")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if p.Where, err = path.WhereOf(args, 0); err != nil {
			return err
		}

		switch {
		case f.Changed("since") && since < time.Millisecond:
			return stick.Errorf(stick.CodeUsage, "--since must be positive, such as 24h").With("field", "since")
		case p.Limit < 1 || p.Limit > 2000:
			return stick.Errorf(stick.CodeUsage, "--limit must be between 1 and 2000").With("field", "limit")
		case f.Changed("before") && p.Before < 1:
			return stick.Errorf(stick.CodeUsage, "--before must be an event that an earlier answer "+
				"named, not %d", p.Before).With("field", "before")
		case svg && f.Changed("json"):
			return stick.Errorf(stick.CodeUsage,
				"--svg prints a picture and --json data: use one or the other").With("field", "svg")
		}

		p.LastMS = since.Milliseconds()
		get := func(e app.Operations, by core.Caller) (eventlog.GetTimelineResult, error) {
			p.Caller = by
			return e.GetTimeline(c.Context(), p)
		}

		if svg {
			return drawTimeline(a, get)
		}

		return app.Show(a, get, func(page *term.Page, res eventlog.GetTimelineResult) { showTimeline(page, res, p.LastMS) })
	}

	return c
}

// drawTimeline prints a timeline as SVG.
func drawTimeline(a *app.Run, get func(app.Operations, core.Caller) (eventlog.GetTimelineResult, error)) error {
	a.Reads = true
	e, by, err := a.Open()
	if err != nil {
		return err
	}

	res, err := get(e, by)
	if err != nil {
		return err
	}

	// It is drawn to the end before any of it is printed.
	var b bytes.Buffer
	if err := picture.SVG(&b, res.Timeline, picture.Options{Zone: time.Local, Alone: true}); err != nil {
		return err
	}

	a.WriteRaw(b.String())
	return nil
}

// The sizes of a chart in columns.
const (
	chartWidth  = 60 // where it is printed for no terminal
	leastChart  = 12
	longestName = 24
	perTick     = 8 // that a point of the axis needs
)

// showTimeline adds a chart: a row for each agent, and an axis. last is how long a time was asked for, in
// milliseconds; 0 for any.
func showTimeline(p *term.Page, res eventlog.GetTimelineResult, last int64) {
	if len(res.Lanes) == 0 {
		p.Linef("nobody held the stick or waited for it")
		showEarlier(p, res, last)
		return
	}

	p.Linef("%s to %s, %s", p.Clock(res.From), p.Clock(res.To), stick.Lasted(res.To.Sub(res.From)))
	t := term.Table{Head: []string{"agent", "", "turns", "held", "waited"}}

	// The chart gets what the names and the numbers beside it leave of the terminal.
	var names, rest int
	for _, l := range res.Lanes {
		names = max(names, min(longestName, term.Width(stick.Line(string(l.Agent)))))
		held, waited := stick.Lasted(l.Held.Duration()), stick.Lasted(l.Waited.Duration())
		rest = max(rest, term.Width(string(held))+max(len("waited"), term.Width(string(waited))))
	}

	if len(res.Pauses) > 0 {
		names = max(names, len(pausedName))
	}

	c := chart{t: res.Timeline, wide: chartWidth}
	if p.Width > 0 {
		c.wide = max(leastChart, p.Width-max(names, len("agent"))-len("turns")-rest-4*term.ColumnGap)
	}

	t.Add("", c.drawAxis())
	for _, l := range res.Lanes {
		name := term.Wordsf("%s", term.CutLine(string(l.Agent), longestName))
		held, waited := stick.Lasted(l.Held.Duration()), stick.Lasted(l.Waited.Duration())
		t.Add(name, c.drawLane(l), term.Wordsf("%d", l.Turns), held, waited)
	}

	if len(res.Pauses) > 0 {
		t.Add(pausedName, c.drawPauses())
	}

	p.ShowTable(t)
	p.Linef("%s", p.Faint(c.drawKey()))
	showEarlier(p, res, last)
}

// pausedName is the name of the row that shows when the room was paused.
const pausedName term.Text = "(paused)"

// showEarlier says how to see what came before, unless all of the time that was asked for is there.
func showEarlier(p *term.Page, res eventlog.GetTimelineResult, last int64) {
	if res.More && (last == 0 || res.To.Sub(res.From).Milliseconds() < last) {
		p.Linef("%s", p.Faint(term.Wordsf("the log goes back further: --before %d", res.Before)))
	}
}

// chart draws rows of a timeline, each so many columns wide.
type chart struct {
	t    timeline.Timeline
	wide int
	used [glyphs]bool
}

// glyph is what a column of a chart shows. Of several in one column the last one of this list is seen.
type glyph int

const (
	nothing glyph = iota
	reserved
	waited
	held
	paused
	overlaps
	removed
	tookOver
	glyphs
)

// drawn are the glyphs, and explained what they mean.
var (
	drawn     = [glyphs]term.Text{" ", "┄", "░", "█", "╱", "◆", "×", "▲"}
	explained = [glyphs]term.Text{
		"", "reserved for it", "waited", "held the stick", "room paused", "scopes overlap", "removed",
		"took over",
	}
)

// marked are the glyphs of marks.
var marked = map[stick.EventType]glyph{
	stick.EventTakeover:  tookOver,
	stick.EventIncursion: overlaps,
	stick.EventKick:      removed,
}

// columnOf returns the column in which a time lies.
func (c *chart) columnOf(at stick.Time) int {
	if c.t.To <= c.t.From {
		return 0
	}
	return min(c.wide-1, int(int64(at-c.t.From)*int64(c.wide)/int64(c.t.To-c.t.From)))
}

// fillSpan draws a span: at least one column.
func (c *chart) fillSpan(row []glyph, s timeline.Span, g glyph) {
	part, ok := s.In(c.t.From, c.t.To)
	if !ok {
		return
	}

	// A span ends before its last point of time, or two neighbours would share a column.
	first, last := c.columnOf(part.From), c.columnOf(max(part.From, part.To-1))
	for i := first; i <= last; i++ {
		row[i] = max(row[i], g)
	}
}

// rowText turns glyphs into text.
func (c *chart) rowText(glyphs []glyph) (line term.Text) {
	for _, g := range glyphs {
		c.used[g] = true
		line += drawn[g]
	}
	return line
}

// drawLane draws the row of an agent.
func (c *chart) drawLane(l timeline.Lane) term.Text {
	row := make([]glyph, c.wide)

	// The order doesn't matter: of several glyphs in a column the strongest stays.
	for _, n := range l.Named {
		c.fillSpan(row, n.Span, reserved)
	}

	for _, w := range l.Waits {
		c.fillSpan(row, w.Span, waited)
	}

	for _, h := range l.Holds {
		c.fillSpan(row, h.Span, held)
	}

	for _, m := range l.Marks {
		at := c.columnOf(m.At)
		row[at] = max(row[at], marked[m.Type])
	}

	return c.rowText(row)
}

// drawPauses draws the row of the room's pauses.
func (c *chart) drawPauses() term.Text {
	row := make([]glyph, c.wide)
	for _, s := range c.t.Pauses {
		c.fillSpan(row, s.Span, paused)
	}
	return c.rowText(row)
}

// drawAxis draws the points of time. At midnight it names the day.
func (c *chart) drawAxis() (line term.Text) {
	at := 0
	for _, tick := range picture.Ticks(c.t.From, c.t.To, time.Local, max(1, c.wide/perTick)) {
		text := tick.Text
		if tick.Day != "" && text == "00:00" {
			text = tick.Day
		}

		column := c.columnOf(tick.At)

		// A label that would touch the one before it, or the end, is left out.
		if column <= at && at > 0 || column+len(text) > c.wide {
			continue
		}

		line += term.Padding(column-at) + term.Wordsf("%s", text)
		at = column + len(text)
	}

	return line
}

// drawKey explains the glyphs that were drawn.
func (c *chart) drawKey() (line term.Text) {
	for g := reserved; g < glyphs; g++ {
		if c.used[g] {
			if line != "" {
				line += "  "
			}
			line += drawn[g] + " " + explained[g]
		}
	}
	return line
}
