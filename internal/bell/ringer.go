package bell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"talkingstick/internal/plainfile"
)

// Rings says whom a commit wakes.
type Rings struct {
	All  []string // rooms: everybody who waits there
	Some []SomeOf
}

// SomeOf says that a ring of a room is for those who follow all of it, and for these listeners.
type SomeOf struct {
	Room      string
	Listeners []string
}

// maxOwnBells limits how many listeners' own bells a commit rings: each is an open file. Beyond that it rings for
// all.
const maxOwnBells = 64

// Ringer is ready to ring the bells of some rooms: their files are open. Its one use is [Ringer.Ring].
type Ringer struct {
	dir   *Dir
	rooms []rungRoom
	bells []*os.File
}

// rungRoom is a room in which a ring wakes all, or some listeners and those who follow the room.
type rungRoom struct {
	room      string
	all       bool
	listeners []string
}

func (r rungRoom) isFor(listener string) bool { return r.all || slices.Contains(r.listeners, listener) }

// Prepare is [Dir.PrepareRings] for everybody who waits in rooms.
func (d *Dir) Prepare(rooms ...string) (*Ringer, error) { return d.PrepareRings(Rings{All: rooms}) }

// PrepareRings opens bells for writing. Call it under the write lock and before COMMIT. If the
// process is then killed between COMMIT and [Ringer.Ring], it still rings on Linux, because the kernel
// closes its files. On other systems, and for waiters that have a FIFO, the waiter's [Net] notices the
// commit.
//
// It fails on a name that isn't a plain id and when a file can't be opened. A caller may then commit
// without the Ringer; the waiters' Nets notice.
func (d *Dir) PrepareRings(rings Rings) (*Ringer, error) {
	rooms, err := plainNames(rings.All)
	if err != nil {
		return nil, err
	}

	r := &Ringer{dir: d}
	for _, room := range rooms {
		if err := r.addBell(room); err != nil {
			return nil, err
		}
	}

	for _, some := range rings.Some {
		if slices.Contains(rooms, some.Room) {
			continue // everybody hears that
		}
		if err := r.addSome(some); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// addBell opens the bell of a room for everybody.
func (r *Ringer) addBell(room string) error {
	f, err := r.dir.openBell(room)
	if err != nil {
		// Close what is open; a ring for nothing is harmless.
		r.Ring()
		return fmt.Errorf("prepare bell: %w", err)
	}

	r.bells, r.rooms = append(r.bells, f), append(r.rooms, rungRoom{room: room, all: true})
	return nil
}

// addSome opens what some listeners of a room hear, and those who follow it. Where that fails, everybody hears
// the ring.
func (r *Ringer) addSome(some SomeOf) error {
	if _, err := plainNames(append(slices.Clone(some.Listeners), some.Room)); err != nil {
		r.Ring()
		return err
	}

	if len(some.Listeners) <= maxOwnBells {
		files, err := r.dir.openSome(some)
		r.bells = append(r.bells, files...)
		if err == nil {
			r.rooms = append(r.rooms, rungRoom{room: some.Room, listeners: some.Listeners})
			return nil
		}
	}

	return r.addBell(some.Room)
}

// openBell opens the bell of room for writing, and creates it if needed, even if nobody listens yet: a
// waiter may come before the commit, and must find the same file that is closed after it.
func (d *Dir) openBell(room string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE
	f, err := plainfile.Open(d.bellPath(room), flags)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFolder(d.bells); err != nil {
			return nil, err
		}
		f, err = plainfile.Open(d.bellPath(room), flags)
	}
	return f, err
}

// Ring wakes everybody who watches the rooms. Call it after releasing the write lock: the waiters run at
// once, and would only queue for it. Call it after a rollback, too. It does nothing on a nil Ringer, and
// on a second call.
//
// It returns no error: where ringing fails, the waiters' [Net] notices.
func (r *Ringer) Ring() {
	if r == nil {
		return
	}

	for _, f := range r.bells {
		ringFile(f)
	}

	// Waiters without inotify have FIFOs.
	for _, room := range r.rooms {
		r.dir.ringFIFOs(room)
	}

	r.bells, r.rooms = nil, nil
}
