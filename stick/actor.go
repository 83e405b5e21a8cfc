package stick

import (
	"slices"
)

// Actor is an agent with the evidence that is known of it. One agent can act under several names, so a rule
// that tells two agents apart compares this, not names.
type Actor struct {
	Names     []AgentID  // under which it, its session and its process have acted
	Processes []Evidence // that vouch for one of these names
	Above     Lineage
}

// Is reports whether a and b are one agent: they share a name, or a process that proves its session.
func (a Actor) Is(b Actor) bool {
	return slices.ContainsFunc(a.Names, func(n AgentID) bool { return slices.Contains(b.Names, n) }) ||
		slices.ContainsFunc(a.Processes, func(e Evidence) bool { return e.Proof == ProvesSession && b.runsIn(e.Process) })
}

// Below reports whether b has started a: a runs in a tool call of b.
func (a Actor) Below(b Actor) bool {
	return slices.ContainsFunc(a.Above.Agents, func(n AgentID) bool { return slices.Contains(b.Names, n) }) ||
		slices.ContainsFunc(a.Above.Processes, b.runsIn)
}

func (a Actor) runsIn(p Process) bool {
	return slices.ContainsFunc(a.Processes, func(e Evidence) bool { return e.Proof == ProvesSession && e.Process == p })
}
