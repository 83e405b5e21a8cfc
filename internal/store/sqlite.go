package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"talkingstick/internal/bell"
	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// applicationID marks a SQLite file as ours: "TTst" in the file's header.
const applicationID = 0x54547374

// FileName is the name of the database in the data directory.
const FileName = "rooms.sqlite"

// databaseFiles are the names of the files that make up the database; the database itself comes first.
func databaseFiles() []string { return []string{FileName, FileName + "-wal", FileName + "-shm"} }

// sqliteDialect reads everything as it is written.
var sqliteDialect = dialect{
	read:      "BEGIN",
	write:     "BEGIN IMMEDIATE",
	classify:  classify,
	check:     checkFile,
	limitWait: limitWriteWait,
	committed: checkpoint,
	inPlace:   inPlace,
}

// openSQLite completes [Open].
//
// A process opens a database file once: to look at the file's header, it reads the file beside
// SQLite, and closing a file drops the locks that this process's other connections hold on it.
func openSQLite(ctx context.Context, db *DB, create bool) (*DB, error) {
	dir := db.opt.Dir
	path := filepath.Join(dir, FileName)
	if err := plainfile.CheckOwner(dir); err != nil {
		return nil, err
	}
	fresh, err := readHeader(path)
	if err == nil && fresh {
		fresh, err = requireNoLog(path)
	}
	if err != nil {
		return nil, err
	}
	if fresh && !create {
		return nil, ErrAbsent
	}
	if err := plainfile.MkdirAll(dir); err != nil {
		return nil, notWritable(dir, err)
	}
	for _, beside := range []string{"-journal", "-wal", "-shm"} { // SQLite opens them, and would wait for a FIFO's other side
		if err := plainfile.Check(path + beside); err != nil {
			return nil, notWritable(dir, err)
		}
	}
	if fresh {
		if err := createFile(path); err != nil {
			return nil, err
		}
	}
	if db.Bell, err = bell.Open(dir); err != nil {
		return nil, notWritable(dir, err)
	}
	if db.file, err = os.Stat(path); err != nil {
		return nil, notWritable(dir, err)
	}
	db.lock = bell.NewMutex(filepath.Join(dir, "write.lock"))
	if err := db.connect(path); err != nil {
		return nil, db.fail(err)
	}
	if err := db.prepare(ctx, fresh); err != nil {
		db.Close()
		return nil, db.fail(err)
	}
	return db, nil
}

// readHeader reads the header of a database file before SQLite opens it, because SQLite may change a file of
// another program by opening it. fresh is true when there is no file yet, or an empty one.
func readHeader(file string) (fresh bool, err error) {
	f, err := plainfile.Open(file, os.O_RDONLY)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, notWritable(filepath.Dir(file), err)
	}
	defer f.Close()
	var head [72]byte
	n, err := io.ReadFull(f, head[:])
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return true, nil
	case err != nil || !bytes.HasPrefix(head[:], []byte("SQLite format 3\x00")):
		return false, corrupt(fmt.Errorf("%s is not an SQLite database", file))
	case binary.BigEndian.Uint32(head[68:]) != applicationID:
		return false, foreign(file)
	}
	return false, nil
}

// requireNoLog refuses to begin a new database where a write-ahead log says that there was one: SQLite would throw
// that log away, with the newest commits in it. fresh is false if another process has made the database meanwhile:
// a log appears only after the header.
func requireNoLog(file string) (fresh bool, err error) {
	info, err := os.Stat(file + "-wal")
	if err != nil || info.Size() == 0 {
		return true, nil // whatever else is wrong with it, opening tells
	}
	if fresh, err = readHeader(file); err != nil || !fresh {
		return fresh, err
	}
	what := "is empty"
	if _, err := os.Stat(file); err != nil {
		what = "is missing"
	}
	return false, stick.Errorf(stick.CodeDatabaseCorrupt, "the database %s %s, but its write-ahead log %s-wal is there", stick.Line(file), what, FileName).With("path", file).
		Hintf("put back the database that belongs to the log; to give it up, move the log aside, and the next command starts a new database")
}

func foreign(file string) *stick.Error {
	return stick.Errorf(stick.CodeForeignDatabase, "%s was made by another program", file).
		With("path", file).Hintf("move it aside and start a new one: %s", stick.Cmd("tt doctor --adopt"))
}

// createFile creates an empty database file that only its owner can read. SQLite gives the files that it puts
// beside it the same permissions.
func createFile(file string) error {
	f, err := plainfile.Open(file, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return notWritable(filepath.Dir(file), err)
	}
	return f.Close()
}

// inPlace compares the file that is open with the one in the data directory.
func inPlace(db *DB) error {
	path := filepath.Join(db.opt.Dir, FileName)
	now, err := os.Stat(path)
	if err == nil && os.SameFile(now, db.file) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return stick.Errorf(stick.CodeDatabaseMoved, "the database %s was moved or replaced while this command ran", stick.Line(path)).With("path", path).
		Hintf("run the command again, which opens the database that is there now")
}

// connect opens the one connection of this process.
func (db *DB) connect(file string) error {
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(file)}
	pool, err := sql.Open("sqlite", u.String())
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	conn, err := pool.Conn(background)
	if err != nil {
		pool.Close()
		return classify(err)
	}
	db.pool, db.conn = pool, conn
	// Foreign keys are checked only on connections that ask for it.
	_, err = conn.ExecContext(background, busyTimeout(db.opt.ReadWait)+"; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON")
	return classify(err)
}

// limitWriteWait limits how long a writer waits for a lock, whoever holds it: another tt or another program.
func limitWriteWait(db *DB) {
	_, _ = db.conn.ExecContext(background, busyTimeout(db.opt.WriteWait)) // else it waits for longer
}

func busyTimeout(d time.Duration) string {
	return fmt.Sprintf("PRAGMA busy_timeout=%d", d.Milliseconds())
}

// prepare creates the schema or brings it up to date. It refuses a database that needs a newer program.
func (db *DB) prepare(ctx context.Context, fresh bool) error {
	if fresh {
		if err := db.locked(ctx, db.create); err != nil {
			return err
		}
	}
	var have, reader int64
	read := func() error {
		return classify(db.conn.QueryRowContext(background, `
			SELECT (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'schema'), (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'min_reader')`).
			Scan(&have, &reader))
	}
	if err := read(); err != nil {
		if lacksMeta(db) { // our mark is in its header, and nothing else is ours
			return foreign(filepath.Join(db.opt.Dir, FileName))
		}
		return err
	}
	if newest := db.schema(); reader > newest {
		return stick.Errorf(stick.CodeSchemaTooNew, "the database needs schema %d and this tt knows %d", reader, newest).
			With("schema", have).Hintf("use the newer tt that wrote it")
	}
	if have >= db.schema() {
		return nil
	}
	return db.locked(ctx, func() error {
		if err := read(); err != nil { // another process may have migrated it meanwhile
			return err
		}
		return db.migrate(have)
	})
}

// lacksMeta reports whether a database that can be read has no table meta.
func lacksMeta(db *DB) bool {
	tables := 1
	err := db.conn.QueryRowContext(background, "SELECT count(*) FROM sqlite_master WHERE name = 'meta'").Scan(&tables)
	return err == nil && tables == 0
}

// locked runs fn under the write lock.
func (db *DB) locked(ctx context.Context, fn func() error) error {
	wait, cancel := context.WithTimeout(ctx, db.opt.WriteWait)
	defer cancel()
	began := time.Now()
	if err := db.lock.Lock(wait); err != nil {
		return db.busy(ctx, began, err)
	}
	defer db.lock.Unlock()
	return fn()
}

// create marks a new file as ours and creates the table that migrations are counted in. It uses the rollback
// journal: the mark must be in the file's header before the first write-ahead log exists.
func (db *DB) create() error {
	var tables int
	if err := db.conn.QueryRowContext(background, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return classify(err)
	}
	if tables == 0 {
		mark := fmt.Sprintf("BEGIN IMMEDIATE; PRAGMA application_id=%d; %s COMMIT", applicationID, metaTable)
		if _, err := db.conn.ExecContext(background, mark); err != nil {
			return classify(err)
		}
		return db.unmark(db.readMark()) // a mark was for the database before this one
	}
	return nil
}

// migrate applies the migrations after number have, each in a transaction of its own.
func (db *DB) migrate(have int64) error {
	if err := db.requireUnmarked(); err != nil {
		return err
	}
	if _, err := db.conn.ExecContext(background, "PRAGMA journal_mode=WAL"); err != nil {
		return classify(err)
	}
	for _, m := range db.migrations {
		if m.number <= have {
			continue
		}
		if _, err := db.conn.ExecContext(background, m.script(db.dialect)); err != nil {
			_, _ = db.conn.ExecContext(background, "ROLLBACK")
			return fmt.Errorf("migration %d: %w", m.number, classify(err))
		}
	}
	return nil
}

// A writer moves the write-ahead log into the database once the log is larger than this. A process that opens the
// database while no other has it open reads the whole log first, so processes that come and go keep it short.
// A process that writes on and on has the database open anyway and lets the log grow: frequent checkpoints would
// cost it a fifth of its turns. SQLite's own checkpoint isn't enough, because it gives up while anybody reads.
const (
	shortWAL = 2 << 20
	longWAL  = 16 << 20
	goesOn   = 8 // after so many commits a process counts as one that writes on and on
)

// checkpoint moves a write-ahead log that has grown too large into the database. It doesn't wait for readers,
// one of which may be stopped: the next writer tries again.
func checkpoint(db *DB) {
	limit := int64(shortWAL)
	if db.commits++; db.commits > goesOn {
		limit = longWAL
	}
	if info, err := os.Stat(filepath.Join(db.opt.Dir, FileName+"-wal")); err == nil && info.Size() > limit {
		_, _ = db.conn.ExecContext(background, busyTimeout(0)+"; PRAGMA wal_checkpoint(TRUNCATE); "+busyTimeout(db.opt.ReadWait))
	}
}

// checkFile asks SQLite whether the file and the references between its tables are whole.
func checkFile(tx *Tx, report func(format string, args ...any)) error {
	err := tx.scan("PRAGMA integrity_check", nil, func(scan func(...any) error) error {
		var s string
		err := scan(&s)
		if err == nil && s != "ok" {
			report("the database file: %s", s)
		}
		return err
	})
	if err != nil {
		return err
	}
	return tx.scan("PRAGMA foreign_key_check", nil, func(scan func(...any) error) error {
		var table, parent string
		var row, key any
		if err := scan(&table, &row, &parent, &key); err != nil {
			return err
		}
		report("a row of %s names something that isn't in %s", table, parent)
		return nil
	})
}

// classify gives the failures of SQLite their codes, by number and never by text.
func classify(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return stick.Errorf(stick.CodeDatabaseBusy, "the database is locked by another program: %w", err).
			Hintf("try again; if it lasts: %s", stick.Cmd("tt doctor"))
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return corrupt(err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return stick.Errorf(stick.CodeDataDirNotWritable, "the database can't be written: %w", err).
			Hintf("%s says what is wrong with the data directory", stick.Cmd("tt doctor"))
	}
	return err
}

func corrupt(err error) *stick.Error {
	return stick.Errorf(stick.CodeDatabaseCorrupt, "the database is damaged: %w", err).
		Hintf("nothing more is written; %s says how to go on", stick.Cmd("tt doctor"))
}

func notWritable(dir string, err error) *stick.Error {
	if e, ok := errors.AsType[*stick.Error](err); ok { // it names the file
		return e
	}
	why := err.Error()
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		why = e.Error()
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return stick.Errorf(stick.CodeDataDirNotWritable, "no file in the data directory %s can be opened: %s", dir, why).With("path", dir).
			Hintf("end programs that hold many files open, or raise the limit (ulimit -n), then run the same command again")
	}
	e := stick.Errorf(stick.CodeDataDirNotWritable, "the data directory %s can't be written: %s", dir, why).
		With("path", dir).
		Hintf("make it writable for this process, or set TALKING_STICK_DATA_DIR")
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) { // as in a sandbox
		e.Hintf("make it writable for this process, or set TALKING_STICK_DATA_DIR; in Codex's sandbox use the MCP tools of tt, "+
			"or have a person run %s, which lets the sandbox write it", stick.Cmd("tt install codex"))
	}
	return e
}

// busy returns the error that names the process which holds the write lock. It does so too when the caller's own
// deadline passed first.
func (db *DB) busy(ctx context.Context, began time.Time, err error) error {
	held, ok := errors.AsType[*bell.LockedError](err)
	waited := db.opt.WriteWait
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && ok:
		waited = time.Since(began).Round(time.Millisecond)
	case ctx.Err() != nil:
		return ctx.Err()
	case !ok:
		return notWritable(db.opt.Dir, err) // the lock's file couldn't be opened
	}
	e := stick.Errorf(stick.CodeDatabaseBusy, "the database stayed locked for %s", waited)
	if held.PID != 0 {
		e = stick.Errorf(stick.CodeDatabaseBusy, "the database stayed locked for %s by process %d", waited, held.PID).
			With("pid", held.PID)
	}
	return e.Hintf("nothing was changed; see whether that process is stopped, and try again")
}
