package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"talkingstick/internal/bell"
	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// classify gives the failures of SQLite their codes, by number and never by text. SQLite's own texts are for
// programmers, so no message has them.
func classify(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		if row, ok := errors.AsType[*dialect.RowError](err); ok && !isCoded(err) {
			return contradiction("what a row holds can't be read", row)
		}
		return err
	}

	// The last byte of a number is the kind of failure, and the rest says more.
	number := e.Code()
	switch number { // what the last byte alone doesn't tell
	case sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS:
		return corrupt(stick.Wordsf("a part of the file, or of its write-ahead log, is missing (SQLite %d)", number), err)
	}
	switch number & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return coded(stick.CodeDatabaseBusy, "the database is locked by another program", err).
			Hintf("try again, since nothing was changed; if it lasts: %s", stick.Cmd("tt doctor"))
	case sqlite3.SQLITE_NOMEM:
		return coded(stick.CodeDatabaseBusy, "this system has no memory left for the database", err).
			Hintf("end other programs, then try again; nothing was changed")
	case sqlite3.SQLITE_CORRUPT:
		return corrupt(stick.Wordsf("its pages don't fit together (SQLite %d)", number), err)
	case sqlite3.SQLITE_NOTADB:
		return corrupt(stick.Wordsf("it isn't an SQLite database (SQLite %d)", number), err)
	case sqlite3.SQLITE_FULL:
		return coded(stick.CodeDataDirNotWritable, "the database can't be written: the disk is full", err).
			Hintf("free some space on the disk of the data directory, then run the same command again; nothing was changed")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_NOLFS:
		return coded(stick.CodeDataDirNotWritable, stick.Wordsf("the files of the database can't be used (SQLite %d)", number), err).
			Hintf("see what is wrong with the data directory: %s", stick.Cmd("tt doctor"))
	case sqlite3.SQLITE_TOOBIG:
		return coded(stick.CodeUsage, "that is too large to store", err).Hintf("shorten the text, or put it into a file and name that")
	case sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_ABORT:
		return context.Canceled
	case sqlite3.SQLITE_CONSTRAINT:
		return contradiction(stick.Wordsf("its tables contradict each other (SQLite %d)", number), err)
	case sqlite3.SQLITE_MISUSE: // a fault of ours
		return coded(stick.CodeInternal, stick.Wordsf("tt has used the database wrongly (SQLite %d)", number), err).
			Hintf("see whether %s finds anything, and report this; nothing was changed", stick.Cmd("tt doctor"))
	}

	return contradiction(stick.Wordsf("its tables aren't as tt made them (SQLite %d)", number), err) // a table or a column is missing, …
}

// coded is an error for a failure of SQLite that says nothing to users by itself.
func coded(code stick.Code, message stick.Words, err error) *stick.Error {
	e := stick.Errorf(code, "%s", message)
	e.Err = err
	return e
}

// isCoded reports whether an error has its code.
func isCoded(err error) bool {
	_, ok := errors.AsType[*stick.Error](err)
	return ok
}

// asRowError is err as a [RowError], unless nobody has looked at a row.
func asRowError(err error) error {
	if err == nil || errors.Is(err, sql.ErrConnDone) {
		return err
	}
	return &dialect.RowError{Err: err}
}

// corrupt is the error for a database whose files are damaged. cause is what has found it; it may be nil.
func corrupt(what stick.Words, cause error) *stick.Error {
	e := stick.Errorf(stick.CodeDatabaseCorrupt, "the database is damaged: %s", what).
		Hintf("see what to do: %s; until then, tt writes nothing more", stick.Cmd("tt doctor"))
	if cause != nil {
		e.Err = cause
	}

	return e
}

// errUnmarked is why damage leaves no mark: other commands may go on, or can't anyway.
var errUnmarked = errors.New("this stops no other command")

// contradiction is the error for a database whose pages are whole, and whose content can't be. It stops no
// other writer: a fault of ours may be the reason, until the doctor finds the damage.
func contradiction(what stick.Words, cause error) *stick.Error {
	e := stick.Errorf(stick.CodeDatabaseCorrupt, "the database is damaged: %s", what).
		Hintf("see what to do: %s; tt changed nothing", stick.Cmd("tt doctor"))
	e.Err = errors.Join(errUnmarked, cause)
	return e
}

// errBusy returns the error that names the process which holds the write lock. It does so too when the
// caller's own deadline passed first.
func (s *DB) errBusy(ctx context.Context, began time.Time, err error) error {
	// The lock says who holds it.
	held, ok := errors.AsType[*bell.LockedError](err)
	waited := s.opt.WriteWait
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && ok:
		waited = time.Since(began).Round(time.Millisecond)
	case ctx.Err() != nil:
		return ctx.Err()
	case !ok:
		return dialect.ErrNotWritable(s.opt.Dir, err) // the lock's file couldn't be opened
	}
	e := stick.Errorf(stick.CodeDatabaseBusy, "the database stayed locked for %s", waited)
	if held.PID != 0 {
		e = stick.Errorf(stick.CodeDatabaseBusy, "the database stayed locked for %s by process %d", waited, held.PID).
			With("pid", held.PID)
	}

	return e.Hintf("see whether that process is stopped, and try again; nothing was changed")
}
