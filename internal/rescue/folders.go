package rescue

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
)

// folders opens the directories of a working tree, each by its name in the one above and never through a
// link. So nobody who puts a link in the place of a directory leads a read or write elsewhere. It keeps the
// directories of the last path open, because paths come sorted.
type folders struct {
	names []string
	open  []*os.Root         // of the top level, and of each of names
	kill  func(point string) // as that of the store
}

// blockedError says that something else than a directory is in the place of one.
type blockedError struct {
	depth int // of the name that isn't a directory, from 0
}

func (e *blockedError) Error() string { return "something else lies in the place of its directory" }

func openFolders(top string) (*folders, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	return &folders{open: []*os.Root{root}}, nil
}

func (f *folders) close() { f.closeBelow(-1) }

// closeBelowTop closes the directories below the top level, because they may have been removed.
func (f *folders) closeBelowTop() { f.closeBelow(0) }

func (f *folders) closeBelow(depth int) {
	for len(f.open) > depth+1 {
		f.open[len(f.open)-1].Close()
		f.open = f.open[:len(f.open)-1]
	}

	f.names = f.names[:max(0, min(len(f.names), depth))]
}

// openParent opens the directory of path and returns the last name of path. It fails with [fs.ErrNotExist] or
// a [*blockedError]. With make it makes the directories that don't exist.
func (f *folders) openParent(path string, make bool) (*os.Root, string, error) {
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
			return nil, "", &blockedError{i}
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

// lstat is [os.Lstat] of a path in the tree. It fails as openParent does.
func (f *folders) lstat(path string) (fs.FileInfo, error) {
	dir, name, err := f.openParent(path, false)
	if err != nil {
		return nil, err
	}
	return dir.Lstat(name)
}

// content is a file or link as it lies in a working tree.
type content struct {
	mode string
	perm fs.FileMode // of a file
	data []byte
	info fs.FileInfo

	usual bool // a file that is written gets the permissions that a new one has, and perm doesn't count
}

var (
	errTorn    = errors.New("it changed while it was read")
	errSpecial = errors.New("it isn't a file or a link")
	errLarge   = errors.New("it is too large")
)

// readContent reads a file or link of at most limit bytes. It fails with errTorn, errLarge, errSpecial (for
// directories, too), with the error of ctx, or as openParent does. It doesn't wait for the other side of a
// FIFO.
func (f *folders) readContent(ctx context.Context, path string, limit int64) (content, error) {
	for try := 0; ; try++ {
		c, err := f.readContentOnce(ctx, path, limit)
		if !errors.Is(err, errTorn) || try > 0 {
			return c, err
		}
	}
}

func (f *folders) readContentOnce(ctx context.Context, path string, limit int64) (content, error) {
	dir, name, err := f.openParent(path, false)
	if err != nil {
		return content{}, err
	}

	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		return content{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := dir.Readlink(name)
		return content{mode: modeLink, data: []byte(filepath.ToSlash(to)), info: info}, err
	case !info.Mode().IsRegular():
		return content{}, errSpecial
	case info.Size() > limit:
		return content{}, errLarge
	}

	// By now a FIFO may be in its place: opening that doesn't wait.
	file, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return content{}, err
	}
	defer file.Close()

	before, err := file.Stat()
	if err != nil || !os.SameFile(info, before) {
		return content{}, errors.Join(errTorn, err)
	}

	data, err := readAll(ctx, file, before.Size())
	if err != nil {
		return content{}, err
	}

	// What changed meanwhile may be half old and half new.
	after, err := file.Stat()
	if err != nil || int64(len(data)) != after.Size() || !before.ModTime().Equal(after.ModTime()) {
		return content{}, errors.Join(errTorn, err)
	}

	return content{mode: gitMode(info), perm: info.Mode().Perm(), data: data, info: after}, nil
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
		return modeProgram
	}
	return modeFile
}

// listFolder names what is in a directory of the tree, at most most of it, sorted. Names of directories end
// with /.
func (f *folders) listFolder(path string, most int) (names []string, err error) {
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

func isSameContent(a, b content) bool { return a.mode == b.mode && string(a.data) == string(b.data) }
