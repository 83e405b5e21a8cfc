package bell

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// listen uses inotify. Its instances are few (fs.inotify.max_user_instances, 128 by default, for
// all programs of the user) and so are its watches; when they are used up FIFOs do.
func (d *Dir) listen(rooms []string, wake func()) (mechanism string, stop func() error, err error) {
	err = errNoInotify
	if !d.fifoOnly {
		stop, err = d.listenInotify(rooms, wake)
	}
	if err == nil {
		return "inotify", stop, nil
	}
	if !outOfWatches(err) {
		return "", nil, err
	}
	stop, fifoErr := d.listenFIFO(rooms, wake)
	if fifoErr != nil {
		return "", nil, errors.Join(err, fifoErr)
	}
	return "fifo", stop, nil
}

// errNoInotify is what listenInotify says when all instances are taken.
var errNoInotify = fmt.Errorf("inotify: %w", unix.EMFILE)

// outOfWatches tells whether inotify failed for want of instances (EMFILE), open files (ENFILE) or
// watches (ENOSPC).
func outOfWatches(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOSPC)
}

// isNotExist tells whether a file that was to be watched isn't there.
func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
