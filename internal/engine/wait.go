package engine

import (
	"context"
	"slices"
	"time"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// WaitForTurnParams asks for the turn, or for anything else to act on.
type WaitForTurnParams struct {
	Caller Caller `json:"-"`
	Where
	// MaxWaitMS bounds the wait: nil waits until there is something, 0 looks once.
	MaxWaitMS *int64 `json:"max_wait_ms,omitempty"`
	Park      bool   `json:"park,omitempty"`      // wait for events only: never granted, never named
	TurnOnly  bool   `json:"turn_only,omitempty"` // ignore events
	Replace   bool   `json:"replace,omitempty"`   // end another wait of the same member
}

// WaitForTurnResult is what a wait came to. Status says which of the other fields are there.
type WaitForTurnResult struct {
	Status      stick.WaitStatus `json:"status"`
	RoomID      stick.RoomID     `json:"room_id"`
	Path        string           `json:"canonical_path"`
	AgentID     stick.AgentID    `json:"agent_id"`
	RoomState   stick.RoomState  `json:"room_state"`
	Reason      string           `json:"reason,omitempty"` // of your_turn and takeover_available
	CurrentTurn int64            `json:"current_turn_id"`
	Owner       *stick.AgentID   `json:"current_owner"`
	OwnedSince  stick.Time       `json:"owned_since"`
	ReservedFor *stick.AgentID   `json:"reserved_for"`
	Joined      bool             `json:"joined,omitempty"` // by this call
	Note        string           `json:"note,omitempty"`
	Events      []stick.Event    `json:"events"` // addressed to the caller, the oldest first
	More        bool             `json:"more,omitempty"`
	*Grant

	cursor int64 // up to which Events go
}

// maxWaitEvents bounds the events in one answer of a wait.
const maxWaitEvents = 50

// waitStream is the name of the cursor of waits.
const waitStream = "wait"

// WaitForTurn waits until there is something for the caller to act on, and claims the turn when
// the caller may have it. While it blocks it writes nothing. It joins the room, and makes it
// when there is none. It fails with [stick.CodeAlreadyListening] when the member waits already,
// and with [stick.CodeCanceled] when ctx ends or the process that the wait serves does; then
// nothing was granted.
func (e *Engine) WaitForTurn(ctx context.Context, p WaitForTurnParams) (WaitForTurnResult, error) {
	w := &wait{e: e, p: p, q: stick.Asking{Intent: stick.Work, Blocking: p.MaxWaitMS == nil || *p.MaxWaitMS > 0}}
	if p.Park {
		w.q.Intent = stick.Listen
	}
	err := w.outside(ctx, w.enter(ctx))
	if err == nil && !w.done && w.q.Blocking {
		err = w.block(ctx)
	}
	e.compare(w.res.Grant)
	return w.res, err
}

// Delivered notes that the events of a wait's answer have reached the caller. Until then they are
// given again: an answer can get lost, a handed-over event can't.
func (e *Engine) Delivered(ctx context.Context, res WaitForTurnResult) error {
	if len(res.Events) == 0 {
		return nil
	}
	db, err := e.open(ctx, false)
	if err != nil {
		return err
	}
	return db.Update(ctx, func(tx *store.Tx) error {
		return tx.Advance(res.RoomID, res.AgentID, waitStream, res.cursor)
	})
}

// wait is one wait.
type wait struct {
	e   *Engine
	db  *store.DB
	p   WaitForTurnParams
	q   stick.Asking
	me  identity
	res WaitForTurnResult

	done     bool
	listener stick.Listener
	next     stick.Time      // the deadline, zero for none
	now      stick.Time      // when it was computed
	watched  []stick.Process // whose death changes something
	grace    time.Duration   // the room's
}

// enter joins the room and looks once.
func (w *wait) enter(ctx context.Context) error {
	return w.e.act(ctx, w.p.Where, w.p.Caller, joinsIfNew, func(t *turn) error {
		w.me, w.q.Agent, w.q.Lease = t.me, t.me.Agent, t.lease
		if w.q.Blocking {
			if err := w.alone(t.room, t.s); err != nil {
				return err
			}
		}
		r, events, answer := t.room.Ask(w.q, t.s.Sight, t.tx.Now())
		t.add(r, events)
		err := w.answer(t.tx, t.s, t.room, answer)
		w.res.Joined, w.res.Note = t.joined, t.me.Note
		if w.done && w.q.Blocking {
			w.returned(t)
		}
		return err
	}, saved)
}

// outside answers a wait in a room that its caller has to join on purpose: one that is closed, or
// from which it was removed.
func (w *wait) outside(ctx context.Context, err error) error {
	if c := stick.CodeOf(err); c != stick.CodeRoomClosed && c != stick.CodeKicked {
		return err
	}
	return w.e.look(ctx, w.p.Where, w.p.Caller, func(tx *store.Tx, s *sights, r stick.Room, me identity) error {
		w.me = me
		status := r.Standing(me.Agent)
		if status != stick.WasKicked && r.Closed {
			status = stick.RoomClosed
		}
		return w.answer(tx, s, r, stick.Answer{Status: status})
	})
}

// alone refuses a second wait of the same member. A person may wait in several terminals.
func (w *wait) alone(r stick.Room, s *sights) error {
	if w.p.Replace || w.me.Agent.Human() {
		return nil
	}
	for _, l := range r.Listeners {
		if l.Agent != w.me.Agent || l.ID == w.listener.ID {
			continue
		}
		if v, ok := s.Listeners[l.ID]; !ok && s.probes < maxProbes {
			s.wanted = r
			return errProbe
		} else if v == stick.Alive {
			return stick.Errorf(stick.CodeAlreadyListening, "%s waits already, in process %d since %s", w.me.Agent, l.Process.PID, l.StartedAt).
				With("agent_id", w.me.Agent).With("pid", l.Process.PID).With("since", l.StartedAt).
				Hintf("let that wait bring you the turn, or end it: tt wait --replace")
		}
	}
	return nil
}

// answer turns what a look came to into the result; done is set when there is something to act on.
func (w *wait) answer(tx *store.Tx, s *sights, r stick.Room, a stick.Answer) error {
	now := tx.Now()
	w.done = a.Status != ""
	w.res = WaitForTurnResult{
		Status: stick.NotYet, RoomID: r.ID, Path: r.Path, AgentID: w.me.Agent, Joined: w.res.Joined, Note: w.res.Note,
		RoomState: r.State(s.Sight, now), CurrentTurn: r.Turn.ID, Events: []stick.Event{},
	}
	switch r.Turn.State {
	case stick.Owned:
		w.res.Owner, w.res.OwnedSince = &r.Turn.Owner, r.Turn.GrantedAt
	case stick.Reserved:
		w.res.ReservedFor = &r.Turn.ReservedFor
	}
	if a.Status != "" {
		w.res.Status = a.Status
	}
	switch a.Status {
	case stick.YourTurn:
		w.res.Reason = string(a.Claim)
		g, err := grantOf(tx, s, r, w.me, a.Claim)
		if err != nil {
			return err
		}
		w.res.Grant = g
	case stick.TakeoverAvailable:
		w.res.Reason = string(a.Opening.Cause)
	}
	if w.p.TurnOnly && !w.p.Park {
		return nil
	}
	return w.read(tx, r)
}

// read adds the events that are addressed to the caller and weren't delivered yet. The cursor
// moves past those that say nothing new as soon as a transaction that writes comes by.
func (w *wait) read(tx *store.Tx, r stick.Room) error {
	after, ok, err := tx.Cursor(r.ID, w.me.Agent, waitStream)
	if err != nil {
		return err
	}
	if m, _ := r.Member(w.me.Agent); !ok || after < m.JoinSeq {
		after = m.JoinSeq
	}
	read := after
	for more := true; more && len(w.res.Events) == 0; {
		var events []stick.Event
		if events, more, err = tx.Events(store.EventQuery{Room: r.ID, After: read, To: w.me.Agent, Limit: maxWaitEvents}); err != nil {
			return err
		}
		for _, e := range events {
			if e.Addressed(w.me.Agent) && !w.told(e, r) {
				w.res.Events = append(w.res.Events, e)
			}
			if len(w.res.Events) == 0 {
				read = e.Seq
			}
			w.res.cursor = e.Seq
		}
		w.res.More = more
	}
	if tx.Writes() && read > after {
		if err := tx.Advance(r.ID, w.me.Agent, waitStream, read); err != nil {
			return err
		}
	}
	if len(w.res.Events) > 0 && !w.done {
		w.done, w.res.Status = true, stick.GotEvents
	}
	return nil
}

// told tells whether an event says nothing beyond what a wait for work answers by itself: that the
// stick was given to the caller. It matters only to a parked wait.
func (w *wait) told(e stick.Event, r stick.Room) bool {
	switch e.Type {
	case stick.EventRelease, stick.EventPass, stick.EventRerouted:
		return w.q.Intent == stick.Work || r.Turn.State != stick.Reserved || r.Turn.ReservedFor != w.me.Agent
	}
	return false
}

// block waits for something to act on.
func (w *wait) block(ctx context.Context) error {
	db, err := w.e.open(ctx, true)
	if err != nil {
		return err
	}
	w.db = db
	self, err := w.e.cfg.Procs.Self()
	if err != nil {
		self = stick.Process{}
	}
	w.listener = stick.Listener{ID: stick.ListenerID(db.NewID()), Agent: w.me.Agent, Intent: w.q.Intent, Process: self}
	// The order matters: lock, bell, then the look that registers. Whoever sees the row finds the
	// lock held, and no commit after the look goes unheard.
	presence, err := db.Bell.Present(string(w.listener.ID))
	if err != nil {
		return err
	}
	defer presence.Close()
	bell, err := db.Bell.Watch(string(w.res.RoomID))
	if err != nil {
		return err
	}
	defer bell.Close()
	if err := w.register(ctx); err != nil {
		return err
	}
	if w.done {
		return nil
	}
	s := newSleep(w.e.cfg.Procs, bell.C, w.p.Caller.Process, w.p.MaxWaitMS)
	defer s.close()
	for !w.done {
		why := s.until(ctx, w.next, w.now, w.watched)
		switch why {
		case interrupted:
			return w.leave(stick.CodeCanceled)
		case timedOut:
			return w.end(ctx)
		}
		if s.slept {
			s.slept = false
			w.q.NotSoon = stick.At(time.Now()).Add(w.grace)
		}
		if err := w.look(ctx); err != nil {
			w.leave("")
			return err
		}
	}
	return nil
}

// register is the first look of a blocked wait: it also records the listener.
func (w *wait) register(ctx context.Context) error {
	return w.write(ctx, func(tx *store.Tx, s *sights, r *stick.Room) error {
		if err := w.alone(*r, s); err != nil {
			return err
		}
		if w.p.Replace && !w.me.Agent.Human() {
			for _, l := range r.Listeners {
				if l.Agent == w.me.Agent {
					if err := tx.DropListener(l.ID); err != nil {
						return err
					}
					tx.Ring(r.ID)
				}
			}
			r.Listeners = slices.DeleteFunc(r.Listeners, func(l stick.Listener) bool { return l.Agent == w.me.Agent })
		}
		w.listener.StartedAt = tx.Now()
		r.Listeners = append(slices.Clip(r.Listeners), w.listener)
		return tx.PutListener(r.ID, w.listener)
	})
}

// look sees whether there is something to act on. It reads a snapshot first, and writes only when
// the rules say that something changes.
func (w *wait) look(ctx context.Context) error {
	act := false
	err := w.e.view(ctx, w.db, w.p.Caller, func(tx *store.Tx, s *sights) error {
		here, err := tx.HasListener(w.listener.ID)
		if act = !here; err != nil || act {
			return err
		}
		// Most wakes change nothing for most waiters, so that a part of the room is enough to see it.
		r, err := tx.RoomPart(w.res.RoomID, w.me.Agent)
		if err != nil {
			return err
		}
		after, quiet, err := w.ask(tx, s, r)
		if err == nil && (!quiet || after.Turn.State == stick.Idle || after.Opening(s.Sight, tx.Now()).Open()) {
			if r, err = tx.Room(w.res.RoomID); err != nil {
				return err
			}
			after, quiet, err = w.ask(tx, s, r)
		}
		if err != nil {
			return err
		}
		if act = !quiet; act {
			return nil
		}
		if err := w.rest(tx, s, after); err != nil {
			return err
		}
		if err := w.answer(tx, s, after, stick.Answer{}); err != nil {
			return err
		}
		act = w.done
		return s.enough(after)
	})
	if err != nil || !act {
		return err
	}
	return w.write(ctx, nil)
}

// ask tries the rules on a snapshot; quiet is true when they would neither answer nor change it.
func (w *wait) ask(tx *store.Tx, s *sights, r stick.Room) (after stick.Room, quiet bool, err error) {
	r = r.Seen(tx.Generation(), tx.Now())
	after, _, a := r.Ask(w.q, s.Sight, tx.Now())
	return after, a.Status == "" && !a.Changed, s.enough(r)
}

// rest takes note of until when there is nothing to do, and of whose death would change that.
func (w *wait) rest(tx *store.Tx, s *sights, r stick.Room) error {
	w.grace = r.Policy.WaiterGrace
	w.now, w.next = tx.Now(), r.NextDeadline(w.q, s.Sight, tx.Now())
	w.watched = w.watched[:0]
	for _, a := range []stick.AgentID{r.Turn.Owner, r.Turn.ReservedFor} {
		m, ok := r.Member(a)
		for _, ev := range m.Processes {
			if ok && s.Processes[ev.Process] != stick.Gone {
				w.watched = append(w.watched, ev.Process)
			}
		}
	}
	return s.enough(r)
}

// write looks again in a transaction that may change the room. When there is something to act
// on, the listener ends in the same transaction.
func (w *wait) write(ctx context.Context, first func(*store.Tx, *sights, *stick.Room) error) error {
	return w.e.update(ctx, w.db, w.p.Caller, func(tx *store.Tx, s *sights) error {
		r, err := tx.Room(w.res.RoomID)
		if err != nil {
			return err
		}
		t := &turn{tx: tx, s: s, me: w.me, before: r, room: r}
		t.add(r.Restore(tx.Generation(), tx.World(), tx.Now()))
		s.Listeners[w.listener.ID] = stick.Alive
		if first != nil {
			if err := first(tx, s, &t.room); err != nil {
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
			r, events, a = t.room.Ask(w.q, s.Sight, tx.Now())
			t.add(r, events)
		} else if a.Status = t.room.Standing(w.me.Agent); a.Status == "" {
			a.Status = stick.WasReplaced
		}
		if err := w.rest(tx, s, t.room); err != nil {
			return err
		}
		if err := w.answer(tx, s, t.room, a); err != nil {
			return err
		}
		if err := s.enough(t.room); err != nil {
			return err
		}
		if w.done {
			if err := w.unregister(t); err != nil {
				return err
			}
		}
		return t.save()
	})
}

// unregister ends the listener's row.
func (w *wait) unregister(t *turn) error {
	w.returned(t)
	return t.tx.DropListener(w.listener.ID)
}

// returned leaves the member of a wait for work that came back without the turn a candidate for a
// moment, because it is likely to ask again.
func (w *wait) returned(t *turn) {
	if w.q.Intent == stick.Work && w.res.Status != stick.YourTurn && w.res.Status != stick.WasReplaced {
		t.room = t.room.Returned(w.me.Agent, t.tx.Now())
	}
}

// end returns at the caller's limit, after a last look.
func (w *wait) end(ctx context.Context) error {
	if err := w.look(ctx); err != nil || w.done {
		return err
	}
	return w.e.update(ctx, w.db, w.p.Caller, func(tx *store.Tx, s *sights) error {
		r, err := tx.Room(w.res.RoomID)
		if err != nil {
			return err
		}
		t := &turn{tx: tx, s: s, me: w.me, before: r, room: r}
		if err := w.unregister(t); err != nil {
			return err
		}
		return t.save()
	})
}

// leave ends the listener's row without an answer. Whoever interrupts a wait won't ask again, so
// its member is no candidate afterwards.
func (w *wait) leave(code stick.Code) error {
	err := w.db.Update(context.Background(), func(tx *store.Tx) error { return tx.DropListener(w.listener.ID) })
	if code == "" {
		return err
	}
	return stick.Errorf(code, "the wait was interrupted; nothing was changed")
}
