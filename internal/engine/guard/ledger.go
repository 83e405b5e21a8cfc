package guard

import (
	"cmp"
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// noteEdits notes who has edited which files, after a tool call of the caller: the files that the call names,
// and what a command has changed that only a look at its checkout shows. It notes nothing where the room
// enforces nothing, and nothing of somebody who isn't a member.
func (g *Guard) noteEdits(ctx context.Context, q editQuestion) ([]*checkout, error) {
	all := q.changedCheckouts()

	// Only a command that fails may have done a part of its work.
	hasChangedNothing := q.Failed && !q.Unread

	// The place may be gone with the checkout in which the command ran.
	mayBeGone := q.Unread && q.at != nil
	if len(all) == 0 && !mayBeGone || hasChangedNothing {
		return nil, nil
	}

	// Git answers while the database is opened and read.
	q.ahead = g.askAhead(ctx, q)
	defer q.ahead.Stop()

	db, err := g.core.Open(ctx, false)
	if err != nil {
		return nil, err
	}

	all, by, err := g.readNoted(ctx, db, q, all)
	if err != nil || len(all) == 0 {
		return nil, err
	}

	err = g.lookAfter(ctx, db, q, all, by)
	werr := g.writeNoted(ctx, db, q, all)
	if werr != nil && ctx.Err() != nil {
		werr = cmp.Or(g.writeLate(ctx, db, q, all, by), werr)
	}
	return all, cmp.Or(werr, err)
}

// readNoted reads what was noted of checkouts, and when the call began in each. It returns those of which
// something is to be noted.
func (g *Guard) readNoted(
	ctx context.Context, db *store.DB, q editQuestion, all []*checkout,
) (noted []*checkout, by keeper, err error) {
	var elsewhere []*checkout
	err = g.core.View(ctx, db, q.Caller, func(tx *store.Tx, probes *core.Probes) error {
		noted, by, elsewhere = nil, keeper{}, nil
		me, err := core.Identify(tx, probes, q.Caller)
		if err != nil {
			return err
		}

		for _, c := range all {
			r, err := c.readRoom(tx, me)
			if err != nil {
				return err
			}
			if c.room == "" {
				continue
			}

			by.addRoom(r, me)
			noted = append(noted, c)
			if err := c.readCall(tx, q, me.Agent); err != nil {
				return err
			}
		}

		if by.room.ID == "" && q.Unread && q.at != nil {
			if err := by.addRoomAt(tx, *q.at, me); err != nil {
				return err
			}
		}

		if by.room.ID == "" || !q.Unread {
			return nil
		}

		begun, err := q.callsElsewhere(tx, me.Agent, noted)
		for _, call := range begun {
			r, rerr := tx.Room(call.Room)
			if rerr != nil {
				return rerr
			}
			elsewhere = append(elsewhere, checkoutOfCall(call, r))
		}

		return err
	})
	if err != nil || len(elsewhere) == 0 {
		return noted, by, err
	}

	err = g.readElsewhere(ctx, db, q, elsewhere, by)
	elsewhere = slices.DeleteFunc(elsewhere, func(c *checkout) bool { return c.room == "" })
	return append(noted, elsewhere...), by, err
}

// readElsewhere is [Guard.readNoted] of checkouts that only the beginning of the call has named.
func (g *Guard) readElsewhere(
	ctx context.Context, db *store.DB, q editQuestion, others []*checkout, by keeper,
) error {
	return g.core.View(ctx, db, q.Caller, func(tx *store.Tx, _ *core.Probes) error {
		for _, c := range others {
			if c.gone {
				continue
			}
			if _, err := c.readRoom(tx, by.me); err != nil {
				return err
			}
			if err := c.readCall(tx, q, by.me.Agent); err != nil {
				return err
			}
		}

		return nil
	})
}

// writeNoted writes down who has edited what, and that the call has ended.
func (g *Guard) writeNoted(ctx context.Context, db *store.DB, q editQuestion, all []*checkout) error {
	var rooms []stick.RoomID
	for _, c := range all {
		rooms = append(rooms, c.room)
	}

	return g.core.Update(ctx, db, q.Caller, func(tx *store.Tx, probes *core.Probes) error {
		if err := tx.LockRooms(rooms...); err != nil {
			return err
		}

		me, err := core.Identify(tx, probes, q.Caller)
		if err != nil {
			return err
		}

		for _, c := range all {
			if err := c.writeEnd(tx, probes, me); err != nil {
				return err
			}
		}

		return nil
	})
}

// writeEnd is the part of [Guard.writeNoted] in one checkout.
func (c *checkout) writeEnd(tx *store.Tx, probes *core.Probes, me core.Identity) (err error) {
	if c.taken, err = c.othersWork(tx, probes, me); err != nil {
		return err
	}

	if !c.gone {
		if err := c.noteFound(tx, probes, me); err != nil {
			return err
		}
	}

	if c.call.Before == "" && c.call.After == "" {
		return nil
	}

	// A look that came to its end has compared everything. Where nothing was compared, an earlier call is still
	// the one that says how far the ledger is.
	// It is late until somebody has been told of what it has taken.
	call := c.call
	call.Noted = c.looks && !c.gone && !c.isNoted
	call.Late = c.late || c.hasToTell()
	return ledger.RecordCall(tx, c.room, &call)
}

// readRoom finds the room of a checkout and what was noted there. c.room stays empty if nothing is to be
// noted.
func (c *checkout) readRoom(tx *store.Tx, me core.Identity) (r stick.Room, err error) {
	c.room, c.known, c.lastNoted, c.since, c.off = "", nil, "", 0, false
	rooms, err := tx.RoomsAt([][]string{c.chain})
	if err != nil || rooms[0].Room == "" {
		return r, err
	}

	// A look has to know who else is busy. The hook reads the whole room in the end anyway, so that costs less
	// than a query of its own.
	if c.looks {
		r, err = tx.Room(rooms[0].Room)
	} else {
		r, err = tx.RoomPartAt(rooms[0], me.Agent)
	}
	if err != nil {
		return r, err
	}

	m, ok := r.Member(me.Agent)
	if !edits.Enforces(r) || me.Person() || !ok || m.State != stick.Joined {
		return r, nil
	}

	c.room, c.off = r.ID, !edits.KeepsSnapshots(r)
	if !c.looks {
		return r, nil
	}

	c.since = m.BusySince
	for _, o := range r.Members {
		if o.Agent != me.Agent && o.State == stick.Joined && !o.BusySince.IsZero() && !c.since.IsZero() {
			c.since = 0
		}
	}

	c.lastNoted, err = tx.LastNoted(c.room, c.top)
	return r, err
}

// endRest ends the rest of the caller if an edit of it was noted just now: it has work.
func endRest(o *op, files []edits.EditedFile) error {
	isEdited := slices.ContainsFunc(files, func(f edits.EditedFile) bool {
		return slices.ContainsFunc(f.Editors, func(e edits.Editor) bool {
			return e.Agent == o.Me.Agent && e.At == o.Tx.Now()
		})
	})

	if m, _ := o.Room.Member(o.Me.Agent); !isEdited || !m.Rests() {
		return nil
	}
	o.Room = o.Room.EndRest(o.Me.Agent)
	return o.Save()
}

// noteFound writes down what was found.
func (c *checkout) noteFound(tx *store.Tx, probes *core.Probes, me core.Identity) error {
	if c.isNoted && len(c.named) == 0 {
		return nil
	}

	r, err := tx.Room(c.room)
	if err != nil {
		return err
	}

	o := &op{&core.Op{Tx: tx, Probes: probes, Me: me, Before: r, Room: r}}
	r = r.AtGeneration(tx.Generation(), tx.Now())
	by := ledger.EditorNow(r, me, probes.Probed, tx.Now())
	if err := probes.RequireComplete(r); err != nil {
		return err
	}
	if err := c.noteWritten(&op{&core.Op{Tx: tx, Probes: probes, Me: me, Room: r}}); err != nil {
		return err
	}

	if c.isNoted {
		return nil
	}

	// A look has found all that is uncommitted, so all that is noted is compared with it.
	if c.looks {
		known, err := tx.Edited(c.room, c.top, nil)
		if err != nil {
			return err
		}
		noted := edits.Look(known, c.found, by)
		return cmp.Or(ledger.ReplaceEdited(tx, c.room, c.top, known, noted), endRest(o, noted))
	}

	if len(c.found) == 0 {
		return nil
	}

	known, err := tx.Edited(c.room, c.top, c.files)
	if err != nil {
		return err
	}

	var noted []edits.EditedFile
	for _, s := range c.found {
		f := edits.EditedFile{Path: s.Path}
		if i := slices.IndexFunc(known, func(k edits.EditedFile) bool { return k.Path == s.Path }); i >= 0 {
			f = known[i]
		}
		noted = append(noted, f.Note(by, s.State))
	}

	return cmp.Or(ledger.AddEdited(tx, c.room, c.top, noted), endRest(o, noted))
}
