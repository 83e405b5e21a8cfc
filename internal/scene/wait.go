package scene

import (
	"context"
	"slices"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// Waiting is a blocked wait.
type Waiting struct {
	*Actor
	done chan Asked
	stop context.CancelFunc
}

// Waits starts to wait for the turn in a program of its own. It returns when the wait is blocked.
func (a *Actor) Waits() *Waiting {
	a.Helper()
	return a.WaitsFor(engine.WaitForTurnParams{})
}

// Parks starts to wait for events only.
func (a *Actor) Parks() *Waiting {
	a.Helper()
	return a.WaitsFor(engine.WaitForTurnParams{Park: true})
}

// WaitsFor starts a wait with these parameters.
func (a *Actor) WaitsFor(p engine.WaitForTurnParams) *Waiting {
	a.Helper()
	return a.startWaiting(func(ctx context.Context, b *Actor) Asked { return b.askTurn(ctx, p) })
}

// WaitForWake starts a wait for the idle agent, as its harness's hook does.
func (a *Actor) WaitForWake() *Waiting {
	a.Helper()
	return a.startWaiting(func(ctx context.Context, b *Actor) Asked {
		asker := &Actor{Scene: a.Scene, Name: a.Name}
		return Asked{runOperation(asker, "WaitForWake", func(_ context.Context, p core.HookParams) (engine.WaitForTurnResult, error) {
			return b.Engine.WaitForWake(ctx, p)
		}, b.Hook())}
	})
}

// startWaiting runs a wait in the background. It returns when the wait has committed its listener's row, so that it
// notices whatever happens next, or when the wait has already ended.
func (a *Actor) startWaiting(wait func(context.Context, *Actor) Asked) *Waiting {
	a.Helper()
	committed := make(chan struct{}, 1)

	b := *a
	b.startProgram(func(point string) {
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

	// The wait ends with ctx.
	go func() {
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
			a.failStory("the wait of %s doesn't begin", a.Name)
		}
	}
}

// Listens reports whether the room has the listener's row.
func (w *Waiting) Listens() bool {
	w.Helper()
	return slices.ContainsFunc(w.Room().Listeners, func(l stick.Listener) bool { return l.Process.PID == w.tt })
}

// Ends waits for the answer, and records its events as delivered.
func (w *Waiting) Ends() Asked {
	w.Helper()
	select {
	case x := <-w.done:
		if x.Err == nil {
			if err := w.Engine.RecordShown(w.Context(), x.Res); err != nil {
				w.failStory("recording the delivery to %s: %v", w.Name, err)
			}
		}
		return x
	case <-time.After(patience):
		w.failStory("the wait of %s goes on", w.Name)
	}
	return Asked{}
}

// GoesOn expects that the wait hasn't ended.
func (w *Waiting) GoesOn() {
	w.Helper()
	select {
	case x := <-w.done:
		x.failStory("that the wait goes on")
	default:
		w.Check(w.Listens(), "the wait of %s is over", w.Name)
	}
}

// Interrupted ends the wait as Ctrl-C does.
func (w *Waiting) Interrupted() Asked {
	w.Helper()
	w.stop()
	select {
	case x := <-w.done:
		return x
	case <-time.After(patience):
		w.failStory("the wait of %s goes on", w.Name)
	}
	return Asked{}
}
