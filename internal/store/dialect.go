package store

import (
	"context"
	"database/sql/driver"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/stick"
)

// dialect is an open database of one kind: all that differs between the databases that the store can use. The
// queries and migrations are written once, in SQL that SQLite reads; each database has its own files, which
// hold its dialect and are the only ones that know the database. Everything else in this package works on any
// of them.
//
// A dialect has one connection, which serves one transaction at a time. [DB.mu] guards it, except for
// runWrite.
type dialect interface {
	// runWrite runs attempt, which begins a transaction, writes and commits. It runs it when no other writer
	// is in its way, or again where one was. Its caller doesn't hold DB.mu.
	runWrite(ctx context.Context, attempt func() error) error
	// now is the time by the clock of the database, as far as it is known outside of a transaction.
	now() time.Time
	// begin begins a transaction. With the answers of its first query at the latest, it calls began with the
	// time and what metaQuery has returned. Where that fails, the query does.
	begin(ctx context.Context, write bool, began func(now stick.Time, m meta) error) error
	// hasRowLocks reports whether several transactions write at a time. Then lockRoom locks a room for the
	// rest of the transaction before anything of it is read, and now becomes a time at which it was locked. lockClass
	// locks what is of no room; fresh is true if that was free before.
	hasRowLocks() bool
	lockRoom(r stick.RoomID, now *stick.Time) error
	lockClass(c class) (fresh bool, err error)
	// settleLoss leaves out the numbers that the database may have issued and lost, and says what else its caller
	// has to settle: a transaction that writes, before it does anything.
	settleLoss(m meta) (settlement, error)
	// commit commits the transaction. After an error, nothing was committed, as far as anybody can know.
	commit(c commitInfo) error
	// rollback ends the transaction without effect.
	rollback()

	// exec, scan and queryOne run a statement of the transaction: see the methods of [Tx] with these names. A
	// failure of exec may be told by a later call. After one, the transaction can only be rolled back.
	exec(text string, args []any) error
	scan(text string, args []any, row rowReader) error
	queryOne(text string, args, into []any) (bool, error)
	// scanLater is scan for rows that nobody needs before the next scan or queryOne: a server answers both
	// together.
	scanLater(text string, args []any, row rowReader) error
	fetchLater() error // asks for what scanLater has left, without another query

	// displayName names the database for people, without secrets.
	displayName() string
	// currentHost is the id of this host in the transaction, empty where no other can have the database open.
	currentHost() string
	// placesQuery is what a query selects the path of this host and the room_id of rooms from, and
	// pathsColumn the paths of a row of rooms on this host, a line for each; empty if it has none here.
	placesQuery() string
	pathsColumn() string

	// drawNumbers draws n numbers for events, which rise. The caller has locked the room of the events.
	drawNumbers(n int) ([]int64, error)
	// lastDrawn returns the last number that was drawn.
	lastDrawn() (int64, error)
	// skipNumbers leaves out the next n numbers.
	skipNumbers(n int64) error

	// codeError gives a failure of the database its code, and notes if it is damage. It leaves other errors
	// as they are.
	codeError(err error) error
	// readMark returns when and where damage was noted, empty for never; clearMark forgets that, unless
	// there is more.
	readMark() string
	clearMark(read string) error
	// checkIntegrity reports each damage that the database itself can find.
	checkIntegrity(report func(format string, args ...any)) error
	// requireInPlace fails if the database that is open isn't the one that [Open] would open now.
	requireInPlace() error
	// compareNext has the next transaction compare the database with what was issued. unsettledLoss returns
	// what it has lost by that; nil for nothing.
	compareNext()
	unsettledLoss() *Loss
	// tryLocks tries the locks of writers, and runs attempt as the only one.
	tryLocks(ctx context.Context, attempt func(context.Context) error) error

	// writeBlob keeps content by its sum, and readBlob returns it; ok is false if there is none.
	writeBlob(b Blob, content []byte) error
	readBlob(sum string) (content []byte, ok bool, err error)

	// listenForCommits rings bells for what other hosts commit, until ctx ends. Of the processes of a host
	// that call it, one does so at a time. For that one it calls report, which ends with its ctx; heard gets
	// a value after something was committed on any host.
	listenForCommits(ctx context.Context, bells *bell.Dir, report func(ctx context.Context, heard <-chan struct{}))
	// setWaiting says whether the process waits. While it does, releaseForSleep says that it reads nothing
	// until it is woken, and hearsCommits reports whether every commit anywhere rings a bell of this host, so
	// that nobody needs to read unless one rings. A few processes of a host guard the rest: they check often
	// whether that is so.
	setWaiting(on bool)
	releaseForSleep()
	hearsCommits() (yes, guards bool)

	close() error
}

// dialectOptions says where a database is and what its dialect takes from its environment: see [Options].
type dialectOptions struct {
	Dir, URL string

	Now, Local          func() time.Time // Now is nil for the server's clock
	NewID               func() string
	WriteWait, ReadWait time.Duration
	Waits               bool
	Lost                func(Loss)
	Kill                func(point string)

	// Through is what the connection to a file goes through, for tests that record what it is sent; nil for nothing.
	Through func(driver.Conn) driver.Conn
}

// commitInfo is what a dialect has to know of a transaction that it commits.
type commitInfo struct {
	have        numbers  // what the database had committed when it began, in files only
	highestTurn int64    // that it has saved, 0 for none
	eventID     string   // of an event that it has made, empty for none
	rings       []string // the bells that ring after it on all hosts
}

// settlement is what a transaction has to settle that finds a database which has lost something, or is new.
type settlement struct {
	isNew bool  // the database has got its id
	above int64 // above this turn those of a new database begin
	lost  *Loss // what it has lost; nil for nothing
	turn  int64 // the highest turn that anybody can have seen, if it has lost something
}

// rowScan puts the columns of a row into variables, in their order.
type rowScan = func(into ...any) error

// rowReader reads one row of a query.
type rowReader = func(scan rowScan) error

// class is a kind of state that belongs to no room. Who reads it, and writes by what was read, locks it.
// Locks are taken in this order, and those of rooms between boots and paths, sorted by id.
type class int32

const (
	schemaClass class = iota + 1 // the schema: shared by all who write
	bootsClass                   // under which boots hosts have written
	pathsClass                   // which paths have rooms: for who makes or moves one
	namesClass                   // which names agents have: for who records a new session or process
)

// Blob identifies content that is kept by its sum.
type Blob struct {
	Sum  string
	Size int64
}
