package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"talkingstick/stick"
)

// interruption is why a context ended: a signal.
type interruption struct{ signal os.Signal }

func (i interruption) Error() string { return fmt.Sprintf("interrupted by %s", i.signal) }

// interruptible returns a context that ends with the first SIGINT, SIGTERM, SIGHUP or SIGQUIT.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	done := make(chan struct{})
	go func() { // ended by done
		select {
		case s := <-c:
			cancel(interruption{s})
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(c)
		close(done)
	}
}

// signalStatus is the exit status of an interrupted command: that of a program which the signal ends, as a shell shows it.
func signalStatus(ctx context.Context) int {
	if i, ok := context.Cause(ctx).(interruption); ok {
		if s, ok := i.signal.(syscall.Signal); ok {
			return 128 + int(s)
		}
	}
	return stick.ExitInterrupted
}
