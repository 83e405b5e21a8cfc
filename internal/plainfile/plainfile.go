// Package plainfile opens the files of the data directory.
package plainfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"talkingstick/stick"
)

// Open is [os.OpenFile] for plain files, with mode 0600 for a new one. It never blocks: opening a FIFO would wait for
// its other side, in the middle of a transaction and deaf to signals. Where something else than a plain file lies, it
// fails with [stick.CodeDataDirNotWritable].
func Open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		if errors.Is(err, syscall.ENXIO) { // a FIFO without a reader, a socket, or a device that isn't there
			return nil, errNotPlain(path)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotPlain(path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Check fails as [Open] does if there is something else than a plain file at path. It opens nothing.
func Check(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errNotPlain(path)
	}
	return err
}

// Read reads a plain file. It fails as [Open] does.
func Read(path string) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func errNotPlain(path string) error {
	return stick.Errorf(stick.CodeDataDirNotWritable, "%s isn't a regular file", stick.Line(path)).With("path", path).
		Hintf("move it aside, then run the same command again")
}
