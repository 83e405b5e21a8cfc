package web

import (
	"context"
	"slices"
	"sync"
	"time"

	"talkingstick/stick"
)

// job is something that takes the server longer than a person waits for a page, such as a merge with its gate.
type job struct {
	Room stick.RoomID
	Task string
	What string // the operation
	At   stick.Time
	Err  *stick.Error // why it failed; nil if it runs, or went well
	done chan struct{}
}

// Running reports whether the job isn't over.
func (j *job) Running() bool {
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

// jobs are those of a server. They end with it.
type jobs struct {
	ctx     context.Context
	patient time.Duration // how long a page waits for one
	over    func()        // called when one has ended
	all     sync.WaitGroup

	mu   sync.Mutex // guards the rest
	list []*job     // the oldest first
}

const (
	maxJobs    = 100 // that are remembered
	aPageWaits = 3 * time.Second
)

// run runs fn, and returns its answer if that comes soon. over is false if fn goes on without its caller.
func (js *jobs) run(j *job, fn func(context.Context) (any, error)) (answer any, err error, over bool) {
	j.done = make(chan struct{})
	js.mu.Lock()
	js.list = append(js.list, j)
	if n := len(js.list) - maxJobs; n > 0 {
		js.list = slices.Delete(js.list, 0, n)
	}
	js.mu.Unlock()
	js.all.Add(1)
	go func() { // ends with fn, which ends with the server
		defer js.all.Done()
		answer, err = fn(js.ctx)
		j.Err = stick.AsError(err)
		close(j.done)
		js.over()
	}()
	select {
	case <-j.done:
		return answer, err, true
	case <-time.After(js.patient):
		return nil, nil, false
	}
}

// last is the last job about a task, nil for none.
func (js *jobs) last(room stick.RoomID, task string) *job {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range slices.Backward(js.list) {
		if j.Room == room && stick.TaskKey(j.Task) == stick.TaskKey(task) {
			return j
		}
	}
	return nil
}

// wait waits for those that run. They end soon, because the server has.
func (js *jobs) wait() { js.all.Wait() }
