package task

import (
	"testing"
	"time"

	"talkingstick/stick"
)

// TestLiveness: a worker that is gone is STALE at once. A silent one is STALE after half a minute, with a
// warning after two. One that is alive but does nothing for 20 minutes is STUCK.
func TestLiveness(t *testing.T) {
	for _, c := range []struct {
		verdict stick.Verdict
		silent  time.Duration
		want    string
		warns   bool
	}{
		{stick.Alive, 0, "alive", false},
		{stick.Alive, 19 * time.Minute, "alive", false},
		{stick.Alive, 21 * time.Minute, "STUCK", true},
		{stick.Unknown, 30 * time.Second, "alive", false},
		{stick.Unknown, 31 * time.Second, "STALE", false},
		{stick.Unknown, 2 * time.Minute, "STALE", false},
		{stick.Unknown, 121 * time.Second, "STALE", true},
		{stick.Gone, 0, "STALE", true},
	} {
		got, warning := livenessOf(c.verdict, c.silent)
		if got != c.want || (warning != "") != c.warns {
			t.Errorf("%s after %s: %s, %q", c.verdict, c.silent, got, warning)
		}
	}
}
