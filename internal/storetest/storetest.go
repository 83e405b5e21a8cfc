// Package storetest runs a test on every database that the store can use, and checks after each test that the
// database is sound. It is linked into tests only.
package storetest

import (
	"context"
	"database/sql"
	"embed"
	"flag"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // for Raw

	"talkingstick/internal/store"
	"talkingstick/internal/testenv"
)

// backend is a row of the table of databases.
type backend struct {
	name string
	// options completes the options for a new, empty database of this kind.
	options func(t *testing.T, opt store.Options) store.Options
	// query runs statements without the store, for tests that tamper with the database, and returns the first
	// column of the last.
	query func(opt store.Options, text string) ([]string, error)
}

// backends is the table of databases. Every case of the store runs on each of them.
var backends = []backend{
	{
		name: "sqlite",
		options: func(t *testing.T, opt store.Options) store.Options {
			opt.Dir = t.TempDir()
			return opt
		},
		query: func(opt store.Options, text string) (values []string, err error) {
			db, err := openSQLite(opt)
			if err != nil {
				return nil, err
			}
			defer db.Close()
			rows, err := db.Query(text)
			if err != nil {
				return nil, err
			}
			defer rows.Close()
			for rows.Next() {
				var v string
				if err := rows.Scan(&v); err != nil {
					return nil, err
				}
				values = append(values, v)
			}
			return values, rows.Err()
		},
	},
	{
		name: "postgres",
		options: func(t *testing.T, opt store.Options) store.Options {
			opt.Dir, opt.URL = t.TempDir(), PostgresURL(t)
			return opt
		},
		query: func(opt store.Options, text string) ([]string, error) {
			// This role makes no checks of references.
			return runQuery(opt.URL, "SET session_replication_role = replica; "+text)
		},
	},
}

// openSQLite opens a database file without the store.
func openSQLite(opt store.Options) (*sql.DB, error) {
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(filepath.Join(opt.Dir, store.FileName))}
	return sql.Open("sqlite", u.String())
}

// databaseKind is the database of tests that run on one only.
var databaseKind = flag.String("database", "sqlite",
	"the `kind` of database of tests that run on one: sqlite or postgres")

// Address returns the address of a new database of the kind that the flag -database names; empty for a file
// in the data directory.
func Address(t testing.TB) string {
	t.Helper()
	switch *databaseKind {
	case "sqlite":
		return ""
	case "postgres":
		return PostgresURL(t)
	}
	t.Fatalf("-database=%s: want sqlite or postgres", *databaseKind)

	return ""
}

// OnServer reports whether the flag -database names PostgreSQL. It skips the test if that isn't installed.
func OnServer(t testing.TB) bool {
	t.Helper()
	if *databaseKind == "postgres" && !HasPostgres() {
		t.Skip("SKIPPED: PostgreSQL 15 isn't installed: make deps-test")
	}
	return *databaseKind == "postgres"
}

// leavesServer reports whether tests leave PostgreSQL to a stage: in a short run, unless the flag -database
// asks for it.
func leavesServer() bool { return testing.Short() && *databaseKind != "postgres" }

// SkipQuick skips a test in a quick run, and says that it is left to the stage of every case: in a short run on
// SQLite with nothing beside it, where other tests show the main story. A server or a crowd can change what the
// test shows, so such a run plays it.
func SkipQuick(t testing.TB, what string) {
	t.Helper()
	if !testenv.IsCrowded() && !OnServer(t) {
		testenv.SkipShort(t, testenv.Every, what)
	}
}

// skipServer skips a test where tests leave PostgreSQL to its stage, and says so.
func skipServer(t testing.TB) {
	t.Helper()
	if leavesServer() {
		testenv.SkipShort(t, testenv.Server, "it needs PostgreSQL")
	}
}

// NeedsFile skips a test that is about SQLite's file, or about SQLite's locks, where the flag -database names
// another kind.
func NeedsFile(t testing.TB) {
	t.Helper()
	if *databaseKind != "sqlite" {
		// The words tell .ci/gotest that this is no lack.
		t.Skip("left to make test: it is about SQLite's file")
	}
}

// setup is how the database of a test is made.
type setup struct {
	opt     store.Options
	damaged bool
}

// An Option changes how the database of a test is made.
type Option func(*setup)

// At gives the database a clock that stands still until a test moves it.
func At(c *Clock) Option { return func(s *setup) { s.opt.Now = c.Now } }

// Counted makes ids that count up, as long as real ones; every part of an id tells its number.
func Counted() Option {
	return func(s *setup) {
		var mu sync.Mutex
		n := 0
		s.opt.NewID = func() string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return strings.Repeat(fmt.Sprintf("%08d", n), 4)
		}
	}
}

// Boot sets the id of the boot that the store sees.
func Boot(id string) Option { return func(s *setup) { s.opt.Boot = id } }

// Machine sets the id of the machine; without it the machine has none.
func Machine(id string) Option { return func(s *setup) { s.opt.Machine = id } }

// WriteWait limits how long a writer waits for other writers.
func WriteWait(d time.Duration) Option { return func(s *setup) { s.opt.WriteWait = d } }

// Damaged says that the test leaves a damaged database: the check has to find something.
func Damaged() Option { return func(s *setup) { s.damaged = true } }

// Each runs a case on a new database of each kind, or in a short run on SQLite. It fails the case if the
// integrity check then finds anything.
func Each(t *testing.T, fn func(t *testing.T, db *store.DB), options ...Option) {
	t.Helper()
	kinds := backends
	if leavesServer() {
		testenv.Leaves(t, testenv.Server, "the same on PostgreSQL")
		kinds = backends[:1]
	}

	runOn(t, kinds, fn, options)
}

// OnSQLite is [Each] for cases about SQLite's file and its locks.
func OnSQLite(t *testing.T, fn func(t *testing.T, db *store.DB), options ...Option) {
	t.Helper()
	runOn(t, backends[:1], fn, options)
}

// OnPostgres is [Each] for cases about connections and the server.
func OnPostgres(t *testing.T, fn func(t *testing.T, db *store.DB), options ...Option) {
	t.Helper()
	skipServer(t)
	runOn(t, backends[1:], fn, options)
}

func runOn(t *testing.T, backends []backend, fn func(t *testing.T, db *store.DB), options []Option) {
	t.Helper()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			var s setup
			for _, o := range options {
				o(&s)
			}

			// The options of the test come first, so that the kind of database completes them.
			s.opt = b.options(t, s.opt)
			db := openDB(t, s.opt)
			places.Store(db, place{b, s.opt})
			t.Cleanup(func() { checkDB(t, db, s.damaged) })
			fn(t, db)
		})
	}
}

// place says where a database lies.
type place struct {
	backend
	opt store.Options
}

var places sync.Map // from *store.DB to place

func placeOf(db *store.DB) place {
	p, ok := places.Load(db)
	if !ok {
		panic("storetest: this database wasn't made by Each")
	}
	return p.(place)
}

// Again opens the database of a test a second time, with other options where some are given.
func Again(t *testing.T, db *store.DB, options ...Option) *store.DB {
	t.Helper()
	p := placeOf(db)
	s := setup{opt: p.opt}

	for _, o := range options {
		o(&s)
	}

	return With(t, db, s.opt)
}

// With opens the database of a test once more, with these options.
func With(t *testing.T, db *store.DB, opt store.Options) *store.DB {
	t.Helper()
	second := openDB(t, opt)
	places.Store(second, place{placeOf(db).backend, opt})
	return second
}

// oldDumps are databases that earlier programs wrote, as dumps.
//
//go:embed testdata/*.sql
var oldDumps embed.FS

// Old opens a database as the program of a commit left it. before, if it isn't nil, gets the database before
// the present store opens it. See testdata/README.md for what is in it.
func Old(t *testing.T, commit string, before func(raw *sql.DB), options ...Option) *store.DB {
	t.Helper()
	dump, err := oldDumps.ReadFile("testdata/" + commit + ".sql")
	if err != nil {
		t.Fatal(err)
	}

	var s setup
	for _, o := range options {
		o(&s)
	}

	// Earlier programs had no other.
	b := backends[0]
	s.opt = b.options(t, s.opt)
	raw, err := openSQLite(s.opt)
	if err != nil {
		t.Fatal(err)
	}

	// A dump sets what belongs to a connection.
	raw.SetMaxOpenConns(1)
	if _, err := raw.Exec(string(dump)); err != nil {
		t.Fatalf("load the dump of %s: %v", commit, err)
	}
	if before != nil {
		before(raw)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}

	db := openDB(t, s.opt)
	places.Store(db, place{b, s.opt})
	t.Cleanup(func() { checkDB(t, db, s.damaged) })
	return db
}

// Options are what the database of a test was opened with.
func Options(db *store.DB) store.Options { return placeOf(db).opt }

// Raw opens the file of a database without the store, in cases that run on SQLite only.
func Raw(t *testing.T, db *store.DB) *sql.DB {
	t.Helper()
	raw, err := openSQLite(placeOf(db).opt)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { raw.Close() })
	return raw
}

// Exec runs statements behind the store's back, and returns the first column of the last.
func Exec(t *testing.T, db *store.DB, text string) []string {
	t.Helper()
	p := placeOf(db)
	values, err := p.query(p.opt, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}

	return values
}

// Foreign makes the database of another program in a data directory.
func Foreign(t *testing.T, dir string) {
	t.Helper()
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(filepath.Join(dir, store.FileName))}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE other (x)"); err != nil {
		t.Fatal(err)
	}
}

func openDB(t *testing.T, opt store.Options) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), opt, true)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		places.Delete(db)
	})

	return db
}

// Key is the key of the room of something in a test. For a path it is that: cases look for rooms by it on
// each database.
func Key(of any) string { return fmt.Sprint(of) }

// Check fails a test whose database isn't sound: its file, or a room that isn't what its log says.
func Check(t *testing.T, db *store.DB) {
	t.Helper()
	checkDB(t, db, false)
}

// checkDB fails a test whose database isn't sound, and one whose damage isn't found.
func checkDB(t *testing.T, db *store.DB, damaged bool) {
	t.Helper()
	found, err := db.Check(context.Background())
	switch {
	case err != nil:
		t.Errorf("the integrity check failed: %v", err)
	case damaged && len(found) == 0:
		t.Error("the integrity check found nothing wrong with a damaged database")
	case !damaged:
		for _, f := range found {
			t.Errorf("the integrity check found: %s", f)
		}
	}
}

// Clock is a clock that stands still until a test moves it.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock makes a clock. It shows the same time in every test.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 3, 14, 15, 9, 26, 535e6, time.UTC)} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move moves the clock, forward or back.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
