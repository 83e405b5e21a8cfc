package guard

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// maxLost is how many calls whose ends nobody has seen are ended before a call.
const maxLost = 5

// lostCall is a call that is over though no hook has seen its end: its harness, or the hook, was killed. It
// ends with the next snapshot of its checkout, which is the one before another call.
type lostCall struct {
	edits.Call
	next *snapshot
	end  stick.Time // before the other call began
}

// findLost finds the calls in the checkouts of snapshots whose ends nobody has seen, and that are over.
func (o *op) findLost(q editQuestion, kept []*snapshot) (lost []lostCall, err error) {
	for _, s := range kept {
		// One that is late doesn't show all that a call has changed.
		if s.err != nil || s.taken.ID == "" || s.isLate() {
			continue
		}
		if err := o.finishLate(q, s); err != nil {
			return lost, err
		}

		open, err := o.Tx.Calls(store.CallQuery{Room: o.Room.ID, Checkout: s.top, Open: true, Limit: maxOpen})
		if err != nil {
			return lost, err
		}
		if len(open) == 0 {
			continue
		}

		all, err := o.Tx.Calls(store.CallQuery{
			Room: o.Room.ID, Checkout: s.top, Since: open[len(open)-1].Started, Limit: ledger.MaxBeside,
		})
		if err != nil {
			return lost, err
		}

		begins := q.callIn(o.Me.Agent, s.top)
		begins.Started = o.Tx.Now()
		all = append(all, begins)

		for _, c := range open {
			if edits.IsCallOver(o.Room, c, all, o.Probes.Probed) && len(lost) < maxLost {
				lost = append(lost, lostCall{c, s, max(begins.Started-1, c.Started)})
			}
		}
	}

	return lost, nil
}

// endLost ends calls whose ends nobody has seen: it notes what each has changed, and tells of others' work
// among that, as the hook after it would have done.
func (g *Guard) endLost(ctx context.Context, p core.HookParams, lost []lostCall) (err error) {
	for _, l := range lost {
		err = errors.Join(err, g.endLostCall(ctx, p, l))
	}
	return err
}

func (g *Guard) endLostCall(ctx context.Context, p core.HookParams, l lostCall) error {
	place, err := workspace.Resolve(l.Checkout, workspace.Env{})
	if err != nil || place.CheckoutTop() != l.Checkout {
		return err
	}

	db, err := g.core.Open(ctx, false)
	if err != nil {
		return err
	}

	me := core.Identity{Agent: l.Agent, Caller: core.Caller{Helper: l.Helper}}
	c := newCheckout(place)
	c.looks = true
	err = g.core.View(ctx, db, p.Caller, func(tx *store.Tx, _ *core.Probes) (err error) {
		if _, err = c.readRoom(tx, me); err != nil || c.room == "" {
			return err
		}

		c.call = l.Call
		c.beside, err = tx.Calls(store.CallQuery{Room: c.room, Checkout: c.top, Since: l.Started, Limit: ledger.MaxBeside})
		return err
	})
	if err != nil || c.room == "" || c.off {
		return err
	}

	q := editQuestion{CheckEditParams: CheckEditParams{HookParams: p, Text: l.Command, Unread: true}}
	c.call.After, c.call.Ended, c.call.Late = l.next.taken.ID, l.end, false
	lerr := g.lookAtLost(ctx, db, q, c, l)
	werr := g.core.Update(ctx, db, p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		if err := tx.LockRooms(c.room); err != nil {
			return err
		}

		now, err := tx.Calls(store.CallQuery{Room: c.room, ID: l.ID, Limit: 1})
		isMine := err == nil && len(now) == 1 && now[0].Ended == l.Ended && now[0].Late == l.Late
		if !isMine {
			// Somebody else has ended it meanwhile.
			return err
		}

		c.call.After = cmp.Or(l.After, c.call.After)
		if err := cmp.Or(c.writeEnd(tx, probes, me), c.claimNoted(tx, probes, me)); err != nil {
			return err
		}
		return g.tellLost(tx, probes, q, c)
	})
	if werr == nil && c.hasToTell() {
		werr = g.Restorer.Store().Mark(c.call.Before, c.loss())
	}
	return cmp.Or(werr, lerr)
}

// lookAtLost finds what such a call has changed, by the snapshot that follows it.
func (g *Guard) lookAtLost(
	ctx context.Context, db *store.DB, q editQuestion, c *checkout, l lostCall,
) (err error) {
	c.call.Overlapped = c.call.Overlaps(c.beside, c.call.Ended)
	c.dirty = uncommittedIn(l.next.taken)

	if l.Ended.IsZero() {
		c.own, err = g.ownChanges(ctx, q, c)
	} else {
		c.own, err = g.findLateChanges(ctx, c, l)
	}
	c.dropTaskFile()
	c.call.Files, c.fold = len(c.own), len(c.own) > 0 && workspace.FoldsCase(c.top)

	kerr := g.readKnown(ctx, db, q.Caller, []*checkout{c})
	lerr := c.findFiles(ctx, g.core.Config.Git, q)
	c.markOwn()
	return cmp.Or(err, kerr, lerr)
}

// claimNoted has the agent of such a call be the editor of what it has changed, where a hook has noted that
// as somebody's meanwhile.
func (c *checkout) claimNoted(tx *store.Tx, probes *core.Probes, me core.Identity) error {
	r, err := tx.Room(c.room)
	if err != nil || len(c.own) == 0 {
		return err
	}

	by := ledger.EditorNow(r.AtGeneration(tx.Generation(), tx.Now()), me, probes.Probed, tx.Now())
	files, err := tx.Edited(c.room, c.top, slices.Sorted(maps.Keys(c.own)))
	if err != nil {
		return err
	}

	var claimed []edits.EditedFile
	for _, f := range files {
		isOfCall := func(e edits.Editor) bool { return e.Agent == "" && e.At >= c.call.Started }
		if slices.ContainsFunc(f.Editors, isOfCall) {
			f.Editors = slices.DeleteFunc(slices.Clone(f.Editors), isOfCall)
			claimed = append(claimed, f.Note(by, f.State))
		}
	}

	return tx.PutEdited(c.room, c.top, claimed)
}

// tellLost is [Guard.tellEnd] of such a call, in the name of its agent, within the transaction that ends it: so
// all of it is told once, whenever a process dies.
func (g *Guard) tellLost(tx *store.Tx, probes *core.Probes, q editQuestion, c *checkout) error {
	if !c.hasToTell() {
		return nil
	}

	r, err := tx.Room(c.room)
	if err != nil || r.Closed {
		return err
	}

	o := &op{&core.Op{Tx: tx, Probes: probes, Me: core.Identity{Agent: c.call.Agent}, Room: r, Before: r}}
	o.Apply(r.Restore(tx.Generation(), probes.Probed, tx.Now()))
	if err := probes.RequireComplete(o.Room); err != nil {
		return err
	}

	c.taken.By, c.taken.Form = c.call.Agent, q.formOf(c.call)
	c.taken.Rescue, c.taken.Call = c.call.Before, c.call.ID
	o.Events = append(o.Events, edits.Take(o.Room, c.taken))
	if _, err := o.settleCall(c.call.ID); err != nil {
		return err
	}
	return o.Save()
}
