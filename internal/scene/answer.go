package scene

import (
	"context"
	"fmt"
	"slices"

	"talkingstick/internal/engine"
	"talkingstick/stick"
)

// Answer is the result or the error of an operation. Its methods fail the story if it isn't as expected.
type Answer[R any] struct {
	Res R
	Err error

	by *Actor
	op string
}

// runOperation runs an operation for a.
func runOperation[P, R any](a *Actor, name string, op func(context.Context, P) (R, error), p P) Answer[R] {
	res, err := op(a.Context(), p)
	return Answer[R]{res, err, a, name}
}

// failStory ends the story with what was expected and what came.
func (x Answer[R]) failStory(format string, args ...any) {
	x.by.Helper()

	got := stick.Clip(fmt.Sprintf("%+v", x.Res), 1500)
	if x.Err != nil {
		got = fmt.Sprintf("refused: %s: %v", stick.CodeOf(x.Err), x.Err)
	}
	x.by.failStory("%s %s: expected %s\ngot: %s", x.by.Name, x.op, fmt.Sprintf(format, args...), got)
}

// OK expects that the operation isn't refused, and returns its result.
func (x Answer[R]) OK() R {
	x.by.Helper()
	if x.Err != nil {
		x.failStory("success")
	}
	return x.Res
}

// Refused expects a refusal with this code, and returns it.
func (x Answer[R]) Refused(code stick.Code) *stick.Error {
	x.by.Helper()
	if x.Err == nil || stick.CodeOf(x.Err) != code {
		x.failStory("the refusal %s", code)
	}
	return stick.AsError(x.Err)
}

// That expects that holds returns true for the result. what says in words what that means.
func (x Answer[R]) That(what string, holds func(R) bool) Answer[R] {
	x.by.Helper()
	if x.Err != nil || !holds(x.Res) {
		x.failStory("%s", what)
	}
	return x
}

// Asked is the answer to an actor that asks for the turn.
type Asked struct {
	Answer[engine.WaitForTurnResult]
}

// Is expects a status.
func (x Asked) Is(want stick.WaitStatus) Asked {
	x.by.Helper()
	if x.Err != nil || x.Res.Status != want {
		x.failStory("%s", want)
	}
	return x
}

// Granted expects the turn with this number.
func (x Asked) Granted(turn int64) Asked {
	x.by.Helper()
	if x.Is(stick.YourTurn).Res.Grant.TurnID != turn {
		x.failStory("turn %d", turn)
	}
	return x
}

// Because expects this reason of a grant, or this cause of an open takeover.
func (x Asked) Because(why string) Asked {
	x.by.Helper()
	if x.Res.Reason != why {
		x.failStory("the reason %s", why)
	}
	return x
}

// NotYet expects that there is nothing to act on.
func (x Asked) NotYet() Asked { x.by.Helper(); return x.Is(stick.NotYet) }

// TakeoverOpen expects an open takeover with this cause.
func (x Asked) TakeoverOpen(why stick.Cause) Asked {
	x.by.Helper()
	return x.Is(stick.TakeoverAvailable).Because(string(why))
}

// Handoff expects the turn, with a handoff of this status.
func (x Asked) Handoff(status string) Asked {
	x.by.Helper()
	if h := x.Is(stick.YourTurn).Res.Handoff; h == nil || h.Status != status {
		x.failStory("the handoff %q", status)
	}
	return x
}

// Recovers expects the turn, with a recovery of the handoff of this status, and a number of later events.
func (x Asked) Recovers(status string, since int) Asked {
	x.by.Helper()
	if r := x.Is(stick.YourTurn).Res.Recovery; r == nil || r.Handoff == nil || r.Handoff.Status != status || len(r.Since) != since {
		x.failStory("a recovery of the handoff %q, and %d later events", status, since)
	}
	return x
}

// Brings expects these events in this order, as [Bodies] names them.
func (x Asked) Brings(bodies ...string) Asked {
	x.by.Helper()
	if got := Bodies(x.Res.Events); x.Err != nil || !slices.Equal(got, bodies) {
		x.failStory("the events %q, not %q", bodies, got)
	}
	return x
}

// Bodies returns the bodies of messages, and the types of other events.
func Bodies(events []stick.Event) (out []string) {
	for _, e := range events {
		if m := e.Message(); m != nil && m.Body != "" {
			out = append(out, m.Body)
		} else {
			out = append(out, string(e.Type))
		}
	}
	return out
}

// Released is the answer to an actor that releases the stick.
type Released struct {
	Answer[engine.ReleaseStickResult]
}

// NextIs expects that the stick is reserved for next.
func (x Released) NextIs(next *Actor) Released {
	x.by.Helper()
	if x.Err != nil || x.Res.ReservedFor == nil || *x.Res.ReservedFor != next.ID {
		x.failStory("the stick reserved for %s", next.Name)
	}
	return x
}

// ForNobody expects that the stick is free, and that the answer says why.
func (x Released) ForNobody() Released {
	x.by.Helper()
	if x.Err != nil || x.Res.ReservedFor != nil || x.Res.Nobody == "" {
		x.failStory("a free stick, and the reason")
	}
	return x
}

// Already expects that the same release was made before.
func (x Released) Already() Released {
	x.by.Helper()
	if x.Err != nil || !x.Res.Already {
		x.failStory("its first result again")
	}
	return x
}

// Took is the answer to an actor that takes the stick over.
type Took struct {
	Answer[engine.TakeoverStickResult]
}

// Granted expects the turn with this number, by a takeover with this cause.
func (x Took) Granted(turn int64, why stick.Cause) Took {
	x.by.Helper()
	if x.Err != nil || x.Res.Grant == nil || x.Res.TurnID != turn || x.Res.Cause != why {
		x.failStory("turn %d by %s", turn, why)
	}
	return x
}

// From expects that the stick was taken from owner.
func (x Took) From(owner *Actor) Took {
	x.by.Helper()
	if x.Err != nil || x.Res.From == nil || *x.Res.From != owner.ID {
		x.failStory("a takeover from %s", owner.Name)
	}
	return x
}
