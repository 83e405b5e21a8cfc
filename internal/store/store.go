// Package store keeps Talking Stick's state in a database that many processes open at once.
// The database decides: ownership, roles and states exist nowhere else. The rules are in package stick;
// the store only loads what they need and saves what they return.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/stick"
)

// Options says where the database is and what the store takes from its environment.
type Options struct {
	Dir string // the data directory
	// Machine is this host's id, which may be empty and which other hosts may have as well. Boot is the id of its
	// boot; leases don't outlive it.
	Machine, Boot string

	Now   func() time.Time // nil for the real clock
	NewID func() string    // nil for random ids
	// WriteWait bounds how long a writer waits for the others; 0 for 15 seconds.
	WriteWait time.Duration
	// ReadWait bounds how long any transaction waits while another program, not tt, locks the database; 0 for
	// 5 seconds.
	ReadWait time.Duration
	// Kill is called at named points of an update, so that tests can end the process there.
	Kill func(point string)
}

// DB is an open database. It is safe for use by several goroutines.
type DB struct {
	opt  Options
	Bell *bell.Dir

	lock       *bell.Mutex // held by writers, across processes
	dialect    dialect
	migrations []migration // all that this program knows

	mu    sync.Mutex // guards the rest: a connection serves one transaction at a time
	conn  *sql.Conn
	pool  *sql.DB
	stmts map[string]*sql.Stmt

	file fs.FileInfo // the database that is open; it never changes

	commits   int  // of this process
	bootKnown bool // the database knows under which boot this process runs

	lastPolicy struct { // the policy that was decoded last
		text   string
		policy stick.Policy
	}
}

// ErrAbsent is returned by [Open] when there is no database and create is false.
var ErrAbsent = errors.New("there is no database yet")

// Open opens the database in opt.Dir. If there is none, Open creates it and its directory when create is true,
// and returns [ErrAbsent] otherwise. A log of a database that is missing or empty counts as damage. It fails with
// [stick.CodeForeignDatabase], [stick.CodeSchemaTooNew], [stick.CodeDatabaseCorrupt],
// [stick.CodeDatabaseBusy] and [stick.CodeDataDirNotWritable].
func Open(ctx context.Context, opt Options, create bool) (*DB, error) {
	migrations, err := readMigrations(embedded)
	if err != nil {
		return nil, err
	}
	return open(ctx, opt, create, migrations)
}

// open is Open for a program that knows these migrations.
func open(ctx context.Context, opt Options, create bool, migrations []migration) (*DB, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.NewID == nil {
		opt.NewID = NewID
	}
	if opt.Kill == nil {
		opt.Kill = func(string) {}
	}
	if opt.WriteWait == 0 {
		opt.WriteWait = 15 * time.Second
	}
	if opt.ReadWait == 0 {
		opt.ReadWait = 5 * time.Second
	}
	return openSQLite(ctx, &DB{opt: opt, dialect: sqliteDialect, migrations: migrations, stmts: map[string]*sql.Stmt{}}, create)
}

// Dir is the data directory.
func (db *DB) Dir() string { return db.opt.Dir }

// NewID makes an id that is never made again.
func (db *DB) NewID() string { return db.opt.NewID() }

// InPlace fails with [stick.CodeDatabaseMoved] if the database that is open isn't the one that commands open now. Every
// transaction asks: whoever went on with a file that was moved away would wait for others who never come there.
func (db *DB) InPlace() error { return db.dialect.inPlace(db) }

// Close ends the connection. A program that is about to exit needn't call it: the operating system releases the
// locks, and closing last would cost the time of a checkpoint.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	return errors.Join(db.conn.Close(), db.pool.Close(), db.lock.Close())
}

// View runs fn in a transaction that reads one state of the database. fn must not keep tx.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	tx, err := db.begin(db.dialect.read)
	if err != nil {
		return err
	}
	defer tx.rollback()
	return db.fail(fn(tx))
}

// Update runs fn in a transaction and commits what it changed, all or nothing, when fn returns
// nil. Then it wakes the waiters of the rooms that fn named. fn may run more than once, so it must change nothing
// outside the transaction. Update returns the error of fn, and [stick.CodeDatabaseBusy] when other writers
// kept the lock for too long.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, db.opt.WriteWait)
	defer cancel()
	began := time.Now()
	if err := db.lock.Lock(wait); err != nil {
		return db.busy(ctx, began, err)
	}
	ringer, err := db.update(fn)
	ringer.Ring()
	return err
}

// update does the work of Update under the write lock, which it releases, even if fn never returns. It opens the
// bells of the rooms before it commits: the operating system closes them when the process dies, and closing
// rings. So the waiters wake even then.
func (db *DB) update(fn func(*Tx) error) (*bell.Ringer, error) {
	defer db.lock.Unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.opt.WriteWait < db.opt.ReadWait {
		db.dialect.limitWait(db)
	}
	if err := db.requireUnmarked(); err != nil {
		return nil, err
	}
	tx, err := db.begin(db.dialect.write)
	if err != nil {
		return nil, err
	}
	defer tx.rollback()
	tx.write = true
	if err := tx.noticeReboot(); err != nil {
		return nil, db.fail(err)
	}
	if err := fn(tx); err != nil {
		return nil, db.fail(err)
	}
	ringer, err := db.Bell.Prepare(tx.rings...)
	if err != nil {
		return nil, notWritable(db.opt.Dir, err)
	}
	db.opt.Kill("before commit")
	if err := tx.commit(); err != nil {
		return ringer, db.fail(err)
	}
	db.bootKnown = true
	db.opt.Kill("after commit")
	db.dialect.committed(db)
	return ringer, nil
}

// background is the context of single statements. Transactions are short, and a context that can be cancelled
// costs a goroutine for each statement.
var background = context.Background()

// Tx is a transaction.
type Tx struct {
	db    *DB
	write bool
	done  bool
	now   stick.Time
	meta  meta
	rings []string
	sums  map[stick.RoomID]string // the last sum of the rooms that were loaded
}

func (db *DB) begin(how string) (*Tx, error) {
	if err := db.InPlace(); err != nil {
		return nil, err
	}
	if _, err := db.exec(how); err != nil {
		return nil, db.fail(err)
	}
	tx := &Tx{db: db, sums: map[stick.RoomID]string{}, now: stick.At(db.opt.Now())}
	if err := tx.readMeta(); err != nil {
		tx.rollback()
		return nil, db.fail(err)
	}
	return tx, nil
}

func (tx *Tx) rollback() {
	if !tx.done {
		tx.done = true
		_, _ = tx.db.exec("ROLLBACK") // nothing was committed, so a failure changes nothing
	}
}

func (tx *Tx) commit() error {
	if _, err := tx.db.exec("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	tx.done = true
	return nil
}

// Now is the time of the transaction, read once, after its lock was taken.
func (tx *Tx) Now() stick.Time { return tx.now }

// Writes reports whether the transaction may change anything.
func (tx *Tx) Writes() bool { return tx.write }

// Generation is the current generation. A lease ends with the generation in which it was granted.
func (tx *Tx) Generation() int64 { return tx.meta.generation }

// GenerationCause says what began the current generation: "reboot" or "restore", empty for the first.
func (tx *Tx) GenerationCause() string { return tx.meta.cause }

// Ring wakes the waiters of a room after the commit.
func (tx *Tx) Ring(r stick.RoomID) {
	for _, have := range tx.rings {
		if have == string(r) {
			return
		}
	}
	tx.rings = append(tx.rings, string(r))
}

// exec and query run a statement that is prepared once per process.
func (db *DB) exec(text string, args ...any) (sql.Result, error) {
	stmt, err := db.stmt(text)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(background, args...)
}

func (db *DB) stmt(text string) (*sql.Stmt, error) {
	if s, ok := db.stmts[text]; ok {
		return s, nil
	}
	s, err := db.conn.PrepareContext(background, db.dialect.queryText(text))
	if err != nil {
		return nil, err
	}
	db.stmts[text] = s
	return s, nil
}

func (tx *Tx) exec(text string, args ...any) error {
	_, err := tx.db.exec(text, args...)
	return err
}

// scan runs a query and calls row for each row of it.
func (tx *Tx) scan(text string, args []any, row func(scan func(...any) error) error) error {
	stmt, err := tx.db.stmt(text)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(background, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// one runs a query for at most one row and reports whether there was one.
func (tx *Tx) one(text string, args []any, into ...any) (bool, error) {
	stmt, err := tx.db.stmt(text)
	if err != nil {
		return false, err
	}
	err = stmt.QueryRowContext(background, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
