package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"talkingstick/stick"
)

// This is the stick as porcupine sees it: a register that holds the current turn, its owner and its lease. A
// grant succeeds only with the next turn, a release only with the current one. The outcome of a killed
// command is unknown: it took effect as a whole, or not at all.

// register is the state of the model.
type register struct {
	turn  int64
	owner stick.AgentID // empty when nobody owns
	lease string        // empty until somebody got it
}

// call is an operation that an agent asked for.
type call struct {
	me    stick.AgentID
	op    op
	above stick.AgentID // the agent in whose tool call it was made, and which lives; else empty
}

// outcome is the answer to a call.
type outcome struct {
	kind  string // see step
	turn  int64
	lease string
	from  stick.AgentID // taken over from, or under whose turn
	code  stick.Code    // of a refusal
}

// The kinds of outcomes.
const (
	unknown  = "unknown"  // the process was killed
	granted  = "granted"  // a new turn
	held     = "held"     // the turn that the agent already has
	without  = "without"  // an answer without a turn
	under    = "under"    // the turn of the agent below which it runs covers it
	ended    = "ended"    // the turn was ended by this call
	repeated = "repeated" // the turn was ended by the same call before
	renewed  = "renewed"  // a heartbeat
	left     = "left"     // left without having owned
	fenced   = "fenced"   // the fence isn't current
	refused  = "refused"  // another reason
	saw      = "saw"      // the state
)

// from returns the model of a history that begins in a state.
func from(start register) porcupine.Model {
	m := model
	m.Init = func() []any { return []any{start} }
	return m.ToModel()
}

var model = porcupine.NondeterministicModel{
	Step: func(state, input, output any) []any {
		next := step(state.(register), input.(call), output.(outcome))
		out := make([]any, len(next))
		for i, s := range next {
			out[i] = s
		}
		return out
	},
	DescribeOperation: func(input, output any) string {
		return fmt.Sprintf("%s %s → %+v", input.(call).me, input.(call).op, output.(outcome))
	},
	DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
}

// step returns the states that can follow from a call with an outcome. There are none if that outcome is
// impossible.
func step(s register, in call, out outcome) []register {
	me, o := in.me, in.op
	same := []register{s}
	mine := s.owner == me && me != ""

	// fits reports whether the call's fence is the current grant's. No fence means the caller's own.
	fits := mine && (o.Turn == 0 || o.Turn == s.turn && (s.lease == "" || o.Lease == s.lease))
	free := register{turn: s.turn}

	only := func(possible bool, next register) []register {
		if possible {
			return []register{next}
		}
		return nil
	}

	switch out.kind {
	case granted:
		next := register{s.turn + 1, me, out.lease}
		if out.from != "" && s.owner != "" {
			return only(out.turn == next.turn && s.owner == out.from && !mine, next)
		}
		return only(out.turn == next.turn && s.owner == "", next)

	case held:
		return only(mine && out.turn == s.turn && (s.lease == "" || s.lease == out.lease),
			register{s.turn, me, out.lease})
	case without:
		return only(o.Park || !mine && (in.above == "" || s.owner != in.above), s)
	case under:
		return only(!mine && s.owner != "" && out.from == s.owner && out.turn == s.turn, s)
	case ended:
		// leaving doesn't say which turn it ended
		return only(fits && (out.turn == s.turn || o.Kind == "leave" && out.turn == 0), free)
	case repeated:
		return only(out.turn <= s.turn && !(mine && out.turn == s.turn), s)
	case renewed:
		return only(fits && out.turn == s.turn, s)
	case left:
		return only(!mine, s)
	case fenced:
		return only(!fits, s)

	case refused:
		// An owner is refused nothing that the campaign asks for, except to pass the stick to an agent that
		// isn't in the room.
		return only(!mine || o.Kind == "pass" && out.code == stick.CodeUnknownMember, s)

	case saw:
		return only(
			out.turn == s.turn && out.from == s.owner && (s.lease == "" || out.lease == "" || s.lease == out.lease),
			s,
		)
	case unknown:
		switch o.Kind {
		case "try", "wait", "take":
			if !mine && !o.Park && (s.owner == "" || o.Kind == "take") {
				return append(same, register{s.turn + 1, me, ""})
			}

		case "release", "pass", "leave":
			if fits {
				return append(same, free)
			}
		}

		return same
	}
	panic("unknown outcome " + out.kind)
}

// TestModelRefuses: a history that breaks a law isn't linearizable.
func TestModelRefuses(t *testing.T) {
	const a, b stick.AgentID = "claude:a", "codex:b"
	type entry struct {
		me       stick.AgentID
		op       op
		out      outcome
		from, to int64
		above    stick.AgentID
	}

	try, release := op{Kind: "try"}, func(turn int64, lease string) op {
		return op{Kind: "release", Turn: turn, Lease: lease}
	}
	grant := func(turn int64, lease string) outcome { return outcome{kind: granted, turn: turn, lease: lease} }
	for _, c := range []struct {
		name    string
		history []entry
		want    porcupine.CheckResult
	}{
		{"one after the other", []entry{
			{a, try, grant(1, "x"), 0, 1, ""},
			{b, try, outcome{kind: without}, 2, 3, ""},
			{a, release(1, "x"), outcome{kind: ended, turn: 1}, 4, 5, ""},
			{b, try, grant(2, "y"), 6, 7, ""},
		}, porcupine.Ok},
		{"at the same time", []entry{
			{b, try, grant(2, "y"), 0, 9, ""},
			{a, release(1, "x"), outcome{kind: ended, turn: 1}, 1, 8, ""},
			{a, try, grant(1, "x"), 0, 2, ""},
		}, porcupine.Ok},
		{"a killed release that took effect", []entry{
			{a, try, grant(1, "x"), 0, 1, ""},
			{a, release(1, "x"), outcome{kind: unknown}, 2, 3, ""},
			{b, try, grant(2, "y"), 4, 5, ""},
		}, porcupine.Ok},
		{"a killed claim that took effect, and is told on the next ask", []entry{
			{a, try, outcome{kind: unknown}, 0, 1, ""}, {a, try, outcome{kind: held, turn: 1, lease: "x"}, 2, 3, ""},
		}, porcupine.Ok},
		{
			"a double grant",
			[]entry{{a, try, grant(1, "x"), 0, 1, ""}, {b, try, grant(2, "y"), 2, 3, ""}},
			porcupine.Illegal,
		},
		{"a repeated turn", []entry{
			{a, try, grant(1, "x"), 0, 1, ""},
			{a, release(1, "x"), outcome{kind: ended, turn: 1}, 2, 3, ""},
			{b, try, grant(1, "y"), 4, 5, ""},
		}, porcupine.Illegal},
		{"a skipped turn", []entry{{a, try, grant(2, "x"), 0, 1, ""}}, porcupine.Illegal},
		{
			"another lease for the same turn",
			[]entry{{a, try, grant(1, "x"), 0, 1, ""}, {a, try, outcome{kind: held, turn: 1, lease: "y"}, 2, 3, ""}},
			porcupine.Illegal,
		},
		{
			"a release with a stale lease",
			[]entry{{a, try, grant(1, "x"), 0, 1, ""}, {a, release(1, "y"), outcome{kind: ended, turn: 1}, 2, 3, ""}},
			porcupine.Illegal,
		},
		{
			"a release by another",
			[]entry{{a, try, grant(1, "x"), 0, 1, ""}, {b, release(1, "x"), outcome{kind: ended, turn: 1}, 2, 3, ""}},
			porcupine.Illegal,
		},
		{
			"a current fence refused",
			[]entry{{a, try, grant(1, "x"), 0, 1, ""}, {a, release(1, "x"), outcome{kind: fenced}, 2, 3, ""}},
			porcupine.Illegal,
		},
		{
			"an owner who isn't told",
			[]entry{{a, try, grant(1, "x"), 0, 1, ""}, {a, try, outcome{kind: without}, 2, 3, ""}},
			porcupine.Illegal,
		},
		{"a killed look that took the turn twice", []entry{
			{a, try, outcome{kind: unknown}, 0, 1, ""}, {b, try, grant(3, "y"), 2, 3, ""},
		}, porcupine.Illegal},
		{
			"a child under its parent's turn",
			[]entry{{a, try, grant(1, "x"), 0, 1, ""}, {b, try, outcome{kind: under, turn: 1, from: a}, 2, 3, ""}},
			porcupine.Ok,
		},
		{"a child under a turn that is over", []entry{
			{a, try, grant(1, "x"), 0, 1, ""},
			{a, release(1, "x"), outcome{kind: ended, turn: 1}, 2, 3, ""},
			{b, try, outcome{kind: under, turn: 1, from: a}, 4, 5, ""},
		}, porcupine.Illegal},
		{"a child that isn't told of its parent's turn", []entry{
			{a, try, grant(1, "x"), 0, 1, ""}, {b, try, outcome{kind: without}, 2, 3, a},
		}, porcupine.Illegal},
		{
			"a stale read",
			[]entry{{a, try, grant(1, "x"), 0, 1, ""}, {b, op{Kind: "state"}, outcome{kind: saw}, 2, 3, ""}},
			porcupine.Illegal,
		},
		{"taken over from who doesn't own", []entry{
			{a, try, grant(1, "x"), 0, 1, ""},
			{b, op{Kind: "take"}, outcome{kind: granted, turn: 2, lease: "y", from: "gemini:c"}, 2, 3, ""},
		}, porcupine.Illegal},
	} {
		var ops []porcupine.Operation
		for i, e := range c.history {
			ops = append(ops, porcupine.Operation{
				ClientId: i, Input: call{e.me, e.op, e.above}, Output: e.out, Call: e.from, Return: e.to,
			})
		}
		if got := porcupine.CheckOperationsTimeout(from(register{}), ops, time.Minute); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
