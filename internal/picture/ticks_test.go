package picture

import (
	"strings"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/timeline"
)

func TestTicks(t *testing.T) {
	at := func(zone *time.Location, text string) stick.Time {
		x, err := time.ParseInLocation("2006-01-02 15:04:05", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return stick.At(x)
	}

	berlin, kathmandu := zone(t, "Europe/Berlin"), zone(t, "Asia/Kathmandu")
	for _, c := range []struct {
		name     string
		zone     *time.Location
		from, to string
		most     int
		want     string
	}{
		{"seconds", time.UTC, "2026-11-24 12:00:03", "2026-11-24 12:00:14", 3, "12:00:05 (24 Nov), 12:00:10"},
		{
			"a minute",
			time.UTC,
			"2026-11-24 12:00:00",
			"2026-11-24 12:01:00",
			6,
			"12:00:00 (24 Nov), 12:00:15, 12:00:30, 12:00:45, 12:01:00",
		},
		{
			"an afternoon",
			berlin,
			"2026-11-24 12:10:00",
			"2026-11-24 16:10:00",
			6,
			"13:00 (24 Nov), 14:00, 15:00, 16:00",
		},
		{
			"over midnight",
			berlin,
			"2026-11-24 20:10:00",
			"2026-11-25 08:10:00",
			6,
			"21:00 (24 Nov), 00:00 (25 Nov), 03:00, 06:00",
		},
		{
			"a zone of half hours",
			kathmandu,
			"2026-11-24 12:10:00",
			"2026-11-24 16:10:00",
			6,
			"13:00 (24 Nov), 14:00, 15:00, 16:00",
		},
		{"fewer", berlin, "2026-11-24 12:10:00", "2026-11-24 16:10:00", 2, "15:00 (24 Nov)"},
		{"none", berlin, "2026-11-24 12:10:00", "2026-11-24 16:10:00", 0, ""},
		{"no time", berlin, "2026-11-24 12:10:00", "2026-11-24 12:10:00", 6, ""},
		{
			"the day on which the clocks go forward",
			berlin,
			"2026-03-28 21:30:00",
			"2026-03-29 12:10:00",
			6,
			"00:00 (29 Mar), 03:00, 06:00, 09:00, 12:00",
		},
		{
			"the hours before and after that",
			berlin,
			"2026-03-29 00:30:00",
			"2026-03-29 04:10:00",
			6,
			"00:30 (29 Mar), 01:00, 01:30, 03:00, 03:30, 04:00",
		},
		{
			"the day on which they go back",
			berlin,
			"2026-10-24 21:30:00",
			"2026-10-25 12:10:00",
			6,
			"00:00 (25 Oct), 03:00, 06:00, 09:00, 12:00",
		},
		{
			"the hour that comes twice",
			berlin,
			"2026-10-25 01:30:00",
			"2026-10-25 04:10:00",
			6,
			"02:00 (25 Oct), 02:00, 03:00, 04:00",
		},
		{"days", berlin, "2026-03-26 12:00:00", "2026-03-30 12:00:00", 6, "27 Mar (2026), 28 Mar, 29 Mar, 30 Mar"},
		{
			"weeks",
			time.UTC,
			"2026-11-24 12:00:00",
			"2026-12-28 12:00:00",
			6,
			"30 Nov (2026), 7 Dec, 14 Dec, 21 Dec, 28 Dec",
		},
		{"months", time.UTC, "2026-10-24 12:00:00", "2027-02-24 12:00:00", 6, "Nov (2026), Dec, Jan (2027), Feb"},
		{"years", time.UTC, "1970-01-01 00:00:01", "2026-11-24 12:00:00", 3, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, to := at(c.zone, c.from), at(c.zone, c.to)
			ticks := Ticks(from, to, c.zone, c.most)
			var got []string
			for i, tick := range ticks {
				s := tick.Text
				if tick.Day != "" {
					s += " (" + tick.Day + ")"
				}
				got = append(got, s)
				if tick.At < from || tick.At > to || i > 0 && tick.At <= ticks[i-1].At {
					t.Errorf("%s is out of order", tick.At)
				}
			}

			if s := strings.Join(got, ", "); s != c.want && c.name != "years" {
				t.Errorf("%s, want %s", s, c.want)
			}
			if len(ticks) > c.most || c.name == "years" && len(ticks) == 0 {
				t.Errorf("%d ticks", len(ticks))
			}
		})
	}
}

// TestAnAxisSaysWhereItBegins: an axis whose first point is far from its beginning labels that, too, and no
// line crosses a name.
func TestAnAxisSaysWhereItBegins(t *testing.T) {
	draw := func(from, to float64) string {
		tl := timeline.Timeline{
			From: minute(from), To: minute(to),
			Lanes: []timeline.Lane{{Agent: "claude:a", Holds: []timeline.Holding{{Span: span(from, to), Turn: 1}}}},
		}
		var b strings.Builder
		if err := SVG(&b, tl, Options{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}

	for _, c := range []struct {
		name     string
		from, to float64
		want     string
		also     bool
	}{
		{"no time has passed", 1, 1, ">12:01:00<", true},
		{"far from the first point", 1, 21, ">12:01<", true},
		{"close to the first point", 4, 24, ">12:04<", false},
		{"at the first point", 0, 20, ">12:00<", true},
	} {
		if got := draw(c.from, c.to); strings.Contains(got, c.want) != c.also {
			t.Errorf("%s: %s\n%s", c.name, c.want, got)
		}
	}

	// The name stands between 38 and 55.
	if got := draw(0, 20); !strings.Contains(got, `d="M0 32V38M0 55V69"`) {
		t.Errorf("the lines of the axis are in\n%s", got)
	}
}
