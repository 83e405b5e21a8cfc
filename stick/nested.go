package stick

import (
	"slices"
)

// Lineage is what is known of the agents that started a caller: those in whose tool calls its harness runs.
type Lineage struct {
	Processes []Process // harnesses among its ancestors, each of which proves its session
	Agents    []AgentID // agents of the sessions that its environment names, where no process shows them
}

// Parent returns the agent under whose turn a works: the holder of the stick, if that agent started a. While
// there is one, a may edit as the holder may, takes no turn of its own, and is a helper. The turn is still
// the parent's to end. A parent that is gone is none.
func (r Room) Parent(a AgentID, l Lineage, s *Probed) (AgentID, bool) {
	if r.Closed || r.Turn.State != Owned || r.Turn.Owner == a {
		return "", false
	}

	m, _ := r.Member(r.Turn.Owner)
	started := slices.ContainsFunc(m.Processes, func(e Evidence) bool {
		return e.Proof == ProvesSession && slices.Contains(l.Processes,
			e.Process) && s.processVerdict(e.Process) != Gone
	})

	if !started && !(slices.Contains(l.Agents, m.Agent) && m.Verdict(s) != Gone) {
		return "", false
	}

	return m.Agent, true
}
