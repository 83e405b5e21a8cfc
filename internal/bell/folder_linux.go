package bell

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Folder wakes whoever waits for changes of the files in a directory.
type Folder struct {
	// C receives after a change. It holds one value: changes that nobody has received yet merge into one.
	C <-chan struct{}

	file *os.File // an inotify instance
}

// WatchFolder watches the files of a directory: what is written to them, and new ones.
func WatchFolder(dir string) (*Folder, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("inotify: %w", err)
	}

	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MODIFY|unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
		unix.Close(fd)
		return nil, &os.PathError{Op: "watch", Path: dir, Err: err}
	}

	c := make(chan struct{}, 1)
	f := &Folder{C: c, file: os.NewFile(uintptr(fd), "inotify")}
	go f.readEvents(c) // ended by Close
	return f, nil
}

// readEvents turns events into wake-ups.
func (f *Folder) readEvents(c chan<- struct{}) {
	buf := make([]byte, 4<<10)
	for {
		if _, err := f.file.Read(buf); err != nil {
			return
		}

		// One wake-up that nobody has received yet is enough.
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Close ends the watch.
func (f *Folder) Close() error { return f.file.Close() }
