package bell

import "time"

const (
	netFirst  = 2 * time.Second
	netLast   = 60 * time.Second
	netHeard  = 8 * time.Minute
	netJitter = 0.2
)

// Net is the slow net under the bell: it says how long a waiter sleeps before it reads again although
// nothing rang. The times start at 2 s and double up to 60 s. Each varies by 20 % either way, so that many
// waiters don't read at the same time. A Net belongs to one goroutine.
type Net struct {
	rand func() float64
	next time.Duration
}

// NewNet returns a Net. The function rand returns numbers in [0, 1), as [math/rand/v2.Float64] does.
func NewNet(rand func() float64) *Net { return &Net{rand: rand, next: netFirst} }

// Next returns how long to sleep now.
func (n *Net) Next() time.Duration { return n.nextUpTo(netLast) }

// NextHeard returns how long a waiter sleeps now who knows that nothing rang, because another process hears
// everything and says so. It is up to 8 minutes.
func (n *Net) NextHeard() time.Duration { return n.nextUpTo(netHeard) }

func (n *Net) nextUpTo(most time.Duration) time.Duration {
	d := min(n.next, most)
	n.next = min(2*d, most)
	return time.Duration(float64(d) * (1 - netJitter + 2*netJitter*n.rand()))
}

// Reset goes back to the shortest time. Callers use it after a ring: more is likely to happen soon.
func (n *Net) Reset() { n.next = netFirst }
