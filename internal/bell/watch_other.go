//go:build !linux && !darwin

package bell

import (
	"bytes"
	"time"

	"talkingstick/internal/plainfile"
)

// watcher is empty: on this platform, watches share nothing.
type watcher struct{}

// pollEvery is how long a ring can stay unnoticed.
const pollEvery = 250 * time.Millisecond

// listenToBells polls the bells, and calls wake when one has changed, until stop is called. A ring writes new
// bytes, so listenToBells misses none after its first reading, however coarse the file system's clock is. But
// it doesn't hear a writer that dies before it rings.
//
// It is experimental, for systems that have no implementation of their own here: they wake up four times a
// second. This has been compiled but never run.
func (d *Dir) listenToBells(rooms []string, wake func()) (mechanism string, stop func() error, err error) {
	last := make([][]byte, len(rooms))
	changed := func() bool {
		any := false
		for i, room := range rooms {
			// A bell without a file hasn't rung.
			b, _ := plainfile.Read(d.bellPath(room))
			any = any || !bytes.Equal(b, last[i])
			last[i] = b
		}
		return any
	}

	// Rings count from now on, not from when the goroutine starts.
	changed()

	quit, done := make(chan struct{}), make(chan struct{})
	go func() { // ended by stop
		defer close(done)
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				if changed() {
					wake()
				}
			}
		}
	}()

	return "poll", func() error {
		close(quit)
		<-done
		return nil
	}, nil
}
