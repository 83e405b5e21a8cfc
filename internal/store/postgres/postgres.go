// Package postgres is the dialect of PostgreSQL, which many processes of many hosts write at a time.
//
// See docs/decisions/postgresql.md.
package postgres

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"talkingstick/internal/bell"
	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/schema"
	"talkingstick/stick"
)

// DB is the dialect of PostgreSQL, which many processes of many hosts write at a time. What keeps
// them apart:
//
//   - A transaction that writes locks the row of a room, as a statement of its own, before it reads anything
//     of the room. It runs at READ COMMITTED, so what it reads then is what the last writer of the room has
//     committed. (A statement that locks and reads, or REPEATABLE READ, would read rows from before the
//     lock.)
//   - What is of no room has a lock of its own: see [dialect.Class].
//   - A transaction that reads only sees one state (REPEATABLE READ), and waits for nobody.
//
// The beginning of a transaction and statements without rows are sent together with the next query, or with
// COMMIT. So a failure of theirs may come late; it ends the transaction all the same.
type DB struct {
	opt        dialect.Options
	migrations []schema.Migration
	address    *Address
	waits      pgWaits

	conn    *pgconn.PgConn   // nil for none
	heard   time.Time        // when something came over it
	ending  *pgconn.Pipeline // a rollback whose answer wasn't read; nil for none
	ctx     context.Context
	opening *opening // the transaction's beginning, until it is sent
	failed  error    // why it didn't Begin
	queue   []queued
	locked  map[stick.RoomID]bool  // by the transaction
	fresh   map[dialect.Class]bool // the classes that the transaction has locked
	hostID  string                 // in the transaction: a copy of a disk gets another one, see host.go of the store
	xid     string                 // of the transaction, once it has locked a room
	texts   map[string]string      // queries as PostgreSQL reads them

	prepared prepared

	ahead   atomic.Int64 // how far the server's clock is ahead of this machine's, in nanoseconds
	waiting atomic.Bool  // the process waits: see waits.go

	mu        sync.Mutex     // guards busy, and what the connection is while not busy: conn, look and keep
	busy      bool           // a transaction is open
	idle      *time.Timer    // closes a connection that nobody uses
	readPlace *bell.FileLock // the connection's place among those that read at a time
	keepPlace *bell.FileLock // the process's place among those that keep their connection
}

// pgWaits are the limits of a process.
type pgWaits struct {
	connect   time.Duration // until a server answers, with all attempts
	lock      time.Duration
	statement time.Duration
	again     time.Duration // how long a transaction is run again
}

// waitsOf limits what a command waits for, by the limits that it has on SQLite: a hook's are short.
func waitsOf(opt dialect.Options) pgWaits {
	return pgWaits{
		connect: min(5*time.Second, 2*opt.ReadWait), lock: min(2*opt.ReadWait, opt.WriteWait),
		statement: 3 * opt.ReadWait, again: opt.WriteWait,
	}
}

const (
	// idleInTransaction ends the transaction of a process that was stopped in the middle of it. Transactions
	// only compute.
	idleInTransaction = 2 * time.Second
	// unusedAfter is how long a connection stays open that nobody uses: a process that waits holds none.
	unusedAfter = 5 * time.Second
)

// queued is a statement that wasn't sent yet. result gets its rows, and may be nil.
type queued struct {
	text   string
	args   pgArgs
	result func(rows [][][]byte) error
}

// queueQuery queues a statement, which is written for PostgreSQL.
func (p *DB) queueQuery(result func(rows [][][]byte) error, text string, args ...any) error {
	a, err := pgArgsOf(args)
	if err != nil {
		return err
	}

	p.queue = append(p.queue, queued{text, a, result})
	return nil
}

// sendQueued sends what is queued and reads the answers. It returns the tags of the statements that were
// done.
func (p *DB) sendQueued(ctx context.Context) (done []string, err error) {
	queue := p.queue
	p.queue = nil

	// The beginning travels with the first query. If it fails, so does all that follows.
	if o := p.opening; o != nil {
		p.opening = nil
		done, p.failed = p.sendOpening(ctx, o, queue)
		return done, p.failed
	}

	if p.failed != nil {
		return nil, p.failed
	}

	results, err := p.sendBatch(ctx, queue)
	return deliverResults(queue, results, err)
}

// sendBatch sends statements and waits for the answers. The server ends a statement that takes too long;
// where its answer doesn't come either, the network is silent.
func (p *DB) sendBatch(ctx context.Context, queue []queued) ([]*pgconn.Result, error) {
	if len(queue) == 0 {
		return nil, nil
	}

	// The server ends a slow statement itself. What takes longer than that is a silent network.
	ctx, cancel := context.WithTimeout(ctx, p.waits.statement+p.waits.connect)
	defer cancel()

	var batch pgconn.Batch
	for _, q := range queue {
		name, err := p.preparedName(ctx, q)
		if err != nil {
			return nil, err
		}

		if name == "" {
			batch.ExecParams(q.text, q.args.values, q.args.types, q.args.formats, nil)
		} else {
			batch.ExecPrepared(name, q.args.values, q.args.formats, nil)
		}
	}

	results, err := p.conn.ExecBatch(ctx, &batch).ReadAll()
	if err == nil {
		p.heard = time.Now()
	}

	return results, err
}

// deliverResults gives the answers to whom they are for, up to the first failure.
func deliverResults(queue []queued, results []*pgconn.Result, err error) (done []string, _ error) {
	for i, r := range results {
		if r.Err != nil {
			// The failure of the whole batch says more than that of one statement.
			return done, cmp.Or(err, r.Err)
		}

		done = append(done, r.CommandTag.String())
		if f := queue[i].result; f != nil {
			if err := f(r.Rows); err != nil {
				return done, err
			}
		}
	}

	return done, err
}

// Now implements [dialect.DB].
func (p *DB) Now() time.Time {
	if p.opt.Now != nil {
		return p.opt.Now()
	}
	return p.opt.Local().Add(time.Duration(p.ahead.Load()))
}

// DisplayName implements [dialect.DB].
func (p *DB) DisplayName() string { return p.address.String() }

// CurrentHost implements [dialect.DB].
func (p *DB) CurrentHost() string { return p.hostID }

// PlacesQuery and PathsColumn: each host has its own paths of a room, one for each checkout.
func (p *DB) PlacesQuery() string {
	return "(SELECT path, room_id FROM checkouts WHERE host_id = current_setting('talkingstick.host'))"
}

// PathsColumn implements [dialect.DB].
func (p *DB) PathsColumn() string {
	return `COALESCE((SELECT string_agg(c.path, chr(10) ORDER BY c.path) FROM checkouts c
		WHERE c.room_id = rooms.room_id AND c.host_id = current_setting('talkingstick.host')), '')`
}

// HasRowLocks implements [dialect.DB].
func (p *DB) HasRowLocks() bool { return true }

// markBusy keeps the connection open until [DB.markIdle].
func (p *DB) markBusy() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy = true
}

// markIdle ends a transaction for the connection, which is closed if none comes for a while.
func (p *DB) markIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()

	// A connection that broke can't be kept.
	if p.conn != nil && p.conn.IsClosed() {
		p.conn = nil
	}

	p.busy = false
	p.closeSoon()
}

// closeSoon closes the connection unless it is used again.
func (p *DB) closeSoon() {
	if p.idle == nil {
		p.idle = time.AfterFunc(unusedAfter, p.closeUnused)
		return
	}
	p.idle.Reset(unusedAfter)
}

func (p *DB) closeUnused() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.busy && p.keepPlace == nil {
		p.dropConn()
	}
}

// dropConn closes the connection.
func (p *DB) dropConn() {
	defer p.leaveReadPlace()

	if p.ending = nil; p.conn == nil {
		return
	}

	ctx, cancel := context.WithTimeout(background, 100*time.Millisecond)
	defer cancel()

	// The server ends what was open, even if it isn't told.
	_ = p.conn.Close(ctx)
	p.conn = nil
}

// Close implements [dialect.DB].
func (p *DB) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.idle != nil {
		p.idle.Stop()
	}

	p.dropConn()
	p.leaveKeepPlace()
	return nil
}

// Exec, scan and QueryOne translate a statement, which is written as SQLite reads it.
func (p *DB) Exec(text string, args []any) error {
	return p.queueQuery(nil, p.translateQuery(text), args...)
}

func (p *DB) translateQuery(text string) string {
	// The same statements run again and again, and translating takes longer than a look-up.
	t, ok := p.texts[text]
	if !ok {
		t = TranslateQuery(text)
		p.texts[text] = t
	}

	return t
}

// queryRows runs a statement that is written for PostgreSQL, and all before it.
func (p *DB) queryRows(text string, args ...any) (rows [][][]byte, err error) {
	err = p.queueQuery(func(got [][][]byte) error { rows = got; return nil }, text, args...)
	if err == nil {
		_, err = p.sendQueued(p.ctx)
	}
	return rows, err
}

// Scan implements [dialect.DB].
func (p *DB) Scan(text string, args []any, row dialect.RowReader) error {
	rows, err := p.queryRows(p.translateQuery(text), args...)
	if err != nil {
		return err
	}
	return eachRow(rows, row)
}

// ScanLater implements [dialect.DB].
func (p *DB) ScanLater(text string, args []any, row dialect.RowReader) error {
	return p.queueQuery(func(rows [][][]byte) error { return eachRow(rows, row) }, p.translateQuery(text), args...)
}

// FetchLater implements [dialect.DB].
func (p *DB) FetchLater() error {
	_, err := p.sendQueued(p.ctx)
	return err
}

// QueryOne implements [dialect.DB].
func (p *DB) QueryOne(text string, args, into []any) (bool, error) {
	rows, err := p.queryRows(p.translateQuery(text), args...)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	if err := pgScan(rows[0], into); err != nil {
		return true, &dialect.RowError{Err: err}
	}

	return true, nil
}

// eachRow calls f for each row.
func eachRow(rows [][][]byte, f dialect.RowReader) error {
	for _, r := range rows {
		if err := f(func(into ...any) error { return pgScan(r, into) }); err != nil {
			return err
		}
	}

	return nil
}

// DrawNumbers draws from a sequence. The room is locked by now, so the numbers of its events rise in the
// order of commits. Numbers that are drawn for nothing are left out, and those of other rooms come in
// between.
func (p *DB) DrawNumbers(n int) ([]int64, error) {
	rows, err := p.queryRows("SELECT nextval('event_seq') FROM generate_series(1, $1)", n)
	if err != nil {
		return nil, err
	}

	numbers := make([]int64, 0, n)
	err = eachRow(rows, func(scan dialect.RowScan) error {
		var number int64
		err := scan(&number)
		numbers = append(numbers, number)
		return err
	})

	// The rows of a query without an order may come in any.
	slices.Sort(numbers)
	return numbers, err
}

// LastDrawn implements [dialect.DB].
func (p *DB) LastDrawn() (last int64, err error) {
	rows, err := p.queryRows("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM event_seq")
	if err != nil {
		return 0, err
	}
	return last, eachRow(rows, func(scan dialect.RowScan) error { return scan(&last) })
}

// SkipNumbers implements [dialect.DB].
func (p *DB) SkipNumbers(n int64) error {
	return p.queueQuery(nil, "SELECT setval('event_seq', nextval('event_seq') + $1)", n)
}

// RequireInPlace has nothing to compare: an address means what it means.
func (p *DB) RequireInPlace() error { return nil }

// SettleLoss, CompareNext and UnsettledLoss have nothing to do: a server has each commit on its disk before
// it answers.
func (p *DB) SettleLoss(dialect.Meta) (dialect.Settlement, error) {
	return dialect.Settlement{}, nil
}

// CompareNext implements [dialect.DB].
func (p *DB) CompareNext() {}

// UnsettledLoss implements [dialect.DB].
func (p *DB) UnsettledLoss() *dialect.Loss { return nil }

// ReadMark and ClearMark have nothing to do: the server itself stops at damage.
func (p *DB) ReadMark() string { return "" }

// ClearMark implements [dialect.DB].
func (p *DB) ClearMark(string) error { return nil }

// CheckIntegrity finds nothing: the server checks references whenever they change, and its own means check
// its files.
func (p *DB) CheckIntegrity(func(string, ...any)) error { return nil }

// TryLocks implements [dialect.DB].
func (p *DB) TryLocks(ctx context.Context, attempt func(context.Context) error) error {
	return attempt(ctx)
}

// WriteBlob and ReadBlob keep content in a table, where all hosts find it.
func (p *DB) WriteBlob(b dialect.Blob, content []byte) error {
	return p.inTransaction(func() error {
		return p.queueQuery(nil, `INSERT INTO blob_contents (sum, content) VALUES ($1, $2)
			ON CONFLICT (sum) DO NOTHING`,
			b.Sum, content)
	})
}

// ReadBlob implements [dialect.DB].
func (p *DB) ReadBlob(sum string) (content []byte, ok bool, err error) {
	err = p.inTransaction(func() error {
		rows, err := p.queryRows("SELECT content FROM blob_contents WHERE sum = $1", sum)
		if ok = len(rows) > 0; ok && err == nil {
			err = pgScan(rows[0], []any{&content})
		}
		return err
	})

	return content, ok, err
}

// inTransaction runs fn in a transaction of its own.
func (p *DB) inTransaction(fn func() error) error {
	err := p.Begin(background, true, func(stick.Time, dialect.Meta) error { return nil })
	if err != nil {
		return p.CodeError(err)
	}
	if err = fn(); err == nil {
		err = p.Commit(dialect.Commit{})
	}
	if err != nil {
		p.Rollback()
	}

	return p.CodeError(err)
}
