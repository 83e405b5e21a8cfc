package modelapi

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Script decides what the model says to a request. It may wait for what it likes, as long as it
// ends with ctx, which is done when the harness hangs up or the test ends. It is called from several
// goroutines at once if the harness asks so, as one with sub-agents does. An error fails the test.
type Script func(ctx context.Context, r *Request) (Reply, error)

// Reply is what the model says: text, calls of tools, or both. With calls the harness runs them and
// asks again; without, the turn is over.
type Reply struct {
	Text  string
	Calls []Call
}

// ErrNoStep is why [Steps] fails a test whose harness asked more often than there are steps.
var ErrNoStep = errors.New("the harness asked once more than the script has steps")

// Say is a script that always says the same.
func Say(text string) Script {
	return func(context.Context, *Request) (Reply, error) { return Reply{Text: text}, nil }
}

// Do is a script that always makes the same calls, all in one reply.
func Do(calls ...Call) Script {
	return func(context.Context, *Request) (Reply, error) { return Reply{Calls: calls}, nil }
}

// When waits until gate is closed or sends, and goes on as the script then. So a test orders the
// steps of two harnesses.
func When(gate <-chan struct{}, then Script) Script {
	return func(ctx context.Context, r *Request) (Reply, error) {
		select {
		case <-gate:
			return then(ctx, r)
		case <-ctx.Done():
			return Reply{}, ctx.Err()
		}
	}
}

// Seen closes reached when it is asked, and goes on as the script. It is a step for one time.
func Seen(reached chan<- struct{}, then Script) Script {
	return func(ctx context.Context, r *Request) (Reply, error) {
		close(reached)
		return then(ctx, r)
	}
}

// Steps answers each request by the next of the scripts. One request more than there are steps
// is a failure.
func Steps(steps ...Script) Script {
	var mu sync.Mutex
	next := 0
	return func(ctx context.Context, r *Request) (Reply, error) {
		mu.Lock()
		n := next
		next++
		mu.Unlock()
		if n >= len(steps) {
			return Reply{}, fmt.Errorf("%w: %d", ErrNoStep, len(steps))
		}
		return steps[n](ctx, r)
	}
}
