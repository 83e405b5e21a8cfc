package bell

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// bellNotes are the events of a bell. Writing is the ring. The last two mean that somebody has deleted or
// replaced the file, which nobody should do.
const bellNotes = unix.NOTE_WRITE | unix.NOTE_EXTEND | unix.NOTE_ATTRIB | unix.NOTE_DELETE | unix.NOTE_RENAME

// watcher is empty: on this platform, watches share nothing.
type watcher struct{}

// stopEvent is the kqueue's own event that makes the waiting thread end.
const stopEvent = 0

// kqueue watches bells. Once made, it belongs to the goroutine of awaitEvents.
type kqueue struct {
	dir  *Dir
	fd   int
	wake func()
	room map[int]string // by descriptor of the bell
}

// listenToBells uses a kqueue on the files of the bells, and calls wake on each ring until stop is called. It
// misses no commit for the same reason as with inotify. But it doesn't hear a writer that dies before it
// rings, because the system reports writing and not closing.
//
// This has been compiled but never run.
func (d *Dir) listenToBells(rooms []string, wake func()) (mechanism string, stop func() error, err error) {
	fd, err := unix.Kqueue()
	if err != nil {
		return "", nil, fmt.Errorf("kqueue: %w", err)
	}

	unix.CloseOnExec(fd)
	k := &kqueue{dir: d, fd: fd, wake: wake, room: make(map[int]string, len(rooms))}
	err = k.changeEvent(stopEvent, unix.EVFILT_USER, unix.EV_ADD|unix.EV_CLEAR, 0)
	for _, room := range rooms {
		if err == nil {
			err = k.watchBell(room)
		}
	}

	if err != nil {
		k.close()
		return "", nil, fmt.Errorf("kqueue: %w", err)
	}

	done := make(chan struct{})
	go func() { // ended by stop, through stopEvent
		defer close(done)
		k.awaitEvents()
	}()

	return "kqueue", func() error {
		// Don't close the kqueue while the thread is in it.
		if err := k.changeEvent(stopEvent, unix.EVFILT_USER, 0, unix.NOTE_TRIGGER); err != nil {
			return err
		}

		<-done
		return k.close()
	}, nil
}

// watchBell opens the bell of room, creates it if needed, and watches it.
func (k *kqueue) watchBell(room string) error {
	const flags = unix.O_EVTONLY | unix.O_CREAT | unix.O_CLOEXEC
	fd, err := unix.Open(k.dir.bellPath(room), flags, 0o600)
	if err != nil {
		return &os.PathError{Op: "watch", Path: k.dir.bellPath(room), Err: err}
	}

	if err := k.changeEvent(fd, unix.EVFILT_VNODE, unix.EV_ADD|unix.EV_CLEAR, bellNotes); err != nil {
		unix.Close(fd)
		return err
	}

	k.room[fd] = room
	return nil
}

func (k *kqueue) changeEvent(ident, filter, flags int, notes uint32) error {
	var e unix.Kevent_t
	unix.SetKevent(&e, ident, filter, flags)
	e.Fflags = notes
	_, err := unix.Kevent(k.fd, []unix.Kevent_t{e}, nil, nil)
	return err
}

// awaitEvents waits in the kernel, without a time limit, until stopEvent comes.
func (k *kqueue) awaitEvents() {
	events := make([]unix.Kevent_t, 16)
	for {
		n, err := unix.Kevent(k.fd, nil, events, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return
		}

		for _, e := range events[:n] {
			if e.Filter == unix.EVFILT_USER {
				return
			}
			if e.Fflags&(unix.NOTE_DELETE|unix.NOTE_RENAME) != 0 {
				k.renewWatch(int(e.Ident))
			}
		}

		k.wake()
	}
}

// renewWatch watches the file that is now the bell instead of the one open as fd. If that fails, the room has
// no watch and the waiter depends on its Net.
func (k *kqueue) renewWatch(fd int) {
	room, ok := k.room[fd]
	if !ok {
		return
	}

	delete(k.room, fd)
	// Closing ends its watch.
	unix.Close(fd)
	k.watchBell(room)
}

func (k *kqueue) close() error {
	for fd := range k.room {
		unix.Close(fd)
	}
	return unix.Close(k.fd)
}
