package proc

import (
	"fmt"
	"sync"

	"talkingstick/stick"
)

// Watch waits for the end of a process. It costs nothing: it doesn't poll.
type Watch struct {
	// C is closed when the process has ended, at once if it ended before the watch began.
	C <-chan struct{}

	mu   sync.Mutex
	wake func() // ends the wait; nil after its end; guarded by mu
}

// waiter waits for the end of whichever process has a pid now. Each system has its own.
type waiter struct {
	wait    func() bool // blocks; reports whether the process has ended; false if wake was called
	wake    func()      // ends wait; may come before it
	release func()      // releases the system's resources; comes last
}

// Watch starts to wait for the end of p. It fails if the verdict on p is unknown, as in another pid
// namespace, and if the system can't wait for it.
//
// It opens the waiter first and compares the identity afterwards. In the other order, another process could
// have got the pid in between.
func (t *Table) Watch(p stick.Process) (*Watch, error) {
	wt, err := newWaiter(p.PID)
	v := t.Verdict(p)
	if v == stick.Alive && err == nil {
		return startWatch(wt), nil
	}
	if err == nil {
		wt.release()
	}

	switch v {
	case stick.Gone:
		ended := make(chan struct{})
		close(ended)
		return &Watch{C: ended}, nil
	case stick.Alive:
		return nil, fmt.Errorf("watch process %d: %w", p.PID, err)
	}
	return nil, fmt.Errorf("watch process %d: it isn't visible from here", p.PID)
}

func startWatch(wt *waiter) *Watch {
	ended := make(chan struct{})
	w := &Watch{C: ended, wake: wt.wake}
	go func() { // stops when the process ends, and by Close
		if wt.wait() {
			close(ended)
		}

		// Close mustn't wake a waiter whose resources are released.
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wake = nil
		wt.release()
	}()
	return w
}

// Close ends the watch. It doesn't close C, which stays open unless the process has ended.
func (w *Watch) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wake != nil {
		w.wake()
		w.wake = nil
	}
}
