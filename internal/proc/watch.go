package proc

import (
	"fmt"
	"sync"

	"talkingstick/stick"
)

// Watch waits for the end of a process, at no cost: nothing polls.
type Watch struct {
	// C is closed when the process has ended, at once if it ended before the watch began.
	C <-chan struct{}

	mu   sync.Mutex
	wake func() // ends the wait; nil when there is none any more; guarded by mu
}

// waiter waits for the end of whatever process has a pid now; each system has its own.
type waiter struct {
	wait    func() bool // blocks; tells whether the process ended, or else wake was called
	wake    func()      // ends wait; may come before it
	release func()      // gives back what the system lent; comes last
}

// Watch begins to wait for the end of p. It fails when it isn't known whether p lives, such as
// in another pid namespace, and when the system lends no means to wait for it.
//
// The means is taken first and the identity compared afterwards: in the other order the pid
// could be another's by the time it is waited for.
func (t *Table) Watch(p stick.Process) (*Watch, error) {
	wt, err := newWaiter(p.PID)
	v := t.Verdict(p)
	if v == stick.Alive && err == nil {
		return watch(wt), nil
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
	return nil, fmt.Errorf("watch process %d: it can't be seen from here", p.PID)
}

func watch(wt *waiter) *Watch {
	ended := make(chan struct{})
	w := &Watch{C: ended, wake: wt.wake}
	go func() { // stops when the process ends, and by Close
		if wt.wait() {
			close(ended)
		}
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
