package store

import (
	"context"
	"errors"
	"time"

	"talkingstick/stick"
)

// begin begins a transaction. It connects if there is no connection, also where that was lost meanwhile.
func (p *postgresDB) begin(ctx context.Context, write bool, meta func(scan func(...any) error) error) (now stick.Time, err error) {
	p.use()
	defer func() {
		if err != nil {
			p.rollback()
		}
	}()
	p.ctx, p.xid = ctx, ""
	clear(p.locked)
	clear(p.fresh)
	for again := p.conn != nil; ; again = false {
		if err := p.connect(ctx); err != nil {
			return 0, err
		}
		if p.hostID, err = readHost(p.opt.Dir, write, p.opt.NewID); err != nil {
			return 0, notWritable(p.opt.Dir, err)
		}
		err := p.sendBegin(ctx, again, func() error { return p.queueBegin(write, meta, &now) })
		if err == nil || !again || !isLost(err) {
			return now, err
		}
		p.drop()
	}
}

// sendBegin sends the beginning of a transaction, which queue queues. Over a connection from before, an answer that doesn't come soon means
// that the network has forgotten it.
func (p *postgresDB) sendBegin(ctx context.Context, before bool, queue func() error) error {
	if before {
		limited, cancel := context.WithTimeout(ctx, p.waits.connect/2)
		defer cancel()
		ctx = limited
	}
	err := p.keepSettings(ctx)
	if err == nil {
		err = queue()
	}
	if err == nil {
		_, err = p.send(ctx)
	}
	return err
}

// clock is the server's time in milliseconds. It goes on while a transaction waits for locks.
const clock = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

func (p *postgresDB) queueBegin(write bool, meta func(scan func(...any) error) error, now *stick.Time) error {
	how := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	if write {
		how = "BEGIN ISOLATION LEVEL READ COMMITTED"
	}
	err := p.add(nil, how)
	if p.repeats().own == "" {
		text, args := p.settings(true)
		err = errors.Join(err, p.add(nil, text, args...))
	}
	from, lock := "", []any(nil)
	if write {
		from, lock = " FROM pg_advisory_xact_lock_shared($1::integer, $2::integer)", []any{p.address.lockKey(), int64(schemaClass)}
	}
	return errors.Join(
		err,
		p.add(p.reading(now, nil), "SELECT "+clock+from, lock...),
		p.add(func(rows [][][]byte) error { return each(rows, meta) }, metaQuery),
	)
}

// reading returns what takes the time from a row of clock, and the id of the transaction where it is asked for.
func (p *postgresDB) reading(now *stick.Time, xid *string) func(rows [][][]byte) error {
	return func(rows [][][]byte) error {
		err := each(rows, func(scan func(...any) error) error {
			if xid == nil {
				return scan(now)
			}
			return scan(now, xid)
		})
		if p.opt.Now != nil {
			*now = stick.At(p.opt.Now())
		}
		p.ahead.Store(int64(now.Sub(stick.At(p.opt.Local()))))
		return err
	}
}

// lockRoom locks the row of a room. What is read after it is what the last writer of the room has committed, and the
// time of tx is a time at which the room was locked.
func (p *postgresDB) lockRoom(tx *Tx, id stick.RoomID) error {
	if p.locked[id] {
		return nil
	}
	p.locked[id] = true
	return p.add(p.reading(&tx.now, &p.xid), "SELECT "+clock+", pg_current_xact_id()::text FROM (SELECT 1 FROM rooms WHERE room_id = $1 FOR UPDATE) AS locked", id)
}

// lockClass locks what belongs to no room. fresh is true if it wasn't locked before: then what was read of it may be old.
func (p *postgresDB) lockClass(c class) (fresh bool, err error) {
	if p.fresh[c] {
		return false, nil
	}
	p.fresh[c] = true
	return true, p.add(nil, "SELECT pg_advisory_xact_lock($1::integer, $2::integer)", p.address.lockKey(), int64(c))
}

// rollback ends the transaction. If it can't, it closes the connection, which ends it as well.
func (p *postgresDB) rollback() {
	p.queue = p.queue[:0]
	if p.conn != nil && !p.conn.IsClosed() && p.conn.TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), time.Second)
		defer cancel()
		if _, err := p.conn.Exec(ctx, "ROLLBACK").ReadAll(); err != nil {
			p.drop()
		}
	}
	p.rest()
}
