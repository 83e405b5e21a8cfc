package bell

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// listenToBells uses inotify, or FIFOs when inotify has reached a limit. The limits are low: 128 instances by
// default for all programs of a user (fs.inotify.max_user_instances).
func (d *Dir) listenToBells(rooms []string, wake func()) (mechanism string, stop func() error, err error) {
	var sources []bellSource
	for _, room := range rooms {
		sources = append(sources, d.bellOf(room))
	}
	return d.listenTo(sources, rooms, "", wake)
}

// listenToOwn listens for a listener of a room to what concerns it.
func (d *Dir) listenToOwn(room, id string, wake func()) (mechanism string, stop func() error, err error) {
	return d.listenTo(d.ownBells(room, id), []string{room}, id, wake)
}

// listenTo listens by inotify to sources, or else by FIFOs to rooms.
func (d *Dir) listenTo(
	sources []bellSource, rooms []string, listener string, wake func(),
) (mechanism string, stop func() error, err error) {
	err = errNoInotify
	if !d.fifoOnly {
		stop, err = d.listenInotify(sources, wake)
	}

	if err == nil {
		return "inotify", stop, nil
	}

	if !isOutOfWatches(err) {
		return "", nil, err
	}

	// At a limit, FIFOs take the place of inotify.
	stop, fifoErr := d.listenFIFO(rooms, listener, wake)
	if fifoErr != nil {
		return "", nil, errors.Join(err, fifoErr)
	}
	return "fifo", stop, nil
}

// errNoInotify is the error of listenInotify when all instances are in use.
var errNoInotify = fmt.Errorf("inotify: %w", unix.EMFILE)

// isOutOfWatches reports whether inotify has reached a limit: of instances (EMFILE), open files (ENFILE) or
// watches (ENOSPC).
func isOutOfWatches(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOSPC)
}

// isNotExist reports whether a file to watch doesn't exist.
func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
