package git

import (
	"errors"
	"sync"
	"time"

	"talkingstick/stick"
)

// A git that writes may start what it then waits for: hooks, filters, a signing program, a credential helper,
// ssh. Any of them may ask somebody who isn't there, or wait for a network that doesn't answer.
const (
	writeLimit  = 10 * time.Minute // a hook or a filter that fetches large files may take long
	remoteLimit = 5 * time.Minute
)

// endGrace is how long a git that passed its limit has to remove its locks before it is killed.
const endGrace = 5 * time.Second

// watch ends a git that runs for too long.
type watch struct {
	limit time.Duration
	due   <-chan time.Time // when the limit passes; nil until startWatching
	kill  func()           // kills git and all that it has started

	ended chan struct{}
	done  sync.WaitGroup

	passed   bool   // the limit has passed; valid after stop
	program  string // what git was waiting for then; empty where that isn't known
	pid      int    // git's
	watching bool
}

func newWatch(limit time.Duration, kill func()) *watch {
	if limit == 0 {
		limit = writeLimit
	}
	return &watch{limit: limit, kill: kill, ended: make(chan struct{})}
}

// startWatching begins to watch the git with a process id, which leads a process group where there are any.
func (w *watch) startWatching(pid int) {
	w.pid, w.watching = pid, true
	if w.due == nil {
		w.due = time.After(w.limit)
	}

	// The goroutine ends with stop.
	w.done.Go(func() {
		select {
		case <-w.ended:
			return
		case <-w.due:
		}

		w.passed, w.program = true, waitedFor(pid)
		// Git removes its locks when it is asked to end. Killed, it would leave them.
		if askGroupToEnd(pid) {
			select {
			case <-w.ended:
			case <-time.After(endGrace):
			}
		}

		w.kill()
	})
}

// stop ends the watch when git has ended. What ignored the request to end is killed.
func (w *watch) stop() {
	if !w.watching {
		return
	}

	close(w.ended)
	w.done.Wait()
	if w.passed {
		killGroup(w.pid)
	}
}

// errTooLong is the error for a git that passed its limit. waited says what it was waiting for if nobody else
// knows.
func errTooLong(f *Failure, w *watch, waited stick.Words) error {
	if w.program != "" {
		waited = stick.Wordsf("the program %s", w.program)
	}
	if waited == "" {
		waited = "a program that it started, such as a hook, a filter or a credential helper"
	}

	e := stick.Errorf(stick.CodeGitFailed, "git %s was stopped after %s: it was still waiting for %s", f.commandName(), stick.Lasted(w.limit), waited).
		With("waited_for", string(waited)).
		Hintf("run it in your own terminal and answer what it asks there, then run the same command again; that program may have asked where nobody could see it")
	e.Err = f
	return e
}

// IsTooLong reports whether a command of git's was stopped because it waited too long for a program that it
// had started.
func IsTooLong(err error) bool {
	e, ok := errors.AsType[*stick.Error](err)
	return ok && e.Fields["waited_for"] != nil
}
