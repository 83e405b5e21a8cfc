package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// A clone may hold anything: a link to somebody's secrets, a device without an end, a FIFO
// that nobody writes to. So everything of that kind is read here.

// What [Open] and [ReadFile] refuse.
var (
	ErrNotPlain = errors.New("it is no plain file of its directory")
	ErrTooLong  = errors.New("it is too long")
)

// Open opens a plain file below root for reading. A link that leads out of there isn't followed, and
// nothing is waited for. It fails with [fs.ErrNotExist], [ErrNotPlain] or what the system says.
func Open(root *os.Root, name string) (*os.File, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, classify(root, name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotPlain
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a FIFO
	if err != nil {
		return nil, classify(root, name, err)
	}
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, ErrNotPlain)
	}
	return f, nil
}

// classify is why a file can't be opened: a link at its place leads out, or nowhere; else what the system says.
func classify(root *os.Root, name string, err error) error {
	if info, e := root.Lstat(name); e == nil && info.Mode()&fs.ModeSymlink != 0 {
		return ErrNotPlain
	}
	return err
}

// ReadFile reads a plain file of a directory, of at most a number of bytes. It fails as [Open] does, and
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
