package stick_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

func TestTime(t *testing.T) {
	b, _ := json.Marshal([]stick.Time{0, 1_800_000_000_001})
	sticktest.Equal(t, "JSON", string(b), `[null,"2027-01-15T08:00:00.001Z"]`)
	sticktest.Equal(t, "never", stick.Time(0).String(), "never")
	sticktest.Equal(t, "string", sticktest.Start.String(), "2027-01-15T08:00:00.000Z")
	sticktest.Equal(t, "finer than a millisecond", stick.At(time.Unix(0, 1_999_999)), 1)

	var u stick.Time
	sticktest.Equal(t, "not a time", json.Unmarshal([]byte(`"yesterday"`), &u) != nil, true)
	sticktest.Equal(t, "with a zone", json.Unmarshal([]byte(`"2027-01-15T09:00:00+01:00"`), &u), nil)
	sticktest.Equal(t, "in UTC", u, sticktest.Start)

	t.Run("round trip", rapid.MakeCheck(func(t *rapid.T) {
		at := stick.Time(rapid.Int64Range(0, 4e12).Draw(t, "time"))
		b, err := json.Marshal(at)
		if err != nil {
			t.Fatal(err)
		}
		u := stick.Time(7)
		if err := json.Unmarshal(b, &u); err != nil || u != at {
			t.Fatalf("%s is read as %d, want %d (%v)", b, u, at, err)
		}
	}))
}

func TestDeadline(t *testing.T) {
	d := stick.Deadline{SetAt: sticktest.Start, TTL: time.Minute}
	for _, c := range []struct {
		name string
		now  stick.Time
		due  bool
	}{
		{"at once", sticktest.Start, false},
		{"a moment before", sticktest.Start.Add(time.Minute - sticktest.Moment), false},
		{"at its time", sticktest.Start.Add(time.Minute), true},
		{"long after", sticktest.Start.Add(time.Hour), true},
		{"the clock went back by a minute", sticktest.Start.Add(-time.Minute), false},
		{"the clock went back by more", sticktest.Start.Add(-time.Minute - sticktest.Moment), true},
	} {
		t.Run(c.name, func(t *testing.T) { sticktest.Equal(t, "due", d.Due(c.now), c.due) })
	}

	sticktest.Equal(t, "at", d.At(), sticktest.Start.Add(time.Minute))
	sticktest.Equal(t, "earlier", stick.EarlierTime(2, 1), 1)
	sticktest.Equal(t, "earlier of never and a time", stick.EarlierTime(0, 1), 1)
	sticktest.Equal(t, "earlier of a time and never", stick.EarlierTime(2, 0), 2)
}
