package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// A file that a clone brings may be anything: a link to somebody's secrets, an endless device, a FIFO
// that nobody writes to. All such files are read by the functions below.

// What [Open] and [ReadFile] refuse.
var (
	ErrNotPlain = errors.New("it isn't a plain file in its directory")
	ErrTooLong  = errors.New("it is too long")
)

// Open opens a plain file below root for reading. It doesn't follow a link that leads out of root, and
// it never blocks. It fails with [fs.ErrNotExist], [ErrNotPlain] or the system's error.
func Open(root *os.Root, name string) (*os.File, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, openError(root, name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotPlain
	}

	// It may have become a FIFO since, which must not block.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, openError(root, name, err)
	}

	// Another file may have taken the place of the one that was looked at.
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, ErrNotPlain)
	}
	return f, nil
}

// openError says why a file can't be opened: [ErrNotPlain] if it is a link, which leads out or nowhere, else
// the system's error.
func openError(root *os.Root, name string, err error) error {
	if info, e := root.Lstat(name); e == nil && info.Mode()&fs.ModeSymlink != 0 {
		return ErrNotPlain
	}
	return err
}

// ReadFile reads a plain file of a directory, if it has at most most bytes. It fails as [Open] does, and
// with [ErrTooLong].
func ReadFile(dir, name string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()

	f, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = ErrTooLong
	}
	return b, err
}
