package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// blockUntilAnswered waits until there is something to act on.
func (w *wait) blockUntilAnswered(ctx context.Context) error {
	db, err := w.e.core.Open(ctx, true)
	if err != nil {
		return err
	}
	w.db = db

	if !w.hasInbox {
		_, w.hasInbox = w.e.core.Inboxes().InboxOf(w.me.Agent)
	}

	defer w.listening.close()
	if !w.registered {
		if err := w.register(ctx); err != nil || w.done {
			return err
		}
	}

	w.wakeOthers(ctx)
	defer w.stopWakingOthers()

	return w.sleepUntilAnswered(ctx, w.listening.watch)
}

// sleepUntilAnswered sleeps and reads the room in turns, until there is something to act on.
func (w *wait) sleepUntilAnswered(ctx context.Context, watch *store.Watch) error {
	s := newSleep(w.e.core.Config.Procs, watch, w.p.Caller.Process, core.WaitLimit(w.p.MaxWaitMS, w.p.AtMost, w.maxWait))
	defer s.close()
	s.alone = w.e.core.Config.Alone

	for !w.done {
		if w.p.Shows != nil {
			w.p.Shows(w.standing)
		}

		s.follow, s.netMost = w.follow, w.netMost
		why := s.sleepUntil(ctx, w.next, w.now, w.watched)
		switch why {
		case byInterrupt:
			return w.leaveUnanswered(stick.CodeCanceled)
		case byLimit:
			return w.endAtLimit(ctx)
		}

		// The machine has slept. No offer comes until the others have had time to wake, too.
		if s.suspended {
			s.suspended = false
			w.q.NotSoon = stick.At(w.e.core.Now()).Add(w.grace)
		}

		before := w.seen
		err := w.checkRoom(ctx)
		w.traceRead(why, w.done, err)
		if why == byBell && w.seen != before {
			s.restartNet()
		}
		if err == nil && !w.done {
			w.wakeOthers(ctx)
		}

		if err != nil && ctx.Err() != nil {
			// The wait was interrupted while it read.
			return w.leaveUnanswered(stick.CodeCanceled)
		}

		if s.noteRead(core.IsUnavailable(err)); core.IsUnavailable(err) {
			// Whatever it was about to answer, perhaps that wasn't committed.
			w.done = false
			// The next ring, or the net under it, reads again: the server may be back.
			w.next = 0

			continue
		}

		if err != nil {
			w.leaveUnanswered("")
			return err
		}
	}

	return nil
}

// traceRead writes an entry for one read of the room, what caused it, and the answer if the wait ends with
// it.
func (w *wait) traceRead(why wakeCause, ends bool, err error) {
	r := core.WaitRead{
		RoomID: w.res.RoomID, AgentID: w.me.Agent, WokenBy: string(why),
		Next: w.next, Watched: len(w.watched),
	}
	if ends {
		r.Status = string(w.res.Status)
	}
	if err != nil {
		r.Error = string(stick.CodeOf(err))
	}

	w.e.core.Config.Trace.WaitRead(r)
}

// checkRoom answers the wait if there is something to act on. It reads first, and writes only if the rules
// would change something.
func (w *wait) checkRoom(ctx context.Context) error {
	act := false
	err := w.e.core.View(ctx, w.db, w.p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		here := false
		if err := tx.LaterListener(w.listener.ID, &here); err != nil {
			return err
		}

		// After most rings nothing has changed for most waiters, and a part of the room is enough to see
		// that. Only who is shown a place among those that wait needs all of it.
		r, err := tx.RoomPart(w.res.RoomID, w.me.Agent)
		if act = !here; err != nil || act {
			return err
		}

		r.Listeners, probes.Listeners[w.listener.ID] = []stick.Listener{w.listener}, stick.Alive
		after, quiet, err := w.tryRules(tx, probes, r)
		if act = err == nil && !quiet && r.Turn.ReservedFor == w.me.Agent; act {
			// Whatever the rest of the room says, it is for this wait to write.
			return nil
		}

		if err == nil && (w.p.Shows != nil || !quiet || isClaimable(after, probes, tx.Now())) {
			if r, err = tx.Room(w.res.RoomID); err != nil {
				return err
			}
			after, quiet, err = w.tryRules(tx, probes, r)
		}
		if err != nil {
			return err
		}

		if act = !quiet; act {
			return nil
		}

		if err := w.planWake(tx, probes, after); err != nil {
			return err
		}
		if err := w.buildAnswer(tx, probes, after, stick.Answer{}, nil); err != nil {
			return err
		}

		act = w.done
		return probes.RequireComplete(after)
	})
	if err != nil || !act {
		return err
	}

	return w.askAndWrite(ctx, nil)
}

// isClaimable reports whether nobody has the stick, or it can be taken over.
func isClaimable(r stick.Room, probes *core.Probes, now stick.Time) bool {
	return r.Turn.State == stick.Idle || r.Opening(probes.Probed, now).Open()
}

// tryRules tries the rules on a room that was read. quiet is true if they would neither answer nor change it.
func (w *wait) tryRules(tx *store.Tx, probes *core.Probes, r stick.Room) (after stick.Room, quiet bool, err error) {
	r = r.AtGeneration(tx.Generation(), tx.Now())
	after, _, a := r.Ask(w.q, probes.Probed, tx.Now())
	return after, a.Status == "" && !a.Changed, probes.RequireComplete(r)
}

// seenTurn is what of a turn a wait acts on. Where it has changed, a ring concerned the wait.
type seenTurn struct {
	id       int64
	state    stick.TurnState
	reserved stick.AgentID
	paused   bool
}

// shortestNet is the least that policies make of the slow net.
const shortestNet = 2 * time.Second

// planWake records the next deadline, and the processes whose end would come first.
func (w *wait) planWake(tx *store.Tx, probes *core.Probes, r stick.Room) error {
	w.grace, w.maxWait = r.Policy.WaiterGrace, r.Policy.TurnMaxWait
	w.now, w.next = tx.Now(), r.NextDeadline(w.q, probes.Probed, tx.Now())
	w.seen = seenTurn{r.Turn.ID, r.Turn.State, r.Turn.ReservedFor, r.Paused.On()}

	// A wait for the stick may have to keep the time for others whose rings got lost.
	w.netMost = 0
	if w.q.Purpose == stick.Work {
		w.netMost = max(r.Policy.ClaimTTL/2, shortestNet)
	}

	w.watched = w.watched[:0]
	for _, a := range []stick.AgentID{r.Turn.Owner, r.Turn.ReservedFor} {
		m, ok := r.Member(a)
		for _, ev := range m.Processes {
			if ok && probes.Processes[ev.Process] != stick.Gone {
				w.watched = append(w.watched, ev.Process)
			}
		}
	}

	if w.p.Shows != nil {
		w.recordStanding(probes, r)
	}

	return probes.RequireComplete(r)
}

// recordStanding records what p.Shows is told.
func (w *wait) recordStanding(probes *core.Probes, r stick.Room) {
	w.standing = Standing{NextAction: r.Turn.NextAction, Paused: r.Paused}
	switch r.Turn.State {
	case stick.Owned:
		w.standing.Owner, w.standing.OwnedSince = r.Turn.Owner, r.Turn.GrantedAt
	case stick.Reserved:
		w.standing.ReservedFor = r.Turn.ReservedFor
	}

	if w.q.Purpose == stick.Work {
		line := r.InLine(probes.Probed)
		w.standing.Place, w.standing.Of = slices.Index(line, w.me.Agent)+1, len(line)
	}
}

// askAndWrite asks again in a transaction that may change the room. If there is something to act on, the same
// transaction deletes the listener's row. first runs before the rules, and may be nil.
func (w *wait) askAndWrite(ctx context.Context, first func(*store.Tx, *core.Probes, *stick.Room) error) error {
	w.lockTelling(ctx)
	defer func() {
		// With an answer, the agent knows its events once they are recorded as delivered.
		if !w.done {
			w.unlockTelling()
		}
	}()

	return w.e.core.Update(ctx, w.db, w.p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		r, err := tx.Room(w.res.RoomID)
		if err != nil {
			return err
		}

		o := &op{&core.Op{Tx: tx, Probes: probes, Me: w.me, Before: r, Room: r}}
		probes.Listeners[w.listener.ID] = stick.Alive
		o.Apply(r.Restore(tx.Generation(), probes.Probed, tx.Now()))

		if first != nil {
			if err := first(tx, probes, &o.Room); err != nil {
				return err
			}
		}

		// The row may be lost although nobody replaced the wait.
		if w.lostListenerRow(o.Room) {
			if err := w.addListenerRow(tx, &o.Room); err != nil {
				return err
			}
		}

		var a stick.Answer
		if w.hasListenerRow(o.Room) {
			var events []stick.Event
			r, events, a = o.Room.Ask(w.q, probes.Probed, tx.Now())
			o.Apply(r, events)
		} else if a.Status = o.Room.WaitStatusOf(w.me.Agent); a.Status == "" {
			a.Status = stick.WasReplaced
		}

		if err := w.planWake(tx, probes, o.Room); err != nil {
			return err
		}
		if err := w.buildAnswer(tx, probes, o.Room, a, o.Events); err != nil {
			return err
		}
		if err := probes.RequireComplete(o.Room); err != nil {
			return err
		}

		if w.done {
			if err := w.removeListener(o); err != nil {
				return err
			}
		}

		return o.Save()
	})
}

// removeListener deletes the listener's row.
func (w *wait) removeListener(o *op) error {
	w.markReturned(o)
	o.Tx.RingLooksHere(o.Room.ID)
	if err := o.EndListeners(w.listener.ID); err != nil {
		return err
	}

	w.heirs = o.Room.Sentinels()
	return nil
}

// markReturned marks a member whose wait for work ended without the turn. It stays a candidate for a moment,
// because it will probably ask again. One that works under another's turn won't.
func (w *wait) markReturned(o *op) {
	settled := []stick.WaitStatus{stick.YourTurn, stick.WasReplaced, stick.UnderParent}
	if w.q.Purpose == stick.Work && !slices.Contains(settled, w.res.Status) {
		since := w.listener.StartedAt

		// A wait that didn't block has no start.
		if since.IsZero() {
			since = o.Tx.Now()
		}

		o.Room = o.Room.Returned(w.me.Agent, since, o.Tx.Now())
	}
}

// endAtLimit returns at the caller's limit, after a last check.
func (w *wait) endAtLimit(ctx context.Context) error {
	err := w.checkRoom(ctx)
	w.traceRead(byLimit, true, err)
	if err != nil || w.done {
		return err
	}

	return w.e.core.Update(ctx, w.db, w.p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		r, err := tx.Room(w.res.RoomID)
		if err != nil {
			return err
		}

		o := &op{&core.Op{Tx: tx, Probes: probes, Me: w.me, Before: r, Room: r}}
		if err := w.removeListener(o); err != nil {
			return err
		}
		return o.Save()
	})
}

// leaveUnanswered deletes the listener's row without an answer. A member whose wait was interrupted won't ask
// again, so it is no candidate afterwards.
func (w *wait) leaveUnanswered(code stick.Code) error {
	// The caller's context may have ended.
	err := w.db.Update(context.Background(), func(tx *store.Tx) error {
		r, err := tx.Room(w.res.RoomID)
		if err != nil {
			return errors.Join(err, tx.DropListener(w.listener.ID))
		}

		o := &op{&core.Op{Tx: tx, Me: w.me, Before: r, Room: r}}
		tx.RingLooksHere(r.ID)
		err = o.EndListeners(w.listener.ID)
		w.heirs = o.Room.Sentinels()
		return err
	})

	if code == "" {
		return err
	}
	if w.res.Joined {
		return stick.Errorf(code, "the wait was interrupted; you joined the room, and nothing else was changed")
	}

	return stick.Errorf(code, "the wait was interrupted; nothing was changed")
}
