package app

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterrupts_watch: a signal ends whatever a command waits in, and gives those that can end by themselves
// time to do so.
func TestInterrupts_watch(t *testing.T) {
	const (
		term   = syscall.SIGTERM
		int    = syscall.SIGINT
		ended  = "ended"  // the command is done
		passes = "passes" // the grace is over
	)

	for _, c := range []struct {
		name   string
		inputs bool
		tends  bool
		events []any
		want   os.Signal
		why    string
	}{
		{"no signal", false, false, []any{ended}, nil, ""},
		{"a command that ends by itself", false, false, []any{int, ended}, nil, ""},
		{"while it waits for input", true, false, []any{term}, term, "nothing was changed"},
		{"it waits for something else", false, false, []any{int, passes}, int, "the next command finishes"},
		{"a second signal", false, false, []any{int, term}, term, "the next command finishes"},
		{"it tends processes", false, true, []any{int, term, passes, ended}, nil, ""},
		{"it tends processes and waits for its order", true, true, []any{term}, term, "nothing was changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var i Interrupts
			i.Tends.Store(c.tends)
			if c.inputs {
				i.inputs.Add(1)
			}
			signals, done, grace := make(chan os.Signal), make(chan struct{}), make(chan time.Time)
			go func() {
				for _, e := range c.events {
					switch e {
					case ended:
						close(done)
					case passes:
						grace <- time.Time{}
					default:
						signals <- e.(os.Signal)
					}
				}
			}()

			var cause error
			got, why := i.awaitSignal(signals, done, func(err error) { cause = err },
				func(time.Duration) <-chan time.Time { return grace })
			if got != c.want || !strings.Contains(string(why), c.why) || c.why == "" && why != "" {
				t.Errorf("it ends with %v: %q", got, why)
			}
			if first, _ := errors.AsType[interruption](cause); len(c.events) > 1 && first.signal != c.events[0] {
				t.Errorf("the context ends because of %v", cause)
			}
		})
	}
}
