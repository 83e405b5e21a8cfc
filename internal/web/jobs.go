package web

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"talkingstick/stick"
)

// job is something that takes the server longer than a person waits for a page, such as a merge with its
// gate.
type job struct {
	Room stick.RoomID
	Task string
	What string // the operation
	At   stick.Time
	Err  *stick.Error // why it failed; nil if it runs, or went well
	End  stick.Time   // when it ended; zero while it runs
	done chan struct{}
}

// Name says what the job does, as a noun.
func (j *job) Name() string {
	switch j.What {
	case "worker_merge":
		return "the merge"
	case "worker_stop":
		return "the stop of its command"
	case "worker_pr":
		return "the pull request"
	case "worker_retry":
		return "the start of another attempt"
	case "worker_rollback":
		return "the revert of its merge"
	}

	return spacedWords(j.What)
}

// Title is its name at the beginning of a sentence.
func (j *job) Title() string {
	n := j.Name()
	return strings.ToUpper(n[:1]) + n[1:]
}

// Failed reports whether the job has failed, and nothing has happened to its task since then, which changed
// at some time.
func (j *job) Failed(changed stick.Time) bool {
	return j != nil && !j.Running() && j.Err != nil && changed <= j.End
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
	ctx      context.Context
	patience time.Duration // how long a page waits for one
	onEnd    func()        // called when one has ended
	now      func() stick.Time
	all      sync.WaitGroup

	mu   sync.Mutex // guards the rest
	list []*job     // the oldest first
}

const (
	maxJobs      = 100 // that are remembered
	pagePatience = 3 * time.Second
)

// outcome is what a job came to.
type outcome struct {
	answer any
	err    error
}

// runJob runs fn, and returns its answer if that comes soon. finished is false if fn goes on without its
// caller.
func (js *jobs) runJob(j *job, fn func(context.Context) (any, error)) (answer any, err error, finished bool) {
	j.done = make(chan struct{})
	js.rememberJob(j)

	// The channel alone leads from the job to its caller, who may have gone on: what the job came to is
	// recorded from its own variables, which nobody else writes.
	ended := make(chan outcome, 1)
	js.all.Add(1)
	// The job ends with fn, which ends with the server.
	go func() {
		defer js.all.Done()

		answer, err := fn(js.ctx)
		j.Err, j.End = stick.AsError(err), js.now()
		close(j.done)
		ended <- outcome{answer, err}
		js.onEnd()
	}()

	select {
	case o := <-ended:
		return o.answer, o.err, true
	case <-time.After(js.patience):
		return nil, nil, false
	}
}

// rememberJob adds a job to the list. The oldest ones go.
func (js *jobs) rememberJob(j *job) {
	js.mu.Lock()
	defer js.mu.Unlock()

	js.list = append(js.list, j)
	if n := len(js.list) - maxJobs; n > 0 {
		js.list = slices.Delete(js.list, 0, n)
	}
}

// lastAbout is the last job about a task, nil for none.
func (js *jobs) lastAbout(room stick.RoomID, task string) *job {
	js.mu.Lock()
	defer js.mu.Unlock()

	for _, j := range slices.Backward(js.list) {
		if j.Room == room && stick.TaskKey(j.Task) == stick.TaskKey(task) {
			return j
		}
	}

	return nil
}

// waitForAll waits for those that run. They end soon, because the server has.
func (js *jobs) waitForAll() { js.all.Wait() }
