package engine

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/talk"
)

// answerByReading answers a single try without writing. In a busy room most tries fail, and they shouldn't
// delay the holder. answered is true if the caller is a member with recent activity, and the rules would
// change nothing.
// See docs/decisions/bells-and-waiting.md.
func (w *wait) answerByReading(ctx context.Context) (answered bool, err error) {
	if w.q.Blocking {
		return false, nil
	}

	p, err := w.e.core.Place(w.p.Where)
	if err != nil {
		return false, err
	}
	db, err := w.e.core.Open(ctx, false)
	if err != nil {
		// joinAndAsk creates the database, or returns the error.
		return false, nil
	}

	err = w.e.core.View(ctx, db, w.p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		answered = false

		var chain []string
		if p != nil {
			chain = p.Chain
		}

		id, state, err := tx.TurnAt(w.p.RoomID, chain)
		if err != nil || id == "" || state == stick.Idle {
			return err
		}
		if w.me, err = core.Identify(tx, probes, w.p.Caller); err != nil {
			return err
		}

		r, err := tx.RoomPart(id, w.me.Agent)
		if err != nil {
			return err
		}

		r = r.AtGeneration(tx.Generation(), tx.Now())
		m, ok := r.Member(w.me.Agent)
		isFresh := !(stick.Deadline{SetAt: m.LastSeenAt, TTL: freshActivity}).Due(tx.Now())
		if !ok || m.State != stick.Joined || w.me.Unrecorded || !isProcessRecorded(m, w.me) || !isFresh {
			return nil
		}

		w.q.Agent, w.q.Above = w.me.Agent, w.me.Above
		after, _, a := r.Ask(w.q, probes.Probed, tx.Now())
		if err := probes.RequireComplete(r); err != nil {
			return err
		}

		if a.Changed || a.Status != "" || isClaimable(after, probes, tx.Now()) {
			return nil
		}

		if err := w.buildAnswer(tx, probes, after, a, nil); err != nil {
			return err
		}

		answered = !w.done
		return probes.RequireComplete(after)
	})
	return answered, err
}

// isProcessRecorded reports whether the caller's process is recorded for the member.
func isProcessRecorded(m stick.Member, me core.Identity) bool {
	p := me.Caller.Process
	return p.IsZero() || slices.ContainsFunc(m.Processes, func(ev stick.Evidence) bool { return ev.Process == p })
}

// readEvents adds the events for the caller that weren't delivered yet. In a transaction that writes, it
// moves the cursor past the leading events that are old news.
func (w *wait) readEvents(tx *store.Tx, probes *core.Probes, r stick.Room) error {
	after, q := w.cursor, store.EventQuery{Room: r.ID, For: w.me.Agent, Fresh: true, Limit: maxWaitEvents}
	if after == 0 {
		// No event is for an agent before it first joins, so it needs no cursor then. Events for a member
		// that left wait until it comes back.
		q.Cursor = waitStream
		if err := tx.LaterCursor(r.ID, w.me.Agent, waitStream, &after, new(bool)); err != nil {
			return err
		}
	}

	read := after

	// A batch of nothing but old news is followed by the next one.
	for more := true; more && len(w.res.Events) == 0; q.Cursor = "" {
		var events []stick.Event
		var err error
		q.After = read
		if events, more, err = tx.Events(q); err != nil {
			return err
		}
		if q.Cursor != "" {
			read = after
		}

		for _, e := range events {
			stale, err := w.isStale(tx, probes, e, r)
			if err != nil {
				return err
			}
			if !stale {
				w.res.Events = append(w.res.Events, e)
			}

			// Only leading old news is passed for good: the rest may get lost with the answer.
			if len(w.res.Events) == 0 {
				read = e.Seq
			}
			w.res.cursor = e.Seq
		}
		w.res.More = more
	}

	if w.listener.ID != "" {
		w.cursor = after
	}

	if n := countFitting(w.res.Events, maxAnswer); n < len(w.res.Events) {
		w.res.Events, w.res.More = w.res.Events[:n], true
		w.res.cursor = w.res.Events[n-1].Seq
	}

	if tx.MayWrite() && read > after {
		if err := tx.AdvanceCursor(r.ID, w.me.Agent, waitStream, read); err != nil {
			return err
		}
	}

	if w.forIdle {
		if err := w.holdBack(tx, r); err != nil {
			return err
		}
	}

	if len(w.res.Events) > 0 && !w.done {
		w.done, w.res.Status = true, stick.GotEvents
	}

	return nil
}

// holdBack drops the events that a wait for an idle agent has read if they can't wake it now. If the agent
// isn't idle, a hook shows them after its next tool call. If all of them come too soon after others from the
// same agents, the wait looks again later.
func (w *wait) holdBack(tx *store.Tx, r stick.Room) error {
	m, _ := r.Member(w.me.Agent)
	if m.IdleAt.IsZero() && !w.knownIdle {
		w.res.Events = w.res.Events[:0]
	}

	for _, e := range w.res.Events {
		at, err := core.WakeDeadline(tx, r.ID, e, w.me.Agent)
		if err != nil {
			return err
		}

		if at.Due(tx.Now()) {
			return nil
		}

		if w.next.IsZero() || at.At() < w.next {
			w.next = at.At()
		}
	}

	// All of them come too soon.
	w.res.Events = w.res.Events[:0]
	return nil
}

// isStale reports whether an event is old news to the caller, or none that a wait should return with: what
// role a session has got, who edits without the stick, and that the room is paused can be told by the next
// hook. So can the wish for a draft: a harness that is told while it summarizes would show it after its next
// turn only. See also isStaleFor.
func (w *wait) isStale(tx *store.Tx, probes *core.Probes, e stick.Event, r stick.Room) (bool, error) {
	switch {
	case e.Type == stick.EventEditTold, e.Type == stick.EventDraftAsked && w.forIdle:
		return true, nil
	case (e.Type == stick.EventRoomPaused || e.Type == stick.EventRoomResumed) && w.q.Purpose == stick.Work:
		// Such a wait goes on through a pause, and gets the turn after it.
		return true, nil
	case e.Type == stick.EventRoomPaused && w.forIdle,
		e.Type == stick.EventRoomResumed && w.forIdle && r.Turn.Owner != w.me.Agent:
		// Only the holder has anything to do when the pause ends.
		return true, nil
	}

	if m, _ := r.Member(w.me.Agent); e.Type == stick.EventSessionStarted && m.HooksSeen {
		return true, nil
	}

	return isStaleFor(tx, probes, e, r, w.me.Agent, w.q.Purpose == stick.Work)
}

// isStaleFor reports whether an event is old news to its addressee a, besides those that it has seen. What
// was overtaken is. A reservation of the stick is if a asks for the turn anyway, here or in another wait; an
// INCURSION if the reservation has ended; the wish for a draft if there is one; a withdrawal if a never saw
// the message.
func isStaleFor(
	tx *store.Tx, probes *core.Probes, e stick.Event, r stick.Room, a stick.AgentID, asks bool,
) (bool, error) {
	if talk.Overtaken(r, e, a) {
		return true, nil
	}

	switch e.Type {
	case stick.EventRelease, stick.EventPass, stick.EventRerouted:
		return asks || r.Listening(a, stick.Work, probes.Probed), nil
	case stick.EventIncursion:
		p, _ := stick.PayloadOf[stick.IncursionPayload](e)
		held, _, err := tx.Reservations(store.ReservationQuery{Room: r.ID, ID: p.ReservationID})
		return len(held) == 0, err
	case stick.EventDraftAsked:
		saved, err := draftOf(tx, r.ID, e.Turn)
		return saved != nil, err
	case stick.EventMessageWithdrawn:
		p, _ := stick.PayloadOf[stick.MessageWithdrawnPayload](e)
		c, _, err := tx.Receipt(r.ID, a, p.MessageID)
		return c.ShownAt.IsZero() && c.ReadAt.IsZero(), err
	}

	return false, nil
}
