package core

import (
	"slices"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// Record stores the caller's session and process. If the process is new, and the agent has the stick or a
// reserved turn, it rings the room: others wait for the end of the agent's processes, and now have one more
// to watch.
func (id Identity) Record(tx *store.Tx, probes *Probes) error {
	by := id.Caller
	if id.Unrecorded && id.Session.Key != "" {
		id.Session.Agent = id.Agent
		if err := tx.PutSession(id.Session); err != nil {
			return err
		}
	}

	// One session was recorded under two keys. Only the new key stays.
	if id.earlierKey != "" {
		if _, err := tx.EndSession(id.earlierKey, id.Agent); err != nil {
			return err
		}
	}

	// A person's shell says nothing about the agent whose name the person assumes.
	if by.Process.IsZero() || (by.Person && by.As != "") {
		return nil
	}

	recorded, err := tx.Processes(id.Agent)
	if err != nil {
		return err
	}

	ev := stick.Evidence{Process: by.Process, Proof: by.Proof}
	if slices.Contains(recorded, ev) {
		return id.recordReturn(tx, ev)
	}

	// Processes that have ended are dropped here, because a live one now vouches for the agent.
	var missed error
	for _, old := range recorded {
		v, err := probes.Verdict(old)
		if err != nil {
			missed = err
		} else if v == stick.Gone {
			if err := tx.DropProcess(id.Agent, old.Process); err != nil {
				return err
			}
		}
	}

	if missed != nil {
		return missed
	}
	if err := tx.PutProcess(id.Agent, id.Session.Key, ev); err != nil {
		return err
	}

	// Those who wait for the end of the agent's processes have one more to watch.
	rooms, err := tx.RoomsHeldBy(id.Agent)
	for _, r := range rooms {
		tx.Ring(r)
	}

	return err
}

// recordReturn records that a process carries a session again that it carried before. Later calls from this
// process that name no session need it.
func (id Identity) recordReturn(tx *store.Tx, ev stick.Evidence) error {
	by := id.Caller
	if by.As != "" || by.Person || by.SessionID == "" || by.Earlier || by.Proof == stick.ProvesCarrier {
		return nil
	}

	carried, known, err := tx.SessionOf(ev.Process)
	if err != nil || known && carried.Key == id.Session.Key {
		return err
	}

	return tx.PutProcess(id.Agent, id.Session.Key, ev)
}

// signEvents adds to the caller's own events its session, its terminal, and how it came by an assumed name.
func (id Identity) signEvents(events []stick.Event) []stick.Event {
	by := id.Caller
	for i, e := range events {
		// Other events are of what was due in the room anyway.
		if e.From != id.Agent {
			continue
		}

		events[i].Session = by.SessionID
		if by.As != "" || by.Terminal != "" {
			named := stick.Caller{Terminal: by.Terminal}
			if by.As != "" {
				named.Override = by.AsSource
			}

			events[i] = events[i].CalledBy(named)
		}
	}

	return events
}
