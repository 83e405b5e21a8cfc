package core

import (
	"cmp"
	"math"
	"slices"

	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/presence"
	"talkingstick/stick/talk"
)

// ReachOf returns how a message that isn't stored yet reaches a recipient, and when it wakes one that is
// idle. It fails with [ErrUnseenInbox].
func (o *Op) ReachOf(
	a stick.AgentID, sent stick.Event, all *Inboxes,
) (how presence.Delivery, wake stick.Deadline, err error) {
	// The message isn't stored, and counts as the newest.
	sent.Seq, sent.CreatedAt = math.MaxInt64, o.Tx.Now()
	wake = stick.Deadline{SetAt: sent.CreatedAt}
	var in presence.Inbox
	var missed bool
	if in.Process, missed = all.Listens(a); missed {
		return "", wake, ErrUnseenInbox
	}

	if !in.Process.IsZero() {
		signs, err := o.Tx.SessionSigns(o.Room.ID)
		if err != nil {
			return "", wake, err
		}

		in.Signs = signs[a]
	}

	if !in.Process.IsZero() || o.Room.Listening(a, stick.Wake, o.Probes.Probed) {
		if wake, err = WakeDeadline(o.Tx, o.Room.ID, sent, a); err != nil {
			return "", wake, err
		}
	}

	return presence.Reaches(o.Room, a, wake, in, o.Probes.Probed, o.Tx.Now()), wake, nil
}

// maxPaced is how many events of each kind count for the pace at which two agents wake each other. More than
// it takes to reach the longest delay.
const maxPaced = 64

// WakeDeadline returns when an event may wake a, if a is idle. See [talk.WakeAt].
func WakeDeadline(tx *store.Tx, room stick.RoomID, e stick.Event, a stick.AgentID) (stick.Deadline, error) {
	var past []stick.Event
	for _, who := range []stick.AgentID{a, e.From} {
		for _, q := range []store.EventQuery{{From: who}, {For: who}} {
			q.Room, q.Types, q.Limit, q.Newest = room, talk.WakeTypes, maxPaced, true
			events, _, err := tx.Events(q)
			if err != nil {
				return stick.Deadline{}, err
			}

			past = append(past, events...)
		}
	}

	// An event from one to the other comes in several answers.
	slices.SortFunc(past, func(x, y stick.Event) int { return cmp.Compare(x.Seq, y.Seq) })
	past = slices.CompactFunc(past, func(x, y stick.Event) bool { return x.Seq == y.Seq })
	return talk.WakeAt(e, a, past), nil
}
