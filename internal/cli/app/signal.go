package app

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"talkingstick/stick"
)

// interruption is why a context ended: a signal.
type interruption struct{ signal os.Signal }

func (i interruption) Error() string { return fmt.Sprintf("interrupted by %s", i.signal) }

// interruptGrace is how long a command has to end after a signal. Most need milliseconds. What a command had
// begun when the process ends without it, the next command finishes.
const interruptGrace = 5 * time.Second

// Interrupts is what a run of the program knows of signals. Its zero value is ready to use.
type Interrupts struct {
	inputs atomic.Int32 // how many reads wait for input from outside
	Tends  atomic.Bool  // the command tends processes of others, and ends when they have ended
}

// WithInterrupts returns a context that ends with the first SIGINT, SIGTERM, SIGHUP or SIGQUIT. A command
// that doesn't end with it, because it waits for something that no context ends, ends with its process.
func (a *Run) WithInterrupts(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	done := make(chan struct{})
	go func() {
		// This goroutine ends with done.
		s, why := a.Interrupts.awaitSignal(c, done, cancel, time.After)
		if s != nil {
			a.PrintError(stick.Errorf(stick.CodeCanceled, "interrupted; %s", why))
			os.Exit(128 + int(s.(syscall.Signal)))
		}
	}()

	return ctx, func() {
		signal.Stop(c)
		close(done)
	}
}

// awaitSignal calls cancel with the first signal, and waits until the command is done. It returns the signal
// with which the process has to end before that, and what to say: while the command waits for input, or after
// a second signal or interruptGrace. It returns nil when the command is done.
func (i *Interrupts) awaitSignal(
	signals <-chan os.Signal, done <-chan struct{}, cancel func(error),
	after func(time.Duration) <-chan time.Time,
) (s os.Signal, why stick.Words) {
	select {
	case s = <-signals:
		cancel(interruption{s})
	case <-done:
		return nil, ""
	}

	// A read of a terminal ends with no context.
	if i.inputs.Load() > 0 {
		// Commands read all of their input first.
		return s, "nothing was changed"
	}

	// A second signal, or the end of the grace, ends the process whatever the command does.
	grace := after(interruptGrace)
	for {
		select {
		case s = <-signals:
		case <-grace:
		case <-done:
			return nil, ""
		}

		// A command that tends other processes goes on until they have ended.
		if !i.Tends.Load() {
			return s, "the command didn't end by itself; what it had begun, the next command finishes"
		}
	}
}

// SignalStatus is the exit status of an interrupted command: that of a program which the signal ends, as a
// shell shows it.
func SignalStatus(ctx context.Context) int {
	// A shell adds 128 to the number of the signal.
	if i, ok := context.Cause(ctx).(interruption); ok {
		if s, ok := i.signal.(syscall.Signal); ok {
			return 128 + int(s)
		}
	}
	return stick.ExitInterrupted
}
