//go:build !linux && !darwin

package bell

import (
	"bytes"
	"os"
	"time"
)

// watcher is empty: here the watches share nothing.
type watcher struct{}

// pollEvery is how long a ring can go unnoticed.
const pollEvery = 250 * time.Millisecond

// listen reads the bells again and again, and calls wake when one has changed, until stop is
// called. A ring writes new bytes, so none is missed that comes after the first reading, however
// coarse the file system's clock is; but a writer that dies before it rings isn't heard.
//
// It is experimental: systems without a kernel interface of their own here wake up four times a
// second. This has been compiled but never run.
func (d *Dir) listen(rooms []string, wake func()) (mechanism string, stop func() error, err error) {
	last := make([][]byte, len(rooms))
	changed := func() bool {
		any := false
		for i, room := range rooms {
			b, _ := os.ReadFile(d.bell(room)) // no file is a bell that hasn't rung
			any = any || !bytes.Equal(b, last[i])
			last[i] = b
		}
		return any
	}
	changed() // the state to compare with is that of now, not that of the goroutine's start

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
