package engine

import (
	"testing"
	"time"
)

func TestSlept(t *testing.T) {
	for name, c := range map[string]struct {
		wall, monotonic time.Duration
		want            bool
	}{
		"awake":                        {2 * time.Second, 2 * time.Second, false},
		"the clock was set a bit":      {32 * time.Second, 2 * time.Second, false},
		"asleep":                       {33 * time.Second, 2 * time.Second, true},
		"the clock went back by a day": {-24 * time.Hour, 2 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wasSuspended(c.wall, c.monotonic); got != c.want {
				t.Errorf("slept(%s, %s) = %v, want %v", c.wall, c.monotonic, got, c.want)
			}
		})
	}
}
