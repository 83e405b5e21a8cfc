package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"talkingstick/internal/bell"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/store/sqlite"
	"talkingstick/stick"
)

// BackupsName is the directory in the data directory in which backups lie that nobody has given another place,
// and in which they are made.
const BackupsName = "backups"

// backupAt is the key in the meta of a backup: when it was made.
const backupAt = "backup_at"

// BackupRequest says where a backup goes and what is in it.
type BackupRequest struct {
	Target  string   // the file to make
	Replace bool     // a file that is there
	Folders []string // of the data directory, whose files the backup has, too
}

// Contents is what a database has, or a backup of it.
type Contents struct {
	Rooms     int   `json:"rooms"`
	Events    int64 `json:"events"`
	Tasks     int   `json:"tasks"`
	LastEvent int64 `json:"last_event_seq"` // the last number that it has given out
}

// Backup is a backup that was made.
type Backup struct {
	Contents
	At     stick.Time
	Bytes  int64
	Files  int // beside the database: outputs of gates and checks, and those of the folders that were asked for
	Lacked int // outputs that the data directory doesn't have any more
}

// Backup makes a backup of a database file, while others use it: all that was committed before it began. It
// checks the backup as the doctor checks a database, before it gives it its name. It fails with
// [stick.CodeDatabaseCorrupt] if it finds anything, and with [stick.CodeAlreadyExists] where there is a file
// that it may not replace. If the process is killed, there is a whole backup or none.
func (db *DB) Backup(ctx context.Context, r BackupRequest) (b Backup, err error) {
	s, err := newStaging(db.opt)
	if err != nil {
		return b, err
	}
	defer s.remove()

	outputs, err := db.copyDatabase(ctx, s, &b)
	if err != nil {
		return b, err
	}
	db.opt.Kill("backup: copied")

	if err := s.fillBackup(ctx, r.Folders, outputs, &b); err != nil {
		return b, err
	}
	db.opt.Kill("backup: checked")

	info, err := os.Stat(s.file())
	if err == nil {
		b.Bytes = info.Size()
		err = placeFile(s.file(), r.Target, r.Replace)
	}
	if err == nil {
		db.opt.Kill("backup: placed")
	}

	return b, ErrBackupFile(r.Target, err)
}

// copyDatabase copies the database, and says what it has. It returns the sums of its outputs.
func (db *DB) copyDatabase(ctx context.Context, s *staging, b *Backup) (outputs []string, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		b.At, outputs = tx.Now(), nil
		if b.Contents, err = tx.contents(); err != nil {
			return err
		}

		err := tx.scan("SELECT sum FROM blobs ORDER BY sum", nil, func(scan rowScan) error {
			var sum string
			err := scan(&sum)
			outputs = append(outputs, sum)
			return err
		})
		if err != nil {
			return err
		}

		// Its query has begun the transaction, so this is what the copy has.
		return db.dialect.(*sqlite.DB).CopyTo(ctx, s.file())
	})

	return outputs, err
}

// contents counts what the database has.
func (tx *Tx) contents() (c Contents, err error) {
	for query, into := range map[string]any{
		"SELECT COUNT(*) FROM rooms": &c.Rooms, "SELECT COUNT(*) FROM events": &c.Events,
		"SELECT COUNT(*) FROM tasks": &c.Tasks,
	} {
		if _, err := tx.queryOne(query, nil, into); err != nil {
			return c, err
		}
	}

	c.LastEvent, err = tx.db.dialect.LastDrawn()
	return c, err
}

// fillBackup puts the files into the copy of the database, and checks it.
func (s *staging) fillBackup(ctx context.Context, folders, outputs []string, b *Backup) error {
	copied, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer copied.Close()

	names := make([]string, 0, len(outputs))
	for _, sum := range outputs {
		names = append(names, "blobs/"+sum[:2]+"/"+sum[2:])
	}
	for _, folder := range folders {
		more, err := filesBelow(s.data, folder)
		if err != nil {
			return err
		}
		names = append(names, more...)
	}

	file := copied.dialect.(*sqlite.DB)
	if b.Files, err = file.PackFiles(ctx, s.data, names); err != nil {
		return copied.dialect.CodeError(err)
	}
	b.Lacked = len(names) - b.Files
	if err := file.NoteMeta(backupAt, strconv.FormatInt(int64(b.At), 10)); err != nil {
		return copied.dialect.CodeError(err)
	}

	found, err := copied.Check(ctx)
	if err == nil && len(found) > 0 {
		err = stick.Errorf(stick.CodeDatabaseCorrupt, "there is no backup, because the database has a fault: %s",
			stick.Words(found[0])).Hintf("see what to do: %s", stick.Cmd("tt doctor"))
	}
	if err == nil {
		err = copied.dialect.CodeError(file.MergeLog())
	}

	return err
}

// filesBelow lists the files of a folder of the data directory. In repositories, what names objects is before the
// objects, so whatever is named by what was read is there when the objects are read.
func filesBelow(dir, folder string) (names []string, err error) {
	var objects []string
	err = filepath.WalkDir(filepath.Join(dir, folder), func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it went meanwhile
		case err != nil:
			return err
		case !d.Type().IsRegular():
			return nil
		}

		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}

		name := filepath.ToSlash(rel)
		if strings.Contains(name, "/objects/") {
			objects = append(objects, name)
		} else if !strings.HasSuffix(name, ".lock") {
			names = append(names, name)
		}

		return nil
	})

	return append(names, objects...), err
}

// staging is a directory of its own, in which a backup is made or looked at before it gets its place. Nobody
// else has one in the same data directory meanwhile.
type staging struct {
	data string // the data directory
	dir  string
	opt  Options // to open the copy with
	lock *bell.FileLock
}

// newStaging makes the directory, and removes those that killed processes have left.
func newStaging(opt Options) (*staging, error) {
	backups := filepath.Join(opt.Dir, BackupsName)
	if err := plainfile.MkdirAll(backups); err != nil {
		return nil, ErrBackupFile(backups, err)
	}

	lock, got, err := bell.TryLock(filepath.Join(backups, "lock"))
	if err == nil && !got {
		return nil, stick.Errorf(stick.CodeDatabaseBusy, "another backup or restore is running in %s", opt.Dir).
			With("path", opt.Dir).Hintf("wait until it has ended, then run the same command again")
	}
	if err != nil {
		return nil, ErrBackupFile(backups, err)
	}

	// The lock ends with its process, so nobody uses these.
	left, _ := filepath.Glob(filepath.Join(backups, "making-*"))
	for _, dir := range left {
		_ = os.RemoveAll(dir)
	}

	dir, err := os.MkdirTemp(backups, "making-")
	if err == nil {
		err = plainfile.InheritPath(dir)
	}
	if err != nil {
		return nil, errors.Join(ErrBackupFile(backups, err), lock.Unlock())
	}

	// The copy has the clock and the boot of the database, and tells nobody of losses.
	opt.Witness, opt.Lost, opt.URL = nil, nil, ""
	data := opt.Dir
	opt.Dir = dir
	return &staging{data: data, dir: dir, opt: opt, lock: lock}, nil
}

// file is the database in the directory.
func (s *staging) file() string { return filepath.Join(s.dir, FileName) }

// open opens it, and brings its schema up to date.
func (s *staging) open(ctx context.Context) (*DB, error) { return Open(ctx, s.opt, false) }

// remove removes the directory, with what is left in it.
func (s *staging) remove() {
	_ = os.RemoveAll(s.dir)
	_ = s.lock.Unlock()
}

// placeFile gives a file that is whole its name, in one step that a power loss doesn't undo by halves.
func placeFile(from, to string, replace bool) error {
	if err := syncFile(from); err != nil {
		return err
	}

	// The other directory may lie on another disk.
	if err := renameTo(from, to, replace); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}

	tmp, err := plainfile.Temp(filepath.Dir(to), ".tt-backup-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())

	source, err := os.Open(from)
	if err == nil {
		_, err = io.Copy(tmp, source)
		err = errors.Join(err, source.Close())
	}
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}

	return renameTo(tmp.Name(), to, replace)
}

// renameTo renames a file, over another only if that may be replaced.
func renameTo(from, to string, replace bool) error {
	if !replace {
		// Linking fails where there is a file, and renaming would replace it.
		switch err := os.Link(from, to); {
		case err == nil:
			_ = os.Remove(from)
			return syncDir(filepath.Dir(to))
		case errors.Is(err, fs.ErrExist):
			return err
		}

		// This file system has no links.
		if _, err := os.Lstat(to); err == nil {
			return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
		}
	}

	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// ErrBackupFile says which file or directory of a backup can't be used.
func ErrBackupFile(path string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*stick.Error](err); ok {
		return err
	}

	if errors.Is(err, fs.ErrExist) {
		return stick.Errorf(stick.CodeAlreadyExists, "there is a file %s already", path).With("path", path).
			Hintf("name another file, or replace this one: %s", stick.Cmd("tt backup <file> --force", path))
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}

	e := stick.Errorf(stick.CodeDataDirNotWritable,
		"%s can't be used: %w", path, plainfile.CauseOf(err)).With("path", path)
	if errors.Is(err, fs.ErrNotExist) {
		return e.Hintf("make the directory first, or name another")
	}
	return e.Hintf("name a file on a disk that has room and that your user may write; nothing was changed")
}
