package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// errLost is why an attempt runs again whose connection broke at the commit: the server says that nothing was
// committed.
var errLost = errors.New("the connection broke at the commit, and nothing was committed")

// RunWrite runs attempt again if another transaction was in its way, or if the connection broke before its
// commit. Nothing of it was committed then, and what it writes again has the same event ids.
func (p *DB) RunWrite(ctx context.Context, attempt func() error) error {
	began, doubles := time.Now(), 0
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		err := attempt()
		if isDuplicate(err) {
			doubles++
		}

		// The time that is left depends on what went wrong.
		again, limit := runsAgain(err), p.waits.again
		switch {
		case isLost(err): // it was waited for already
			limit = min(limit, p.waits.connect)
		case isLocked(err) && p.waiting.Load(): // a wait has time
			again, limit = true, waitsForLocks
		}
		if !again || doubles > 2 || time.Since(began) > limit || !sleepFor(ctx, pause) {
			return err
		}
	}
}

// sleepFor waits, and reports whether ctx goes on.
func sleepFor(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()

	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Commit sends what is queued, COMMIT, and the notices for the witnesses of other hosts.
//
// PostgreSQL lets one transaction with notices commit at a time, in all of the server, and syncs to disk meanwhile. So the notices are sent
// behind COMMIT, in a transaction of their own, which writes nothing that is synced; they travel together.
// See docs/decisions/postgresql.md#commit.
func (p *DB) Commit(c dialect.Commit) error {
	// Whoever needs a newer program commits nothing, and settleCommit needs the transaction's id, which the
	// room's lock answers.
	if p.opening != nil || c.EventID == "" && p.xid == "" && len(p.locked) > 0 {
		if _, err := p.sendQueued(p.ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(p.queueQuery(nil, "COMMIT"), p.addNotices(c.Rings)); err != nil {
		return err
	}

	// Whoever is interrupted now still wants to know what became of it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), p.waits.statement)
	defer cancel()

	done, err := p.sendQueued(ctx)
	switch {
	case slices.Contains(done, "COMMIT"): // even if the connection broke after it
		p.markIdle()
		if err != nil {
			p.notifyAgain(c.Rings)
		}
		return nil
	case err == nil: // PostgreSQL says ROLLBACK to a COMMIT after a failure
		return errors.New("PostgreSQL rolled the transaction back")
	case isAnswer(err):
		return err
	}

	// The connection broke before the answer, so nobody knows whether the server has committed.
	p.dropConn()
	if err = p.settleCommit(c, err); err == nil {
		p.notifyAgain(c.Rings)
	}

	return err
}

// addNotices queues a notice for each room.
func (p *DB) addNotices(rooms []string) (err error) {
	for _, room := range rooms {
		err = errors.Join(err, p.queueQuery(nil, "SELECT pg_notify($1, $2)", p.address.schema, room))
	}
	return err
}

// notifyAgain sends the notices of a commit that was done, but perhaps not its notices. If it can't, other
// hosts find out by the slow timers of their waits.
func (p *DB) notifyAgain(rooms []string) {
	if len(rooms) == 0 {
		return
	}

	p.markBusy()
	defer p.markIdle()

	ctx, cancel := context.WithTimeout(background, p.waits.connect)
	defer cancel()

	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		p.queue = nil
		err := errors.Join(p.addNotices(rooms), p.connect(ctx))
		if err == nil {
			_, err = p.sendQueued(ctx)
		}
		if err == nil || !sleepFor(ctx, pause) {
			return
		}
		if isLost(err) {
			p.dropConn()
		}
	}
}

// settleCommit finds out whether a transaction was committed whose connection broke before the answer. It
// locks the rooms again, which waits until the server has ended the transaction, and looks for an event of
// it; where it made none, the server is asked for its state. It returns nil if it was committed, and
// [errLost] if it wasn't.
func (p *DB) settleCommit(c dialect.Commit, cause error) error {
	// The questions below Begin transactions, which forget what this one has locked.
	rooms, xid, caller := slices.Sorted(maps.Keys(p.locked)), p.xid, p.ctx
	defer func() { p.ctx = caller }()

	ctx, cancel := context.WithTimeout(background, 2*p.waits.connect)
	defer cancel()

	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		committed, err := p.wasCommitted(ctx, c, rooms, xid)
		switch {
		case err == nil && committed:
			return nil
		case err == nil:
			return errLost
		case !isLost(err) || !sleepFor(ctx, pause):
			return stick.Errorf(stick.CodeDatabaseUnavailable, "the connection to %s broke at the commit, and the server doesn't say whether the change was made: %s",
				p.address.Words(), errorLine(errors.Join(cause, err))).Hintf("run the same command again; it changes nothing twice")
		}
	}
}

// wasCommitted asks the server whether a transaction was committed that has locked these rooms.
func (p *DB) wasCommitted(
	ctx context.Context, c dialect.Commit, rooms []stick.RoomID, xid string,
) (committed bool, err error) {
	if c.EventID == "" && xid == "" {
		// What has locked no room may be written twice.
		return false, nil
	}

	var now stick.Time
	if err := p.Begin(ctx, true, func(stick.Time, dialect.Meta) error { return nil }); err != nil {
		return false, err
	}
	defer p.Rollback()

	// A room that can be locked is one that the broken transaction holds no more.
	for _, r := range rooms {
		if err := p.LockRoom(r, &now); err != nil {
			return false, err
		}
	}

	text, arg, want := "SELECT event_id FROM events WHERE event_id = $1", c.EventID, c.EventID
	if c.EventID == "" {
		text, arg, want = "SELECT pg_xact_status($1::text::xid8)", xid, "committed"
	}

	got := ""
	rows, err := p.queryRows(text, arg)
	if err == nil && len(rows) > 0 {
		err = pgScan(rows[0], []any{&got})
	}
	if err != nil || got != want {
		return false, err
	}

	// A server that has crashed shows also what its standby hasn't got yet. It answers this commit once the
	// standby has both.
	err = p.queueQuery(nil, "COMMIT")
	if err == nil {
		_, err = p.sendQueued(ctx)
	}

	return true, err
}
