package talk

import (
	"slices"
	"time"

	"talkingstick/stick"
)

// How often a message between the same two agents wakes one that is idle. Two that answer each other would
// otherwise go on for ever, without a person who sees it.
const (
	promptWakes = 3               // so many wakes come at once
	firstDelay  = 5 * time.Second // the next one comes after this, and each later one after twice as long
	mostDelay   = 5 * time.Minute
)

// wakeDelay returns how long the nth wake between two agents is delayed.
func wakeDelay(n int) time.Duration {
	d := firstDelay
	for range n - promptWakes - 1 {
		if d = 2 * d; d >= mostDelay {
			return mostDelay
		}
	}

	if n <= promptWakes {
		return 0
	}

	return d
}

// WakeTypes are the types of events that [WakeAt] looks at.
var WakeTypes = []stick.EventType{
	stick.EventMessageSent, stick.EventMessageAcked, stick.EventClaim, stick.EventTakeover, stick.EventTaskApproved,
	stick.EventTaskChangesRequested,
}

// WakeAt returns when an event for an idle agent a may wake it: at once, or later if it comes from an agent
// and the two have woken each other several times. past holds earlier events of [WakeTypes], in the order of
// the log: those that the two made, and those that are for one of them.
//
// A wake is a message or an acknowledgement from one to the other after the author has done something since
// its last one to it: what an agent sends in one go wakes once. The count begins anew with a turn of one of
// the two, a person's message, a review, a BLOCKED message and an interrupting one. See
// docs/decisions/waking-agents.md#two-agents-that-wake-each-other.
func WakeAt(e stick.Event, a stick.AgentID, past []stick.Event) stick.Deadline {
	b := e.From
	if !isPaced(e) {
		return stick.Deadline{SetAt: e.CreatedAt}
	}

	// It counts the wakes between the two since something has ended their exchange.
	n := 0
	acted := map[stick.AgentID]bool{a: true, b: true} // the recipient has done something since the last wake of it by the other

	past = slices.DeleteFunc(slices.Clone(past), func(p stick.Event) bool { return p.Seq >= e.Seq })
	for _, p := range append(past, e) {
		if !isPaced(p) {
			n = 0
		}

		to := a
		if p.From == a {
			to = b
		}
		if p.From != a && p.From != b {
			continue
		}

		if isWakeFor(p, to) && acted[to] {
			n++

			// The recipient has to act before the next message to it counts again.
			acted[to] = false
		}

		acted[p.From] = true
	}

	return stick.Deadline{SetAt: e.CreatedAt, TTL: wakeDelay(n)}
}

// isPaced reports whether an event is one of those that agents can answer without end.
func isPaced(e stick.Event) bool {
	m := e.Message()
	return !e.From.Human() &&
		(e.Type == stick.EventMessageAcked || e.Type == stick.EventMessageSent && m.Category != stick.Blocked && m.Hint != stick.Interrupt)
}

// isWakeFor reports whether an event is a message or an acknowledgement for a.
func isWakeFor(e stick.Event, a stick.AgentID) bool {
	switch e.Type {
	case stick.EventMessageAcked:
		return e.To == a
	case stick.EventMessageSent:
		m := e.Message()
		return e.To == a || m.IsToEverybody() || slices.Contains(m.To, a)
	}
	return false
}
