package core

import (
	"slices"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// LastGrant returns the event of the caller's own last grant, or nil.
func (o *Op) LastGrant() (*stick.Event, error) {
	events, _, err := o.Tx.Events(store.EventQuery{
		Room: o.Room.ID, From: o.Me.Agent, Limit: 1, Newest: true,
		Types: []stick.EventType{stick.EventClaim, stick.EventTakeover},
	})
	if err != nil || len(events) == 0 {
		return nil, err
	}

	return &events[0], nil
}

// HasUnreserved reports whether the caller has released a reservation for which like returns true.
func (o *Op) HasUnreserved(like func(stick.Event) bool) (bool, error) {
	const most = 500
	events, _, err := o.Tx.Events(store.EventQuery{
		Room: o.Room.ID, From: o.Me.Agent, Types: []stick.EventType{stick.EventUnreserved}, Limit: most, Newest: true,
	})
	return slices.ContainsFunc(events, like), err
}
