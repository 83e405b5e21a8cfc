package timeline

import (
	"talkingstick/stick"
)

// Timeline shows a range of time of a room: which agents held the stick, were named for it or waited for it,
// and what happened to them. [Of] makes it.
type Timeline struct {
	From   stick.Time `json:"from"`   // the range begins
	To     stick.Time `json:"to"`     // the range ends
	Lanes  []Lane     `json:"lanes"`  // of the agents that something is known of, in the order in which they come up
	Pauses []Paused   `json:"pauses"` // when nobody was granted the stick
}

// Lane is one agent's part of a timeline. Its lists begin with the oldest.
type Lane struct {
	Agent  stick.AgentID `json:"agent_id"`
	Turns  int           `json:"turns"`     // how many it held in the range, also in part
	Held   stick.Millis  `json:"held_ms"`   // how long it held the stick in the range
	Waited stick.Millis  `json:"waited_ms"` // how long it waited for the stick in the range, as far as the log says so
	Holds  []Holding     `json:"holds"`     // its turns
	Named  []Naming      `json:"named"`     // when the stick was reserved for it
	Waits  []Waiting     `json:"waits"`     // when it waited for the stick
	Marks  []Mark        `json:"marks"`     // what happened to it
}

// Span is from when to when something lasted. That may be longer than the range of its timeline.
type Span struct {
	From stick.Time `json:"from"` // null if it began before the events that were read
	To   stick.Time `json:"to"`   // null if it went on after them
}

// In returns the part of s that lies between two times. ok is false if none does. If the clock went back
// while s lasted, s counts as a moment.
func (s Span) In(from, to stick.Time) (part Span, ok bool) {
	if !s.To.IsZero() {
		to = min(to, max(s.From, s.To))
	}
	from = max(s.From, from)
	return Span{from, to}, from <= to
}

// Holding is a turn, or as much of one as the events tell.
type Holding struct {
	Span
	Turn  int64             `json:"turn_id,omitempty"`
	Began stick.ClaimReason `json:"began,omitempty"`    // how it began; absent if that was before the events that were read
	Ended stick.EventType   `json:"ended,omitempty"`    // the type of the event that ended it; absent if it went on after them
	By    stick.AgentID     `json:"ended_by,omitempty"` // who ended it, if its holder didn't
}

// Naming is a time in which the stick was reserved for an agent.
type Naming struct {
	Span
	By      stick.ReservedBy `json:"reserved_by"` // release or pass
	Claimed bool             `json:"claimed"`     // the agent took the stick
}

// Waiting is a wait for the stick. The log tells of those that ended with a turn.
type Waiting struct {
	Span
	Turn int64 `json:"turn_id,omitempty"` // the turn that it ended with; absent while it goes on
}

// Mark is something that happened to an agent at a moment: it took the stick over, its scope overlapped with
// another's, or it was removed. The type of the event says which.
type Mark struct {
	At     stick.Time      `json:"at"`
	Type   stick.EventType `json:"event_type"` // takeover, incursion or kick
	Seq    int64           `json:"event_seq"`
	Turn   int64           `json:"turn_id"`
	Other  stick.AgentID   `json:"other_agent_id,omitempty"` // who had the stick, whose scope it was, or who removed it
	Cause  stick.Cause     `json:"cause,omitempty"`          // what opened the takeover
	Reason string          `json:"reason,omitempty"`
}

// Paused is a pause of the room.
type Paused struct {
	Span
	By     stick.AgentID `json:"by,omitempty"` // who paused the room; absent if that was before the events that were read
	Reason string        `json:"reason,omitempty"`
}

// Waiter is an agent that waits for the stick now.
type Waiter struct {
	Agent stick.AgentID
	Since stick.Time
}

// Waiters returns the members that wait for the stick now.
func Waiters(r stick.Room, s *stick.Probed, now stick.Time) []Waiter {
	var out []Waiter
	for _, m := range r.ListWaiting(s) {
		w := Waiter{m.Agent, r.WaitedSince(m.Agent, s, now)}
		if w.Since.IsZero() {
			w.Since = now
		}
		out = append(out, w)
	}

	return out
}

// Events are the types of events that a timeline is made of.
var Events = []stick.EventType{
	stick.EventClaim, stick.EventTakeover, stick.EventRelease, stick.EventPass, stick.EventRerouted,
	stick.EventLeave, stick.EventKick, stick.EventRestored, stick.EventClose,
	stick.EventRoomPaused, stick.EventRoomResumed, stick.EventIncursion,
}

// Of makes the timeline of a range of time from a room's events of the types [Events], the
// oldest first. They may begin in the middle of the log. Those before the range only say how things stood
// when it began. waiting are the agents that wait when the range ends; the log doesn't have them. See
// docs/decisions/screens-and-browser.md#timelines.
func Of(events []stick.Event, waiting []Waiter, from, to stick.Time) Timeline {
	d := drawing{at: map[stick.AgentID]int{}}
	for _, e := range events {
		d.drawEvent(e)
	}

	for _, w := range waiting {
		d.addWait(w)
	}

	return d.cutToRange(from, to)
}
