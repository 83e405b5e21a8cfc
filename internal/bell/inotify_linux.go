package bell

import (
	"bytes"
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

// folderEvents are the events of the folder of the bells: a bell in it that was rung by its name there, and the
// loss of the folder.
const folderEvents = unix.IN_CLOSE_WRITE | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

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
	bells map[string]*watchedBell // by path
	path  map[int32]string        // by watch descriptor
	later *time.Timer             // closes the instance; nil until first needed
}

// watchedBell is a bell that somebody listens to, or the folder of the bells.
type watchedBell struct {
	bellSource
	wd    int32              // -1 while its file isn't watched
	wakes map[*func()]string // the name in the folder that each is about
}

// bellSource is what a waiter hears a ring from: a file of its own, or a name in the folder of the bells.
type bellSource struct {
	path   string
	name   string       // in the folder; empty where path is the file itself
	events uint32       // to ask the kernel for
	remake func() error // makes a missing file; nil where only its owner may
}

// bellOf is the bell of a room, with all of its rings.
func (d *Dir) bellOf(room string) bellSource {
	return bellSource{path: d.bellPath(room), events: bellEvents, remake: func() error { return d.makeBell(room) }}
}

// ownBells are what a listener hears: its own file, and rings of the room's bell that are meant for all.
// See [Dir.WatchOwn].
func (d *Dir) ownBells(room, id string) []bellSource {
	folder := bellSource{path: d.bells, name: room, events: folderEvents, remake: d.remakeFolder}
	return []bellSource{{path: d.presencePath(id), events: bellEvents}, folder}
}

// listenInotify watches files, and calls wake on each ring until stop is called.
//
// A waiter misses no commit: listenInotify watches the file and knows wake before it returns, so before
// the waiter reads the database. If the waiter didn't see a commit then, its writer closes the same file
// after that commit.
func (d *Dir) listenInotify(sources []bellSource, wake func()) (stop func() error, err error) {
	e := &d.watcher
	e.mu.Lock()
	defer e.mu.Unlock()

	if err := e.openInstance(); err != nil {
		return nil, err
	}

	stop = func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.stopListening(sources, &wake)
		return nil
	}

	for _, s := range sources {
		if e.bells[s.path] == nil {
			e.bells[s.path] = &watchedBell{bellSource: s, wd: -1, wakes: make(map[*func()]string)}
		}

		// The bell has somebody to wake before its file is watched.
		e.bells[s.path].wakes[&wake] = s.name
		if _, err := e.watchBell(s.path); err != nil {
			e.stopListening(sources, &wake)
			return nil, fmt.Errorf("inotify: %w", err)
		}
	}
	return stop, nil
}

// openInstance makes the instance, and the goroutine that reads it, if there is none.
func (e *watcher) openInstance() error {
	if e.file != nil {
		return nil
	}

	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return fmt.Errorf("inotify: %w", err)
	}

	// The descriptor doesn't block, so the runtime's poller waits for it and takes no thread.
	e.file = os.NewFile(uintptr(fd), "inotify")
	e.bells, e.path = make(map[string]*watchedBell), make(map[int32]string)
	go e.readEvents(e.file) // ended by closeInstance, which makes its Read fail
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

// stopListening makes wake stop listening. The caller holds mu.
func (e *watcher) stopListening(sources []bellSource, wake *func()) {
	for _, s := range sources {
		b := e.bells[s.path]
		if b == nil {
			continue
		}

		delete(b.wakes, wake)
		if len(b.wakes) == 0 {
			e.endWatch(b)
			delete(e.bells, s.path)
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

// watchBell watches the file that now has a path, and makes it if there is none. It reports whether that is
// another file than before. The caller holds mu.
func (e *watcher) watchBell(path string) (changed bool, err error) {
	var wd int32
	b := e.bells[path]

	for range watchTries {
		if wd, err = e.addWatch(path, b.events); !isNotExist(err) || b.remake == nil {
			break
		}
		if err := b.remake(); err != nil {
			return false, err
		}
	}
	if err != nil {
		return false, err
	}

	if b.wd == wd {
		return false, nil
	}

	// The name means another file than before.
	e.endWatch(b)
	b.wd, e.path[wd] = wd, path
	return true, nil
}

// remakeFolder makes the folder of the bells. It doesn't make the data directory above: whoever deletes all of
// that means it.
func (d *Dir) remakeFolder() error {
	if err := os.Mkdir(d.bells, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// makeBell makes the bell of room. Where the folder of the bells is missing, it makes that, and the next try
// makes the bell in it.
func (d *Dir) makeBell(room string) error {
	// For reading, because closing what was open for writing is a ring.
	f, err := plainfile.Open(d.bellPath(room), os.O_RDONLY|os.O_CREATE)
	if isNotExist(err) {
		return d.remakeFolder()
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// addWatch watches the file at path. The kernel returns the same descriptor for the same file.
func (e *watcher) addWatch(path string, events uint32) (wd int32, err error) {
	var added int
	if ctlErr := e.withDescriptor(func(fd int) {
		added, err = unix.InotifyAddWatch(fd, path, events)
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
	delete(e.path, b.wd)
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
func (e *watcher) readEvents(file *os.File) {
	buf := make([]byte, 4<<10)
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
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
			name := string(bytes.TrimRight(b[unix.SizeofInotifyEvent:end], "\x00"))
			b = b[end:]
			e.dispatchEvent(wd, mask, name)
		}

		e.mu.Unlock()
	}
}

// dispatchEvent wakes the waiters of an event's bell, and watches the bell's file again if it was replaced.
// The caller holds mu.
//
// A deleted or replaced file counts as a ring: a writer may have rung the file that nobody watched. If the
// file can't be made again, perhaps because the whole directory is gone, the bell has no watch and its
// waiters depend on their Nets.
func (e *watcher) dispatchEvent(wd int32, mask uint32, name string) {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		// Events were lost, of whichever bell.
		for path, b := range e.bells {
			e.watchBell(path)
			b.wakeListeners()
		}
		return
	}

	path, ok := e.path[wd]
	if !ok {
		// It is a late event of a file that isn't watched any more.
		return
	}

	b := e.bells[path]
	if name != "" {
		// It is about a file in the folder.
		b.wakeListenersOf(name)
		return
	}

	if mask&unix.IN_IGNORED != 0 {
		// The kernel has ended the watch.
		delete(e.path, wd)
		b.wd = -1
	}

	rang := mask&unix.IN_CLOSE_WRITE != 0
	if mask&^unix.IN_CLOSE_WRITE != 0 {
		// The file may have been replaced.
		changed, err := e.watchBell(path)
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

// wakeListenersOf wakes those who listen to a file in the folder b.
func (b *watchedBell) wakeListenersOf(name string) {
	for wake, of := range b.wakes {
		if of == name {
			(*wake)()
		}
	}
}
