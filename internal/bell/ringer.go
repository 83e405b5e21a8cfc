package bell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"talkingstick/internal/plainfile"
)

// Ringer is ready to ring the bells of some rooms: their files are open. Its one use is [Ringer.Ring].
type Ringer struct {
	dir   *Dir
	rooms []string
	bells []*os.File
}

// Prepare opens the bells of rooms for writing. Call it under the write lock and before COMMIT. If the
// process is then killed between COMMIT and [Ringer.Ring], it still rings on Linux, because the kernel
// closes its files. On other systems, and for waiters that have a FIFO, the waiter's [Net] notices the
// commit.
//
// It fails on a name that isn't a plain id and when a file can't be opened. A caller may then commit
// without the Ringer; the waiters' Nets notice.
func (d *Dir) Prepare(rooms ...string) (*Ringer, error) {
	rooms, err := plainNames(rooms)
	if err != nil {
		return nil, err
	}

	r := &Ringer{dir: d, rooms: rooms, bells: make([]*os.File, 0, len(rooms))}
	for _, room := range rooms {
		f, err := d.openBell(room)
		if err != nil {
			// Close what is open; a ring for nothing is harmless.
			r.Ring()
			return nil, fmt.Errorf("prepare bell: %w", err)
		}
		r.bells = append(r.bells, f)
	}
	return r, nil
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
