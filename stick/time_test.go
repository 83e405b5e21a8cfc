package stick

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTime(t *testing.T) {
	b, _ := json.Marshal([]Time{0, 1_800_000_000_001})
	equal(t, "JSON", string(b), `[null,"2027-01-15T08:00:00.001Z"]`)
	equal(t, "never", Time(0).String(), "never")
	equal(t, "string", start.String(), "2027-01-15T08:00:00.000Z")
	equal(t, "finer than a millisecond", At(time.Unix(0, 1_999_999)), 1)
	var u Time
	equal(t, "not a time", json.Unmarshal([]byte(`"yesterday"`), &u) != nil, true)
	equal(t, "with a zone", json.Unmarshal([]byte(`"2027-01-15T09:00:00+01:00"`), &u), nil)
	equal(t, "in UTC", u, start)
	t.Run("round trip", rapid.MakeCheck(func(t *rapid.T) {
		at := Time(rapid.Int64Range(0, 4e12).Draw(t, "time"))
		b, err := json.Marshal(at)
		if err != nil {
			t.Fatal(err)
		}
		u := Time(7)
		if err := json.Unmarshal(b, &u); err != nil || u != at {
			t.Fatalf("%s is read as %d, want %d (%v)", b, u, at, err)
		}
	}))
}

func TestDeadline(t *testing.T) {
	d := Deadline{start, time.Minute}
	for _, c := range []struct {
		name string
		now  Time
		due  bool
	}{
		{"at once", start, false},
		{"a moment before", start.Add(time.Minute - ms), false},
		{"at its time", start.Add(time.Minute), true},
		{"long after", start.Add(time.Hour), true},
		{"the clock went back by a minute", start.Add(-time.Minute), false},
		{"the clock went back by more", start.Add(-time.Minute - ms), true},
	} {
		t.Run(c.name, func(t *testing.T) { equal(t, "due", d.Due(c.now), c.due) })
	}
	equal(t, "at", d.At(), start.Add(time.Minute))
	equal(t, "earlier", earlierTime(2, 1), 1)
	equal(t, "earlier of never and a time", earlierTime(0, 1), 1)
	equal(t, "earlier of a time and never", earlierTime(2, 0), 2)
}
