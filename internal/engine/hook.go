package engine

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// hookStream is the name of the cursor for what hooks have shown.
const hookStream = "hook"

// Hooks serve members of rooms. Everywhere else they show and write nothing, and RoomID is empty in their
// results.

// DeliverEventsResult holds the new events for an agent while it works.
type DeliverEventsResult struct {
	RoomID  stick.RoomID  `json:"room_id,omitempty"`
	AgentID stick.AgentID `json:"agent_id,omitempty"`
	Events  []stick.Event `json:"events"`
	More    bool          `json:"more,omitempty"`

	// Unstarted says that the caller works here but isn't a member, because its session began before there
	// was a room.
	Unstarted bool `json:"-"`

	due    bool  // the hook has something to record
	cursor int64 // of the last event that was read
}

// DeliverEvents returns the events for the caller that neither a wait nor a hook has shown yet. It only
// reads; [Engine.HookDelivered] records what was shown.
func (e *Engine) DeliverEvents(ctx context.Context, p core.HookParams) (DeliverEventsResult, error) {
	res := DeliverEventsResult{Events: []stick.Event{}}
	runsElsewhere := false // the caller's session runs in another room

	err := e.runHookOp(ctx, p, false, func(o *op) (err error) {
		res = DeliverEventsResult{Events: []stick.Event{}}
		m, ok := o.Room.Member(o.Me.Agent)
		if !ok && !p.Sub {
			res.Unstarted = true
			runsElsewhere, err = o.hasRunningSession()
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

		// Events are for the agent itself, and not for its sub-agents.
		if !p.Sub {
			events, more, err := o.Tx.Events(store.EventQuery{
				Room: o.Room.ID, After: seen, For: o.Me.Agent, Fresh: true, Limit: maxHookEvents,
			})
			if err != nil {
				return err
			}

			n := countForHook(events)
			for _, ev := range events[:n] {
				// Old news is passed over, and not shown.
				empty, err := isStaleFor(o.Tx, o.Probes, ev, o.Room, o.Me.Agent, false)
				if err != nil {
					return err
				}
				if empty {
					continue
				}
				if ev, err = ledger.CountEdited(o.Tx, o.Room, ev); err != nil {
					return err
				}
				res.Events = append(res.Events, ev)
			}

			res.More, res.cursor = more || n < len(events), core.LastSeq(events[:n])
		}

		h, err := o.Tx.HookTimes(o.Me.Session.Key)
		// The hook shows that the agent works, so a record of anything else has to be corrected.
		contradicted := !h.IdleAt.IsZero() || !h.BusySince.IsZero() || !h.AskedAt.IsZero() || h.ActiveSince.IsZero()
		res.due = res.cursor > 0 || contradicted || o.HoldsStick() && !o.Room.Turn.Acked ||
			o.isActivityStale(h, m) || o.ShowsTool(h, p)

		return err
	})

	if res.Unstarted {
		res.Unstarted = e.Roster.WorksHere(p, runsElsewhere)
	}

	return res, err
}

// hasRunningSession reports whether the caller's session is running in any room.
func (o *op) hasRunningSession() (bool, error) {
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

// isActivityStale reports whether the last record of the caller's activity is old enough to be renewed.
func (o *op) isActivityStale(h store.HookTimes, m stick.Member) bool {
	now := o.Tx.Now()
	return (stick.Deadline{SetAt: h.At, TTL: core.FreshHook}).Due(now) ||
		(stick.Deadline{SetAt: m.LastSeenAt, TTL: core.FreshHook}).Due(now)
}

// Limits of what one hook shows. Harnesses cut off a text after 10,000 characters, and no event may be lost
// that way.
const (
	maxHookEvents = 20
	maxHookBytes  = 7500 // of payloads; the rest is for the text around them
)

// countForHook returns how many of the events one hook shows: at least one.
func countForHook(events []stick.Event) int {
	size := 0
	for n, ev := range events {
		if size += len(ev.Payload); size > maxHookBytes {
			return max(n, 1)
		}
	}
	return len(events)
}

// ShowAlone reports whether the caller may show the events of res: another hook of the same agent may be
// showing them now. done ends showing them. If that can't be found out, both hooks show them.
func (e *Engine) ShowAlone(ctx context.Context, res DeliverEventsResult) (done func(), alone bool) {
	db, err := e.core.Open(ctx, false)
	if err != nil {
		return func() {}, true
	}
	return e.takeTellingLock(ctx, db, res.RoomID, res.AgentID, false)
}

// HookDelivered records that the caller works, and that it has seen the events of res. It writes nothing if
// there is nothing new to record.
func (e *Engine) HookDelivered(ctx context.Context, p core.HookParams, res DeliverEventsResult) error {
	if !res.due {
		return nil
	}

	return e.runHookOp(ctx, p, true, func(o *op) error {
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

		return o.RecordWork(p)
	})
}

// WaitForWake waits until the caller is idle and has an event that nothing has shown it. The harness wakes it
// with that event. The wait ends with the harness, and when a newer one for the same agent begins. Outside of
// rooms, and if the caller isn't a member, it returns at once. So it does if the caller's harness has an
// inbox and another process waits in the room, which writes there what those who commit can't.
func (e *Engine) WaitForWake(ctx context.Context, p core.HookParams) (WaitForTurnResult, error) {
	w := &wait{
		e: e, forIdle: true, q: stick.Asking{Purpose: stick.Wake, Blocking: true},
		p: WaitForTurnParams{Caller: p.Caller, Where: p.Where, Park: true},
	}

	member := false
	err := e.runHookOp(ctx, p, false, func(o *op) error {
		m, ok := o.Room.Member(o.Me.Agent)
		member = ok && m.State == stick.Joined && !o.Room.Closed
		w.me, w.res.RoomID = o.Me, o.Room.ID
		return nil
	})
	if err != nil || !member {
		return WaitForTurnResult{Status: stick.NotYet}, err
	}

	e.core.KeepInbox(p, w.me)
	if needed, err := w.isNeeded(ctx, p); err != nil || !needed {
		return WaitForTurnResult{Status: stick.NotYet}, err
	}

	// Whoever commits may be telling the agent the same by its inbox.
	w.lockTelling(ctx)
	err = w.joinAndAsk(ctx)
	if !w.done {
		w.unlockTelling()
	}
	w.traceRead(byStart, w.done, err)

	if err == nil && !w.done {
		err = w.blockUntilAnswered(ctx)
	}

	if w.res.Status != stick.GotEvents {
		// It was replaced, or the agent has left: a later wait or hook shows them.
		w.res.Events = nil
	}
	if len(w.res.Events) == 0 {
		w.unlockTelling()
	}

	w.res.releaseTelling = w.unlockTelling
	return w.res.clipForHook(), err
}

// isNeeded reports whether a wait for an idle agent has to be there. It needn't if others wait in the room
// and can write to the inbox of the agent's harness: what came until now, the hook beside this wait writes
// there.
func (w *wait) isNeeded(ctx context.Context, p core.HookParams) (needed bool, err error) {
	in := w.e.core.Inboxes()
	if _, w.hasInbox = in.Of(w.me.Agent); !w.hasInbox {
		return true, nil
	}

	attended := func(o *op) error {
		its, missed := in.Listens(o.Me.Agent)
		if missed {
			return core.ErrUnseenInbox
		}

		needed = its.IsZero() || !o.Room.Attended(o.Me.Agent, its, o.Probes.Probed)
		return nil
	}

	err = in.Seen(ctx, func() error { return w.e.runHookOp(ctx, p, false, attended) })
	return needed, err
}

// clipForHook leaves as many events in an answer as one hook shows.
func (r WaitForTurnResult) clipForHook() WaitForTurnResult {
	if n := countForHook(r.Events); n < len(r.Events) {
		r.Events, r.More = r.Events[:n], true
		r.cursor = r.Events[n-1].Seq
	}
	return r
}
