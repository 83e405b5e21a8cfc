package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// An agent is told of events in three steps: they are read, somebody shows them to the agent, and what was
// shown is recorded. Until then they come again, so each is told at least once. Whoever shows events while
// others may do so holds the agent's lock, so that few are told twice. A hook after a tool call, a wait and an
// inbox all go through the functions of this file.

// The names of the cursors for what hooks have shown, and for what waits have returned.
const (
	hookStream = "hook"
	waitStream = "wait"
)

// ReadNewsResult holds the new events for an agent while it works.
type ReadNewsResult struct {
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

// TellNews tells the caller, whose tool call has ended, what is new: it reads that, has show put it before the
// agent, and records it. It also records that the caller works. show isn't called if there is nothing new, or
// if another hook of the same agent is showing it. If show fails, nothing is recorded.
func (e *Engine) TellNews(
	ctx context.Context, p core.HookParams, show func(events []stick.Event, more bool) error,
) (ReadNewsResult, error) {
	res, err := e.ReadNews(ctx, p)
	if err != nil {
		return res, err
	}

	if len(res.Events) > 0 {
		// A harness may run several entries for one event, and one of them is enough.
		done, alone := e.showAlone(ctx, res)
		if !alone {
			return res, nil
		}
		defer done()

		// The other one may have shown them meanwhile.
		if res, err = e.ReadNews(ctx, p); err != nil {
			return res, err
		}
	}

	if len(res.Events) > 0 {
		if err := show(res.Events, res.More); err != nil {
			return res, err
		}
	}

	return res, e.RecordShownByHook(ctx, p, res)
}

// ReadNews returns the events for the caller that neither a wait nor a hook has shown yet. It only
// reads; [Engine.RecordShownByHook] records what was shown.
func (e *Engine) ReadNews(ctx context.Context, p core.HookParams) (ReadNewsResult, error) {
	res := ReadNewsResult{Events: []stick.Event{}}
	runsElsewhere := false // the caller's session runs in another room

	err := e.runHookOp(ctx, p, false, func(o *op) (err error) {
		res = ReadNewsResult{Events: []stick.Event{}}
		m, ok := o.Room.Member(o.Me.Agent)
		if !ok && !p.Sub {
			res.Unstarted = true
			runsElsewhere, err = o.hasRunningSession()
			return err
		}
		if !ok || m.State != stick.Joined {
			return nil
		}

		res = ReadNewsResult{RoomID: o.Room.ID, AgentID: o.Me.Agent, Events: []stick.Event{}}
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
			o.isActivityStale(h, m) || o.IsToolWorthWriting(h, p) || p.Prompted && m.Rests()

		return err
	})

	if res.Unstarted {
		res.Unstarted = e.Roster.WorksHere(p, runsElsewhere)
	}

	return res, err
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

// clipForHook leaves as many events in an answer as one hook shows.
func (r WaitForTurnResult) clipForHook() WaitForTurnResult {
	if n := countForHook(r.Events); n < len(r.Events) {
		r.Events, r.More = r.Events[:n], true
		r.cursor = r.Events[n-1].Seq
	}
	return r
}

// showAlone reports whether the caller may show the events of res: another hook of the same agent may be
// showing them now. done ends showing them. If that can't be found out, both hooks show them.
func (e *Engine) showAlone(ctx context.Context, res ReadNewsResult) (done func(), alone bool) {
	db, err := e.core.Open(ctx, false)
	if err != nil {
		return func() {}, true
	}
	return e.takeTellingLock(ctx, db, res.RoomID, res.AgentID, false)
}

// lockTelling takes the lock of whoever tells the wait's agent something, if others might tell it the same by
// its inbox. If somebody has it for too long, the wait goes on without it: the agent is told something twice
// rather than never.
func (w *wait) lockTelling(ctx context.Context) {
	if !w.hasInbox || w.tellLock != nil {
		return
	}

	db, err := w.e.core.Open(ctx, false)
	if err != nil {
		return
	}

	w.tellLock, _ = w.e.takeTellingLock(ctx, db, w.res.RoomID, w.me.Agent, true)
}

// unlockTelling releases that lock, if the wait has it.
func (w *wait) unlockTelling() {
	if w.tellLock != nil {
		w.tellLock()
		w.tellLock = nil
	}
}

// takeTellingLock takes the lock of whoever tells an agent of a room something. alone is false if somebody
// else has it, with patience for longer than that usually takes.
func (e *Engine) takeTellingLock(
	ctx context.Context, db *store.DB, room stick.RoomID, a stick.AgentID, patient bool,
) (free func(), alone bool) {
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()

	// A hash turns the names into a short file name.
	sum := sha256.Sum256([]byte(string(room) + " " + string(a)))
	for {
		p, err := db.Bell.TakePresence(hookStream + "-" + hex.EncodeToString(sum[:16]))
		if err == nil {
			return func() { _ = p.Close() }, true
		}
		if _, taken := errors.AsType[*bell.LockedError](err); !taken {
			// Without a working lock nobody can know.
			return func() {}, true
		}

		if !patient {
			return func() {}, false
		}

		select {
		case <-time.After(tellRetry):
		case <-ctx.Done():
			return func() {}, false
		}
	}
}

// How often whoever waits for that lock tries, and for how long. It is held for a write to a socket and a
// transaction.
const (
	tellRetry = 5 * time.Millisecond
	tellLimit = 100 * time.Millisecond
)

// RecordShownByHook records that the caller works, and that it has seen the events of res. It writes nothing if
// there is nothing new to record.
func (e *Engine) RecordShownByHook(ctx context.Context, p core.HookParams, res ReadNewsResult) error {
	if !res.due {
		return nil
	}

	return e.runHookOp(ctx, p, true, func(o *op) error {
		if err := recordShown(o.Tx, o.Room.ID, o.Me.Agent, res.Events, hookStream, res.cursor); err != nil {
			return err
		}
		if p.Prompted {
			o.Room = o.Room.EndRest(o.Me.Agent)
		}
		return o.RecordWork(p)
	})
}

// RecordShown records that the events of a wait's answer have reached the caller. Until then every answer
// repeats them: an answer can get lost, and the events must not get lost with it.
func (e *Engine) RecordShown(ctx context.Context, res WaitForTurnResult) error {
	if res.releaseTelling != nil {
		defer res.releaseTelling()
	}

	if len(res.Events) == 0 {
		return nil
	}

	db, err := e.core.Open(ctx, false)
	if err != nil {
		return err
	}

	return db.Update(ctx, func(tx *store.Tx) error {
		return recordShown(tx, res.RoomID, res.AgentID, res.Events, waitStream, res.cursor)
	})
}

// recordShown records that an agent was shown events, and how far a stream of its has been read. A cursor of 0
// says that nothing was read.
func recordShown(
	tx *store.Tx, room stick.RoomID, a stick.AgentID, events []stick.Event, stream string, cursor int64,
) error {
	for _, ev := range events {
		if err := tx.MarkShown(room, a, ev.Seq); err != nil {
			return err
		}
	}

	if cursor == 0 {
		return nil
	}
	return tx.AdvanceCursor(room, a, stream, cursor)
}
