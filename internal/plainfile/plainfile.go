// Package plainfile makes and opens the files of the data directory.
package plainfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"talkingstick/stick"
)

// Open is [os.OpenFile] for plain files, with mode 0600 for a new one. It never blocks: opening a FIFO would
// wait for its other side, in the middle of a transaction and deaf to signals. It follows no link, which may
// lead to any file of the caller's. Where something else than a plain file lies, it fails with
// [stick.CodeDataDirNotWritable]. What root makes belongs to the owner of the directory.
func Open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|syscall.O_NONBLOCK|noFollow, 0o600)
	if err != nil {
		// A FIFO without a reader, a socket, or a device that isn't there.
		if errors.Is(err, syscall.ENXIO) || isLink(err) {
			return nil, errNotPlain(path)
		}
		return nil, err
	}

	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotPlain(path)
	}

	if err == nil && flags&os.O_CREATE != 0 {
		err = Inherit(path, info, f.Chown)
	}

	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Check fails as [Open] does if there is something else than a plain file at path. It opens nothing.
func Check(path string) error {
	info, err := os.Lstat(path)
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

// MkdirAll is [os.MkdirAll] with mode 0700. What root makes belongs to the owner of the directory above.
func MkdirAll(path string) error {
	var made []string
	for p := path; ; p = filepath.Dir(p) {
		if _, err := os.Stat(p); err == nil || p == filepath.Dir(p) {
			break
		}
		made = append(made, p)
	}

	err := os.MkdirAll(path, 0o700)

	// From the top down, and only what wasn't there before.
	for _, p := range slices.Backward(made) {
		if err == nil {
			err = InheritPath(p)
		}
	}
	return err
}

// Temp is [os.CreateTemp]. What root makes belongs to the owner of the directory.
func Temp(dir, pattern string) (*os.File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}

	info, err := f.Stat()
	if err == nil {
		err = Inherit(f.Name(), info, f.Chown)
	}

	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

// Replace makes a file of mode 0600 with this text, or replaces one, in one step: whoever reads it meanwhile
// reads one of the two texts.
func Replace(path string, text []byte) error {
	f, err := Temp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}

	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}

	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// InheritPath is [Inherit] for what was just made at path, which isn't followed if it is a link.
func InheritPath(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return Inherit(path, info, func(uid, gid int) error { return os.Lchown(path, uid, gid) })
}

// CauseOf is what an error of a file says beside the file's name, for a sentence that names the file itself.
func CauseOf(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return of.Err
	}
	if of, ok := errors.AsType[*os.LinkError](err); ok {
		return of.Err
	}
	return err
}

func errNotPlain(path string) error {
	return stick.Errorf(stick.CodeDataDirNotWritable, "%s isn't a regular file", path).With("path", path).
		Hintf("move it aside, then run the same command again")
}
