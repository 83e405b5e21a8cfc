package engine

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// Hooks serve members of rooms. Everywhere else they show and write nothing, and RoomID is empty in their
// results.

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
	if _, w.hasInbox = in.InboxOf(w.me.Agent); !w.hasInbox {
		return true, nil
	}

	attended := func(o *op) error {
		its, missed := in.Listens(o.Me.Agent)
		if missed {
			return core.ErrUnseenInbox
		}

		needed = its.IsZero() || !presence.Attended(o.Room, o.Me.Agent, its, o.Probes.Probed)
		return nil
	}

	err = in.RetryUnseen(ctx, func() error { return w.e.runHookOp(ctx, p, false, attended) })
	return needed, err
}
