package stick

import (
	"math"
	"time"

	"talkingstick/stick/glob"
)

// Reservation is an agent's claim on the paths that a pattern matches. Others see it. In a room that
// enforces scopes, its owner may edit these paths without the stick. Everything about it follows from the
// log, except for whether it is stale.
type Reservation struct {
	ID      int64        `json:"reservation_id"` // the event that made it; an earlier reservation has a lower id
	Agent   AgentID      `json:"agent_id"`
	Pattern glob.Pattern `json:"pattern"`
	Task    string       `json:"task_id,omitempty"`
	TTL     Millis       `json:"ttl_ms"`
	MadeAt  Time         `json:"made_at"`
}

// Millis is a duration that is kept and written in milliseconds.
type Millis int64

// Duration returns m as a time.Duration. A value out of its range becomes the longest one.
func (m Millis) Duration() time.Duration {
	const most = math.MaxInt64 / Millis(time.Millisecond)
	return time.Duration(max(-most, min(most, m))) * time.Millisecond
}

// ReservationFrom returns the reservation that the event e made.
func (p ReservedPayload) ReservationFrom(e Event) Reservation {
	return Reservation{ID: e.Seq, Agent: e.From, Pattern: p.Pattern, Task: e.Task, TTL: p.TTL, MadeAt: e.CreatedAt}
}
