package bell

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"talkingstick/internal/plainfile"
)

// ringFile rings a bell that is open for writing. Closing it is enough (IN_CLOSE_WRITE), and the kernel
// does that even for a process that is killed.
func ringFile(f *os.File) { f.Close() }

// A ring for some must be heard by those who watch the file of the room's bell: who follows the room, and waits
// of programs that know nothing else. And it must not be heard by the other waits, which watch the folder of the
// bells for the name of their room, since older programs ring by that name alone. So each bell has a second name
// in another folder, a hard link: the kernel reports a ring by that name to watches of the file, and not to
// watches of the folder with its first name.

func (d *Dir) quietFolder() string { return filepath.Join(d.bells, "quiet.d") }

func (d *Dir) quietPath(room string) string { return filepath.Join(d.quietFolder(), room) }

var errNoQuietBell = errors.New("the bell has no second name")

// openSome opens the bell of a room by its second name, and the own bells of listeners, which are their
// presences. A listener that has none any more has ended.
func (d *Dir) openSome(some SomeOf) (files []*os.File, err error) {
	f, err := d.openQuiet(some.Room)
	if err != nil {
		return nil, err
	}
	files = append(files, f)

	for _, id := range some.Listeners {
		f, err := plainfile.Open(d.presencePath(id), os.O_WRONLY)
		switch {
		case err == nil:
			files = append(files, f)
		case !errors.Is(err, fs.ErrNotExist):
			return files, err
		}
	}
	return files, nil
}

// openQuiet opens the bell of a room by its second name, which it makes where it is missing, or where it means
// another file than the first one.
func (d *Dir) openQuiet(room string) (*os.File, error) {
	if f := d.openSecondName(room); f != nil {
		return f, nil
	}

	if err := makeFolder(d.bells); err != nil {
		return nil, err
	}
	if err := d.makeBell(room); err != nil {
		return nil, err
	}
	if err := makeFolder(d.quietFolder()); err != nil {
		return nil, err
	}

	// Sandboxes may forbid links between folders, and some file systems have none.
	os.Remove(d.quietPath(room))
	if err := os.Link(d.bellPath(room), d.quietPath(room)); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if f := d.openSecondName(room); f != nil {
		return f, nil
	}
	return nil, errNoQuietBell
}

// openSecondName opens the bell of a room by its second name, or returns nil where that isn't the bell.
func (d *Dir) openSecondName(room string) *os.File {
	f, err := plainfile.Open(d.quietPath(room), os.O_WRONLY)
	if err != nil {
		return nil
	}
	if !isStillNamed(f, d.bellPath(room)) {
		f.Close()
		return nil
	}
	return f
}
