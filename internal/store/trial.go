package store

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/store/dialect"
)

// Trial uses each file of the data directory as commands use it, and changes nothing: it takes the lock of
// writers, begins a write and rolls it back, opens every bell and every lock of a task, takes the lock of a
// wait, and writes to the disk. Waits read their rooms once more because of it. It fails with
// [stick.CodeDataDirNotWritable], naming the file, and with [stick.CodeDatabaseBusy].
func (db *DB) Trial(ctx context.Context) error {
	if err := db.dialect.TryLocks(ctx, db.tryWrite); err != nil {
		return err
	}
	if err := db.Bell.TryBells(); err != nil {
		return dialect.ErrUnusable(err)
	}
	if err := openAll(filepath.Join(db.opt.Dir, "tasks")); err != nil {
		return dialect.ErrUnusable(err)
	}

	return TryWriting(db.opt.Dir)
}

// tryWrite begins a write and rolls it back.
func (db *DB) tryWrite(ctx context.Context) error {
	db.mu.Lock()
	defer db.mu.Unlock()

	tx, err := db.begin(ctx, true)
	if err != nil {
		return err
	}
	defer tx.rollback()

	// A statement that returns a row is sent at once, on every database.
	var value int64
	_, err = tx.queryOne("UPDATE counters SET value = value + 1 WHERE name = 'event_seq' RETURNING value", nil, &value)
	return db.dialect.CodeError(err)
}

// openAll opens each file in a directory as a lock is opened.
func openAll(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	for _, e := range entries {
		f, oerr := plainfile.Open(filepath.Join(dir, e.Name()), os.O_RDWR)
		if oerr != nil {
			return oerr
		}

		f.Close()
	}

	return err
}

// trialSize is more than a commit writes.
const trialSize = 256 << 10

// TryWriting writes a file of some size in the data directory, and removes it. A directory that doesn't exist
// is no failure. It fails with [stick.CodeDataDirNotWritable].
func TryWriting(dir string) (err error) {
	f, err := os.CreateTemp(dir, "doctor-*")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return dialect.ErrUnusable(err)
	}

	// Nothing is left behind, whatever fails.
	defer os.Remove(f.Name())
	defer f.Close()

	b := make([]byte, trialSize)

	// A file system that compresses would find room for zeros.
	rand.Read(b)
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}

	return dialect.ErrUnusable(err)
}
