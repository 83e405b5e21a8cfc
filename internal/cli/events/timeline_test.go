package events

import (
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/timeline"
)

// TestTimelineFits: on a terminal no row of a chart is wider than that, whatever the agents are called.
func TestTimelineFits(t *testing.T) {
	from := stick.At(time.Date(2026, 11, 24, 22, 0, 0, 0, time.Local))
	at := func(m int) stick.Time { return from.Add(time.Duration(m) * time.Minute) }
	res := eventlog.GetTimelineResult{Timeline: timeline.Timeline{From: from, To: at(240)}}
	for i, name := range []stick.AgentID{
		"codex:9b22",
		"漢字漢字漢字漢字漢字漢字漢字",
		stick.AgentID(strings.Repeat("w", 64)),
		"a\x1b[31m\u202eb\u2800 \u3164\r\nmessage 7",
		"שלום",
		"",
	} {
		res.Lanes = append(res.Lanes, timeline.Lane{
			Agent: name, Turns: 500, Held: stick.Millis(100 * time.Hour.Milliseconds()), Waited: 59_000,
			Holds: []timeline.Holding{{Span: timeline.Span{From: at(40 * i), To: at(40*i + 40)}}},
			Waits: []timeline.Waiting{{Span: timeline.Span{To: at(40 * i)}}},
			Marks: []timeline.Mark{{At: at(40*i + 20), Type: stick.EventKick}},
		})
	}

	res.Pauses = []timeline.Paused{{Span: timeline.Span{From: at(100)}}}
	for _, width := range []int{0, 30, 60, 80, 200} {
		p := &term.Page{Width: width, Now: at(240)}
		showTimeline(p, res, 0)
		text := string(p.Text())
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if width > 0 &&
				strings.Contains(line, "█") &&
				!strings.Contains(line, "held the stick") &&
				term.Width(line) > width {
				t.Errorf("in %d columns a row has %d: %q", width, term.Width(line), line)
			}
			if strings.ContainsAny(line, "\x1b\u202e\r") {
				t.Errorf("a row isn't safe: %q", line)
			}
		}

		if width != 30 && !strings.Contains(text, "25 Nov") {
			t.Errorf("midnight isn't on the axis:\n%s", text)
		}

		if width >= 60 {
			charts := map[int]bool{}
			for line := range strings.Lines(text) {
				if i := strings.Index(line, "500"); i >= 0 {
					charts[term.Width(line[:i])] = true
				}
			}

			if len(charts) != 1 {
				t.Errorf("the rows aren't in columns:\n%s", text)
			}
		}
	}
}

// TestAxisFits: whenever an hour begins, its axis is no wider than the chart.
func TestAxisFits(t *testing.T) {
	for second := range 3600 {
		from := stick.At(time.Date(2026, 11, 24, 16, 0, second, 0, time.Local))
		c := chart{t: timeline.Timeline{From: from, To: from.Add(time.Hour)}, wide: 60}
		if line := c.drawAxis(); term.Width(string(line)) > c.wide || line == "" {
			t.Fatalf("from %s the axis is %q", from.Go().Format(time.TimeOnly), line)
		}
	}
}

// TestChartOfAMoment: a range without length has a chart.
func TestChartOfAMoment(t *testing.T) {
	c := chart{t: timeline.Timeline{From: 5, To: 5}, wide: 10}
	if got := c.drawLane(timeline.Lane{Holds: []timeline.Holding{{Span: timeline.Span{From: 5}}}}); got != "█         " {
		t.Errorf("%q", got)
	}
	if got := c.drawAxis(); got != "" {
		t.Errorf("%q", got)
	}
}
