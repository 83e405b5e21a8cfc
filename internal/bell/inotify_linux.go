package bell

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"talkingstick/internal/plainfile"
)

// bellEvents are the events of a bell. The first is the ring. The others mean that somebody may have
// deleted or replaced the file, which nobody should do. IN_ATTRIB is needed because IN_DELETE_SELF comes
// only when nobody has the deleted file open any more.
const bellEvents = unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

// linger is how long an instance stays open after its last watch. Closing an instance that has watches,
// or has just had some, takes the kernel more than ten milliseconds, and delays the exit of the process.
// So the watches are removed at once, which takes microseconds, and the instance is closed later, or by
// the exit.
const linger = time.Second

// watcher is the one inotify instance with which a process listens to the bells of a Dir. All watches share
// it, because a user may have only few instances.
type watcher struct {
	mu    sync.Mutex              // guards the fields below
	file  *os.File                // the instance; nil while there is none
	bells map[string]*watchedBell // by room
	room  map[int32]string        // by watch descriptor
	later *time.Timer             // closes the instance; nil until first needed
}

// watchedBell is a bell that somebody listens to.
type watchedBell struct {
	wd    int32 // -1 while its file isn't watched
	wakes map[*func()]bool
}

// listenInotify watches the bells of rooms, and calls wake on each ring until stop is called.
//
// A waiter misses no commit: listenInotify watches the file and knows wake before it returns, so before
// the waiter reads the database. If the waiter didn't see a commit then, its writer closes the same file
// after that commit.
func (d *Dir) listenInotify(rooms []string, wake func()) (stop func() error, err error) {
	e := &d.watcher
	e.mu.Lock()
	defer e.mu.Unlock()

	if err := e.openInstance(d); err != nil {
		return nil, err
	}

	stop = func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.stopListening(rooms, &wake)
		return nil
	}

	for _, room := range rooms {
		if e.bells[room] == nil {
			e.bells[room] = &watchedBell{wd: -1, wakes: make(map[*func()]bool)}
		}

		// The bell has somebody to wake before its file is watched.
		e.bells[room].wakes[&wake] = true
		if _, err := e.watchBell(d, room); err != nil {
			e.stopListening(rooms, &wake)
			return nil, fmt.Errorf("inotify: %w", err)
		}
	}
	return stop, nil
}

// openInstance makes the instance, and the goroutine that reads it, if there is none.
func (e *watcher) openInstance(d *Dir) error {
	if e.file != nil {
		return nil
	}

	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return fmt.Errorf("inotify: %w", err)
	}

	// The descriptor doesn't block, so the runtime's poller waits for it and takes no thread.
	e.file = os.NewFile(uintptr(fd), "inotify")
	e.bells, e.room = make(map[string]*watchedBell), make(map[int32]string)
	go e.readEvents(d, e.file) // ended by closeInstance, which makes its Read fail
	return nil
}

// closeInstance closes the instance unless somebody listens again.
func (e *watcher) closeInstance() {
	e.mu.Lock()

	f := e.file
	if len(e.bells) > 0 {
		// Somebody listens again since the timer was set.
		f = nil
	} else {
		e.file = nil
	}
	e.mu.Unlock()

	// Closing can take long, so nobody waits for the lock meanwhile.
	if f != nil {
		f.Close()
	}
}

// stopListening makes wake stop listening to rooms. The caller holds mu.
func (e *watcher) stopListening(rooms []string, wake *func()) {
	for _, room := range rooms {
		b := e.bells[room]
		if b == nil {
			continue
		}

		delete(b.wakes, wake)
		if len(b.wakes) == 0 {
			e.endWatch(b)
			delete(e.bells, room)
		}
	}

	// The instance is closed later, because that can take long.
	switch {
	case len(e.bells) > 0:
	case e.later == nil:
		e.later = time.AfterFunc(linger, e.closeInstance)
	default:
		e.later.Reset(linger)
	}
}

// watchTries limits how often to make a file again that somebody else deletes at the same time.
const watchTries = 10

// watchBell watches the file that is now the bell of room, and makes it if there is none. It reports whether
// that is another file than before. The caller holds mu.
func (e *watcher) watchBell(d *Dir, room string) (changed bool, err error) {
	var wd int32
	for range watchTries {
		if wd, err = e.addWatch(d.bellPath(room)); !isNotExist(err) {
			break
		}
		if err := d.makeBell(room); err != nil {
			return false, err
		}
	}
	if err != nil {
		return false, err
	}

	b := e.bells[room]
	if b.wd == wd {
		return false, nil
	}

	// The name means another file than before.
	e.endWatch(b)
	b.wd, e.room[wd] = wd, room
	return true, nil
}

// makeBell makes the bell of room, and the folder of the bells if it is missing. It doesn't make the
// data directory above: whoever deletes all of that means it.
func (d *Dir) makeBell(room string) error {
	// For reading, because closing what was open for writing is a ring.
	f, err := plainfile.Open(d.bellPath(room), os.O_RDONLY|os.O_CREATE)
	if isNotExist(err) {
		if err := os.Mkdir(d.bells, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		// The next try makes the bell in it.
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// addWatch watches the file at path. The kernel returns the same descriptor for the same file.
func (e *watcher) addWatch(path string) (wd int32, err error) {
	var added int
	if ctlErr := e.withDescriptor(func(fd int) {
		added, err = unix.InotifyAddWatch(fd, path, bellEvents)
	}); ctlErr != nil {
		return -1, ctlErr
	}
	if err != nil {
		return -1, &os.PathError{Op: "watch", Path: path, Err: err}
	}
	return int32(added), nil
}

// endWatch ends the watch on the file of b. If the file was deleted, the kernel has ended it already.
func (e *watcher) endWatch(b *watchedBell) {
	if b.wd < 0 {
		return
	}
	e.withDescriptor(func(fd int) { unix.InotifyRmWatch(fd, uint32(b.wd)) })
	delete(e.room, b.wd)
	b.wd = -1
}

// withDescriptor calls f with the descriptor. File.Fd would make the descriptor block.
func (e *watcher) withDescriptor(f func(fd int)) error {
	conn, err := e.file.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Control(func(fd uintptr) { f(int(fd)) })
}

// readEvents reads events until the instance is closed.
func (e *watcher) readEvents(d *Dir, file *os.File) {
	buf := make([]byte, 128*unix.SizeofInotifyEvent)
	for {
		n, err := file.Read(buf)
		if err != nil {
			return
		}

		e.mu.Lock()
		if e.file != file {
			// It was closed meanwhile.
			e.mu.Unlock()
			return
		}

		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(b[0:]))
			mask := binary.NativeEndian.Uint32(b[4:])
			// The name has this length, which is 0 for a file that is watched by itself.
			name := binary.NativeEndian.Uint32(b[12:])
			b = b[unix.SizeofInotifyEvent+name:]
			e.dispatchEvent(d, wd, mask)
		}

		e.mu.Unlock()
	}
}

// dispatchEvent wakes the waiters of an event's bell, and watches the bell's file again if it was replaced.
// The caller holds mu.
//
// A deleted or replaced file counts as a ring: a writer may have rung the file that nobody watched. If the
// file can't be made again, perhaps because the whole directory is gone, the room has no watch and its
// waiters depend on their Nets.
func (e *watcher) dispatchEvent(d *Dir, wd int32, mask uint32) {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		// Events were lost, of whichever bell.
		for room, b := range e.bells {
			e.watchBell(d, room)
			b.wakeListeners()
		}
		return
	}

	room, ok := e.room[wd]
	if !ok {
		// It is a late event of a file that isn't watched any more.
		return
	}

	b := e.bells[room]
	if mask&unix.IN_IGNORED != 0 {
		// The kernel has ended the watch.
		delete(e.room, wd)
		b.wd = -1
	}

	rang := mask&unix.IN_CLOSE_WRITE != 0
	if mask&^unix.IN_CLOSE_WRITE != 0 {
		// The file may have been replaced.
		changed, err := e.watchBell(d, room)
		rang = rang || changed || err != nil
	}

	if rang {
		b.wakeListeners()
	}
}

// wakeListeners wakes all who listen to b. Their functions don't block.
func (b *watchedBell) wakeListeners() {
	for wake := range b.wakes {
		(*wake)()
	}
}
