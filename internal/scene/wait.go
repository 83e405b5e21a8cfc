package scene

import (
	"context"
	"slices"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/stick"
)

// Waiting is a wait that blocks.
type Waiting struct {
	*Actor
	done chan Asked
	stop context.CancelFunc
}

// Waits begins to wait for the turn in a program of its own, and returns when it is there.
func (a *Actor) Waits() *Waiting {
	a.Helper()
	return a.WaitsFor(engine.WaitForTurnParams{})
}

// Parks begins to wait for events.
func (a *Actor) Parks() *Waiting {
	a.Helper()
	return a.WaitsFor(engine.WaitForTurnParams{Park: true})
}

// WaitsFor begins to wait.
func (a *Actor) WaitsFor(p engine.WaitForTurnParams) *Waiting {
	a.Helper()
	return a.begin(func(ctx context.Context, b *Actor) Asked { return b.asks(ctx, p) })
}

// WaitForWake begins to wait on behalf of the idle agent, as its harness's hook does.
func (a *Actor) WaitForWake() *Waiting {
	a.Helper()
	return a.begin(func(ctx context.Context, b *Actor) Asked {
		return Asked{do(&Actor{Scene: a.Scene, Name: a.Name}, "WaitForWake", func(_ context.Context, p engine.HookParams) (engine.WaitForTurnResult, error) {
			return b.Engine.WaitForWake(ctx, p)
		}, b.Hook())}
	})
}

// begin runs a wait. A wait that is there has committed its row, and hears whatever comes later.
func (a *Actor) begin(wait func(context.Context, *Actor) Asked) *Waiting {
	a.Helper()
	committed := make(chan struct{}, 1)
	b := *a
	b.program(func(point string) {
		if point == "after commit" {
			select {
			case committed <- struct{}{}:
			default:
			}
		}
	})
	ctx, stop := context.WithCancel(a.Context())
	w := &Waiting{Actor: &b, done: make(chan Asked, 1), stop: stop}
	ended := make(chan struct{})
	a.Cleanup(func() { stop(); <-ended })
	go func() { // ends with ctx
		defer close(ended)
		w.done <- wait(ctx, &b)
	}()
	for limit := time.After(patience); ; {
		select {
		case <-committed:
			if w.Listens() {
				return w
			}
		case x := <-w.done:
			w.done <- x
			return w
		case <-limit:
			a.fail("the wait of %s never began", a.Name)
		}
	}
}

// Listens tells whether the wait is there.
func (w *Waiting) Listens() bool {
	w.Helper()
	return slices.ContainsFunc(w.Room().Listeners, func(l stick.Listener) bool { return l.Process.PID == w.tt })
}

// Ends is what the wait came to.
func (w *Waiting) Ends() Asked {
	w.Helper()
	select {
	case x := <-w.done:
		if x.Err == nil {
			if err := w.Engine.Delivered(w.Context(), x.Res); err != nil {
				w.fail("%s is told: %v", w.Name, err)
			}
		}
		return x
	case <-time.After(patience):
		w.fail("the wait of %s goes on", w.Name)
	}
	return Asked{}
}

// GoesOn expects that the wait hasn't ended.
func (w *Waiting) GoesOn() {
	w.Helper()
	select {
	case x := <-w.done:
		x.fail("that the wait goes on")
	default:
		w.Check(w.Listens(), "the wait of %s is over", w.Name)
	}
}

// Interrupted ends the wait from outside, as Ctrl-C does.
func (w *Waiting) Interrupted() Asked {
	w.Helper()
	w.stop()
	select {
	case x := <-w.done:
		return x
	case <-time.After(patience):
		w.fail("the wait of %s goes on", w.Name)
	}
	return Asked{}
}
