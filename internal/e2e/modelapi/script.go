package modelapi

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Script decides what the model replies to a request. It may wait for anything until ctx ends, which happens
// when the harness hangs up or the test ends. Several goroutines may call it at once, as when a harness has
// sub-agents. An error fails the test.
type Script func(ctx context.Context, r *Request) (Reply, error)

// Reply is what the model says: text, tool calls, or both. The harness runs the calls and asks again. Without
// calls, the turn is over.
type Reply struct {
	Text  string
	Calls []Call

	// Status makes it an error of the API, with this status of HTTP and the text as its message.
	Status int
}

// ErrNoStep is the error of [Steps] when the harness asks more often than there are steps.
var ErrNoStep = errors.New("the harness asked more often than the script has steps")

// Say returns a script that always says the same.
func Say(text string) Script {
	return func(context.Context, *Request) (Reply, error) { return Reply{Text: text}, nil }
}

// Do returns a script that always makes the same calls, all in one reply.
func Do(calls ...Call) Script {
	return func(context.Context, *Request) (Reply, error) { return Reply{Calls: calls}, nil }
}

// When returns a script that waits until gate is closed or sends, and then runs another script. With it, a
// test orders the steps of two harnesses.
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

// Seen returns a script that closes reached when it runs, and then runs another script. It runs only once.
func Seen(reached chan<- struct{}, then Script) Script {
	return func(ctx context.Context, r *Request) (Reply, error) {
		close(reached)
		return then(ctx, r)
	}
}

// Steps returns a script that answers each request with the next of scripts, and fails when there are no
// more.
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
