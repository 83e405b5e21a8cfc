package sticktest

import (
	"slices"

	"talkingstick/stick"
	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
)

// Standing returns the reservations that the log has, the earliest first.
func (f *Fixture) Standing() []stick.Reservation {
	var out []stick.Reservation
	for _, v := range f.Record.Reservations {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b stick.Reservation) int { return int(a.ID - b.ID) })
	return out
}

// TryReserve lets an agent reserve paths.
func (f *Fixture) TryReserve(q scope.Reserving) ([]stick.Event, []scope.Meet, error) {
	f.T.Helper()
	for _, e := range f.Log {
		if e.Type == stick.EventIncursion && e.From == q.By {
			q.Told = append(q.Told, e)
		}
	}
	events, met, err := scope.Reserve(f.Room, q, f.Standing(), f.Probed, f.Now)
	return f.Commit(f.Room, events), met, err
}

// Reserves makes one reservation, which is granted.
func (f *Fixture) Reserves(a stick.AgentID, p glob.Pattern) stick.Reservation {
	f.T.Helper()
	events, _, err := f.TryReserve(scope.Reserving{By: a, Patterns: []glob.Pattern{p}})
	if err != nil || len(events) == 0 {
		f.T.Fatalf("reserve %s: %v, %d events", p, err, len(events))
	}
	return scope.ReservationOf(events[0])
}

// CommitEvents commits the events of an act that changes nothing else in the room.
func (f *Fixture) CommitEvents(events []stick.Event, err error) ([]stick.Event, error) {
	return f.TryCommit(f.Room, events, err)
}
