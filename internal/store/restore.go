package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/store/sqlite"
	"talkingstick/stick"
)

// RestorePlan is what a restore would do.
type RestorePlan struct {
	Backup Contents
	At     stick.Time // when the backup was made; zero if it doesn't say

	Current  *Contents // what would be replaced; nil if there is no database, or it can't be read
	IsBroken bool      // there is a database, and it can't be read
	Lost     int64     // events that the backup doesn't have
	AtMost   bool      // Lost is how many there can be
}

// Restored is what a restore has done.
type Restored struct {
	RestorePlan
	Files int    // that came with the backup, and weren't there
	Aside string // the directory with the database that was replaced; empty for none
}

// restoring is the file in the data directory that says what to do about a restore that was killed between its
// two renames. Nobody reads it while there is a database.
const restoring = sqlite.RestoringName

// RestoreRequest says what to restore, and over which database.
type RestoreRequest struct {
	File string // the backup

	DB      *DB          // what is there; nil where it can't be opened, because of OpenErr
	OpenErr error        // [ErrAbsent] where there is none
	Close   func() error // closes DB

	Confirm func(RestorePlan) error // fails unless the plan is agreed to
}

// Restore puts the database of a backup in the place of the one in opt.Dir, once that is agreed to. The
// backup is copied and checked before anything is changed. Events and turns go on above all that either of
// the two has given out, and all leases and reservations end. Waits end, because their database is no longer
// in its place. The database that was there is kept.
//
// If the process is killed, there is the one database, the other, or none, which every command refuses with
// the next step.
func Restore(ctx context.Context, opt Options, r RestoreRequest) (done Restored, err error) {
	if opt.Kill == nil {
		opt.Kill = func(string) {}
	}
	if err := requireBackup(opt.Dir, r.File); err != nil {
		return done, err
	}

	s, err := newStaging(opt)
	if err != nil {
		return done, err
	}
	defer s.remove()

	copied, err := s.openBackup(ctx, r.File)
	if err != nil {
		return done, err
	}
	defer func() {
		if copied != nil {
			_ = copied.Close()
		}
	}()
	opt.Kill("restore: checked")

	if done.RestorePlan, err = planRestore(ctx, opt.Dir, copied, r); err != nil {
		return done, err
	}
	if err := r.Confirm(done.RestorePlan); err != nil {
		return done, err
	}

	// Names of content and of rescues never mean a second thing, so files come before the database that names them.
	if done.Files, err = copied.unpackFiles(ctx, opt.Dir); err != nil {
		return done, err
	}
	opt.Kill("restore: files")

	limited, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()

	lock, err := bell.Lock(limited, filepath.Join(opt.Dir, "write.lock"))
	if err != nil {
		return done, errRestoreFile(opt.Dir, err)
	}
	defer lock.Unlock()

	// Nobody gives out numbers from here on.
	if err := copied.beginAfterRestore(ctx, opt.Dir, r.DB, done.Current == nil && !done.IsBroken); err != nil {
		return done, err
	}
	err = errors.Join(copied.dialect.(*sqlite.DB).MergeLog(), copied.Close())
	copied = nil
	if err = errors.Join(err, r.Close()); err != nil {
		return done, err
	}
	opt.Kill("restore: numbered")

	if done.Aside, err = s.replaceDatabase(r.File, opt.Kill); err != nil {
		return done, errRestoreFile(opt.Dir, err)
	}

	// The waits find out that their database is gone.
	if bells, err := bell.Open(opt.Dir); err == nil {
		_ = bells.RingAll()
	}

	return done, nil
}

// requireBackup refuses what is no backup: the database itself, or one that is in use elsewhere.
func requireBackup(dir, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return stick.Errorf(stick.CodeNotFound,
			"there is no backup %s: %w", file, plainfile.CauseOf(err)).With("path", file).
			Hintf("list the backups: %s", stick.Cmd("tt restore"))
	}
	if !info.Mode().IsRegular() {
		return stick.Errorf(stick.CodeUsage, "%s isn't a file", file).With("path", file).
			Hintf("list the backups: %s", stick.Cmd("tt restore"))
	}

	if now, err := os.Stat(filepath.Join(dir, FileName)); err == nil && os.SameFile(now, info) {
		return stick.Errorf(stick.CodeUsage, "%s is the database itself", file).With("path", file).
			Hintf("list the backups: %s", stick.Cmd("tt restore"))
	}

	// Its newest commits would be left behind.
	if wal, err := os.Stat(file + sqlite.LogSuffix); err == nil && wal.Size() > 0 {
		return stick.Errorf(stick.CodeUsage,
			"%s is a database that was in use, with a write-ahead log beside it, and no backup", file).With("path", file).
			Hintf("make a backup of it first: %s; then restore that file",
				stick.Cmd("env <setting> tt backup rooms-backup", "TALKING_STICK_DATA_DIR="+filepath.Dir(file)))
	}

	return nil
}

// openBackup copies a backup into the directory, brings its schema up to date and checks it.
func (s *staging) openBackup(ctx context.Context, file string) (*DB, error) {
	if err := copyFile(file, s.file()); err != nil {
		return nil, errRestoreFile(file, err)
	}

	db, err := s.open(ctx)
	if err != nil {
		return nil, errBackup(file, err)
	}

	found, err := db.Check(ctx)
	if err == nil && len(found) > 0 {
		err = stick.Errorf(stick.CodeDatabaseCorrupt, "%s", stick.Words(found[0]))
	}
	if err != nil {
		_ = db.Close()
		return nil, errBackup(file, err)
	}

	return db, nil
}

// errBackup says what is wrong with a backup, by what opening its copy or checking it has said.
func errBackup(file string, err error) error {
	switch e := stick.AsError(err); e.Code {
	case stick.CodeSchemaTooNew:
		return stick.Errorf(e.Code, "the backup %s was made by a newer tt: %s", file, e.Words()).With("path", file).
			Hintf("get that tt first, then run the same command again: %s; nothing was changed",
				stick.Cmd("tt self-update"))
	case stick.CodeForeignDatabase:
		return stick.Errorf(stick.CodeUsage, "%s is no backup of tt", file).With("path", file).
			Hintf("list the backups: %s", stick.Cmd("tt restore"))
	case stick.CodeDatabaseCorrupt:
		return stick.Errorf(e.Code, "the backup %s is damaged, so nothing was changed", file).With("path", file).
			Hintf("list the backups: %s; a file of yours is in a rescue: %s", stick.Cmd("tt restore"),
				stick.Cmd("tt rescue list"))
	}

	if err == ErrAbsent {
		return stick.Errorf(stick.CodeUsage, "the file %s is empty", file).With("path", file).
			Hintf("list the backups: %s", stick.Cmd("tt restore"))
	}
	return err
}

// planRestore compares the backup with the database that it would replace.
func planRestore(ctx context.Context, dir string, backup *DB, r RestoreRequest) (p RestorePlan, err error) {
	var id int64
	err = backup.View(ctx, func(tx *Tx) (err error) {
		var at string
		if p.Backup, err = tx.contents(); err != nil {
			return err
		}
		if _, err = tx.queryOne("SELECT value FROM meta WHERE key = ?", []any{backupAt}, &at); err != nil {
			return err
		}

		// A copy of a database file says nothing.
		if ms, err := strconv.ParseInt(at, 10, 64); err == nil {
			p.At = stick.Time(ms)
		}

		id, err = backup.dialect.(*sqlite.DB).DatabaseID()
		return err
	})
	if err != nil || r.DB == nil && r.OpenErr == ErrAbsent && LastIssued(dir) == 0 {
		return p, err
	}

	p.IsBroken = true
	if r.DB != nil {
		err := r.DB.View(ctx, func(tx *Tx) error { return p.compareCurrent(tx, id) })
		p.IsBroken = err != nil
	}

	// What can't be read has left the number of its last event.
	if p.IsBroken {
		p.Current, p.AtMost = nil, true
		p.Lost = max(0, LastIssued(dir)-p.Backup.LastEvent)
	}

	return p, nil
}

// compareCurrent counts what the database has that the backup hasn't.
func (p *RestorePlan) compareCurrent(tx *Tx, backupID int64) error {
	now, err := tx.contents()
	if err != nil {
		return err
	}

	id, err := tx.db.dialect.(*sqlite.DB).DatabaseID()
	if err != nil {
		return err
	}

	// Numbers of another database say nothing about this one.
	after := int64(0)
	if id == backupID {
		after = p.Backup.LastEvent
	}

	p.Current = &now
	_, err = tx.queryOne("SELECT COUNT(*) FROM events WHERE event_seq > ?", []any{after}, &p.Lost)
	return err
}

// unpackFiles writes the files of a backup into the data directory.
func (db *DB) unpackFiles(ctx context.Context, dir string) (int, error) {
	n, err := db.dialect.(*sqlite.DB).UnpackFiles(ctx, dir, func(path string, mode fs.FileMode, from io.Reader) error {
		if err := plainfile.MkdirAll(filepath.Dir(path)); err != nil {
			return err
		}
		return writeFile(path, mode, from)
	})
	if err != nil {
		err = errRestoreFile(dir, db.dialect.CodeError(err))
	}

	return n, err
}

// beginAfterRestore begins the generation after a restore, with numbers above all that the data directory has
// given out. isNew says that it has given out none.
func (db *DB) beginAfterRestore(ctx context.Context, dir string, current *DB, isNew bool) error {
	next := nextAfter(ctx, dir, current)
	file := db.dialect.(*sqlite.DB)

	// The directory that the backup comes from may have given out any.
	if isNew {
		next = sqlite.Issued{}
	}
	if err := file.GoOnAfter(next); err != nil {
		return errRestoreFile(dir, err)
	}

	return db.Update(ctx, func(tx *Tx) error {
		var highest int64
		if _, err := tx.queryOne("SELECT COALESCE(MAX(turn_id), 0) FROM rooms", nil, &highest); err != nil {
			return err
		}

		above := max(next.Turn, highest, tx.Generation().Above)
		skip := int64(0)
		if isNew {
			above, skip = above+beyondAll, beyondAll
		}

		return errors.Join(
			tx.exec("DELETE FROM meta WHERE key = ?", backupAt),
			tx.newGeneration(stick.Generation{Cause: stick.RestoreCause, Above: above}),
			file.SkipNumbers(skip),
			file.TakeIDOf(dir),
		)
	})
}

// replaceDatabase puts the database of the staging directory in the place of the one in the data directory,
// which it moves aside. Its caller has the lock of writers.
//
// A log that belongs to another database must never lie beside the new one, and there must be no moment
// without a database in which a command would make an empty one. So a log that SQLite takes for an empty one
// lies in its place meanwhile: a log without a database refuses everybody, see [sqlite.Open].
func (s *staging) replaceDatabase(backup string, kill func(string)) (aside string, err error) {
	database := filepath.Join(s.data, FileName)
	log, emptyLog := database+sqlite.LogSuffix, filepath.Join(s.dir, "empty-log")
	if err := syncFile(s.file()); err != nil {
		return "", err
	}
	if err := os.WriteFile(emptyLog, []byte("tt restore\n"), 0o600); err != nil {
		return "", err
	}

	_, err = os.Lstat(database)
	hasDatabase := err == nil
	if aside, err = newAside(s.data, sqlite.ReplacedName); err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s\n%s\n", backup, aside)
	if err := plainfile.Replace(filepath.Join(s.data, restoring), []byte(text)); err != nil {
		return "", err
	}
	kill("restore: announced")

	// The log stays in its place until the database has gone, and is in both places meanwhile.
	if info, err := os.Stat(log); err == nil && info.Size() > 0 {
		if err := linkFile(log, filepath.Join(aside, FileName+sqlite.LogSuffix)); err != nil {
			return "", err
		}
	} else if err := os.Rename(emptyLog, log); err != nil {
		return "", err
	}
	kill("restore: log kept")

	if hasDatabase {
		if err := os.Rename(database, filepath.Join(aside, FileName)); err != nil {
			return "", err
		}
	}
	kill("restore: moved aside")

	if err := os.Rename(emptyLog, log); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	kill("restore: log emptied")

	for _, name := range []string{FileName + sqlite.IndexSuffix, sqlite.MarkName} {
		err := os.Rename(filepath.Join(s.data, name), filepath.Join(aside, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	kill("restore: place is free")

	if err := os.Rename(s.file(), database); err != nil {
		return "", err
	}
	kill("restore: placed")

	if !hasDatabase {
		_ = os.Remove(aside) // it has a log without a database, or nothing
		aside = ""
	}

	return aside, errors.Join(syncDir(s.data), os.Remove(filepath.Join(s.data, restoring)))
}

// linkFile gives a file a second name, or copies it where that isn't possible.
func linkFile(from, to string) error {
	if err := os.Link(from, to); err == nil {
		return nil
	}
	return copyFile(from, to)
}

// copyFile copies a file into a new one of mode 0600.
func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return writeFile(to, 0o600, f)
}

// writeFile writes a new file, which gets its name once it is whole.
func writeFile(path string, mode fs.FileMode, from io.Reader) error {
	f, err := plainfile.Temp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())

	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}

	return os.Rename(f.Name(), path)
}

// errRestoreFile says what keeps a restore from a file or directory.
func errRestoreFile(path string, err error) error {
	if _, ok := errors.AsType[*stick.Error](err); ok {
		return err
	}
	if locked, ok := errors.AsType[*bell.LockedError](err); ok {
		return stick.Errorf(stick.CodeDatabaseBusy, "another process writes into the database: %s", locked.Error()).
			Hintf("wait until it has ended, then run the same command again; nothing was changed")
	}

	return stick.Errorf(stick.CodeDataDirNotWritable,
		"the restore can't use %s: %w", path, plainfile.CauseOf(err)).With("path", path).
		Hintf("make it usable for your user and see that the disk has room, then run the same command again")
}
