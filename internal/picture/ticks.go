package picture

import (
	"time"

	"talkingstick/stick"
	"talkingstick/stick/timeline"
)

// Tick is a point of a time axis, and how it is labelled.
type Tick struct {
	At   stick.Time
	Text string
	Day  string // the day, or the year if Text is a day; empty if it is that of the tick before
}

// day is a step of ticks. Steps of days and months follow the calendar, because days have 23 to 25 hours.
const day = 24 * time.Hour

// steps are the distances of ticks within a day.
var steps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
}

// Ticks returns the points of an axis over a range of time, at most so many, at whole minutes, hours, days or
// months of a zone.
func Ticks(from, to stick.Time, zone *time.Location, most int) []Tick {
	span := to.Sub(from)
	if span <= 0 || most < 1 {
		return nil
	}

	first := from.Go().In(zone)
	y, m, d := first.Date()
	within := func(step time.Duration) bool { return span/step < time.Duration(most) }
	for _, step := range steps {
		if !within(step) {
			continue
		}

		format := "15:04"
		if step < time.Minute {
			format = time.TimeOnly
		}

		midnight := time.Date(y, m, d, 0, 0, 0, 0, zone)
		begin := int(first.Sub(midnight) / step)

		return collectTicks(from, to, format, "2 Jan", func(k int) time.Time {
			if step <= time.Hour {
				return midnight.Add(time.Duration(begin+k) * step)
			}

			// The hours stay the same when the clocks change.
			return time.Date(y, m, d, (begin+k)*int(step/time.Hour), 0, 0, 0, zone)
		})
	}

	for _, days := range []int{1, 2, 7, 14} {
		if within(time.Duration(days) * day) {
			if days >= 7 {
				// Weeks begin on Monday.
				d -= (int(first.Weekday()) + 6) % 7
			}
			return collectTicks(from, to, "2 Jan", "2006", func(k int) time.Time {
				return time.Date(y, m, d+k*days, 0, 0, 0, 0, zone)
			})
		}
	}

	months := 1
	for !within(time.Duration(months) * 28 * day) {
		months++
	}

	return collectTicks(from, to, "Jan", "2006", func(k int) time.Time {
		return time.Date(y, m+time.Month(k*months), 1, 0, 0, 0, 0, zone)
	})
}

// collectTicks returns those points that lie in a range. at(0) isn't after its start.
func collectTicks(from, to stick.Time, format, day string, at func(k int) time.Time) []Tick {
	var out []Tick
	last := ""
	for k := 0; ; k++ {
		t := at(k)
		switch when := stick.At(t); {
		case when > to:
			return out
		case when < from, len(out) > 0 && when <= out[len(out)-1].At:
		default:
			tick := Tick{At: when, Text: t.Format(format)}
			if d := t.Format(day); d != last {
				tick.Day, last = d, d
			}
			out = append(out, tick)
		}
	}
}

// firstTick labels the time at which an axis begins, as the points after it are labelled.
func firstTick(t timeline.Timeline, zone *time.Location) Tick {
	span, at := t.To.Sub(t.From), t.From.Go().In(zone)

	switch {
	case span < time.Duration(maxTicks)*30*time.Second:
		return Tick{t.From, at.Format(time.TimeOnly), at.Format("2 Jan")}
	case span < time.Duration(maxTicks)*12*time.Hour:
		return Tick{t.From, at.Format("15:04"), at.Format("2 Jan")}
	}
	return Tick{t.From, at.Format("2 Jan"), at.Format("2006")}
}
