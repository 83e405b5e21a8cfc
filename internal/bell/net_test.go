package bell

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNet(t *testing.T) {
	seconds := func(n *Net, count int) (s []float64) {
		for range count {
			s = append(s, n.Next().Round(time.Millisecond).Seconds())
		}
		return s
	}

	for _, test := range []struct {
		name string
		rand float64
		want []float64
	}{
		{"middle", 0.5, []float64{2, 4, 8, 16, 32, 60, 60}},
		{"earliest", 0, []float64{1.6, 3.2, 6.4, 12.8, 25.6, 48, 48}},
		{"latest", 0.999999, []float64{2.4, 4.8, 9.6, 19.2, 38.4, 72, 72}},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := NewNet(func() float64 { return test.rand })
			if diff := cmp.Diff(test.want, seconds(n, 7)); diff != "" {
				t.Error(diff)
			}

			n.Reset()
			if diff := cmp.Diff(test.want[:2], seconds(n, 2)); diff != "" {
				t.Errorf("after Reset: %s", diff)
			}
		})
	}
}

// TestNetWhenAnotherHears: who knows that nothing rang sleeps for minutes, and comes back to the common pace
// at once.
func TestNetWhenAnotherHears(t *testing.T) {
	n := NewNet(func() float64 { return 0.5 })
	var last time.Duration
	for range 9 {
		last = n.NextHeard()
	}
	if last != 8*time.Minute {
		t.Errorf("it sleeps for %s", last)
	}
	if next := n.Next(); next != time.Minute {
		t.Errorf("then for %s", next)
	}
}
