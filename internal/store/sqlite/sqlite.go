// Package sqlite is the dialect of a database file in the data directory, which one process writes at a time. The
// files beside it say which numbers it has issued, and whether it was found damaged.
//
// See docs/decisions/sqlite.md and docs/decisions/damage-and-repair.md.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/schema"
	"talkingstick/stick"
)

// DB is the dialect of a file in the data directory, which one process writes at a time.
type DB struct {
	opt        dialect.Options
	migrations []schema.Migration

	lock  *bell.Mutex // held by writers, across processes
	conn  *sql.Conn
	pool  *sql.DB
	stmts map[string]*sql.Stmt // each is prepared once per process

	file    fs.FileInfo // the database that is open; it never changes
	log     fs.FileInfo // its write-ahead log, which stays as long as anybody has it open; nil if there was none
	commits int         // of this process

	issued       IssuedFile
	compared     bool          // with what was issued, by a transaction of this process
	loss         *dialect.Loss // what the last comparison has found; nil for nothing
	lossReported bool          // of a loss
	written      writtenTx     // the transaction that writes
	repairing    bool          // this process writes although the database is marked as damaged
}

// Close implements [dialect.DB].
func (s *DB) Close() error {
	return errors.Join(s.conn.Close(), s.pool.Close(), s.lock.Close(), s.issued.Close())
}

// RunWrite takes the write lock, and refuses to write into a database that was found damaged.
func (s *DB) RunWrite(ctx context.Context, attempt func() error) error {
	if err := s.acquireLock(ctx); err != nil {
		return err
	}
	defer s.lock.Unlock()
	if err := s.requireUnmarked(); err != nil {
		return err
	}

	return attempt()
}

// acquireLock takes the write lock.
func (s *DB) acquireLock(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, s.opt.WriteWait)
	defer cancel()

	began := time.Now()
	if err := s.lock.Lock(wait); err != nil {
		return s.errBusy(ctx, began, err)
	}

	return nil
}

// withLock runs fn under the write lock.
func (s *DB) withLock(ctx context.Context, fn func() error) error {
	if err := s.acquireLock(ctx); err != nil {
		return err
	}
	defer s.lock.Unlock()
	return fn()
}

// Begin implements [dialect.DB].
func (s *DB) Begin(_ context.Context, write bool, began func(now stick.Time, m dialect.Meta) error) error {
	how := "BEGIN"
	if write {
		how = "BEGIN IMMEDIATE"

		// SQLite waits for as long as readers do, unless it is told to wait less.
		if s.opt.WriteWait < s.opt.ReadWait {
			s.limitWait()
		}
	}

	query, issued, known := dialect.MetaQuery, Issued{}, false

	// The file is read before the transaction begins, because what others commit meanwhile is no loss.
	if !write && !s.compared {
		query = countedMetaQuery
		issued, known = ReadIssued(s.issued.Path)
	}

	if err := s.execControl(how); err != nil {
		return err
	}

	// The time comes after the lock, so that times rise in the order of commits.
	now := stick.At(s.Now())

	// A reader has read the file already, if it compares at all.
	err := error(nil)
	if write {
		query = countedMetaQuery

		// Nobody else writes the file now, so it fits to what the query returns.
		issued, known, err = s.issued.read()
		err = dialect.ErrUnusable(err)
	}

	var m dialect.Meta
	if err == nil {
		err = s.Scan(query, nil, dialect.MarkRowErrors(m.ReadRow))
	}
	if err == nil && query == countedMetaQuery {
		err = s.compareWith(issued, known, m)
	}
	if err == nil {
		err = began(now, m)
	}
	if err != nil {
		s.Rollback()
	}

	return err
}

// DisplayName implements [dialect.DB].
func (s *DB) DisplayName() string { return filepath.Join(s.opt.Dir, FileName) }

// CurrentHost implements [dialect.DB].
func (s *DB) CurrentHost() string { return "" }

// PlacesQuery and PathsColumn: a room has one path, that of its row.
func (s *DB) PlacesQuery() string { return "(SELECT canonical_path AS path, room_id FROM rooms)" }

// PathsColumn implements [dialect.DB].
func (s *DB) PathsColumn() string { return "canonical_path" }

// ListenForCommits has nothing to do: all who write are on this host, and ring its bells themselves.
func (s *DB) ListenForCommits(context.Context, *bell.Dir, func(context.Context, <-chan struct{})) {
}

// SetWaiting implements [dialect.DB].
func (s *DB) SetWaiting(bool) {}

// ReleaseForSleep implements [dialect.DB].
func (s *DB) ReleaseForSleep() {}

// Now implements [dialect.DB].
func (s *DB) Now() time.Time { return s.opt.Now() }

// HearsCommits implements [dialect.DB].
func (s *DB) HearsCommits() (yes, guards bool) { return false, false } // a read costs next to nothing

// HasRowLocks, LockRoom and LockClass have nothing to do: the write lock keeps all writers apart.
func (s *DB) HasRowLocks() bool { return false }

// LockRoom implements [dialect.DB].
func (s *DB) LockRoom(stick.RoomID, *stick.Time) error { return nil }

// LockClass implements [dialect.DB].
func (s *DB) LockClass(dialect.Class) (bool, error) { return false, nil }

// Commit implements [dialect.DB].
func (s *DB) Commit(c dialect.Commit) error {
	// A transaction without a change issues nothing, and writes nothing.
	if !s.written.changed {
		return s.execControl("COMMIT")
	}

	// What the commit issues is written before it, and that it is done after it: see IssuedName.
	if err := s.announceCommit(c); err != nil {
		return err
	}

	s.opt.Kill("announced")
	if err := s.execControl("COMMIT"); err != nil {
		return err
	}

	s.confirmCommit()

	// Only a writer does this: it has the lock.
	s.checkpointWAL()
	return nil
}

// Rollback implements [dialect.DB].
func (s *DB) Rollback() { _ = s.execControl("ROLLBACK") } // nothing was committed, so a failure changes nothing

// background is the context of single statements. Transactions are short, and a context that can be cancelled
// costs a goroutine for each statement.
var background = context.Background()

func (s *DB) prepareStmt(text string) (*sql.Stmt, error) {
	if stmt, ok := s.stmts[text]; ok {
		return stmt, nil
	}

	stmt, err := s.conn.PrepareContext(background, text)
	if err != nil {
		return nil, err
	}

	s.stmts[text] = stmt
	return stmt, nil
}

// execControl runs a statement that begins or ends a transaction.
func (s *DB) execControl(text string) error {
	stmt, err := s.prepareStmt(text)
	if err == nil {
		_, err = stmt.ExecContext(background)
	}
	return err
}

// Exec implements [dialect.DB].
func (s *DB) Exec(text string, args []any) error {
	stmt, err := s.prepareStmt(text)
	if err != nil {
		return err
	}

	res, err := stmt.ExecContext(background, args...)
	if err != nil {
		return err
	}

	// An unknown number may be a change.
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		s.written.changed = true
	}

	return nil
}

// Scan implements [dialect.DB].
func (s *DB) Scan(text string, args []any, row dialect.RowReader) error {
	stmt, err := s.prepareStmt(text)
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

// ScanLater implements [dialect.DB].
func (s *DB) ScanLater(text string, args []any, row dialect.RowReader) error {
	return s.Scan(text, args, row)
}

// ColumnsOf lists the columns of a table.
func (s *DB) ColumnsOf(table string) (names []string, err error) {
	err = s.Scan("SELECT name FROM pragma_table_info(?) ORDER BY cid", []any{table}, func(scan dialect.RowScan) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	})

	return names, err
}

// FetchLater implements [dialect.DB].
func (s *DB) FetchLater() error { return nil }

// QueryOne implements [dialect.DB].
func (s *DB) QueryOne(text string, args, into []any) (bool, error) {
	stmt, err := s.prepareStmt(text)
	if err != nil {
		return false, err
	}

	err = stmt.QueryRowContext(background, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, asRowError(err)
	}

	// An UPDATE that returns a row has changed it.
	s.written.changed = s.written.changed || strings.HasPrefix(text, "UPDATE")
	return true, nil
}

// DrawNumbers counts in a row that stays locked until the commit, so no later number can be committed first.
func (s *DB) DrawNumbers(n int) ([]int64, error) {
	if err := s.SkipNumbers(int64(n)); err != nil {
		return nil, err
	}

	// The counter has jumped by n, so the numbers are the last n up to it.
	last := s.written.have.Event
	numbers := make([]int64, n)
	for i := range numbers {
		numbers[i] = last - int64(n-1-i)
	}

	return numbers, nil
}

// LastDrawn implements [dialect.DB].
func (s *DB) LastDrawn() (last int64, err error) {
	_, err = s.QueryOne("SELECT value FROM counters WHERE name = 'event_seq'", nil, []any{&last})
	return last, err
}

// SkipNumbers implements [dialect.DB].
func (s *DB) SkipNumbers(n int64) error {
	ok, err := s.QueryOne("UPDATE counters SET value = value + ? WHERE name = 'event_seq' RETURNING value",
		[]any{n}, []any{&s.written.have.Event})
	if err == nil && !ok {
		err = contradiction("it has no counter of events", nil)
	}

	return err
}

// TryLocks takes the lock of writers twice: anew, as a process that starts, and as one that goes on.
func (s *DB) TryLocks(ctx context.Context, attempt func(context.Context) error) error {
	if l, got, err := bell.TryLock(filepath.Join(s.opt.Dir, "write.lock")); err != nil {
		return dialect.ErrUnusable(err)
	} else if got {
		l.Unlock()
	}
	if err := s.issued.requireUsable(); err != nil {
		return dialect.ErrUnusable(err)
	}

	return s.withLock(ctx, func() error { return attempt(ctx) })
}

// RequireInPlace compares the files that are open with those in the data directory. Who goes on with a log
// that was removed commits what nobody else ever sees.
func (s *DB) RequireInPlace() error {
	path := s.DisplayName()
	if isFileAt(path, s.file) && isFileAt(path+"-wal", s.log) {
		return nil
	}

	what := "the database %s was moved or replaced while this command ran"
	if s.isReplacedByRestore() {
		what = "a backup was restored in the place of the database %s while this command ran"
	}

	return stick.Errorf(stick.CodeDatabaseMoved, what, path).With("path", path).
		Hintf("run the command again, which opens the database that is there now")
}

// ReplacedName begins the names of the directories with databases that a restore has replaced.
const ReplacedName = "replaced"

// isReplacedByRestore reports whether the file that is open is one that a restore has put aside.
func (s *DB) isReplacedByRestore() bool {
	aside, _ := filepath.Glob(filepath.Join(s.opt.Dir, ReplacedName+"-*", FileName))
	return slices.ContainsFunc(aside, func(path string) bool { return s.file != nil && isFileAt(path, s.file) })
}

// isFileAt reports whether the file at path is this one, or nobody can tell.
func isFileAt(path string, file fs.FileInfo) bool {
	if file == nil {
		return true
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(now, file) || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// limitWait limits how long a writer waits for a lock, whoever holds it: another tt or another program.
func (s *DB) limitWait() {
	// If it fails, the writer waits for longer.
	_, _ = s.conn.ExecContext(background, busyTimeout(s.opt.WriteWait))
}

func busyTimeout(d time.Duration) string {
	return fmt.Sprintf("PRAGMA busy_timeout=%d", d.Milliseconds())
}

// A writer moves the write-ahead log into the database once the log is larger than this. A process that opens
// the database while no other has it open reads the whole log first, so processes that come and go keep it
// short. A process that writes on and on has the database open anyway and lets the log grow: frequent
// checkpoints would cost it a fifth of its turns. SQLite's own checkpoint isn't enough, because it gives up
// while anybody reads.
const (
	shortWAL    = 1 << 20
	longWAL     = 16 << 20
	manyCommits = 8 // after so many commits a process counts as one that writes on and on
)

// checkpointWAL moves a write-ahead log that has grown too large into the database. It doesn't wait for
// readers, one of which may be stopped: the next writer tries again.
func (s *DB) checkpointWAL() {
	limit := int64(shortWAL)
	if s.commits++; s.commits > manyCommits {
		limit = longWAL
	}

	if info, err := os.Stat(filepath.Join(s.opt.Dir, FileName+"-wal")); err == nil && info.Size() > limit {
		_, _ = s.conn.ExecContext(background,
			busyTimeout(0)+"; PRAGMA wal_checkpoint(TRUNCATE); "+busyTimeout(s.opt.ReadWait))
	}
}
