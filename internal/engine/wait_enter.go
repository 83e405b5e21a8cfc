package engine

import (
	"context"
	"errors"
	"slices"

	"talkingstick/internal/bell"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// A wait that blocks mostly enters its room, asks for the turn and registers in one transaction. For that it has
// to listen before it begins, so it finds out first which room that is.

// listening is what a wait needs before it registers: whoever reads its row finds its lock taken, and its bell
// rings for every commit after the row's.
type listening struct {
	room     stick.RoomID
	presence *bell.Presence
	watch    *store.Watch
}

func (l *listening) close() {
	if l.watch != nil {
		l.watch.Close()
	}
	if l.presence != nil {
		l.presence.Close()
	}
	*l = listening{}
}

// prepareToRegister listens to the room that the wait is about to enter. Where it can't, the wait enters first and
// registers then: there is no room, or others may be telling the agent something by an inbox.
func (w *wait) prepareToRegister(ctx context.Context) {
	if !w.q.Blocking || !w.e.core.Inboxes().Empty() {
		return
	}
	place, err := w.e.core.Place(w.p.Where)
	if err != nil {
		return
	}
	db, err := w.e.core.Open(ctx, false)
	if err != nil {
		return
	}

	var chain []string
	if place != nil {
		chain = place.Chain
	}

	var room stick.RoomID
	err = db.View(ctx, func(tx *store.Tx) error {
		room, _, err = tx.TurnAt(w.p.RoomID, chain)
		return err
	})
	if err == nil && room != "" {
		_ = w.listenTo(db, room)
	}
}

// listenTo takes the lock of the wait, and then listens to a room.
func (w *wait) listenTo(db *store.DB, room stick.RoomID) (err error) {
	self, err := w.e.core.Config.Procs.Self()
	if err != nil {
		self = stick.Process{}
	}
	w.listener = stick.Listener{
		ID: stick.ListenerID(db.NewID()), Agent: w.me.Agent, Purpose: w.q.Purpose,
		Deaf: w.turnOnly(), Process: self,
	}

	l := listening{room: room}
	if l.presence, err = db.Bell.TakePresence(string(w.listener.ID)); err == nil {
		l.watch, err = w.watchRoom(db, room)
	}
	if err != nil {
		l.close()
		w.listener = stick.Listener{}
		return err
	}

	w.listening = l
	return nil
}

// watchRoom listens to what concerns the wait. The rules that pick whom a commit rings don't know who is shown
// the room, nor which agents run in another's tool call, whose turn covers them: such a wait hears everything.
func (w *wait) watchRoom(db *store.DB, room stick.RoomID) (*store.Watch, error) {
	by := w.p.Caller
	if w.p.Shows != nil || len(by.Above)+len(by.AboveIn) > 0 {
		return db.Watch(room)
	}
	return db.WatchOwn(room, w.listener.ID)
}

// isListeningTo reports whether the wait listens to the room that it has entered.
func (w *wait) isListeningTo(room stick.RoomID) bool {
	return w.listening.watch != nil && w.listening.room == room
}

// enterListener adds the wait to the listeners of the room that it enters, and ends those that it replaces.
func (w *wait) enterListener(o *op) error {
	w.listener.Agent, w.listener.StartedAt = w.me.Agent, o.Tx.Now()
	if err := w.replaceListeners(o.Tx, &o.Room); err != nil {
		return err
	}

	o.Room.Listeners = append(slices.Clip(o.Room.Listeners), w.listener)
	o.Probes.Listeners[w.listener.ID] = stick.Alive
	return nil
}

// storeListener stores the row of a wait that goes on, or forgets that of one that has its answer.
func (w *wait) storeListener(o *op) error {
	w.registered = !w.done
	if w.done {
		o.Room.Listeners = slices.DeleteFunc(slices.Clone(o.Room.Listeners), func(l stick.Listener) bool {
			return l.ID == w.listener.ID
		})
		return nil
	}

	o.Tx.RingLooksHere(o.Room.ID)
	return errors.Join(w.planWake(o.Tx, o.Probes, o.Room), o.Tx.PutListener(o.Room.ID, w.listener))
}

// register listens to the room and registers the wait, if it hasn't when it entered. The order matters: lock,
// bell, then the transaction that adds the row.
func (w *wait) register(ctx context.Context) error {
	w.listening.close()
	if err := w.listenTo(w.db, w.res.RoomID); err != nil {
		return err
	}

	err := w.registerListener(ctx)
	w.traceRead(byStart, w.done, err)
	return err
}

// registerListener reads the room for the first time in a blocked wait, and adds the listener's row.
func (w *wait) registerListener(ctx context.Context) error {
	return w.askAndWrite(ctx, func(tx *store.Tx, probes *core.Probes, r *stick.Room) error {
		if err := w.requireAlone(*r, probes, tx.Now()); err != nil {
			return err
		}
		if err := w.replaceListeners(tx, r); err != nil {
			return err
		}

		w.listener.StartedAt = tx.Now()
		return w.addListenerRow(tx, r)
	})
}

// replaceListeners ends the waits that this one replaces. They have to read that they are.
func (w *wait) replaceListeners(tx *store.Tx, r *stick.Room) error {
	for _, l := range r.Listeners {
		if !w.replacesListener(l) {
			continue
		}
		if err := tx.DropListener(l.ID); err != nil {
			return err
		}
		tx.RingFor(r.ID, stick.Ring{Listeners: []stick.ListenerID{l.ID}}, tx.ManyHosts())
	}

	r.Listeners = slices.DeleteFunc(slices.Clone(r.Listeners), w.replacesListener)
	return nil
}

// addListenerRow adds the listener's row.
func (w *wait) addListenerRow(tx *store.Tx, r *stick.Room) error {
	// The room that was read keeps its rows.
	r.Listeners = append(slices.Clip(r.Listeners), w.listener)
	tx.RingLooksHere(r.ID)
	return tx.PutListener(r.ID, w.listener)
}

// hasListenerRow reports whether the listener's row is there.
func (w *wait) hasListenerRow(r stick.Room) bool {
	return slices.ContainsFunc(r.Listeners, func(l stick.Listener) bool { return l.ID == w.listener.ID })
}

// lostListenerRow reports whether the listener's row is gone although no other wait has replaced this one. A
// server that its standby has replaced may have lost the row, and the wait itself has deleted it where the
// answer to a commit got lost.
func (w *wait) lostListenerRow(r stick.Room) bool {
	if w.hasListenerRow(r) || r.WaitStatusOf(w.me.Agent) != "" {
		return false
	}
	if w.me.Agent.Human() {
		return true // people may wait in several terminals
	}

	return !slices.ContainsFunc(r.Listeners, func(l stick.Listener) bool {
		return l.Agent == w.me.Agent && (l.Purpose == stick.Wake) == w.forIdle
	})
}

// replacesListener reports whether the wait ends l, another wait of its member. It does so on request, and
// when both would wake the same idle agent.
func (w *wait) replacesListener(l stick.Listener) bool {
	if l.Agent != w.me.Agent || l.ID == w.listener.ID {
		return false
	}

	if w.forIdle || l.Purpose == stick.Wake {
		return w.forIdle && l.Purpose == stick.Wake
	}

	return w.p.Replace && !w.me.Agent.Human()
}
