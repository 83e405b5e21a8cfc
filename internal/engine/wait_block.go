package engine

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// blockUntilAnswered waits for something to act on.
func (w *wait) blockUntilAnswered(ctx context.Context) error {
	db, err := w.e.core.Open(ctx, true)
	if err != nil {
		return err
	}
	w.db = db
	self, err := w.e.core.Config.Procs.Self()
	if err != nil {
		self = stick.Process{}
	}
	w.listener = stick.Listener{ID: stick.ListenerID(db.NewID()), Agent: w.me.Agent, Purpose: w.q.Purpose, Deaf: w.turnOnly(), Process: self}
	// The order matters: lock, bell, then the look that registers. Whoever sees the row finds the
	// lock held, and no commit after the look goes unheard.
	presence, err := db.Bell.TakePresence(string(w.listener.ID))
	if err != nil {
		return err
	}
	defer presence.Close()
	bell, err := db.Bell.Watch(string(w.res.RoomID))
	if err != nil {
		return err
	}
	defer bell.Close()
	err = w.register(ctx)
	w.trace(byStart, err)
	if err != nil {
		return err
	}
	if w.done {
		return nil
	}
	s := newSleep(w.e.core.Config.Procs, bell.C, w.p.Caller.Process, bounded(w.p.MaxWaitMS, w.p.AtMost, w.most))
	defer s.close()
	proc.Shrink()
	for !w.done {
		why := s.until(ctx, w.next, w.now, w.watched)
		switch why {
		case byInterrupt:
			return w.leave(stick.CodeCanceled)
		case byLimit:
			return w.end(ctx)
		}
		if s.slept {
			s.slept = false
			w.q.NotSoon = stick.At(w.e.core.Now()).Add(w.grace)
		}
		err := w.check(ctx)
		w.trace(why, err)
		if err != nil {
			w.leave("")
			return err
		}
	}
	return nil
}

// trace writes down a look of the wait, and what woke it for that.
func (w *wait) trace(why wakeCause, err error) {
	r := core.WaitRead{RoomID: w.res.RoomID, AgentID: w.me.Agent, WokenBy: string(why), Next: w.next, Watched: len(w.watched)}
	if w.done {
		r.Status = string(w.res.Status)
	}
	if err != nil {
		r.Error = string(stick.CodeOf(err))
	}
	w.e.core.Config.Trace.WaitRead(r)
}

// register is the first look of a blocked wait: it also records the listener.
func (w *wait) register(ctx context.Context) error {
	return w.write(ctx, func(tx *store.Tx, probes *core.Probes, r *stick.Room) error {
		if err := w.noteAlone(*r, probes, tx.Now()); err != nil {
			return err
		}
		for _, l := range r.Listeners {
			if w.replaces(l) {
				if err := tx.DropListener(l.ID); err != nil {
					return err
				}
				tx.Ring(r.ID)
			}
		}
		r.Listeners = slices.DeleteFunc(r.Listeners, w.replaces)
		w.listener.StartedAt = tx.Now()
		r.Listeners = append(slices.Clip(r.Listeners), w.listener)
		return tx.PutListener(r.ID, w.listener)
	})
}

// replaces tells whether the wait ends another one of its member: where it was asked to, and where
// both are to wake the same idle agent.
func (w *wait) replaces(l stick.Listener) bool {
	if l.Agent != w.me.Agent || l.ID == w.listener.ID {
		return false
	}
	if w.wakes || l.Purpose == stick.Wake {
		return w.wakes && l.Purpose == stick.Wake
	}
	return w.p.Replace && !w.me.Agent.Human()
}

// check sees whether there is something to act on. It reads a snapshot first, and writes only when
// the rules say that something changes.
func (w *wait) check(ctx context.Context) error {
	act := false
	err := w.e.core.View(ctx, w.db, w.p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		here, err := tx.HasListener(w.listener.ID)
		if act = !here; err != nil || act {
			return err
		}
		// Most wakes change nothing for most waiters, so that a part of the room is enough to see it.
		r, err := tx.RoomPart(w.res.RoomID, w.me.Agent)
		if err != nil {
			return err
		}
		r.Listeners, probes.Listeners[w.listener.ID] = []stick.Listener{w.listener}, stick.Alive
		after, quiet, err := w.ask(tx, probes, r)
		if err == nil && (!quiet || after.Turn.State == stick.Idle || after.Opening(probes.Probed, tx.Now()).Open()) {
			if r, err = tx.Room(w.res.RoomID); err != nil {
				return err
			}
			after, quiet, err = w.ask(tx, probes, r)
		}
		if err != nil {
			return err
		}
		if act = !quiet; act {
			return nil
		}
		if err := w.plan(tx, probes, after); err != nil {
			return err
		}
		if err := w.answer(tx, probes, after, stick.Answer{}, nil); err != nil {
			return err
		}
		act = w.done
		return probes.Enough(after)
	})
	if err != nil || !act {
		return err
	}
	return w.write(ctx, nil)
}

// ask tries the rules on a snapshot; quiet is true when they would neither answer nor change it.
func (w *wait) ask(tx *store.Tx, probes *core.Probes, r stick.Room) (after stick.Room, quiet bool, err error) {
	r = r.AtGeneration(tx.Generation(), tx.Now())
	after, _, a := r.Ask(w.q, probes.Probed, tx.Now())
	return after, a.Status == "" && !a.Changed, probes.Enough(r)
}

// plan takes note of until when there is nothing to do, and of whose death would change that.
func (w *wait) plan(tx *store.Tx, probes *core.Probes, r stick.Room) error {
	w.grace, w.most = r.Policy.WaiterGrace, r.Policy.TurnMaxWait
	w.now, w.next = tx.Now(), r.NextDeadline(w.q, probes.Probed, tx.Now())
	w.watched = w.watched[:0]
	for _, a := range []stick.AgentID{r.Turn.Owner, r.Turn.ReservedFor} {
		m, ok := r.Member(a)
		for _, ev := range m.Processes {
			if ok && probes.Processes[ev.Process] != stick.Gone {
				w.watched = append(w.watched, ev.Process)
			}
		}
	}
	return probes.Enough(r)
}

// write looks again in a transaction that may change the room. When there is something to act
// on, the listener ends in the same transaction.
func (w *wait) write(ctx context.Context, first func(*store.Tx, *core.Probes, *stick.Room) error) error {
	return w.e.core.Update(ctx, w.db, w.p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		r, err := tx.Room(w.res.RoomID)
		if err != nil {
			return err
		}
		o := &op{&core.Op{Tx: tx, Probes: probes, Me: w.me, Before: r, Room: r}}
		o.Apply(r.Restore(tx.Generation(), tx.GenerationCause(), tx.Now()))
		probes.Listeners[w.listener.ID] = stick.Alive
		if first != nil {
			if err := first(tx, probes, &o.Room); err != nil {
				return err
			}
		}
		here, err := tx.HasListener(w.listener.ID)
		if err != nil {
			return err
		}
		var a stick.Answer
		if here {
			var events []stick.Event
			r, events, a = o.Room.Ask(w.q, probes.Probed, tx.Now())
			o.Apply(r, events)
		} else if a.Status = o.Room.WaitStatusOf(w.me.Agent); a.Status == "" {
			a.Status = stick.WasReplaced
		}
		if err := w.plan(tx, probes, o.Room); err != nil {
			return err
		}
		if err := w.answer(tx, probes, o.Room, a, o.Events); err != nil {
			return err
		}
		if err := probes.Enough(o.Room); err != nil {
			return err
		}
		if w.done {
			if err := w.unregister(o); err != nil {
				return err
			}
		}
		return o.Save()
	})
}

// unregister ends the listener's row.
func (w *wait) unregister(o *op) error {
	w.returned(o)
	return o.Tx.DropListener(w.listener.ID)
}

// returned leaves the member of a wait for work that came back without the turn a candidate for a
// moment, because it is likely to ask again.
func (w *wait) returned(o *op) {
	if w.q.Purpose == stick.Work && w.res.Status != stick.YourTurn && w.res.Status != stick.WasReplaced {
		o.Room = o.Room.Returned(w.me.Agent, o.Tx.Now())
	}
}

// end returns at the caller's limit, after a last look.
func (w *wait) end(ctx context.Context) error {
	err := w.check(ctx)
	w.trace(byLimit, err)
	if err != nil || w.done {
		return err
	}
	return w.e.core.Update(ctx, w.db, w.p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		r, err := tx.Room(w.res.RoomID)
		if err != nil {
			return err
		}
		o := &op{&core.Op{Tx: tx, Probes: probes, Me: w.me, Before: r, Room: r}}
		if err := w.unregister(o); err != nil {
			return err
		}
		return o.Save()
	})
}

// leave ends the listener's row without an answer. Whoever interrupts a wait won't ask again, so
// its member is no candidate afterwards.
func (w *wait) leave(code stick.Code) error {
	err := w.db.Update(context.Background(), func(tx *store.Tx) error { return tx.DropListener(w.listener.ID) })
	if code == "" {
		return err
	}
	if w.res.Joined {
		return stick.Errorf(code, "the wait was interrupted; you joined the room, and nothing else was changed")
	}
	return stick.Errorf(code, "the wait was interrupted; nothing was changed")
}
