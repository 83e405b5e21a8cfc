package stick

import "slices"

// A commit rings those whom it concerns, and nobody else: in a room where a thousand wait, a message is for
// one of them. Somebody has to keep the time for the others, and to watch the process of the holder: the
// sentinels do. See docs/decisions/bells-and-waiting.md#who-is-rung.

// Ring says which waits of a room a commit wakes.
type Ring struct {
	All       bool // all of them
	Listeners []ListenerID
}

// sentinelCount is how many waits look at each new turn besides those that are named. One may be killed or
// stopped, and the other is left.
const sentinelCount = 2

// RingAfter returns whom a commit concerns that turned before into r by these events: whoever the events are
// for, whoever has, had, gets or loses the stick, whoever no longer rests, and the sentinels where the turn has
// changed. What may give something to do to anybody concerns all.
func (r Room) RingAfter(before Room, events []Event) Ring {
	return r.ringAfter(before, events, sentinelCount)
}

func (r Room) ringAfter(before Room, events []Event, sentinels int) Ring {
	if r.concernsAll(before, events) {
		return Ring{All: true}
	}

	named := map[AgentID]bool{}
	for _, e := range events {
		for _, a := range e.Addressees() {
			named[a.Agent] = true
		}
	}
	for _, a := range before.listResting() {
		named[a] = named[a] || !r.rests(a)
	}

	if r.isOtherTurn(before) {
		for _, t := range []Turn{before.Turn, r.Turn} {
			named[t.Owner], named[t.ReservedFor] = true, true
		}
		for _, a := range r.listSentinels(sentinels) {
			named[a] = true
		}
	}

	return r.ringWaitsOf(named)
}

// RingWithout returns whom it concerns that waits of the room end: if one of them was a sentinel, those that
// are sentinels now, since they may not have looked at the turn.
func (r Room) RingWithout(ended ...ListenerID) Ring { return r.ringWithout(sentinelCount, ended) }

func (r Room) ringWithout(sentinels int, ended []ListenerID) Ring {
	before := r.listSentinels(sentinels)
	r.Listeners = slices.DeleteFunc(slices.Clone(r.Listeners), func(l Listener) bool {
		return slices.Contains(ended, l.ID)
	})

	after := r.listSentinels(sentinels)
	if slices.Equal(before, after) {
		return Ring{}
	}

	named := map[AgentID]bool{}
	for _, a := range after {
		named[a] = true
	}
	return r.ringWaitsOf(named)
}

// Sentinels rings the sentinels.
func (r Room) Sentinels() Ring {
	named := map[AgentID]bool{}
	for _, a := range r.listSentinels(sentinelCount) {
		named[a] = true
	}
	return r.ringWaitsOf(named)
}

// ringWaitsOf rings all waits of the named agents.
func (r Room) ringWaitsOf(named map[AgentID]bool) (ring Ring) {
	for _, l := range r.Listeners {
		if named[l.Agent] {
			ring.Listeners = append(ring.Listeners, l.ID)
		}
	}
	return ring
}

// isOtherTurn reports whether somebody else has the stick, or may have it next.
func (r Room) isOtherTurn(before Room) bool {
	t, b := r.Turn, before.Turn
	isSameGrant := t.ID == b.ID && t.Lease == b.Lease && t.State == b.State
	return !isSameGrant || t.ReservedFor != b.ReservedFor || t.ReservedAt != b.ReservedAt
}

// concernsAll reports whether a change may give any wait something to do, or another deadline. What isn't known
// to be harmless does.
func (r Room) concernsAll(before Room, events []Event) bool {
	t, b := r.Turn, before.Turn
	switch {
	case slices.ContainsFunc(events, Event.concernsAll):
		return true
	case r.Policy != before.Policy:
		return true // deadlines follow from it, and a grant may change it

	// Whoever waits may take the free stick, and whoever was passed over may be named again.
	case t.State == Idle && b.State != Idle:
		return true

	// A takeover is open, or was offered to somebody: each wait has its own time for the next offer.
	case b.OpenedAt.IsZero() && !t.OpenedAt.IsZero(), !t.OfferedAt.IsZero() && t.OfferedAt != b.OfferedAt:
		return true
	}

	return false
}

// concernsAll reports whether an event may concern waits that it isn't for.
func (e Event) concernsAll() bool {
	switch e.Type {
	case EventJoin, EventClaim, EventRelease, EventPass, EventRerouted, EventDraftSaved, EventDraftAsked,
		EventMessageSent, EventMessageRead, EventMessageAcked, EventMessageWithdrawn,
		EventNoteAdded, EventNoteResolved,
		EventReserved, EventUnreserved, EventIncursion, EventResume,
		EventStickDenied, EventLateEdit, EventEditTold, EventWorkTaken, EventChangesAdopted, EventCallUndone,
		EventSessionStarted:
		return false
	}

	row, ok := e.Type.findRow()
	return !ok || !row.ofTask()
}

// listSentinels lists the first agents that wait for the stick, in the order in which they would get it, and
// after them those that wait for something else. Whoever has the stick, or is about to get it, doesn't count.
func (r Room) listSentinels(count int) []AgentID {
	waits := map[AgentID]bool{} // true: for the stick
	for _, l := range r.Listeners {
		waits[l.Agent] = waits[l.Agent] || l.Purpose == Work
	}
	delete(waits, r.Turn.Owner)
	delete(waits, r.Turn.ReservedFor)

	var working, others []Member
	for i := range r.Members {
		m := &r.Members[i]
		forWork, ok := waits[m.Agent]
		switch {
		case !ok || m.State != Joined:
		case forWork:
			working = append(working, *m)
		default:
			others = append(others, *m)
		}
	}

	var first []AgentID
	for _, m := range slices.Concat(r.sortByOrder(working), r.sortByOrder(others)) {
		if len(first) < count {
			first = append(first, m.Agent)
		}
	}
	return first
}
