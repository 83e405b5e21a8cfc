package store

import (
	"slices"

	"talkingstick/internal/bell"
	"talkingstick/stick"
)

// Ring wakes all waiters of a room after the commit.
func (tx *Tx) Ring(r stick.RoomID) { tx.addBell(&tx.rings, string(r)) }

// RingFor wakes after the commit whom it concerns, and those who follow the log of the room, if it has grown.
// Where other hosts have the database open, that is everybody.
func (tx *Tx) RingFor(r stick.RoomID, ring stick.Ring, hasGrown bool) {
	switch {
	case tx.ManyHosts():
		if hasGrown {
			tx.Ring(r)
		}
	case ring.All:
		tx.Ring(r)
	case hasGrown || len(ring.Listeners) > 0:
		tx.ringSome(string(r), ring.Listeners)
	}
}

// ringSome rings those who follow a bell, and some listeners.
func (tx *Tx) ringSome(bellName string, listeners []stick.ListenerID) {
	i := slices.IndexFunc(tx.someRings, func(s bell.SomeOf) bool { return s.Room == bellName })
	if i < 0 {
		i = len(tx.someRings)
		tx.someRings = append(tx.someRings, bell.SomeOf{Room: bellName})
	}

	some := &tx.someRings[i]
	for _, l := range listeners {
		tx.addBell(&some.Listeners, string(l))
	}
}

// RingLooks wakes those who show a room to people, and no waiters, after the commit.
func (tx *Tx) RingLooks(r stick.RoomID) {
	if tx.ManyHosts() {
		tx.addBell(&tx.rings, looksBell(r))
		return
	}
	tx.ringSome(looksBell(r), nil)
}

// RingLooksHere is [Tx.RingLooks] on this host alone, for what happens too often to tell a server each time.
// Other hosts see it with the next ring.
func (tx *Tx) RingLooksHere(r stick.RoomID) {
	if tx.ManyHosts() {
		tx.addBell(&tx.ringsHere, looksBell(r))
		return
	}
	tx.ringSome(looksBell(r), nil)
}

func (tx *Tx) addBell(bells *[]string, name string) {
	if !slices.Contains(*bells, name) {
		*bells = append(*bells, name)
	}
}
