// Package store keeps Talking Stick's state in a database that many processes open at once.
// The database decides: ownership, roles and states exist nowhere else. The rules are in package stick;
// the store only loads what they need and saves what they return.
//
// See docs/decisions/sqlite.md and docs/decisions/postgresql.md.
package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/postgres"
	"talkingstick/internal/store/schema"
	"talkingstick/internal/store/sqlite"
	"talkingstick/stick"
)

// Options says where the database is and what the store takes from its environment.
type Options struct {
	Dir string // the data directory
	// URL is the address of a PostgreSQL database, such as postgres://user@host/database. It is empty for the
	// database in Dir, which holds the bells and locks of this host in any case.
	URL string
	// Machine is this host's id, which may be empty and which other hosts may have as well. Boot is the id of
	// its boot; leases don't outlive it.
	Machine, Boot string
	// HostName is this host's name in the names of persons, where several hosts share the database.
	HostName string

	// Witness runs while this process is the one that hears for its host what other hosts commit, and until
	// ctx ends. heard gets a value after a commit on any host. It tells other hosts what they can't see of
	// this one.
	Witness func(ctx context.Context, db *DB, heard <-chan struct{})

	Now   func() time.Time // nil for the real clock: on PostgreSQL the server's
	Local func() time.Time // this machine's clock; nil for the real one
	NewID func() string    // nil for random ids
	// WriteWait bounds how long a writer waits for the others; 0 for 15 seconds.
	WriteWait time.Duration
	// ReadWait bounds how long any transaction waits while another program, not tt, locks the database; 0 for
	// 5 seconds.
	ReadWait time.Duration
	// Waits is true for a process that is about to wait: on PostgreSQL it takes its place among those of its
	// host that wait and read before it connects, so a thousand that start at once don't all connect.
	Waits bool
	// Lost is called once with what the database has lost, by the transaction that finds out; nil for
	// nothing. It mustn't use the database.
	Lost func(dialect.Loss)
	// Kill is called at named points of an update, so that tests can end the process there.
	Kill func(point string)
}

// dialectOptions are what a dialect takes of them.
func (o Options) dialectOptions() dialect.Options {
	return dialect.Options{
		Dir: o.Dir, URL: o.URL, Now: o.Now, Local: o.Local, NewID: o.NewID,
		WriteWait: o.WriteWait, ReadWait: o.ReadWait, Waits: o.Waits, Lost: o.Lost, Kill: o.Kill,
	}
}

// DB is an open database. It is safe for use by several goroutines.
type DB struct {
	opt    Options
	Bell   *bell.Dir
	schema int64 // the newest that this program knows

	witness witness

	mu        sync.Mutex // guards the rest: a connection serves one transaction at a time
	dialect   dialect.DB
	bootKnown bool                    // the database knows under which boot this process runs
	meant     map[stick.RoomID]string // which checkout of this host was meant last; for rooms that several hosts share
	hostSeen  stick.Time              // when this process last saw to it that the database knows that the host is there
}

// Open opens the database in opt.Dir. If there is none, Open creates it and its directory when create is
// true, and returns [ErrAbsent] otherwise. A log of a database that is missing or empty counts as damage. It
// fails with [stick.CodeForeignDatabase], [stick.CodeSchemaTooNew], [stick.CodeDatabaseCorrupt],
// [stick.CodeDatabaseBusy], [stick.CodeDatabaseUnavailable] and [stick.CodeDataDirNotWritable].
func Open(ctx context.Context, opt Options, create bool) (*DB, error) {
	migrations, err := schema.Migrations()
	if err != nil {
		return nil, err
	}
	return openStore(ctx, opt, create, migrations)
}

// openStore is Open for a program that knows these migrations.
func openStore(ctx context.Context, opt Options, create bool, migrations []schema.Migration) (*DB, error) {
	// What the caller leaves out gets its default.
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

	// The bells lie in the data directory, wherever the database is.
	bells, err := bell.Open(opt.Dir)
	if err != nil {
		return nil, dialect.ErrNotWritable(opt.Dir, err)
	}

	d, err := openDialect(ctx, opt.dialectOptions(), create, migrations)
	if err != nil {
		return nil, err
	}

	return newDB(opt, bells, d, migrations), nil
}

func newDB(opt Options, bells *bell.Dir, d dialect.DB, migrations []schema.Migration) *DB {
	return &DB{
		opt: opt, Bell: bells, schema: schema.Newest(migrations), dialect: d,
		meant: map[stick.RoomID]string{},
	}
}

// openDialect opens the database that opt means.
func openDialect(ctx context.Context, opt dialect.Options, create bool, migrations []schema.Migration) (dialect.DB, error) {
	if opt.Local == nil {
		opt.Local = time.Now
	}

	// A server has a clock of its own, so Now may stay nil.
	if opt.URL != "" {
		return postgres.Open(ctx, opt, create, migrations)
	}
	if opt.Now == nil {
		opt.Now = opt.Local
	}

	return sqlite.Open(ctx, opt, create, migrations)
}

// Now is the time by the clock of the database: a server's may differ from this machine's by an hour. What it
// differs by is known from the last transaction.
func (db *DB) Now() time.Time { return db.dialect.Now() }

// DisplayName names the database for people, without secrets.
func (db *DB) DisplayName() string { return db.dialect.DisplayName() }

// Dir is the data directory.
func (db *DB) Dir() string { return db.opt.Dir }

// ManyHosts reports whether other hosts may have the database open, too.
func (db *DB) ManyHosts() bool { return db.opt.URL != "" }

// NewID makes an id that is never made again.
func (db *DB) NewID() string { return db.opt.NewID() }

// RequireInPlace fails with [stick.CodeDatabaseMoved] if the database that is open isn't the one that
// commands open now. Every transaction asks: whoever went on with a file that was moved away would wait for
// others who never come there.
func (db *DB) RequireInPlace() error { return db.dialect.RequireInPlace() }

// Close ends the connection. A program that is about to exit needn't call it: the operating system releases
// the locks, and closing last would cost the time of a checkpoint.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.dialect.Close()
}

// View runs fn in a transaction that reads one state of the database. fn must not keep tx.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}

	db.mu.Lock()
	defer db.mu.Unlock()

	tx, err := db.begin(ctx, false)
	if err != nil {
		return err
	}
	defer tx.rollback()

	// Nothing was changed, so the rollback ends it as well as a commit would.
	return db.dialect.CodeError(tx.callerError(fn(tx)))
}

// Update runs fn in a transaction and commits what it changed, all or nothing, when fn returns nil. Then it
// wakes the waiters of the rooms that fn named. fn may run more than once, so it must change nothing outside
// the transaction. Update returns the error of fn, and [stick.CodeDatabaseBusy] when other writers kept the
// lock for too long.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}

	var ringer *bell.Ringer
	err := db.dialect.RunWrite(ctx, func() (err error) {
		ringer.Ring() // of an attempt that failed
		ringer, err = db.runUpdate(ctx, fn)
		return err
	})

	ringer.Ring()
	return err
}

// runUpdate does the work of Update, and ends its transaction even if fn never returns. It opens the
// bells of the rooms before it commits: the operating system closes them when the process dies, and closing
// rings. So the waiters wake even then.
func (db *DB) runUpdate(ctx context.Context, fn func(*Tx) error) (*bell.Ringer, error) {
	db.mu.Lock()
	defer db.mu.Unlock()

	// What a loss ends has ended before the caller reads anything.
	tx, err := db.beginSettled(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.rollback()

	// Leases from before a reboot have ended, too.
	if err := tx.noticeBoot(); err != nil {
		return nil, db.dialect.CodeError(err)
	}
	if err := tx.callerError(fn(tx)); err != nil {
		return nil, db.dialect.CodeError(err)
	}

	// From here on the waiters wake, even if the process dies.
	ringer, err := db.Bell.PrepareRings(bell.Rings{
		All: slices.Concat(tx.rings, tx.ringsHere), Some: tx.someRings,
	})
	if err != nil {
		return nil, dialect.ErrNotWritable(db.opt.Dir, err)
	}

	db.opt.Kill("before commit")
	if err := tx.commit(); err != nil {
		return ringer, db.dialect.CodeError(err)
	}

	// The commit has brought this into the database.
	db.bootKnown, db.hostSeen = true, tx.now
	db.opt.Kill("after commit")
	return ringer, nil
}

// Tx is a transaction.
type Tx struct {
	db          *DB
	write       bool
	done        bool
	begun       bool                      // now and meta have come
	highestTurn int64                     // the highest that it has saved
	beginErr    error                     // why they didn't
	now         stick.Time                // see Now
	meta        dialect.Meta              // see Generation
	rings       []string                  // bells that ring after the commit, on all hosts
	ringsHere   []string                  // on this host
	someRings   []bell.SomeOf             // those that aren't for all; only where no other host has the database open
	eventID     string                    // of an event that it has made, which shows whether it was committed
	sums        map[stick.RoomID]string   // the last sum of the rooms that were loaded
	paths       map[stick.RoomID][]string // where those rooms lie on this host, if several hosts share the database
	hosts       map[string]string         // the names of other hosts that were asked for, by id

	evidence map[stick.AgentID][]stick.Evidence // of the members that were loaded, unless it was changed since

	generationBegun bool // the transaction has begun one
}

func (db *DB) begin(ctx context.Context, write bool) (tx *Tx, err error) {
	if err := db.RequireInPlace(); err != nil {
		return nil, err
	}

	tx = &Tx{
		db: db, write: write,
		sums: map[stick.RoomID]string{}, paths: map[stick.RoomID][]string{}, hosts: map[string]string{},
		evidence: map[stick.AgentID][]stick.Evidence{},
	}

	err = db.dialect.Begin(ctx, write, func(now stick.Time, m dialect.Meta) error {
		tx.now, tx.meta, tx.begun = now, m, true
		return tx.requireReader()
	})
	if err != nil {
		return nil, db.dialect.CodeError(err)
	}

	return tx, nil
}

// beginSettled begins a transaction that writes. If the database has lost something, a transaction before it
// says so for all that come, also where this one changes nothing.
func (db *DB) beginSettled(ctx context.Context) (tx *Tx, err error) {
	for settled := false; ; settled = true {
		if tx, err = db.begin(ctx, true); err != nil {
			return nil, err
		}

		// A loss is settled by a transaction of its own, which is committed even if the caller changes
		// nothing.
		lost := db.dialect.UnsettledLoss() != nil
		if err = tx.settleLoss(); err == nil && (!lost || settled) {
			return tx, nil
		}
		if err == nil {
			err = tx.commit()
		}
		if err != nil {
			tx.rollback()
			return nil, db.dialect.CodeError(err)
		}
	}
}

func (tx *Tx) rollback() {
	if !tx.done {
		tx.done = true
		tx.db.dialect.Rollback()
	}
}

func (tx *Tx) commit() error {
	c := dialect.Commit{Have: tx.meta.Have, HighestTurn: tx.highestTurn, EventID: tx.eventID, Rings: tx.rings}
	if err := tx.db.dialect.Commit(c); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	tx.done = true
	return nil
}

// Now is the time of the transaction, read when it had its lock: that of all writers, or that of the last
// room.
func (tx *Tx) Now() stick.Time {
	tx.ensureBegun()
	return tx.now
}

// ensureBegun has a transaction begin that hasn't asked anything yet.
func (tx *Tx) ensureBegun() {
	// The beginning waits for the first query, unless it is asked for.
	if !tx.begun && tx.beginErr == nil {
		tx.beginErr = tx.fetchLater()
	}
}

// callerError is how the caller's part of the transaction ended: what it did with a time that hadn't come
// counts for nothing.
func (tx *Tx) callerError(err error) error {
	if tx.beginErr != nil {
		return tx.beginErr
	}
	return err
}

// LockRooms locks rooms for the rest of a transaction that writes. What reads or writes a room locks it anyway; a transaction on
// several rooms locks them first, all at once, so that it never waits for another that waits for it.
// See docs/decisions/postgresql.md#locks.
func (tx *Tx) LockRooms(rooms ...stick.RoomID) error {
	if !tx.IsConcurrent() {
		return nil
	}

	// All lock rooms in the order of their ids.
	for _, r := range slices.Compact(slices.Sorted(slices.Values(rooms))) {
		if err := tx.lockRoom(r); err != nil {
			return err
		}
	}

	return nil
}

// LockNames locks the names of agents for the rest of a transaction that records a session or a process which
// is new. If it returns true, other transactions may have recorded some since the caller looked, so it has to
// look again.
func (tx *Tx) LockNames() (again bool, err error) {
	// What was loaded before the lock may be old.
	clear(tx.evidence)
	return tx.lockClass(dialect.NamesClass)
}

// IsConcurrent reports whether the transaction writes, and others may do so at the same time.
func (tx *Tx) IsConcurrent() bool { return tx.write && tx.db.dialect.HasRowLocks() }

func (tx *Tx) lockRoom(r stick.RoomID) error {
	if !tx.IsConcurrent() {
		return nil
	}
	return tx.db.dialect.LockRoom(r, &tx.now)
}

func (tx *Tx) lockClass(c dialect.Class) (again bool, err error) {
	if !tx.IsConcurrent() {
		return false, nil
	}
	return tx.db.dialect.LockClass(c)
}

// MayWrite reports whether the transaction may change anything.
func (tx *Tx) MayWrite() bool { return tx.write }

// Generation is the current generation. A lease ends with the generation in which it was granted.
func (tx *Tx) Generation() stick.Generation {
	tx.ensureBegun()
	g := tx.meta.Generation
	if g.Cause == stick.LossCause {
		g.Lost = tx.meta.LastLoss.Events
	}

	return g
}
