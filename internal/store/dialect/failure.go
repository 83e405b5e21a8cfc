package dialect

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"talkingstick/stick"
)

// RowError is why a row can't be read: something in it isn't what it has to be.
type RowError struct{ Err error }

// Error implements error.
func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the row.
func (e *RowError) Unwrap() error { return e.Err }

// MarkRowErrors is row with a failure that says so.
func MarkRowErrors(row RowReader) RowReader {
	return func(scan RowScan) error {
		if err := row(scan); err != nil {
			return &RowError{Err: err}
		}
		return nil
	}
}

// ErrNotWritable makes the error for a data directory that can't be written. What has its code already keeps it.
func ErrNotWritable(dir string, err error) *stick.Error {
	if e, ok := errors.AsType[*stick.Error](err); ok { // it names the file
		return e
	}

	why := err
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		why = e
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return stick.Errorf(stick.CodeDataDirNotWritable, "tt can't open any file in the data directory %s: %s", dir, why).With("path", dir).
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

// ErrUnusable says which file can't be used.
func ErrUnusable(err error) error {
	if _, ok := errors.AsType[*stick.Error](err); err == nil || ok {
		return err
	}

	// The system's own word for it is in the cause.
	path, why := "", err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		path, why = e.Path, e.Err
	}

	e := stick.Errorf(stick.CodeDataDirNotWritable, "%s can't be used: %s", path, why).With("path", path)
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return e.Hintf("free some space on that disk")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS),
		strings.HasPrefix(filepath.Base(path), "doctor-"):
		return e.Hintf("make it writable for your user")
	}

	return e.Hintf("move it aside, then run the same command again")
}

// ErrMoved is the error for a file whose rooms are elsewhere now.
func ErrMoved(to string) *stick.Error {
	return stick.Errorf(stick.CodeDatabaseMoved, "the rooms of this machine are in %s now", stick.Words(to)).With("database", to).
		Hintf(`put its address into config.toml: database = "postgres://…"; or set TALKING_STICK_DATABASE_URL`)
}

// ErrAbsent is returned by [Open] when there is no database and create is false.
var ErrAbsent = errors.New("there is no database yet")
