package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/bell"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/schema"
	"talkingstick/stick"
)

// applicationID marks a SQLite file as ours: "TTst" in the file's header.
const applicationID = 0x54547374

// FileName is the name of the database in the data directory.
const FileName = "rooms.sqlite"

// The write-ahead log of a database, and the index of it that processes share, lie beside the database.
const (
	LogSuffix   = "-wal"
	IndexSuffix = "-shm"
)

// databaseFiles are the names of the files that make up the database; the database itself comes first.
func databaseFiles() []string {
	return []string{FileName, FileName + LogSuffix, FileName + IndexSuffix}
}

// Open opens the database file in a directory, or makes it.
//
// A process opens a database file once: to look at the file's header, it reads the file beside
// SQLite, and closing a file drops the locks that this process's other connections hold on it.
func Open(ctx context.Context, opt dialect.Options, create bool, migrations []schema.Migration) (*DB, error) {
	dir := opt.Dir
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

	// A command that only reads makes no database.
	if fresh && !create {
		return nil, dialect.ErrAbsent
	}
	if err := plainfile.MkdirAll(dir); err != nil {
		return nil, dialect.ErrNotWritable(dir, err)
	}

	// SQLite opens these, and would wait for the other side of a FIFO.
	for _, beside := range []string{"-journal", "-wal", "-shm"} {
		if err := plainfile.Check(path + beside); err != nil {
			return nil, dialect.ErrNotWritable(dir, err)
		}
	}

	if fresh {
		if err := createFile(path); err != nil {
			return nil, err
		}
	}

	s := &DB{opt: opt, migrations: migrations, stmts: map[string]*sql.Stmt{}}

	// The file is compared with what lies at the path before each transaction: see RequireInPlace.
	if s.file, err = os.Stat(path); err != nil {
		return nil, dialect.ErrNotWritable(dir, err)
	}

	// Preparing needs the lock of writers and the file of issued numbers.
	s.lock = bell.NewMutex(filepath.Join(dir, "write.lock"))
	s.issued.Path = filepath.Join(dir, IssuedName)
	if err := s.connect(path); err != nil {
		return nil, s.CodeError(err)
	}
	if err := s.prepareSchema(ctx, fresh); err != nil {
		s.Close()
		return nil, s.CodeError(err)
	}

	// Without a log there is nothing to compare later.
	if s.log, err = os.Stat(path + "-wal"); err != nil {
		s.log = nil
	}

	return s, nil
}

// readHeader reads the header of a database file before SQLite opens it, because SQLite may change a file of
// another program by opening it. fresh is true when there is no file yet, or an empty one.
func readHeader(file string) (fresh bool, err error) {
	f, err := plainfile.Open(file, os.O_RDONLY)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, dialect.ErrNotWritable(filepath.Dir(file), err)
	}
	defer f.Close()

	// The application id lies at byte 68.
	var head [72]byte
	n, err := io.ReadFull(f, head[:])
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return true, nil
	case err != nil || !bytes.HasPrefix(head[:], []byte("SQLite format 3\x00")):
		return false, corrupt(stick.Wordsf("%s is not an SQLite database", file), nil)
	case binary.BigEndian.Uint32(head[68:]) != applicationID:
		return false, errForeign(file)
	}
	return false, nil
}

// requireNoLog refuses to Begin a new database where a write-ahead log says that there was one: SQLite would
// throw that log away, with the newest commits in it. fresh is false if another process has made the database
// meanwhile: a log appears only after the header.
func requireNoLog(file string) (fresh bool, err error) {
	info, err := os.Stat(file + "-wal")
	if err != nil || info.Size() == 0 {
		return true, nil // whatever else is wrong with it, opening tells
	}
	if fresh, err = readHeader(file); err != nil || !fresh {
		return fresh, err
	}

	// The message says which of the two is wrong with the database.
	what := stick.Words("is empty")
	if _, err := os.Stat(file); err != nil {
		what = "is missing"
	}

	if e := errRestoring(filepath.Dir(file)); e != nil {
		return false, e
	}

	return false, stick.Errorf(stick.CodeDatabaseCorrupt, "the database %s %s, but its write-ahead log %s-wal is there", file, what, FileName).With("path", file).
		Hintf("put back the database that belongs to the log; to give it up, move the log aside, and the next command starts a new database")
}

// errRestoring is the error for a data directory whose restore was killed before it put the backup into its
// place; nil if that isn't so.
func errRestoring(dir string) *stick.Error {
	text, err := plainfile.Read(filepath.Join(dir, RestoringName))
	if err != nil {
		return nil
	}

	backup, aside, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return stick.Errorf(stick.CodeDatabaseCorrupt,
		"a restore was interrupted: %s isn't in its place, and the database before it is in %s", backup, aside).
		With("path", filepath.Join(dir, FileName)).
		Hintf("a person completes it: %s", stick.Cmd("tt restore <file> --yes", backup))
}

func errForeign(file string) *stick.Error {
	return stick.Errorf(stick.CodeForeignDatabase, "%s was made by another program", file).
		With("path", file).Hintf("see what to do: %s", stick.Cmd("tt doctor"))
}

// createFile creates an empty database file that only its owner can read. SQLite gives the files that it puts
// beside it the same permissions.
func createFile(file string) error {
	f, err := plainfile.Open(file, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return dialect.ErrNotWritable(filepath.Dir(file), err)
	}
	return f.Close()
}

// connect opens the one connection of this process.
func (s *DB) connect(file string) error {
	address := fileAddress(file)
	pool, err := sql.Open("sqlite", address)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	if through := s.opt.Through; through != nil {
		pool = sql.OpenDB(connector{pool.Driver(), address, through})
	}

	// One connection serves all transactions: each further one would have locks of its own on the file.
	conn, err := pool.Conn(background)
	if err != nil {
		pool.Close()
		return classify(err)
	}

	s.pool, s.conn = pool, conn

	// Foreign keys are checked only on connections that ask for it.
	_, err = conn.ExecContext(background,
		busyTimeout(s.opt.ReadWait)+"; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON")
	return classify(err)
}

// connector makes connections that go through something else.
type connector struct {
	driver  driver.Driver
	address string
	through func(driver.Conn) driver.Conn
}

// Connect implements [driver.Connector].
func (c connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.driver.Open(c.address)
	if err != nil {
		return nil, err
	}
	return c.through(conn), nil
}

// Driver implements [driver.Connector].
func (c connector) Driver() driver.Driver { return c.driver }

// prepareSchema creates the schema or brings it up to date. It refuses a database that needs a newer program.
func (s *DB) prepareSchema(ctx context.Context, fresh bool) error {
	if fresh {
		if err := s.withLock(ctx, s.createMeta); err != nil {
			return err
		}
	}

	// Another process may migrate until this one has the lock, so the schema is read twice then.
	var have, reader int64
	var moved string
	read := func() error {
		return classify(asRowError(s.conn.QueryRowContext(background, `
			SELECT (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'schema'),
				(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'min_reader'),
				COALESCE((SELECT value FROM meta WHERE key = 'moved_to'), '')`).
			Scan(&have, &reader, &moved)))
	}
	if err := read(); err != nil {
		// Our mark is in its header, and nothing else may be ours.
		if _, used := ReadIssued(s.issued.Path); !used && s.lacksMeta() {
			return errForeign(s.DisplayName())
		}
		return err
	}

	if moved != "" {
		return dialect.ErrMoved(moved)
	}

	known := schema.Newest(s.migrations)
	if reader > known {
		return schema.ErrTooNew(have, reader, known)
	}
	if have >= known {
		return nil
	}

	return s.withLock(ctx, func() error {
		if err := read(); err != nil { // another process may have migrated it meanwhile
			return err
		}
		return s.migrate(have)
	})
}

// lacksMeta reports whether a database that can be read has no table meta.
func (s *DB) lacksMeta() bool {
	tables := 1
	err := s.conn.QueryRowContext(background, "SELECT count(*) FROM sqlite_master WHERE name = 'meta'").Scan(&tables)
	return err == nil && tables == 0
}

// createMeta marks a new file as ours and creates the table that migrations are counted in. It uses the
// rollback journal: the mark must be in the file's header before the first write-ahead log exists.
func (s *DB) createMeta() error {
	var tables int
	if err := s.conn.QueryRowContext(background, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return classify(err)
	}

	// Another process may have made it until this one got the lock.
	if tables == 0 {
		mark := fmt.Sprintf("BEGIN IMMEDIATE; PRAGMA application_id=%d; %s COMMIT", applicationID, dialect.MetaTable)
		if _, err := s.conn.ExecContext(background, mark); err != nil {
			return classify(err)
		}
		return s.ClearMark(s.ReadMark()) // a mark was for the database before this one
	}

	return nil
}

// migrate applies the migrations after number have, each in a transaction of its own. A new database gets
// what they make all at once: each column that is added to a table has SQLite parse every table again.
func (s *DB) migrate(have int64) error {
	if err := s.requireUnmarked(); err != nil {
		return err
	}

	// The mode stays with the file. It can't be changed inside a transaction.
	if _, err := s.conn.ExecContext(background, "PRAGMA journal_mode=WAL"); err != nil {
		return classify(err)
	}

	// A new database gets all at once, if its schema is written down.
	if last := s.migrations[len(s.migrations)-1]; have == 0 && last.Schema != "" {
		return s.applyScript(last.Number, last.Schema+last.RecordScript())
	}

	for _, m := range s.migrations {
		if m.Number <= have {
			continue
		}
		if err := s.applyScript(m.Number, m.UpgradeScript(m.Text)); err != nil {
			return err
		}
	}

	return nil
}

// applyScript runs a script that ends with migration number n, in one transaction.
func (s *DB) applyScript(n int64, script string) error {
	_, err := s.conn.ExecContext(background, "BEGIN IMMEDIATE;\n"+script+"\nCOMMIT")
	if err == nil {
		return nil
	}

	// The script may have stopped inside its transaction.
	_, _ = s.conn.ExecContext(background, "ROLLBACK")
	return fmt.Errorf("migration %d: %w", n, classify(err))
}
