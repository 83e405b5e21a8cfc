package scene

import (
	"context"
	"fmt"
	"slices"

	"talkingstick/internal/engine"
	"talkingstick/stick"
)

// Answer is what an operation came to.
type Answer[R any] struct {
	Res R
	Err error

	by *Actor
	op string
}

func do[P, R any](a *Actor, name string, op func(context.Context, P) (R, error), p P) Answer[R] {
	res, err := op(a.Context(), p)
	return Answer[R]{res, err, a, name}
}

func (x Answer[R]) fail(format string, args ...any) {
	x.by.Helper()
	got := stick.Clip(fmt.Sprintf("%+v", x.Res), 1500)
	if x.Err != nil {
		got = fmt.Sprintf("it is refused: %s: %v", stick.CodeOf(x.Err), x.Err)
	}
	x.by.fail("%s %s: expected %s\ngot: %s", x.by.Name, x.op, fmt.Sprintf(format, args...), got)
}

// OK is the result of an operation that isn't refused.
func (x Answer[R]) OK() R {
	x.by.Helper()
	if x.Err != nil {
		x.fail("that it is done")
	}
	return x.Res
}

// Refused expects a refusal, and returns it.
func (x Answer[R]) Refused(code stick.Code) *stick.Error {
	x.by.Helper()
	if x.Err == nil || stick.CodeOf(x.Err) != code {
		x.fail("the refusal %s", code)
	}
	return stick.AsError(x.Err)
}

// That expects something of the result.
func (x Answer[R]) That(what string, holds func(R) bool) Answer[R] {
	x.by.Helper()
	if x.Err != nil || !holds(x.Res) {
		x.fail("%s", what)
	}
	return x
}

// Asked is the answer to who asks for the turn.
type Asked struct {
	Answer[engine.WaitForTurnResult]
}

// Is expects a status.
func (x Asked) Is(want stick.WaitStatus) Asked {
	x.by.Helper()
	if x.Err != nil || x.Res.Status != want {
		x.fail("%s", want)
	}
	return x
}

// Granted expects the turn.
func (x Asked) Granted(turn int64) Asked {
	x.by.Helper()
	if x.Is(stick.YourTurn).Res.Grant.TurnID != turn {
		x.fail("turn %d", turn)
	}
	return x
}

// Because expects the reason of a turn, or the cause of a takeover that is open.
func (x Asked) Because(why string) Asked {
	x.by.Helper()
	if x.Res.Reason != why {
		x.fail("the reason %s", why)
	}
	return x
}

// NotYet expects that there is nothing to act on.
func (x Asked) NotYet() Asked { x.by.Helper(); return x.Is(stick.NotYet) }

// TakeoverOpen expects that the stick can be taken over.
func (x Asked) TakeoverOpen(why stick.Cause) Asked {
	x.by.Helper()
	return x.Is(stick.TakeoverAvailable).Because(string(why))
}

// Handoff expects the turn with the handoff of the turn before.
func (x Asked) Handoff(status string) Asked {
	x.by.Helper()
	if h := x.Is(stick.YourTurn).Res.Handoff; h == nil || h.Status != status {
		x.fail("the handoff %q", status)
	}
	return x
}

// Recovers expects the turn with a handoff that its giver didn't give to it, and what was done since.
func (x Asked) Recovers(status string, since int) Asked {
	x.by.Helper()
	if r := x.Is(stick.YourTurn).Res.Recovery; r == nil || r.Handoff.Status != status || len(r.Since) != since {
		x.fail("to recover the handoff %q, and %d sentences since", status, since)
	}
	return x
}

// Brings expects messages, by their bodies, in their order.
func (x Asked) Brings(bodies ...string) Asked {
	x.by.Helper()
	if got := Bodies(x.Res.Events); x.Err != nil || !slices.Equal(got, bodies) {
		x.fail("%q, and it brings %q", bodies, got)
	}
	return x
}

// Bodies are the bodies of messages, and the types of other events.
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

// Released is the answer to who ends a turn.
type Released struct {
	Answer[engine.ReleaseStickResult]
}

// NextIs expects that the stick is kept for somebody.
func (x Released) NextIs(next *Actor) Released {
	x.by.Helper()
	if x.Err != nil || x.Res.ReservedFor == nil || *x.Res.ReservedFor != next.ID {
		x.fail("the stick kept for %s", next.Name)
	}
	return x
}

// ForNobody expects that the stick is free.
func (x Released) ForNobody() Released {
	x.by.Helper()
	if x.Err != nil || x.Res.ReservedFor != nil || x.Res.Nobody == "" {
		x.fail("the stick kept for nobody, and why")
	}
	return x
}

// Already expects that it was done before.
func (x Released) Already() Released {
	x.by.Helper()
	if x.Err != nil || !x.Res.Already {
		x.fail("its first result again")
	}
	return x
}

// Took is the answer to who takes the stick over.
type Took struct {
	Answer[engine.TakeoverStickResult]
}

// Granted expects the turn, and why it was open.
func (x Took) Granted(turn int64, why stick.Cause) Took {
	x.by.Helper()
	if x.Err != nil || x.Res.Grant == nil || x.Res.TurnID != turn || x.Res.Cause != why {
		x.fail("turn %d by %s", turn, why)
	}
	return x
}

// From expects whose the stick was.
func (x Took) From(owner *Actor) Took {
	x.by.Helper()
	if x.Err != nil || x.Res.From == nil || *x.Res.From != owner.ID {
		x.fail("that it is taken from %s", owner.Name)
	}
	return x
}
