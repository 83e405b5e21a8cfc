package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"talkingstick/stick"
)

// backupStep is how many pages are copied before the context is asked again.
const backupStep = 1000

// CopyTo copies the database, as its open transaction sees it, into the file at path, which is empty or isn't
// there. Others may read and write meanwhile.
//
// The transaction holds its state of the database, so no commit makes SQLite begin the copy anew.
func (s *DB) CopyTo(ctx context.Context, path string) error {
	if err := createFile(path); err != nil {
		return err
	}

	return s.conn.Raw(func(driverConn any) error {
		source, ok := driverConn.(interface {
			NewBackup(address string) (*sqlite.Backup, error)
		})
		if !ok {
			return fmt.Errorf("the driver %T makes no backups", driverConn)
		}

		backup, err := source.NewBackup(fileAddress(path))
		if err != nil {
			return err
		}

		for more := true; more && err == nil; {
			if more, err = backup.Step(backupStep); err == nil {
				err = ctx.Err()
			}
		}

		return errors.Join(err, backup.Finish())
	})
}

// fileAddress is the address of a file for SQLite. A path may have characters that mean something in an address.
func fileAddress(path string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	return u.String()
}

// packedTable has the files of the data directory that a backup has beside the database, in parts: a value is
// in memory as a whole, and SQLite allows no value of more than 1 GB.
const packedTable = "CREATE TABLE backup_files (path TEXT NOT NULL, part INTEGER NOT NULL, " +
	"mode INTEGER NOT NULL, content BLOB NOT NULL, PRIMARY KEY (path, part))"

// packedPart is how much of a file is in one row.
const packedPart = 4 << 20

// PackFiles puts files of a directory into the database: a backup that nobody else has open. Their names are
// relative, with slashes. A file that is gone is left out. It returns how many there are.
func (s *DB) PackFiles(ctx context.Context, dir string, names []string) (packed int, err error) {
	tx, err := s.conn.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing

	if _, err := tx.ExecContext(ctx, packedTable); err != nil {
		return 0, err
	}

	for _, name := range names {
		switch err := packFile(ctx, tx, dir, name); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return 0, fmt.Errorf("pack %s: %w", name, err)
		default:
			packed++
		}
	}

	return packed, tx.Commit()
}

// packFile adds one file.
func packFile(ctx context.Context, tx *sql.Tx, dir, name string) error {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer f.Close()

	info, err := f.Stat()
	if err != nil {
		return err
	}

	content := make([]byte, packedPart)
	for part := 0; ; part++ {
		n, err := io.ReadFull(f, content)
		isLast := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !isLast {
			return err
		}

		// An empty file has one part, too.
		if n > 0 || part == 0 {
			_, err := tx.ExecContext(ctx, "INSERT INTO backup_files (path, part, mode, content) VALUES (?, ?, ?, ?)",
				name, part, int64(info.Mode().Perm()), content[:n])
			if err != nil {
				return err
			}
		}

		if isLast {
			return nil
		}
	}
}

// UnpackFiles writes the files that [DB.PackFiles] has put into the database below a directory, and removes
// them from the database. Files that are there stay as they are. A database without files is left as it is.
func (s *DB) UnpackFiles(
	ctx context.Context, dir string, write func(path string, mode fs.FileMode, from io.Reader) error,
) (n int, err error) {
	names, err := s.packedFiles(ctx)
	if err != nil || names == nil {
		return 0, err
	}

	for _, f := range names {
		// A backup comes from anywhere, and writes nowhere else.
		if !filepath.IsLocal(filepath.FromSlash(f.name)) {
			return n, corrupt(stick.Wordsf("it has a file %q, which doesn't lie below the data directory", f.name), nil)
		}

		path := filepath.Join(dir, filepath.FromSlash(f.name))
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if err := write(path, f.mode, &packedReader{ctx: ctx, db: s, name: f.name}); err != nil {
			return n, err
		}
		n++
	}

	// The space of the files would stay in the database for ever.
	_, err = s.conn.ExecContext(ctx, "DROP TABLE backup_files; VACUUM")
	return n, err
}

type packedFile struct {
	name string
	mode fs.FileMode
}

// packedFiles lists the files in the database. It returns nil for a database that can have none.
func (s *DB) packedFiles(ctx context.Context) (files []packedFile, err error) {
	var tables int
	query := "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'backup_files'"
	if err := s.conn.QueryRowContext(ctx, query).Scan(&tables); err != nil || tables == 0 {
		return nil, err
	}

	rows, err := s.conn.QueryContext(ctx, "SELECT path, mode FROM backup_files WHERE part = 0 ORDER BY path")
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	files = []packedFile{}
	for rows.Next() {
		var f packedFile
		var mode int64
		if err := rows.Scan(&f.name, &mode); err != nil {
			return nil, err
		}

		f.mode = fs.FileMode(mode).Perm()
		files = append(files, f)
	}

	return files, rows.Err()
}

// packedReader reads a file of the database, part by part.
type packedReader struct {
	ctx  context.Context
	db   *DB
	name string
	next int
	rest []byte
}

// Read implements [io.Reader].
func (r *packedReader) Read(into []byte) (int, error) {
	for len(r.rest) == 0 {
		if err := r.readPart(); err != nil {
			return 0, err
		}
		if r.next == 1 && len(r.rest) == 0 {
			return 0, io.EOF // the file is empty
		}
	}

	n := copy(into, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// readPart reads the next part. It fails with [io.EOF] after the last.
func (r *packedReader) readPart() error {
	query := "SELECT content FROM backup_files WHERE path = ? AND part = ?"
	err := r.db.conn.QueryRowContext(r.ctx, query, r.name, r.next).Scan(&r.rest)
	if errors.Is(err, sql.ErrNoRows) {
		return io.EOF
	}

	r.next++
	return err
}

// DatabaseID returns the id of the database, 0 if it has none so far.
func (s *DB) DatabaseID() (id int64, err error) {
	_, err = s.QueryOne("SELECT value FROM counters WHERE name = 'database'", nil, []any{&id})
	return id, err
}

// NoteMeta writes a value into the meta of a backup, outside of all transactions.
func (s *DB) NoteMeta(key, value string) error {
	_, err := s.conn.ExecContext(background, "INSERT INTO meta (key, value) VALUES (?, ?) "+
		"ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
	return err
}

// RestoringName is the file in the data directory that a restore leaves if it is killed while there is no
// database: it has the backup, and the directory in which the database lies that was there.
const RestoringName = "restoring"

// GoOnAfter has the next transaction of a copy, which has issued nothing, go on above these numbers.
func (s *DB) GoOnAfter(i Issued) error {
	s.compared = false
	return s.issued.Write(Issued{Highest: i.Highest, Turn: i.Turn})
}

// TakeIDOf gives a copy that takes the place of the database in a directory the id under which that has issued
// its numbers. Else everybody would refuse the copy as another database.
func (s *DB) TakeIDOf(dir string) error {
	i, ok := ReadIssued(filepath.Join(dir, IssuedName))
	if !ok || i.database == 0 {
		return nil
	}

	return s.setCounter("database", i.database)
}

// MergeLog moves the whole write-ahead log of a copy, which nobody else has open, into the file, which then is
// the whole database.
func (s *DB) MergeLog() error {
	var busy, pages, moved int
	err := s.conn.QueryRowContext(background, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	if err == nil && busy != 0 {
		err = errors.New("the write-ahead log of the copy can't be moved into it")
	}
	return err
}
