package stick_test

import (
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

// TestActor: two names are one agent if they belong to one session, or to one process that proves its
// session.
func TestActor(t *testing.T) {
	p, q := stick.Process{Boot: "b", PID: 1, Start: 1}, stick.Process{Boot: "b", PID: 2, Start: 2}
	in := func(p stick.Process, proof stick.Proof, names ...stick.AgentID) stick.Actor {
		return stick.Actor{Names: names, Processes: []stick.Evidence{{Process: p, Proof: proof}}}
	}
	author := in(p, stick.ProvesSession, "claude:a")
	for _, c := range []struct {
		name      string
		a         stick.Actor
		is, below bool
	}{
		{"itself", author, true, false},
		{"another name of its session", in(q, stick.ProvesSession, "codex:z", "claude:a"), true, false},
		{"another name in its process", in(p, stick.ProvesSession, "codex:z"), true, false},
		{"another agent", in(q, stick.ProvesSession, "codex:b"), false, false},
		{"another agent in one terminal", in(p, stick.ProvesTurn, "codex:b"), false, false},
		{"another agent in one carrier", in(p, stick.ProvesCarrier, "codex:b"), false, false},
		{"without evidence", stick.Actor{Names: []stick.AgentID{"codex:b"}}, false, false},
		{
			"started by it",
			stick.Actor{Names: []stick.AgentID{"codex:b"}, Above: stick.Lineage{Processes: []stick.Process{q, p}}},
			false,
			true,
		},
		{
			"started by it, as the environment says",
			stick.Actor{Names: []stick.AgentID{"codex:b"}, Above: stick.Lineage{Agents: []stick.AgentID{"claude:a"}}},
			false,
			true,
		},
		{
			"started by another",
			stick.Actor{
				Names: []stick.AgentID{"codex:b"},
				Above: stick.Lineage{Processes: []stick.Process{q}, Agents: []stick.AgentID{"x"}},
			},
			false,
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			sticktest.Equal(t, "is the author", c.a.Is(author), c.is)
			sticktest.Equal(t, "the author is it", author.Is(c.a), c.is)
			sticktest.Equal(t, "is below the author", c.a.Below(author), c.below)
		})
	}
}
