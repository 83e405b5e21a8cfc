package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// MarkName is the file in the data directory that says that SQLite has found the database damaged. While it
// is there, nothing is written: a write that doesn't touch the damaged page would succeed, and make the
// damage worse. The store's check removes the file when it finds nothing wrong. A database that can't even be opened
// needs no mark.
const MarkName = "corrupt"

// CodeError gives a failure of the database its code, and leaves the mark if it is damage.
func (s *DB) CodeError(err error) error {
	err = classify(err)
	if stick.CodeOf(err) == stick.CodeDatabaseCorrupt {
		if !errors.Is(err, errUnmarked) {
			s.leaveMark(stick.AsError(err).Message)
		}
	}

	return err
}

// leaveMark leaves the mark. Where that fails, writers meet the damage themselves.
func (s *DB) leaveMark(what string) {
	f, err := plainfile.Open(filepath.Join(s.opt.Dir, MarkName), os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return
	}

	fmt.Fprintf(f, "%s: %s\n", s.opt.Now().UTC().Format(time.RFC3339Nano), stick.Line(what))
	f.Close()
}

// ReadMark returns what the mark says, empty without one.
func (s *DB) ReadMark() string {
	b, err := plainfile.Read(filepath.Join(s.opt.Dir, MarkName))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return "at " + strings.TrimSpace(string(b))
}

// ClearMark removes the mark, unless it has changed since it was read: then somebody has met damage
// meanwhile.
func (s *DB) ClearMark(read string) error {
	if read == "" || s.ReadMark() != read {
		return nil
	}
	if err := os.Remove(filepath.Join(s.opt.Dir, MarkName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dialect.ErrNotWritable(s.opt.Dir, err)
	}

	return nil
}

// AllowRepair lets this process write although the database is marked as damaged, until done is called. The caller
// has to check what it has repaired before it commits.
func (s *DB) AllowRepair() (done func()) {
	s.repairing = true
	return func() { s.repairing = false }
}

// requireUnmarked refuses to write into a database that was found damaged.
func (s *DB) requireUnmarked() error {
	if s.repairing {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(s.opt.Dir, MarkName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	e := stick.Errorf(stick.CodeDatabaseCorrupt, "a command found the database damaged %s; tt writes nothing until a check finds it sound", stick.Words(stick.Clip(s.ReadMark(), 120))).
		Hintf("check it and see what to do: %s", stick.Cmd("tt doctor"))
	e.Err = errUnmarked // it is marked already
	return e
}

// StopWriters leaves the mark once nobody writes, so that what is read afterwards is all that was committed.
func (s *DB) StopWriters(ctx context.Context, why string) error {
	limited, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()

	lock, err := bell.Lock(limited, filepath.Join(s.opt.Dir, "write.lock"))
	if err != nil {
		return dialect.ErrNotWritable(s.opt.Dir, err)
	}
	defer lock.Unlock()

	s.leaveMark(why)
	return nil
}

// FillUp adds empty pages to a database file that lacks some at its end, since SQLite opens none that is shorter than
// its header says. Its other pages can be read then.
func FillUp(file string) error {
	f, err := plainfile.Open(file, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()

	// Two bytes say how large a page is, and four how many there are.
	var head [32]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return err
	}
	page, pages := int64(binary.BigEndian.Uint16(head[16:])), int64(binary.BigEndian.Uint32(head[28:]))
	if page != pageSize || pages > maxFilled/pageSize {
		return errNoSize
	}

	info, err := f.Stat()
	if err == nil && info.Size() < page*pages {
		err = f.Truncate(page * pages)
	}
	return err
}

// A file that has another size of pages, or says that it has more bytes, doesn't say its size any more.
const (
	pageSize  = 4096
	maxFilled = 1 << 34
)

var errNoSize = errors.New("the header of the database doesn't say how large it is")

// SetAside moves the database and what belongs to it, and leaves the file of issued numbers that the next one
// begins with.
func SetAside(ctx context.Context, dir string, next Issued) (aside string, err error) {
	limited, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()

	lock, err := bell.Lock(limited, filepath.Join(dir, "write.lock"))
	if err != nil {
		return "", dialect.ErrNotWritable(dir, err)
	}
	defer lock.Unlock()

	// Each call has a directory of its own, also beside those of earlier damage.
	for n := 1; ; n++ {
		aside = filepath.Join(dir, fmt.Sprintf("damaged-%d", n))
		if err = os.Mkdir(aside, 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
	}

	// The database goes first. Its log without it refuses everybody, and another call moves the rest.
	for _, name := range append(databaseFiles(), MarkName) {
		if err == nil {
			err = os.Rename(filepath.Join(dir, name), filepath.Join(aside, name))
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		numbers := IssuedFile{Path: filepath.Join(dir, IssuedName)}
		err = errors.Join(numbers.Write(next), numbers.Close())
	}
	if err != nil {
		return "", dialect.ErrNotWritable(dir, err)
	}

	return aside, nil
}
