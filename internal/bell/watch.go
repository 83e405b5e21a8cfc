package bell

import (
	"errors"
	"fmt"
	"sync"

	"talkingstick/internal/plainfile"
)

// Watch waits for the bells of some rooms. It costs no CPU while idle: no timer runs, and on Linux no
// thread waits.
type Watch struct {
	// C receives after a ring. It holds one value: rings that nobody has received yet merge into one.
	// It is never closed.
	C <-chan struct{}

	mechanism string
	close     func() error
}

// Watch starts to listen to the bells of rooms. It doesn't hear earlier rings: watch first, then read the
// database, then wait.
//
// It fails on a name that isn't a plain id, on a bell that isn't a plain file, and when neither the usual
// mechanism nor its substitute is available. The caller can then still depend on its [Net].
func (d *Dir) Watch(rooms ...string) (*Watch, error) {
	rooms, err := plainNames(rooms)
	if err != nil {
		return nil, err
	}
	if err := makeFolder(d.bells); err != nil {
		return nil, fmt.Errorf("watch bells: %w", err)
	}

	for _, room := range rooms {
		if err := plainfile.Check(d.bellPath(room)); err != nil {
			return nil, fmt.Errorf("watch bells: %w", err)
		}
	}

	return newWatch(func(wake func()) (string, func() error, error) { return d.listenToBells(rooms, wake) })
}

// WatchOwn is [Dir.Watch] for a listener that has its [Presence]: on Linux it hears only the rings of its room
// that are meant for all, and those that name it. Programs that know no rings for some ring for all.
func (d *Dir) WatchOwn(room, id string) (*Watch, error) {
	if err := errors.Join(checkName(room), checkName(id)); err != nil {
		return nil, err
	}
	if err := makeFolder(d.bells); err != nil {
		return nil, fmt.Errorf("watch bells: %w", err)
	}
	if err := plainfile.Check(d.bellPath(room)); err != nil {
		return nil, fmt.Errorf("watch bells: %w", err)
	}

	return newWatch(func(wake func()) (string, func() error, error) { return d.listenToOwn(room, id, wake) })
}

// newWatch makes a watch of what listen listens to.
func newWatch(listen func(wake func()) (mechanism string, stop func() error, err error)) (*Watch, error) {
	c := make(chan struct{}, 1)
	wake := func() {
		select {
		case c <- struct{}{}:
		default:
			// A ring is in the channel already.
		}
	}

	mechanism, stop, err := listen(wake)
	if err != nil {
		return nil, fmt.Errorf("watch bells: %w", err)
	}

	return &Watch{C: c, mechanism: mechanism, close: sync.OnceValue(stop)}, nil
}

// Close ends the watch; no ring comes after it. It may be called again. A process should close its watches
// before it exits: Linux takes more than ten milliseconds to end an open one, and delays the exit.
func (w *Watch) Close() error { return w.close() }

// Mechanism returns what the watch listens with: inotify, fifo, kqueue or poll.
func (w *Watch) Mechanism() string { return w.mechanism }
