// Package workfile reads and writes the files of a working tree, and never through a link that somebody has put
// in the place of a directory.
package workfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"talkingstick/internal/rescue/pack"
)

// Folders opens the directories of a working tree, each by its name in the one above and never through a
// link. So nobody who puts a link in the place of a directory leads a read or write elsewhere. It keeps the
// directories of the last path open, because paths come sorted.
type Folders struct {
	names []string
	open  []*os.Root         // of the top level, and of each of names
	Kill  func(point string) // as that of the store
}

// BlockedError says that something else than a directory is in the place of one.
type BlockedError struct {
	depth int // of the name that isn't a directory, from 0
}

// Error implements error.
func (e *BlockedError) Error() string { return "something else lies in the place of its directory" }

// Open opens the working tree with this top level. Its caller closes it.
func Open(top string) (*Folders, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	return &Folders{open: []*os.Root{root}}, nil
}

// Close closes all directories.
func (f *Folders) Close() { f.closeBelow(-1) }

// CloseBelowTop closes the directories below the top level, because they may have been removed.
func (f *Folders) CloseBelowTop() { f.closeBelow(0) }

func (f *Folders) closeBelow(depth int) {
	for len(f.open) > depth+1 {
		f.open[len(f.open)-1].Close()
		f.open = f.open[:len(f.open)-1]
	}

	f.names = f.names[:max(0, min(len(f.names), depth))]
}

// openParent opens the directory of path and returns the last name of path. It fails with [fs.ErrNotExist] or
// a [*blockedError]. With make it makes the directories that don't exist.
func (f *Folders) openParent(path string, make bool) (*os.Root, string, error) {
	names := strings.Split(path, "/")
	name := names[len(names)-1]
	names = names[:len(names)-1]

	// What this path has in common with the last one is open already.
	same := 0
	for same < len(names) && same < len(f.names) && names[same] == f.names[same] {
		same++
	}
	f.closeBelow(same)

	// Each directory is opened in the one above: so no link leads out of the tree.
	for i := same; i < len(names); i++ {
		above := f.open[i]
		child, err := openFolder(above, names[i])
		if make && errors.Is(err, fs.ErrNotExist) {
			// Somebody else may make it at the same moment.
			if err = above.Mkdir(names[i], 0o777); err == nil || errors.Is(err, fs.ErrExist) {
				child, err = openFolder(above, names[i])
			}
		}

		if errors.Is(err, errNoFolder) {
			return nil, "", &BlockedError{i}
		}
		if err != nil {
			return nil, "", err
		}

		f.open, f.names = append(f.open, child), append(f.names, names[i])
	}

	return f.open[len(f.open)-1], name, nil
}

var errNoFolder = errors.New("not a directory")

// openFolder opens a directory in another one.
func openFolder(above *os.Root, name string) (*os.Root, error) {
	info, err := above.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNoFolder
	}

	// OpenRoot follows a link.
	child, err := above.OpenRoot(name)
	if err != nil {
		return nil, err
	}

	// So it has to be the directory that was checked.
	if now, err := child.Stat("."); err != nil || !os.SameFile(info, now) {
		child.Close()
		return nil, errNoFolder
	}
	return child, nil
}

// Lstat is [os.Lstat] of a path in the tree. It fails as openParent does.
func (f *Folders) Lstat(path string) (fs.FileInfo, error) {
	dir, name, err := f.openParent(path, false)
	if err != nil {
		return nil, err
	}
	return dir.Lstat(name)
}

// Content is a file or link as it lies in a working tree.
type Content struct {
	Mode string
	Perm fs.FileMode // of a file
	Data []byte
	Info fs.FileInfo

	Usual bool // a file that is written gets the permissions that a new one has, and perm doesn't count
}

// Why a file isn't read.
var (
	ErrTorn    = errors.New("it changed while it was read")
	ErrSpecial = errors.New("it isn't a file or a link")
	ErrLarge   = errors.New("it is too large")
)

// ReadContent reads a file or link of at most limit bytes. It fails with [ErrTorn], [ErrLarge], [ErrSpecial] (for
// directories, too), with the error of ctx, or as openParent does. It doesn't wait for the other side of a
// FIFO.
func (f *Folders) ReadContent(ctx context.Context, path string, limit int64) (Content, error) {
	for try := 0; ; try++ {
		c, err := f.readContentOnce(ctx, path, limit)
		if !errors.Is(err, ErrTorn) || try > 0 {
			return c, err
		}
	}
}

func (f *Folders) readContentOnce(ctx context.Context, path string, limit int64) (Content, error) {
	dir, name, err := f.openParent(path, false)
	if err != nil {
		return Content{}, err
	}

	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		return Content{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := dir.Readlink(name)
		return Content{Mode: pack.ModeLink, Data: []byte(filepath.ToSlash(to)), Info: info}, err
	case !info.Mode().IsRegular():
		return Content{}, ErrSpecial
	case info.Size() > limit:
		return Content{}, ErrLarge
	}

	// By now a FIFO may be in its place: opening that doesn't wait.
	file, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Content{}, err
	}
	defer file.Close()

	before, err := file.Stat()
	if err != nil || !os.SameFile(info, before) {
		return Content{}, errors.Join(ErrTorn, err)
	}

	data, err := readAll(ctx, file, before.Size())
	if err != nil {
		return Content{}, err
	}

	// What changed meanwhile may be half old and half new.
	after, err := file.Stat()
	if err != nil || int64(len(data)) != after.Size() || !before.ModTime().Equal(after.ModTime()) {
		return Content{}, errors.Join(ErrTorn, err)
	}

	return Content{Mode: gitMode(info), Perm: info.Mode().Perm(), Data: data, Info: after}, nil
}

// readAll reads a file and stops when ctx ends. One byte more than size shows that the file has grown.
func readAll(ctx context.Context, r io.Reader, size int64) ([]byte, error) {
	data := make([]byte, size+1)
	const part = 1 << 20

	// A disk may be slow: ctx is asked after each part.
	for n := 0; ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k, err := r.Read(data[n:min(len(data), n+part)])
		n += k

		switch {
		case err == io.EOF || n == len(data):
			return data[:n], nil
		case err != nil:
			return nil, err
		}
	}
}

// gitMode returns the mode by which git would record a file.
func gitMode(info fs.FileInfo) string {
	if info.Mode().Perm()&0o100 != 0 {
		return pack.ModeProgram
	}
	return pack.ModeFile
}

// ListFolder names what is in a directory of the tree, at most most of it, sorted. Names of directories end
// with /.
func (f *Folders) ListFolder(path string, most int) (names []string, err error) {
	dir, _, err := f.openParent(path+"/.", false)
	if err != nil {
		return nil, err
	}

	d, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()

	all, err := d.ReadDir(most)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read a directory: %w", err)
	}

	for _, e := range all {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}

	slices.Sort(names)
	return names, nil
}

// IsSameContent reports whether two files have the same mode and bytes.
func IsSameContent(a, b Content) bool { return a.Mode == b.Mode && string(a.Data) == string(b.Data) }
