package picture

import (
	"slices"

	"talkingstick/stick"
	"talkingstick/stick/timeline"
)

// bar is what is drawn in one place: one span or mark, or several that are too close to be told apart.
type bar struct {
	x, w        float64 // in pixels of a wide page
	first, last int     // the places of what it shows in its list
}

// bars is all that is drawn of a timeline.
type bars struct {
	lanes  []laneBars
	pauses []bar
}

// laneBars are the bars of a lane.
type laneBars struct{ held, named, waited, marks []bar }

// fitBars makes the bars of a timeline. Neighbours that are narrower than half a pixel, and closer than that to
// each other, become one. If there are more than most, it joins what is wider and farther apart, too.
func fitBars(t timeline.Timeline, most int) bars {
	for apart := 0.5; ; apart *= 2 {
		var all bars
		n := 0

		joined := func(bars []bar) []bar {
			n += len(bars)
			return bars
		}

		all.pauses = joined(joinSpans(t, t.Pauses, apart))
		for _, l := range t.Lanes {
			all.lanes = append(all.lanes, laneBars{
				held:   joined(joinSpans(t, l.Holds, apart)),
				named:  joined(joinSpans(t, l.Named, apart)),
				waited: joined(joinSpans(t, l.Waits, apart)),
				marks:  joined(joinMarks(t, l.Marks, max(apart, markApart))),
			})
		}

		if n <= most || apart > wide {
			return all
		}
	}
}

// markApart is how far marks of one type are apart at least, in pixels.
const markApart = 6

// spanned is what has a span.
type spanned interface {
	In(from, to stick.Time) (timeline.Span, bool)
}

// joinSpans makes bars of spans, the oldest first.
func joinSpans[S spanned](t timeline.Timeline, spans []S, apart float64) []bar {
	var out []bar
	for i, s := range spans {
		part, ok := s.In(t.From, t.To)
		if !ok {
			continue
		}

		x := pixelOf(t, part.From)
		b := bar{x: x, w: pixelOf(t, part.To) - x, first: i, last: i}

		// Narrow neighbours become one bar.
		if n := len(out) - 1; n >= 0 && b.x-out[n].x-out[n].w < apart && max(b.w, out[n].w) < apart {
			out[n].w = max(out[n].w, b.x+b.w-out[n].x)
			out[n].last = i
			continue
		}

		out = append(out, b)
	}
	return out
}

// joinMarks makes bars of marks, the oldest first. Marks of several types stay apart.
func joinMarks(t timeline.Timeline, marks []timeline.Mark, apart float64) []bar {
	var out []bar
	for i, m := range marks {
		if !slices.ContainsFunc(shapes, func(s shape) bool { return s.name == string(m.Type) }) {
			continue
		}

		b := bar{x: pixelOf(t, m.At), first: i, last: i}
		if n := len(out) - 1; n >= 0 && b.x-out[n].x < apart && marks[out[n].first].Type == m.Type {
			out[n].last = i
			continue
		}

		out = append(out, b)
	}
	return out
}

// pixelOf returns where a time lies, in pixels of a wide page.
func pixelOf(t timeline.Timeline, at stick.Time) float64 {
	if t.To <= t.From {
		return 0
	}

	at = min(max(at, t.From), t.To)
	return float64(at-t.From) / float64(t.To-t.From) * wide
}
