package bell

import "time"

const (
	netFirst  = 2 * time.Second
	netLast   = 60 * time.Second
	netJitter = 0.2
)

// Net is the slow net under the bell: how long a waiter sleeps before it looks although nothing
// rang. The times start at 2 s and double to 60 s; each is spread by 20 % either way, so that
// many waiters don't look all at once. A Net belongs to one goroutine.
type Net struct {
	rand func() float64
	next time.Duration
}

// NewNet makes a Net. The function rand returns numbers in [0, 1), as [math/rand/v2.Float64] does.
func NewNet(rand func() float64) *Net { return &Net{rand: rand, next: netFirst} }

// Next is how long to sleep now.
func (n *Net) Next() time.Duration {
	d := n.next
	n.next = min(2*d, netLast)
	return time.Duration(float64(d) * (1 - netJitter + 2*netJitter*n.rand()))
}

// Reset goes back to the shortest sleep. It is called after a ring: where something happened,
// more is likely to.
func (n *Net) Reset() { n.next = netFirst }
