// Package picture draws what people would rather look at than read: the timeline of a room, as SVG without
// script. A picture is as wide as what it stands in. Horizontal places are percentages, and heights and texts
// are pixels, so that a phone and a large screen show the same text in the same size.
package picture

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"talkingstick/stick"
	"talkingstick/stick/timeline"
)

// Options say how a picture is drawn.
type Options struct {
	Zone *time.Location // of whoever looks; UTC if it is nil

	// Alone makes a file of its own, with a size, a ground, and colours for light and dark screens. Otherwise
	// the picture is a part of a page, which may set its colours: --tt-ink, --tt-held, --tt-waited,
	// --tt-named, --tt-takeover, --tt-incursion, --tt-kick and --tt-paused.
	Alone bool
	Width int // of a file, in pixels; 960 if it is 0
	// ID is with which the ids within the picture begin; "tt-timeline" if it is empty. A page with two pictures
	// gives each its own.
	ID string
}

// Sizes in pixels.
const (
	wide     = 1200 // of a page that the details are made for
	fileWide = 960
	top      = 38 // of the first lane, below the axis
	nameRow  = 17 // of a lane: its name above its bars
	barRow   = 14
	markRow  = 13 // only if it has marks
	gap      = 9
	keyRow   = 20
)

// Limits of what is drawn. A lane that is left out is counted.
const (
	maxLanes = 60
	maxBars  = 1500
	maxTicks = 6
	maxName  = 24  // columns
	maxText  = 160 // of others, in characters
)

// canvas is a picture while it is drawn.
type canvas struct {
	bytes.Buffer
	opt  Options
	t    timeline.Timeline
	bars bars
}

// SVG draws a timeline. It fails only if w does.
func SVG(w io.Writer, t timeline.Timeline, opt Options) error {
	if opt.Zone == nil {
		opt.Zone = time.UTC
	}
	opt.ID, opt.Width = cmp.Or(opt.ID, "tt-timeline"), cmp.Or(opt.Width, fileWide)

	// Who is left out is counted below the lanes.
	left := max(0, len(t.Lanes)-maxLanes)
	t.Lanes = t.Lanes[:len(t.Lanes)-left]
	c := &canvas{opt: opt, t: t, bars: fitBars(t, maxBars)}
	bottom := c.bottomOfLanes()
	keys := c.keyEntries()
	height := bottom + (len(keys)+keyColumns-1)/keyColumns*keyRow + 8
	if left > 0 {
		height += keyRow
	}

	c.writeHead(height)
	c.drawAxis()
	c.drawPauses(bottom)

	y := top
	for i := range t.Lanes {
		y = c.drawLane(i, y)
	}

	if len(t.Lanes) == 0 {
		c.drawText(0, top+12, "", "Nobody held the stick in this time.")
	}
	if left > 0 {
		c.drawText(0, bottom+12, ` fill-opacity=".7"`,
			fmt.Sprintf("… and %s that %s left out", stick.Count(left, "more agent"), isOrAre(left)))
		bottom += keyRow
	}

	c.drawKey(keys, bottom+4)
	c.WriteString("</svg>\n</svg>\n")

	_, err := w.Write(c.Bytes())
	return err
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// writeHead writes what comes before the axis.
func (c *canvas) writeHead(height int) {
	size := `width="100%"`

	if c.opt.Alone {
		size = fmt.Sprintf(`width="%d" viewBox="0 0 %d %d"`, c.opt.Width, c.opt.Width, height)
	}

	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" class="tt-timeline" %s height="%d" role="img" aria-labelledby="%s-title %s-desc" direction="ltr" font-family="system-ui, sans-serif" font-size="13" fill="%s">`+"\n",
		size, height, escapeText(c.opt.ID), escapeText(c.opt.ID), c.colourOf("ink"))
	fmt.Fprintf(c, "<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">%s</desc>\n",
		escapeText(c.opt.ID), escapeText(c.titleText()), escapeText(c.opt.ID), escapeText(c.describeLanes()))

	if c.opt.Alone {
		c.WriteString(styles)
		fmt.Fprintf(c, "<rect class=\"tt-ground\" width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", ground)
	}

	fmt.Fprintf(c, "<defs>\n")
	for _, s := range shapes {
		fmt.Fprintf(c, "<path id=\"%s-%s\" d=\"%s\"/>\n", escapeText(c.opt.ID), s.name, s.path)
	}

	fmt.Fprintf(c, "<pattern id=\"%s-hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\"><path class=\"tt-paused\" d=\"M0 7L7 0\" stroke=\"%s\" stroke-opacity=\".45\"/></pattern>\n</defs>\n",
		escapeText(c.opt.ID), c.colourOf("paused"))

	c.WriteString("<svg x=\"2%\" width=\"96%\" overflow=\"visible\">\n")
}

// shape is how a mark looks.
type shape struct{ name, path string }

// shapes are the marks by the type of their event, each around its point. They differ in shape, and not only
// in colour.
var shapes = []shape{
	{"takeover", "M0 0L6 10H-6Z"},
	{"incursion", "M0 0L5 5L0 10L-5 5Z"},
	{"kick", "M-5 0L0 3.5L5 0L1.6 5L5 10L0 6.5L-5 10L-1.6 5Z"},
}

// colours are those of a picture whose page sets none. They can be told from white and from black.
var colours = map[string]string{
	"ink": "currentColor", "held": "#2a9d6f", "waited": "#8fc7ae", "named": "#2a9d6f",
	"takeover": "#e8590c", "incursion": "#c28a00", "kick": "#d6336c", "paused": "#868e96",
}

const (
	ground = "#fff"
	ink    = "#222"
	// styles are of a file of its own only: in a page they would be the page's, too.
	styles = "<style>@media (prefers-color-scheme: dark) { .tt-timeline { fill: #ddd; color: #ddd } .tt-ground { fill: #181818 } .tt-waited { fill: #3f6b57; stroke: #3f6b57 } }</style>\n"
)

// colourOf returns the colour of something.
func (c *canvas) colourOf(name string) string {
	switch {
	case !c.opt.Alone:
		return "var(--tt-" + name + ", " + colours[name] + ")"
	case name == "ink":
		return ink
	}
	return colours[name]
}

// drawAxis draws the points of time, and a line for each through the bars. It leaves out the rows with names, so
// that it crosses no text.
func (c *canvas) drawAxis() {
	var line strings.Builder
	fmt.Fprintf(&line, "M0 %dV%d", top-6, top)

	y := top
	for _, b := range c.bars.lanes {
		end := y + laneHeight(b)
		fmt.Fprintf(&line, "M0 %dV%d", y+nameRow, end-gap)
		y = end
	}

	ticks := Ticks(c.t.From, c.t.To, c.opt.Zone, maxTicks)

	// The beginning has its own label if that leaves room for the first point's.
	if first := firstTick(c.t, c.opt.Zone); len(ticks) == 0 || c.placeOf(ticks[0].At) > startApart*float64(len(first.Text)) {
		c.drawLabel(0, first)
		if len(ticks) > 0 && ticks[0].Day == first.Day {
			ticks[0].Day = ""
		}
	}

	for _, tick := range ticks {
		x := c.placeOf(tick.At)
		fmt.Fprintf(c, "<svg x=\"%s\" overflow=\"visible\"><path d=\"%s\" stroke=\"currentColor\" stroke-opacity=\".15\"/></svg>\n",
			formatPercent(x), line.String())
		c.drawLabel(x, tick)
	}
}

// startApart is how far the first point of an axis is from its beginning where there is room for a label of
// that, too: in percent for each character of the label. On a phone that is as wide as the label and half of
// the next.
const startApart = 3.6

// drawLabel writes when a point of the axis is. It stays within the picture.
func (c *canvas) drawLabel(x float64, tick Tick) {
	anchor := ` text-anchor="middle"`
	switch {
	case x < 6:
		anchor = ""
	case x > 94:
		anchor = ` text-anchor="end"`
	}

	c.drawText(x, 13, anchor+` font-size="12"`, tick.Text)
	if tick.Day != "" {
		c.drawText(x, 27, anchor+` font-size="11" fill-opacity=".7"`, tick.Day)
	}
}

// drawPauses draws the pauses of the room across all lanes.
func (c *canvas) drawPauses(bottom int) {
	for _, b := range c.bars.pauses {
		fmt.Fprintf(c, "<rect x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\" fill=\"url(#%s-hatch)\"><title>%s</title></rect>\n",
			formatPercent(b.x/wide*100), top-6, formatPercent(max(b.w, 1)/wide*100), bottom-top+6, escapeText(c.opt.ID), escapeText(c.sayPauses(b)))
	}
}

// drawLane draws the lane i at a height, and returns the height of the next.
func (c *canvas) drawLane(i, y int) int {
	l, b := c.t.Lanes[i], c.bars.lanes[i]
	c.drawText(0, y+12, ` font-weight="600"`, clipColumns(string(l.Agent), maxName))
	c.drawText(100, y+12, ` text-anchor="end" font-size="11" fill-opacity=".7"`, laneTotals(l))

	y += nameRow
	c.drawBars("waited", b.waited, y+barRow/2, barRow/2, "", func(b bar) string { return c.sayWaited(l, b) })
	c.drawBars("named", b.named, y+1, barRow-2, ` fill-opacity="0" stroke-dasharray="2 2"`, func(b bar) string { return c.sayNamed(l, b) })
	c.drawBars("held", b.held, y, barRow, "", func(b bar) string { return c.sayHeld(l, b) })
	y += barRow

	if len(b.marks) == 0 {
		return y + gap
	}
	for _, m := range b.marks {
		kind := string(l.Marks[m.first].Type)
		fmt.Fprintf(c, "<use class=\"tt-%s\" href=\"#%s-%s\" x=\"%s\" y=\"%d\" fill=\"%s\"><title>%s</title></use>\n",
			kind, escapeText(c.opt.ID), kind, formatPercent(m.x/wide*100), y+2, c.colourOf(kind), escapeText(c.sayMarks(l, m)))
	}

	return y + markRow + gap
}

// bottomOfLanes returns the height below all lanes.
func (c *canvas) bottomOfLanes() int {
	y := top
	for _, b := range c.bars.lanes {
		y += laneHeight(b)
	}

	if len(c.bars.lanes) == 0 {
		y += keyRow
	}
	return y
}

// laneHeight is how high a lane is, with the gap below it.
func laneHeight(b laneBars) int {
	if len(b.marks) > 0 {
		return nameRow + barRow + markRow + gap
	}
	return nameRow + barRow + gap
}

// drawBars draws the bars of one kind. Their outlines keep those visible that are narrower than a pixel.
func (c *canvas) drawBars(kind string, all []bar, y, height int, more string, say func(bar) string) {
	if len(all) == 0 {
		return
	}

	fmt.Fprintf(c, "<g class=\"tt-%s\" fill=\"%s\" stroke=\"%s\"%s>\n", kind, c.colourOf(kind), c.colourOf(kind), more)
	for _, b := range all {
		fmt.Fprintf(c, "<rect x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\"><title>%s</title></rect>\n",
			formatPercent(b.x/wide*100), y, formatPercent(b.w/wide*100), height, escapeText(say(b)))
	}
	c.WriteString("</g>\n")
}

// drawText draws a line of text at a place in percent.
func (c *canvas) drawText(x float64, y int, more, text string) {
	if text != "" {
		fmt.Fprintf(c, "<text x=\"%s\" y=\"%d\"%s>%s</text>\n", formatPercent(x), y, more, escapeText(text))
	}
}

// placeOf returns where a time lies, in percent.
func (c *canvas) placeOf(t stick.Time) float64 { return pixelOf(c.t, t) / wide * 100 }

// formatPercent writes a place with as many digits as count.
func formatPercent(x float64) string {
	s := strconv.FormatFloat(x, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") + "%"
}

// escapeText makes a text one line that XML takes as text. What can't be seen becomes a blank, except for the
// marks around a name that [isolateText] makes.
func escapeText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == isolate || r == isolateEnd {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(s, "\uFFFD"))

	var b bytes.Buffer

	// A buffer takes everything.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// clipColumns cuts a line to a number of columns. Characters beyond those of Europe count as two, since most are
// twice as wide. Of accents that pile up on one character two stay, so that they reach no other lane.
func clipColumns(s string, columns int) string {
	var out strings.Builder
	at, accents := 0, 0
	for _, r := range stick.Line(s) {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			if accents++; accents <= 2 {
				out.WriteRune(r)
			}
			continue
		}

		accents = 0
		if at++; r >= 0x1100 {
			at++
		}

		if at > columns {
			return strings.TrimRight(out.String(), " ") + "…"
		}

		out.WriteRune(r)
	}
	return out.String()
}
