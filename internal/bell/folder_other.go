//go:build !linux

package bell

import "time"

// folderPoll is how often somebody who waits looks at a directory where the system doesn't tell of what is
// written to its files.
const folderPoll = 50 * time.Millisecond

// Folder wakes whoever waits for changes of the files in a directory.
type Folder struct {
	// C receives after a change. It holds one value: changes that nobody has received yet merge into one.
	C <-chan struct{}

	stop chan struct{}
}

// WatchFolder watches the files of a directory: what is written to them, and new ones. On this system it
// wakes at regular times.
func WatchFolder(string) (*Folder, error) {
	c, stop := make(chan struct{}, 1), make(chan struct{})
	go func() { // ended by Close
		tick := time.NewTicker(folderPoll)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-stop:
				return
			}

			// One wake-up that nobody has received yet is enough.
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}()
	return &Folder{C: c, stop: stop}, nil
}

// Close ends the watch.
func (f *Folder) Close() error {
	close(f.stop)
	return nil
}
