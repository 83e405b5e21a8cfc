package bell

import (
	"fmt"
	"sync"
)

// Watch waits for the bells of some rooms. Idle it costs no CPU: no timer runs, and on Linux no
// thread waits.
type Watch struct {
	// C receives after a ring. It holds one: rings that nobody has taken yet become one. It is
	// never closed.
	C <-chan struct{}

	mechanism string
	close     func() error
}

// Watch begins to listen for the bells of rooms. Rings from before aren't heard: watch first,
// then read the database, then wait.
//
// It fails on a name that isn't a plain id, and when neither the usual means nor its substitute
// can be had; the caller can then still live by its [Net].
func (d *Dir) Watch(rooms ...string) (*Watch, error) {
	rooms, err := plainNames(rooms)
	if err != nil {
		return nil, err
	}
	if err := makeFolder(d.bells); err != nil {
		return nil, fmt.Errorf("watch bells: %w", err)
	}
	c := make(chan struct{}, 1)
	wake := func() {
		select {
		case c <- struct{}{}:
		default: // one is in the channel already
		}
	}
	mechanism, stop, err := d.listen(rooms, wake)
	if err != nil {
		return nil, fmt.Errorf("watch bells: %w", err)
	}
	return &Watch{C: c, mechanism: mechanism, close: sync.OnceValue(stop)}, nil
}

// Close ends the watch; no ring follows it. It may be called again. A process should close its
// watches before it exits: Linux takes more than ten milliseconds to end one that it finds open,
// and those who wait for the exit wait for that.
func (w *Watch) Close() error { return w.close() }

// Mechanism names what the watch listens with: inotify, fifo, kqueue or poll.
func (w *Watch) Mechanism() string { return w.mechanism }
