package engine

import (
	"cmp"
	"slices"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// maxPaced is how many events of each kind count for the pace at which two agents wake each other. More than it takes to reach the
// longest delay.
const maxPaced = 64

// wakeAt returns when an event may wake a, if a is idle. See [stick.WakeAt].
func wakeAt(tx *store.Tx, room stick.RoomID, e stick.Event, a stick.AgentID) (stick.Deadline, error) {
	var past []stick.Event
	for _, who := range []stick.AgentID{a, e.From} {
		for _, q := range []store.EventQuery{{From: who}, {For: who}} {
			q.Room, q.Types, q.Limit, q.Newest = room, stick.WakeTypes, maxPaced, true
			events, _, err := tx.Events(q)
			if err != nil {
				return stick.Deadline{}, err
			}
			past = append(past, events...)
		}
	}
	slices.SortFunc(past, func(x, y stick.Event) int { return cmp.Compare(x.Seq, y.Seq) })
	past = slices.CompactFunc(past, func(x, y stick.Event) bool { return x.Seq == y.Seq })
	return stick.WakeAt(e, a, past), nil
}
