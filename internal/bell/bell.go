// Package bell wakes other processes when something was committed, and keeps the locks that the
// operating system releases when a process dies.
//
// There is no daemon: the processes of a database meet only in files. Every room has a bell, an
// empty file. A writer opens the bell before it commits, and rings it afterwards:
//
//	lock; r := Prepare(room); COMMIT; unlock; r.Ring()
//
// A waiter starts to listen first, then reads, then sleeps:
//
//	w := Watch(room); loop { read the database; sleep until w.C, a deadline or the Net }
//
// A waiter misses no commit. If it didn't see a commit when it read, it read before that commit, and
// listened even earlier. The ring comes after the commit, so it finds the waiter listening. (Each kind
// of bell explains how it keeps its part of this.) A ring only says "read again": the database decides,
// a ring may come for nothing, and many rings may arrive as one.
//
// A ring may be for all who watch a room, or for some: see [Dir.PrepareRings] and [Dir.WatchOwn].
//
// A ring can be lost when a writer is killed in the wrong place or somebody deletes the files. The slow
// [Net] under the bell makes up for that.
//
// Only plain files, FIFOs and file locks are used, because sandboxes forbid sockets.
//
// See docs/decisions/bells-and-waiting.md.
package bell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"talkingstick/internal/plainfile"
)

// Dir is the folder with the bells and the presence locks of one database. Several goroutines may use it.
type Dir struct {
	bells string // one bell per room, and the folders with the FIFOs of waiters
	waits string // one locked file for each listener

	connections string // a lock file for each live connection of an MCP client

	watcher watcher // what the watches of this process share

	fifoOnly bool // tests: act as if no inotify instance were left
}

// Open returns the Dir at a path. It touches no file: folders and files are created on first use.
func Open(dir string) (*Dir, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open bells: %w", err)
	}
	return &Dir{
		bells:       filepath.Join(dir, "bells"),
		waits:       filepath.Join(dir, "waits"),
		connections: filepath.Join(dir, "connections"),
	}, nil
}

func (d *Dir) bellPath(room string) string { return filepath.Join(d.bells, room) }

// maxName limits the length of an id, so that every file system accepts it as a file name.
const maxName = 128

// checkName refuses everything but plain ids. A name becomes a file name: it must not leave the folder,
// nor look like the names with a dot that this package uses itself.
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

// plainNames checks the rooms' names and returns them sorted, each once.
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

// makeFolder creates a folder and, if needed, the data directory above it.
func makeFolder(path string) error { return plainfile.MkdirAll(path) }

// RingAll rings the bells of all rooms.
func (d *Dir) RingAll() error {
	entries, err := os.ReadDir(d.bells)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	var rooms []string
	for _, e := range entries {
		// Everything else is a folder of FIFOs.
		if checkName(e.Name()) == nil {
			rooms = append(rooms, e.Name())
		}
	}

	r, perr := d.Prepare(rooms...)
	r.Ring()
	return errors.Join(err, perr)
}

// TryBells opens every bell as a writer does, which rings it, and takes the lock of a wait.
func (d *Dir) TryBells() error {
	entries, err := os.ReadDir(d.bells)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	for _, e := range entries {
		if checkName(e.Name()) != nil {
			// It is a folder of FIFOs.
			continue
		}

		f, err := d.openBell(e.Name())
		if err != nil {
			return err
		}
		f.Close()
	}

	p, err := d.TakePresence(fmt.Sprintf("doctor-%d", os.Getpid()))
	if err != nil {
		return err
	}
	return p.Close()
}
