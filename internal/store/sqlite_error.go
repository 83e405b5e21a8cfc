package store

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"talkingstick/internal/bell"
	"talkingstick/stick"
)

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
func (s *sqliteDB) busy(ctx context.Context, began time.Time, err error) error {
	held, ok := errors.AsType[*bell.LockedError](err)
	waited := s.opt.WriteWait
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && ok:
		waited = time.Since(began).Round(time.Millisecond)
	case ctx.Err() != nil:
		return ctx.Err()
	case !ok:
		return notWritable(s.opt.Dir, err) // the lock's file couldn't be opened
	}
	e := stick.Errorf(stick.CodeDatabaseBusy, "the database stayed locked for %s", waited)
	if held.PID != 0 {
		e = stick.Errorf(stick.CodeDatabaseBusy, "the database stayed locked for %s by process %d", waited, held.PID).
			With("pid", held.PID)
	}
	return e.Hintf("nothing was changed; see whether that process is stopped, and try again")
}
