package bell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Ringer is the bells of some rooms, taken in hand. Its one use is [Ringer.Ring].
type Ringer struct {
	dir   *Dir
	rooms []string
	bells []*os.File
}

// Prepare takes the bells of rooms in hand: it opens their files for writing. It is called under
// the write lock and before COMMIT. On Linux a process that is killed between COMMIT and
// [Ringer.Ring] then rings by dying, because the kernel closes its files; on other systems, and
// for waiters that have a FIFO, the waiter's [Net] notices that commit.
//
// It fails on a name that isn't a plain id and when a file can't be opened. A caller may commit
// without the Ringer in that case; the waiters' nets then notice.
func (d *Dir) Prepare(rooms ...string) (*Ringer, error) {
	rooms, err := plainNames(rooms)
	if err != nil {
		return nil, err
	}
	r := &Ringer{dir: d, rooms: rooms, bells: make([]*os.File, 0, len(rooms))}
	for _, room := range rooms {
		f, err := d.openBell(room)
		if err != nil {
			r.Ring() // what was opened must be closed; that somebody looks for nothing is harmless
			return nil, fmt.Errorf("prepare bell: %w", err)
		}
		r.bells = append(r.bells, f)
	}
	return r, nil
}

// openBell opens the bell of room for writing and makes it if it is the first to want it. It
// makes it although nobody listens yet: a waiter may come before the commit, and must find the
// very file that will be closed after it.
func (d *Dir) openBell(room string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE
	f, err := os.OpenFile(d.bell(room), flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFolder(d.bells); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(d.bell(room), flags, 0o600)
	}
	return f, err
}

// Ring wakes whoever watches the rooms. It is called after the write lock was released: those
// who wake run at once, and would only queue up for it. A caller whose transaction was rolled
// back calls it too. It does nothing on a nil Ringer and when it is called again.
//
// It never fails: what could be done about it is the waiters' [Net].
func (r *Ringer) Ring() {
	if r == nil {
		return
	}
	for _, f := range r.bells {
		ringFile(f)
	}
	for _, room := range r.rooms {
		r.dir.ringFIFOs(room)
	}
	r.bells, r.rooms = nil, nil
}
