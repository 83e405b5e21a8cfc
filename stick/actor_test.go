package stick

import "testing"

// TestActor: two names are one agent if they belong to one session, or to one process that proves its
// session.
func TestActor(t *testing.T) {
	p, q := Process{Boot: "b", PID: 1, Start: 1}, Process{Boot: "b", PID: 2, Start: 2}
	in := func(p Process, proof Proof, names ...AgentID) Actor {
		return Actor{Names: names, Processes: []Evidence{{Process: p, Proof: proof}}}
	}
	author := in(p, ProvesSession, "claude:a")
	for _, c := range []struct {
		name      string
		a         Actor
		is, below bool
	}{
		{"itself", author, true, false},
		{"another name of its session", in(q, ProvesSession, "codex:z", "claude:a"), true, false},
		{"another name in its process", in(p, ProvesSession, "codex:z"), true, false},
		{"another agent", in(q, ProvesSession, "codex:b"), false, false},
		{"another agent in one terminal", in(p, ProvesTurn, "codex:b"), false, false},
		{"another agent in one carrier", in(p, ProvesCarrier, "codex:b"), false, false},
		{"without evidence", Actor{Names: []AgentID{"codex:b"}}, false, false},
		{"started by it", Actor{Names: []AgentID{"codex:b"}, Above: Lineage{Processes: []Process{q, p}}}, false, true},
		{"started by it, as the environment says", Actor{Names: []AgentID{"codex:b"}, Above: Lineage{Agents: []AgentID{"claude:a"}}}, false, true},
		{"started by another", Actor{Names: []AgentID{"codex:b"}, Above: Lineage{Processes: []Process{q}, Agents: []AgentID{"x"}}}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			equal(t, "is the author", c.a.Is(author), c.is)
			equal(t, "the author is it", author.Is(c.a), c.is)
			equal(t, "is below the author", c.a.Below(author), c.below)
		})
	}
}
