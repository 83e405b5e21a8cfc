package engine

import (
	"context"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// HookParams is what a hook of a harness knows: whose session it is, and where.
type HookParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Sub bool // it is a sub-agent's: it shows that the session works, and isn't told what is for the agent
}

// hookStream is the name of the cursor of what hooks have shown.
const hookStream = "hook"

// freshHook is for how long what hooks note of a session need not be written again.
const freshHook = time.Minute

// Hooks serve rooms that exist, and members of them. Everywhere else they say nothing and write
// nothing, which their results tell by an empty RoomID.

// hooked runs a hook's transaction in the room of a place. It is silent where there is no room, in a
// closed one, and to a removed member. The agent need not be a member; if it is one, the hook shows
// that it is active, and else nothing is noted of it.
func (e *Engine) hooked(ctx context.Context, p HookParams, writes bool, fn func(*op) error) error {
	place, err := e.core.PlaceOfHook(p.Where)
	if err != nil {
		return err
	}
	db, err := e.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return nil
	}
	if err != nil {
		return err
	}
	run := func(tx *store.Tx, probes *core.Probes) error {
		o := &op{&core.Op{Tx: tx, Probes: probes}}
		o.Room, err = core.FindRoom(tx, p.Where, place)
		if stick.CodeOf(err) == stick.CodeNoRoom {
			return nil
		}
		if err != nil {
			return err
		}
		o.Before = o.Room
		if o.Me, err = core.Identify(tx, probes, p.Caller); err != nil {
			return err
		}
		m, ok := o.Room.Member(o.Me.Agent)
		if o.Room.Closed || ok && m.State == stick.Kicked {
			return nil
		}
		if !writes {
			o.Room = o.Room.AtGeneration(tx.Generation(), tx.Now())
			if err := fn(o); err != nil {
				return err
			}
			return probes.Enough(o.Room)
		}
		o.Apply(o.Room.Restore(tx.Generation(), tx.GenerationCause(), tx.Now()))
		if ok && m.State == stick.Joined {
			if err := o.Me.Record(tx, probes); err != nil {
				return err
			}
			o.Room = o.Room.Touch(o.Me.Agent, tx.Now())
		}
		o.RefreshProcess()
		if err := fn(o); err != nil {
			return err
		}
		if err := probes.Enough(o.Room); err != nil {
			return err
		}
		return o.Save()
	}
	if writes {
		return e.core.Update(ctx, db, p.Caller, run)
	}
	return e.core.View(ctx, db, p.Caller, run)
}

// DeliverEventsResult is what is new for an agent while it works.
type DeliverEventsResult struct {
	RoomID  stick.RoomID  `json:"room_id,omitempty"`
	AgentID stick.AgentID `json:"agent_id,omitempty"`
	Events  []stick.Event `json:"events"`
	More    bool          `json:"more,omitempty"`

	// Unstarted says that the caller works here, and that its session began before there was a room, which it
	// doesn't know of.
	Unstarted bool `json:"-"`

	due    bool // the hook has something to note
	cursor int64
}

// DeliverEvents looks for what is new for the caller: what neither a wait nor a hook has shown yet.
// It only reads; [Engine.HookDelivered] notes what was shown.
func (e *Engine) DeliverEvents(ctx context.Context, p HookParams) (DeliverEventsResult, error) {
	res := DeliverEventsResult{Events: []stick.Event{}}
	away := false // the caller's session runs in another room
	err := e.hooked(ctx, p, false, func(o *op) (err error) {
		res = DeliverEventsResult{Events: []stick.Event{}}
		m, ok := o.Room.Member(o.Me.Agent)
		if !ok && !p.Sub {
			res.Unstarted = true
			away, err = o.runs()
			return err
		}
		if !ok || m.State != stick.Joined {
			return nil
		}
		res = DeliverEventsResult{RoomID: o.Room.ID, AgentID: o.Me.Agent, Events: []stick.Event{}}
		seen, _, err := o.Tx.Cursor(o.Room.ID, o.Me.Agent, hookStream)
		if err != nil {
			return err
		}
		if !p.Sub {
			events, more, err := o.Tx.Events(store.EventQuery{
				Room: o.Room.ID, After: seen, For: o.Me.Agent, Fresh: true, Limit: maxHookEvents,
			})
			if err != nil {
				return err
			}
			n := fitting(events)
			for _, ev := range events[:n] {
				empty, err := isStaleFor(o.Tx, ev, o.Room, o.Me.Agent, false)
				if err != nil {
					return err
				}
				if !empty {
					res.Events = append(res.Events, ev)
				}
			}
			res.More, res.cursor = more || n < len(events), lastSeq(events[:n])
		}
		h, err := o.Tx.HookTimes(o.Me.Session.Key)
		res.due = res.cursor > 0 || !h.IdleAt.IsZero() || !h.BusySince.IsZero() || o.owns() && !o.Room.Turn.Acked || o.stale(h, m)
		return err
	})
	if res.Unstarted {
		res.Unstarted = e.worksHere(p, away)
	}
	return res, err
}

// runs tells whether the caller's session runs in any room.
func (o *op) runs() (bool, error) {
	rooms, err := o.Tx.RoomsOf(o.Me.Agent)
	for _, id := range rooms {
		r, err := o.Tx.Room(id)
		if err != nil {
			return false, err
		}
		if m, _ := r.Member(o.Me.Agent); m.Session.Running {
			return true, nil
		}
	}
	return false, err
}

// worksHere tells whether the caller is at work where its hook fired, which may be a place that it only
// visits. A process that is the session's tells by where it works itself, as it does to a scan; of a
// session in a process that carries many, or that can't be seen, nothing is known but that it runs elsewhere.
func (e *Engine) worksHere(p HookParams, away bool) bool {
	place, err := e.core.PlaceToRead(p.Where)
	if err != nil || place == nil {
		return false
	}
	if p.Caller.Proof == stick.ProvesSession {
		if dir, ok := e.core.Config.Procs.WorkingDir(p.Caller.Process); ok {
			return e.inside(place)(dir)
		}
	}
	return !away
}

// owns tells whether the caller holds the stick.
func (o *op) owns() bool {
	return o.Room.Turn.State == stick.Owned && o.Room.Turn.Owner == o.Me.Agent
}

// stale tells whether what hooks have noted of the caller is so old that it should be noted again.
func (o *op) stale(h store.HookTimes, m stick.Member) bool {
	now := o.Tx.Now()
	return (stick.Deadline{SetAt: h.At, TTL: freshHook}).Due(now) || (stick.Deadline{SetAt: m.LastSeenAt, TTL: freshHook}).Due(now)
}

// What one hook shows is bounded: harnesses cut a text of more than 10,000 characters, and what is
// shown is never cut.
const (
	maxHookEvents = 20
	maxHookBytes  = 7500 // of what the events say; the rest is for the frame
)

// fitting is how many of the events one hook shows: at least one.
func fitting(events []stick.Event) int {
	size := 0
	for n, ev := range events {
		if size += len(ev.Payload); size > maxHookBytes {
			return max(n, 1)
		}
	}
	return len(events)
}

// HookDelivered notes that the caller works, and that it has been shown the events of res. It
// writes nothing when there is nothing new to note.
func (e *Engine) HookDelivered(ctx context.Context, p HookParams, res DeliverEventsResult) error {
	if !res.due {
		return nil
	}
	return e.hooked(ctx, p, true, func(o *op) error {
		for _, ev := range res.Events {
			if err := o.Tx.MarkShown(o.Room.ID, o.Me.Agent, ev.Seq); err != nil {
				return err
			}
		}
		if res.cursor > 0 {
			if err := o.Tx.Advance(o.Room.ID, o.Me.Agent, hookStream, res.cursor); err != nil {
				return err
			}
		}
		return o.Tx.RecordHook(o.Me.Session.Key, 0)
	})
}

// WaitForWake waits until there is something for the caller that nothing has shown it, and the caller
// is idle: its harness then wakes it with that. It ends with the harness, and when the next one of
// the same agent begins. Outside of rooms, and for one that is no member, it returns at once.
func (e *Engine) WaitForWake(ctx context.Context, p HookParams) (WaitForTurnResult, error) {
	w := &wait{e: e, wakes: true, p: WaitForTurnParams{Caller: p.Caller, Where: p.Where, Park: true}, q: stick.Asking{Purpose: stick.Wake, Blocking: true}}
	member := false
	err := e.hooked(ctx, p, false, func(o *op) error {
		m, ok := o.Room.Member(o.Me.Agent)
		member = ok && m.State == stick.Joined && !o.Room.Closed
		return nil
	})
	if err != nil || !member {
		return WaitForTurnResult{Status: stick.NotYet}, err
	}
	if err = w.enter(ctx); err == nil && !w.done {
		err = w.blockUntilAnswered(ctx)
	}
	if w.res.Status != stick.GotEvents {
		w.res.Events = nil // it was replaced, or there is nobody to wake any more: the next waker tells them
	}
	if n := fitting(w.res.Events); n < len(w.res.Events) {
		w.res.Events, w.res.More = w.res.Events[:n], true
		w.res.cursor = w.res.Events[n-1].Seq
	}
	return w.res, err
}
