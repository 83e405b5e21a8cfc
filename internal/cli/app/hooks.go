package app

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Crash is a panic that was caught.
type Crash struct {
	value any
	at    []string // the functions of ours that led to it, the innermost first
}

func (c *Crash) Error() string {
	return fmt.Sprintf("tt crashed: %v (%s)", c.value, strings.Join(c.at, " < "))
}

// CatchPanic runs fn, and returns a panic in it as a [*crash]. Hooks need it, because Go ends a program that
// panics with status 2, and harnesses take that status for an order: to deny, to block or to wake. A panic is
// caught only in the goroutine that it happens in, so each goroutine that decides something for a hook calls
// catchPanic itself.
func CatchPanic(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Crash{v, panickedAt()}
		}
	}()
	return fn()
}

// panickedAt returns the innermost functions of this program on the stack of a panic. It is called by the
// deferred function that recovers.
func panickedAt() (at []string) {
	const most = 4
	pcs := make([]uintptr, 64)

	// The first three frames are Callers, this function and the deferred one.
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "talkingstick/") {
			at = append(at, fmt.Sprintf("%s %s:%d", filepath.Base(f.Function), filepath.Base(f.File), f.Line))
		}

		if !more || len(at) == most {
			return at
		}
	}
}

// EditWrites is how long a decision about an edit waits for another writer. After that it records nothing.
const EditWrites = 20 * time.Millisecond
