// Package dialect says what differs between the databases that the store can use: a [DB] of each kind does all of
// it. It also has what they share: what a database says of itself, and the errors that mean the same everywhere.
//
// See docs/decisions/sqlite.md and docs/decisions/postgresql.md.
package dialect

import (
	"context"
	"database/sql/driver"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/stick"
)

// DB is an open database of one kind: all that differs between the databases that the store can use. The
// queries and migrations are written once, in SQL that SQLite reads; each database has its own package,
// which is the only one that knows the database. The store works on any of them.
//
// A dialect has one connection, which serves one transaction at a time. Its caller guards it, except for RunWrite.
type DB interface {
	// RunWrite runs attempt, which begins a transaction, writes and commits. It runs it when no other writer
	// is in its way, or again where one was. Its caller doesn't guard it meanwhile.
	RunWrite(ctx context.Context, attempt func() error) error
	// Now is the time by the clock of the database, as far as it is known outside of a transaction.
	Now() time.Time
	// Begin begins a transaction. With the answers of its first query at the latest, it calls began with the
	// time and what MetaQuery has returned. Where that fails, the query does.
	Begin(ctx context.Context, write bool, began func(now stick.Time, m Meta) error) error
	// HasRowLocks reports whether several transactions write at a time. Then LockRoom locks a room for the
	// rest of the transaction before anything of it is read, and now becomes a time at which it was locked. LockClass
	// locks what is of no room; fresh is true if that was free before.
	HasRowLocks() bool
	LockRoom(r stick.RoomID, now *stick.Time) error
	LockClass(c Class) (fresh bool, err error)
	// SettleLoss leaves out the numbers that the database may have issued and lost, and says what else its caller
	// has to settle: a transaction that writes, before it does anything.
	SettleLoss(m Meta) (Settlement, error)
	// Commit commits the transaction. After an error, nothing was committed, as far as anybody can know.
	Commit(c Commit) error
	// Rollback ends the transaction without effect.
	Rollback()

	// Exec, Scan and QueryOne run a statement of the transaction: without rows, with any number, or with at most one. A
	// failure of Exec may be told by a later call. After one, the transaction can only be rolled back.
	Exec(text string, args []any) error
	Scan(text string, args []any, row RowReader) error
	QueryOne(text string, args, into []any) (bool, error)
	// ScanLater is Scan for rows that nobody needs before the next Scan or QueryOne: a server answers both
	// together.
	ScanLater(text string, args []any, row RowReader) error
	FetchLater() error // asks for what ScanLater has left, without another query

	// DisplayName names the database for people, without secrets.
	DisplayName() string
	// CurrentHost is the id of this host in the transaction, empty where no other can have the database open.
	CurrentHost() string
	// PlacesQuery is what a query selects the path of this host and the room_id of rooms from, and
	// PathsColumn the paths of a row of rooms on this host, a line for each; empty if it has none here.
	PlacesQuery() string
	PathsColumn() string

	// DrawNumbers draws n numbers for events, which rise. The caller has locked the room of the events.
	DrawNumbers(n int) ([]int64, error)
	// LastDrawn returns the last number that was drawn.
	LastDrawn() (int64, error)
	// SkipNumbers leaves out the next n numbers.
	SkipNumbers(n int64) error

	// CodeError gives a failure of the database its code, and notes if it is damage. It leaves other errors
	// as they are.
	CodeError(err error) error
	// ReadMark returns when and where damage was noted, empty for never; ClearMark forgets that, unless
	// there is more.
	ReadMark() string
	ClearMark(read string) error
	// CheckIntegrity reports each damage that the database itself can find.
	CheckIntegrity(report func(format string, args ...any)) error
	// RequireInPlace fails if the database that is open isn't the one that opening would open now.
	RequireInPlace() error
	// CompareNext has the next transaction compare the database with what was issued. UnsettledLoss returns
	// what it has lost by that; nil for nothing.
	CompareNext()
	UnsettledLoss() *Loss
	// TryLocks tries the locks of writers, and runs attempt as the only one.
	TryLocks(ctx context.Context, attempt func(context.Context) error) error

	// WriteBlob keeps content by its sum, and ReadBlob returns it; ok is false if there is none.
	WriteBlob(b Blob, content []byte) error
	ReadBlob(sum string) (content []byte, ok bool, err error)

	// ListenForCommits rings bells for what other hosts commit, until ctx ends. Of the processes of a host
	// that call it, one does so at a time. For that one it calls report, which ends with its ctx; heard gets
	// a value after something was committed on any host.
	ListenForCommits(ctx context.Context, bells *bell.Dir, report func(ctx context.Context, heard <-chan struct{}))
	// SetWaiting says whether the process waits. While it does, ReleaseForSleep says that it reads nothing
	// until it is woken, and HearsCommits reports whether every commit anywhere rings a bell of this host, so
	// that nobody needs to read unless one rings. A few processes of a host guard the rest: they check often
	// whether that is so.
	SetWaiting(on bool)
	ReleaseForSleep()
	HearsCommits() (yes, guards bool)

	// Close ends the connection.
	Close() error
}

// Options says where a database is and what its dialect takes from its environment. The options of the store
// say what each is.
type Options struct {
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

// Commit is what a dialect has to know of a transaction that it commits.
type Commit struct {
	Have        Numbers  // what the database had committed when it began, in files only
	HighestTurn int64    // that it has saved, 0 for none
	EventID     string   // of an event that it has made, empty for none
	Rings       []string // the bells that ring after it on all hosts
}

// Settlement is what a transaction has to settle that finds a database which has lost something, or is new.
type Settlement struct {
	IsNew bool  // the database has got its id
	Above int64 // above this turn those of a new database Begin
	Lost  *Loss // what it has lost; nil for nothing
	Turn  int64 // the highest turn that anybody can have seen, if it has lost something
}

// RowScan puts the columns of a row into variables, in their order.
type RowScan = func(into ...any) error

// RowReader reads one row of a query.
type RowReader = func(scan RowScan) error

// Class is a kind of state that belongs to no room. Who reads it, and writes by what was read, locks it.
// Locks are taken in this order, and those of rooms between boots and paths, sorted by id.
type Class int32

const (
	SchemaClass Class = iota + 1 // the schema: shared by all who write
	BootsClass                   // under which boots hosts have written
	PathsClass                   // which paths have rooms: for who makes or moves one
	NamesClass                   // which names agents have: for who records a new session or process
)

// Blob identifies content that is kept by its sum.
type Blob struct {
	Sum  string
	Size int64
}
