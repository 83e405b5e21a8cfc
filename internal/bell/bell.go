// Package bell wakes other processes when something was committed, and keeps the locks that the
// operating system releases when a process dies.
//
// There is no daemon: the processes of a database meet only in files. Every room has a bell, an
// empty file. A writer opens the bell before it commits and rings it after:
//
//	lock; r := Prepare(room); COMMIT; unlock; r.Ring()
//
// A waiter listens first, then looks, then sleeps:
//
//	w := Watch(room); loop { read the database; sleep until w.C, a deadline or the Net }
//
// Nothing that is committed is slept through. If the waiter's reading didn't see a commit, then
// the reading came before that commit, and so did the Watch; the ring comes after the commit, so
// it finds the waiter listening. (How each kind of bell keeps its part of this is said where it
// is made.) A ring says no more than "look again": the database decides, rings may come for
// nothing, and many of them may arrive as one.
//
// Where a ring can be lost, because a writer was killed in the wrong place or somebody deleted
// the files, the slow [Net] under the bell catches it.
//
// Only plain files, FIFOs and file locks are used, because sandboxes forbid sockets.
package bell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Dir is the folder with the bells and the presence locks of one database. It may be used by
// several goroutines.
type Dir struct {
	bells string // one bell per room, and the folders with the FIFOs of waiters
	waits string // one locked file per listener

	watcher watcher // what the watches of this process share

	fifoOnly bool // tests: behave as if there were no inotify instance left
}

// Open names the folder. It touches no file: what is needed is made when it is first used.
func Open(dir string) (*Dir, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open bells: %w", err)
	}
	return &Dir{bells: filepath.Join(dir, "bells"), waits: filepath.Join(dir, "waits")}, nil
}

func (d *Dir) bell(room string) string { return filepath.Join(d.bells, room) }

// maxName bounds the length of an id, so that every file system takes it as a name.
const maxName = 128

// checkName refuses all but plain ids: a name becomes a file name, and must neither leave the
// folder nor look like one of the names with a dot that this package makes itself.
func checkName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("bell: an id has 1 to %d characters, not %d", maxName, len(name))
	}
	for _, c := range []byte(name) {
		switch {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return fmt.Errorf("bell: %q isn't a plain id", name)
		}
	}
	return nil
}

// plainNames checks rooms and returns them sorted, each once.
func plainNames(rooms []string) ([]string, error) {
	for _, r := range rooms {
		if err := checkName(r); err != nil {
			return nil, err
		}
	}
	rooms = slices.Clone(rooms)
	slices.Sort(rooms)
	return slices.Compact(rooms), nil
}

// makeFolder makes a folder of ours and, if need be, the data directory above it.
func makeFolder(path string) error { return os.MkdirAll(path, 0o700) }
