package guard

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// lateWrite is how long a hook that is out of time may take to note that its call has ended.
const lateWrite = 300 * time.Millisecond

// FinishSnapshots makes snapshots again for which hooks had too little time, and finds by them what the calls
// have changed whose ends were late. It isn't an operation: a process in the background calls it, and the hook
// has answered by then. What it can't do the next call tries again.
func (g *Guard) FinishSnapshots(ctx context.Context, by core.Caller, late []restore.LateSnapshot) (err error) {
	for _, l := range late {
		taken, ok := g.Restorer.FinishSnapshot(ctx, l)
		if ok {
			err = errors.Join(err, g.endLateCalls(ctx, core.HookParams{Caller: by}, l.Top, taken))
		}
	}
	return err
}

// endLate notes that a call has ended, and that what it has changed is still to be found. after is the snapshot
// that there was time for.
func (c *checkout) endLate(after string, now stick.Time) {
	c.late, c.looks, c.own, c.taken = true, false, nil, edits.Taken{}
	c.call.After, c.call.Ended, c.call.Files = after, now, 0
	if c.call.Started.IsZero() {
		c.call.Started = now
	}
	c.call.Overlapped = c.call.Overlaps(c.beside, now)
}

// writeLate notes that calls have ended, where the time was over before what they changed could be noted.
func (g *Guard) writeLate(ctx context.Context, db *store.DB, q editQuestion, all []*checkout, by keeper) error {
	if !q.Unread || !by.keepsSnapshots() {
		return nil
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateWrite)
	defer cancel()
	return g.core.Update(ctx, db, q.Caller, func(tx *store.Tx, _ *core.Probes) error {
		for _, c := range all {
			if c.gone || c.off || c.call.Before == "" {
				continue
			}

			c.endLate(c.call.After, cmp.Or(c.call.Ended, tx.Now()))
			call := c.call
			call.Late = true
			if err := ledger.RecordCall(tx, c.room, &call); err != nil {
				return err
			}
		}
		return nil
	})
}

// settleCall notes that others have been told of what a call has taken. isTold is true if somebody else has
// done that; without a call it never is.
func (o *op) settleCall(id int64) (isTold bool, err error) {
	if id == 0 {
		return false, nil
	}

	now, err := o.Tx.Calls(store.CallQuery{Room: o.Room.ID, ID: id, Limit: 1})
	if err != nil || len(now) == 0 || !now[0].Late {
		return true, err
	}

	now[0].Late = false
	return false, o.Tx.PutCall(o.Room.ID, &now[0])
}

// endLateCalls ends the calls in a checkout whose ends were late, by a snapshot that isn't.
func (g *Guard) endLateCalls(ctx context.Context, p core.HookParams, top string, taken rescue.Taken) error {
	place, err := workspace.Resolve(top, workspace.Env{})
	if err != nil || place.CheckoutTop() != top {
		return err
	}

	db, err := g.core.Open(ctx, false)
	if err != nil {
		return err
	}

	s := &snapshot{checkout: newCheckout(place), taken: taken}
	var late []lostCall
	err = g.core.View(ctx, db, p.Caller, func(tx *store.Tx, _ *core.Probes) error {
		at, err := tx.RoomsAt([][]string{s.chain})
		if err != nil || at[0].Room == "" {
			return err
		}

		late, err = findLate(tx, at[0].Room, s)
		return err
	})
	return errors.Join(err, g.endLost(ctx, p, late))
}

// findLate returns the calls in the checkout of a snapshot that have ended, and are late.
func findLate(tx *store.Tx, room stick.RoomID, s *snapshot) (late []lostCall, err error) {
	calls, err := tx.Calls(store.CallQuery{Room: room, Checkout: s.top, Late: true, Limit: maxOpen})
	for _, c := range calls {
		if !c.Ended.IsZero() {
			late = append(late, lostCall{c, s, c.Ended})
		}
	}
	return late, err
}

// finishLate has another process find what calls have changed whose ends were late, where the one that was to
// do it has had its time, and may have died.
func (o *op) finishLate(q editQuestion, s *snapshot) error {
	late, err := findLate(o.Tx, o.Room.ID, s)
	facts := keeper{room: o.Room, me: o.Me}.snapshotFacts(q, "")
	for _, l := range late {
		// What can't be found for that long, because its agent has left or its files are gone, is given up.
		isDue := (stick.Deadline{SetAt: l.Ended, TTL: restore.FinishTime}).Due(o.Tx.Now())
		isGivenUp := (stick.Deadline{SetAt: l.Ended, TTL: 10 * restore.FinishTime}).Due(o.Tx.Now())
		if isDue && !isGivenUp {
			q.finishLater(restore.LateSnapshot{Top: s.top, Facts: facts})
			break
		}
	}
	return err
}

// findLateChanges returns what a call has changed whose end was late, as far as that is sure. What was before it
// is compared with a snapshot that was made later: what changed until then while another agent's call ran is
// the call's if it changed before the call ended, and no other ran until then.
func (g *Guard) findLateChanges(
	ctx context.Context, c *checkout, end lostCall,
) (own map[string]rescue.PathChange, err error) {
	wide := c.call
	wide.Ended = stick.At(g.core.Now())
	if isLate, err := g.isLateSnapshot(ctx, end.After); err != nil || !isLate {
		wide.After, wide.Ended = cmp.Or(end.After, wide.After), cmp.Or(end.Ended, wide.Ended)
	}

	own = map[string]rescue.PathChange{}
	const coarse = 10 * time.Millisecond // file systems take their time from a clock that ticks that slowly
	for _, p := range wide.Parts(c.beside, wide.Ended) {
		changes, err := g.Restorer.Store().Changes(ctx, p.From, p.To)
		if err != nil {
			return own, err
		}

		for _, ch := range changes {
			isOwn := p.Alone
			if !isOwn && !c.call.Overlapped {
				isOwn = !changedAt(c.top, ch.Path).After(end.Ended.Go().Add(coarse))
			}
			if isOwn {
				own[ch.Path] = ch
			}
		}
	}

	g.dropCommitted(ctx, c.top, own)
	return own, nil
}

// isLateSnapshot reports whether a snapshot isn't there, or lacks something because the time was over.
func (g *Guard) isLateSnapshot(ctx context.Context, id string) (bool, error) {
	if id == "" {
		return true, nil
	}
	return g.Restorer.Store().IsLate(ctx, id)
}

// changedAt returns when a file was changed last, and of one that is gone when the directory was in which it
// lay.
func changedAt(top, path string) time.Time {
	full := filepath.Join(top, filepath.FromSlash(path))
	for workspace.IsWithin(full, top) {
		if info, err := os.Lstat(full); err == nil {
			return workspace.ChangedAt(info)
		}
		full = filepath.Dir(full)
	}
	return time.Now()
}
