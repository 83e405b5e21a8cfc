package confedit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// MaxSize is the most bytes of a file that is read here. The largest files of harnesses are lists of what was
// done in each project, and have a few megabytes.
const MaxSize = 16 << 20

// Read reads a file of others, behind symbolic links. It doesn't wait: to open a FIFO would, for its other
// side, deaf to signals. It fails with [fs.ErrNotExist], and with [*FileError] for what isn't a regular file,
// leads in a circle, has more than [MaxSize] bytes, or can't be read.
func Read(path string) ([]byte, error) {
	// To open a device may do something, so the path is examined first.
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if err := checkPlain(path, info); err != nil {
		return nil, err
	}

	// It may have become a FIFO in between, and to open one would wait.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()

	if info, err = f.Stat(); err != nil {
		return nil, unreadable(path, err)
	}
	if err := checkPlain(path, info); err != nil {
		return nil, err
	}

	b, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if len(b) > MaxSize {
		return nil, &FileError{File: path, Why: TooLarge}
	}
	return b, nil
}

// checkPlain fails for what isn't a regular file, and for one that is too large.
func checkPlain(path string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return &FileError{File: path, Why: NotRegular}
	case info.Size() > MaxSize:
		return &FileError{File: path, Why: TooLarge}
	}
	return nil
}

// TooLarge is why a file isn't read.
var TooLarge = fmt.Sprintf("has more than %d MB", MaxSize>>20)

// Loop is why a link isn't followed.
const Loop = "is a symbolic link that leads to itself"

// unreadable is the error for a file that can't be read. One that doesn't exist is no failure to most
// callers, who look for that.
func unreadable(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case errors.Is(err, syscall.ELOOP):
		return &FileError{File: path, Why: Loop}
	}
	return &FileError{path, "can't be read", errors.Unwrap(err)}
}
