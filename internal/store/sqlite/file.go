package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strconv"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// IssuedName is the file beside the database that says which numbers it has issued. A database that is behind
// it has lost something: SQLite drops the end of a damaged log without a word, and somebody may have put an
// older copy in place.
//
// Only who has the lock of writers writes it: before each commit what that is going to issue, and after it
// that this is committed. So it is never behind what somebody can have seen, and whoever is killed in between
// has lost nothing. Nothing is synced: the system keeps what was written when a process ends in whatever way.
// After a power loss the file may be behind the database, or ahead of it. A generation begins then in any
// case.
const IssuedName = "issued"

// Issued is what the file says.
// See docs/decisions/damage-and-repair.md#a-loss.
type Issued struct {
	database  int64           // which database it is about; 0 for one that was set aside
	Committed dialect.Numbers // the database has these, unless it has lost something
	Highest   dialect.Numbers // that anybody can have seen
	Turn      int64           // the highest turn of all rooms that anybody can have seen
}

// lossOf returns what a database has lost that has committed no more than these numbers. ok is false if that
// is nothing.
func (i Issued) lossOf(have dialect.Numbers) (l dialect.Loss, ok bool) {
	// The event number alone isn't enough: many commits have no event.
	if have.Commit >= i.Committed.Commit && have.Event >= i.Committed.Event {
		return l, false
	}

	l.Changes = max(0, i.Committed.Commit-have.Commit)
	if have.Event < i.Committed.Event {
		l.Events = stick.Lost{From: have.Event + 1, To: i.Committed.Event}
	}

	return l, true
}

// issuedFields is how many numbers the file has, issuedWidth how wide each is, and issuedSize the size of the
// file.
const (
	issuedFields = 6
	issuedWidth  = 20
	issuedSize   = issuedFields*(issuedWidth+1) + 8 + 1
)

// bytes is what is written: the numbers, and a checksum. It always has the same size.
func (i Issued) bytes() []byte {
	b := make([]byte, 0, issuedSize)
	fields := [issuedFields]int64{
		i.database, i.Committed.Commit, i.Committed.Event, i.Highest.Commit, i.Highest.Event, i.Turn,
	}

	for _, n := range fields {
		b = fmt.Appendf(b, "%0*d ", issuedWidth, n)
	}

	return fmt.Appendf(b, "%08x\n", crc32.ChecksumIEEE(b))
}

// parseIssued reads what bytes has written. ok is false for anything else.
func parseIssued(b []byte) (i Issued, ok bool) {
	if len(b) != issuedSize {
		return i, false
	}

	fields := bytes.Fields(b)
	if len(fields) != issuedFields+1 {
		return i, false
	}

	numbers := [issuedFields]*int64{
		&i.database, &i.Committed.Commit, &i.Committed.Event, &i.Highest.Commit, &i.Highest.Event, &i.Turn,
	}

	for n, into := range numbers {
		v, err := strconv.ParseInt(string(fields[n]), 10, 64)
		if err != nil {
			return i, false
		}

		*into = v
	}

	// There is one way to write these numbers, so the checksum needs no code of its own.
	return i, bytes.Equal(i.bytes(), b)
}

// ReadIssued reads the file at path, as one that may be written meanwhile. ok is false if there is none, or
// it can't be read: then there is nothing to compare a database with.
func ReadIssued(path string) (i Issued, ok bool) {
	b, err := plainfile.Read(path)
	if err != nil {
		return i, false
	}
	return parseIssued(b)
}

// IssuedFile is the file, kept open by a process that writes. Its caller has the lock of writers.
type IssuedFile struct {
	Path string
	file *os.File // nil until it is first needed
}

func (f *IssuedFile) ensureOpen(flags int) (err error) {
	if f.file == nil {
		f.file, err = plainfile.Open(f.Path, os.O_RDWR|flags)
	}
	return err
}

// read reads the file. ok is false if there is none, or it is damaged.
func (f *IssuedFile) read() (i Issued, ok bool, err error) {
	if err := f.ensureOpen(0); errors.Is(err, fs.ErrNotExist) {
		return i, false, nil
	} else if err != nil {
		return i, false, err
	}

	b := make([]byte, issuedSize)

	// A shorter file says nothing.
	if _, err = f.file.ReadAt(b, 0); errors.Is(err, io.EOF) {
		return i, false, nil
	}

	i, ok = parseIssued(b)
	return i, ok, err
}

// Write writes the file, and makes it if there is none.
func (f *IssuedFile) Write(i Issued) error {
	if err := f.ensureOpen(os.O_CREATE); err != nil {
		return err
	}
	_, err := f.file.WriteAt(i.bytes(), 0)
	return err
}

// Close closes the file, if it was opened.
func (f *IssuedFile) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// requireUsable fails if there is such a file and it can't be used.
func (f *IssuedFile) requireUsable() error {
	// It is opened anew, as a process that starts opens it.
	file, err := plainfile.Open(f.Path, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = file.Close()
	}

	return err
}
