package picture

import (
	"fmt"

	"talkingstick/stick"
)

// key is an entry of the key below the lanes.
type key struct{ name, text string }

// keyColumns are its columns: what fits on a phone.
const keyColumns = 3

// keyEntries are the entries for what the picture has.
func (c *canvas) keyEntries() []key {
	has := map[string]bool{"paused": len(c.t.Pauses) > 0}
	for _, l := range c.t.Lanes {
		has["held"] = has["held"] || len(l.Holds) > 0
		has["waited"] = has["waited"] || len(l.Waits) > 0
		has["named"] = has["named"] || len(l.Named) > 0
		for _, m := range l.Marks {
			has[string(m.Type)] = true
		}
	}

	var out []key
	for _, k := range []key{
		{"held", "held the stick"},
		{"waited", "waited for it"},
		{"named", "reserved for it"},
		{string(stick.EventTakeover), "took over"},
		{string(stick.EventIncursion), "scopes overlap"},
		{string(stick.EventKick), "removed"},
		{"paused", "room paused"},
	} {
		if has[k.name] {
			out = append(out, k)
		}
	}

	return out
}

// drawKey draws the key at a height.
func (c *canvas) drawKey(keys []key, y int) {
	for i, k := range keys {
		x, y := formatPercent(float64(i%keyColumns)*100/keyColumns), y+i/keyColumns*keyRow
		fmt.Fprintf(c, "<svg x=\"%s\" y=\"%d\" overflow=\"visible\">", x, y)

		switch k.name {
		case "held":
			fmt.Fprintf(c, "<rect class=\"tt-held\" y=\"2\" width=\"18\" height=\"12\" fill=\"%s\"/>", c.colourOf("held"))
		case "waited":
			fmt.Fprintf(c, "<rect class=\"tt-waited\" y=\"8\" width=\"18\" height=\"6\" fill=\"%s\"/>", c.colourOf("waited"))
		case "named":
			fmt.Fprintf(c, "<rect class=\"tt-named\" x=\".5\" y=\"2.5\" width=\"17\" height=\"11\" fill-opacity=\"0\" stroke=\"%s\" stroke-dasharray=\"2 2\"/>",
				c.colourOf("named"))
		case "paused":
			fmt.Fprintf(c, "<rect y=\"1\" width=\"18\" height=\"14\" fill=\"url(#%s-hatch)\"/>", escapeText(c.opt.ID))
		default:
			fmt.Fprintf(c, "<use class=\"tt-%s\" href=\"#%s-%s\" x=\"9\" y=\"3\" fill=\"%s\"/>",
				k.name, escapeText(c.opt.ID), k.name, c.colourOf(k.name))
		}

		fmt.Fprintf(c, "<text x=\"24\" y=\"12\" font-size=\"12\">%s</text></svg>\n", escapeText(k.text))
	}
}
