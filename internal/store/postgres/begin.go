package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// opening is a transaction that the server hasn't heard of yet: its beginning travels with its first query.
type opening struct {
	write bool
	began func(now stick.Time, m dialect.Meta) error
}

// background is the context of what must end whatever becomes of its caller.
var background = context.Background()

// silentAfter is how long nothing has come over a connection before the network may have forgotten it.
const silentAfter = time.Second

// Begin begins a transaction.
func (p *DB) Begin(ctx context.Context, write bool, began func(now stick.Time, m dialect.Meta) error) (err error) {
	p.markBusy()
	p.ctx, p.xid, p.failed = ctx, "", nil
	clear(p.locked)
	clear(p.fresh)
	p.queue = nil

	// The id lies in a file, which is read before anything is sent.
	if p.hostID, err = ReadHost(p.opt.Dir, write, p.opt.NewID); err != nil {
		p.markIdle()
		return dialect.ErrNotWritable(p.opt.Dir, err)
	}

	p.opening = &opening{write, began}
	return nil
}

// sendOpening sends the beginning of a transaction, and what is queued after it. It connects if there is no
// connection, also where that was lost meanwhile. Over a connection that may be forgotten, an answer that
// doesn't come soon means that it is; so there a beginning isn't sent with what may wait for locks.
func (p *DB) sendOpening(ctx context.Context, o *opening, queue []queued) (done []string, err error) {
	for {
		if err := p.finishRollback(); err != nil {
			p.dropConn()
		}

		before := p.conn != nil && !p.conn.IsClosed()
		if err := p.connect(ctx); err != nil {
			return nil, err
		}

		unsure := before && time.Since(p.heard) > silentAfter

		// What may wait for locks isn't sent along where a quick answer has to show that the connection is
		// alive.
		all, first := queue, []queued(nil)
		if unsure && o.write {
			all, first = nil, queue
		}

		limited, cancel := ctx, context.CancelFunc(func() {})
		if unsure {
			limited, cancel = context.WithTimeout(ctx, p.waits.connect/2)
		}

		results, err := []*pgconn.Result(nil), p.keepSettings(limited)
		if err == nil {
			if all, err = p.openingQueries(o, all); err == nil {
				results, err = p.sendBatch(limited, all)
			}
		}

		cancel()

		// Nothing was committed, so all may be sent again over a new connection.
		if before && isLost(err) {
			p.dropConn()
			continue // and then it is a new one
		}

		if done, err = deliverResults(all, results, err); err != nil || first == nil {
			return done, err
		}

		results, err = p.sendBatch(ctx, first)
		return deliverResults(first, results, err)
	}
}

// clockExpr is the server's time in milliseconds. It goes on while a transaction waits for locks.
const clockExpr = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

// openingQueries is what begins a transaction, and then the rest.
func (p *DB) openingQueries(o *opening, rest []queued) ([]queued, error) {
	how := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	if o.write {
		how = "BEGIN ISOLATION LEVEL READ COMMITTED"
	}

	err := p.queueQuery(nil, how)

	// A session that keeps its settings has them already.
	if p.preparedStmts().own == "" {
		text, args := p.settingsQuery(true)
		err = errors.Join(err, p.queueQuery(nil, text, args...))
	}

	from, lock := "", []any(nil)
	if o.write {
		from = " FROM pg_advisory_xact_lock_shared($1::integer, $2::integer)"
		lock = []any{p.address.lockKey(), int64(dialect.SchemaClass)}
	}

	var now stick.Time
	var m dialect.Meta
	err = errors.Join(
		err,
		p.queueQuery(p.clockReader(&now), "SELECT "+clockExpr+from, lock...),
		p.queueQuery(func(rows [][][]byte) error {
			if err := eachRow(rows, m.ReadRow); err != nil {
				return err
			}
			return o.began(now, m)
		}, dialect.MetaQuery),
	)

	all := append(p.queue, rest...)
	p.queue = nil
	return all, err
}

// clockReader returns what takes the time from a row of clock, and more where more is asked for.
func (p *DB) clockReader(now *stick.Time, more ...any) func(rows [][][]byte) error {
	return func(rows [][][]byte) error {
		err := eachRow(rows, func(scan dialect.RowScan) error { return scan(append([]any{now}, more...)...) })

		// Tests set the time.
		if p.opt.Now != nil {
			*now = stick.At(p.opt.Now())
		}

		p.ahead.Store(int64(now.Sub(stick.At(p.opt.Local()))))
		return err
	}
}

// LockRoom locks the row of a room. What is read after it is what the last writer of the room has committed,
// and now becomes a time at which the room was locked.
func (p *DB) LockRoom(id stick.RoomID, now *stick.Time) error {
	if p.locked[id] {
		return nil
	}

	p.locked[id] = true
	return p.queueQuery(p.clockReader(now, &p.xid), "SELECT "+clockExpr+`, pg_current_xact_id()::text
		FROM (SELECT 1 FROM rooms WHERE room_id = $1 FOR UPDATE) AS locked`,
		id)
}

// LockClass locks what belongs to no room. fresh is true if it wasn't locked before: then what was read of it
// may be old.
func (p *DB) LockClass(c dialect.Class) (fresh bool, err error) {
	if p.fresh[c] {
		return false, nil
	}

	p.fresh[c] = true
	return true, p.queueQuery(nil, "SELECT pg_advisory_xact_lock($1::integer, $2::integer)",
		p.address.lockKey(), int64(c))
}

// Rollback ends the transaction, and doesn't wait for the answer. If it can't, it closes the connection,
// which ends it as well.
func (p *DB) Rollback() {
	p.queue, p.opening = nil, nil
	if p.ending == nil && p.conn != nil && !p.conn.IsClosed() && p.conn.TxStatus() != 'I' {
		p.ending = p.conn.StartPipeline(background)
		p.ending.SendQueryParams("ROLLBACK", nil, nil, nil, nil)
		if err := p.ending.Sync(); err != nil {
			p.dropConn()
		}
	}

	p.markIdle()
}

// finishRollback reads the answer to a rollback, before the connection is used again.
func (p *DB) finishRollback() error {
	ending := p.ending
	if p.ending = nil; ending == nil {
		return nil
	}

	// A server that doesn't answer a rollback answers nothing else either.
	if err := p.conn.Conn().SetReadDeadline(time.Now().Add(p.waits.connect / 2)); err != nil {
		return err
	}
	if err := ending.Close(); err != nil {
		return err
	}

	return p.conn.Conn().SetReadDeadline(time.Time{})
}
