package harness

import (
	"slices"

	"talkingstick/stick"
)

// findHarness finds the harness that calls; nil means a person. A harness that the call itself names comes
// first, then the nearest one among the ancestors. The environment counts only if some ancestors can't be
// seen. Of a harness without a row, each connection is an agent, as of other MCP clients.
func (r *resolver) findHarness() (*Row, error) {
	r.findNearest()

	// What the call itself says comes before what processes show.
	if r.in.SessionID != "" && r.in.SessionHarness != "" {
		row, ok := ByName(r.in.SessionHarness)
		if !ok {
			return nil, stick.Errorf(stick.CodeUsage, "%q isn't a known harness", r.in.SessionHarness).
				With("field", "harness")
		}

		r.say("The call itself names a session of %s.", row.Title)
		return &row, nil
	}

	if r.seen && (r.in.Connection == nil || !r.belowGeneric()) {
		return &r.near.row, nil
	}
	if r.seen {
		return r.clientRow(*r.in.Connection), nil
	}
	if r.in.Complete {
		r.say("No ancestor is a harness.")
	} else {
		r.say("Not all ancestors can be seen, and none that can is a harness.")
		if row := r.fromEnvironment(); row != nil {
			return row, nil
		}
	}

	if r.in.Connection != nil {
		return r.clientRow(*r.in.Connection), nil
	}
	if r.in.Complete {
		return r.findDetached(), nil
	}

	return nil, nil
}

// findDetached finds the harness of a command that was started below it and has outlived what started it.
// Only a person has a terminal: harnesses give none to their commands. nil means a person.
func (r *resolver) findDetached() *Row {
	if r.terminalName() != "" {
		r.sayStale()
		return nil
	}

	row := r.fromEnvironment()
	if row != nil {
		r.caller.Detached = true
		r.say("There is no terminal, so no person runs this: %s has left it behind.", row.Title)
	}

	return row
}

// findNearest finds the nearest harness among the ancestors, and the outermost process of its run.
func (r *resolver) findNearest() {
	for i, p := range r.in.Chain {
		// The nearest one counts: a harness may run below another.
		near, ok := r.recogniseCaller(p)
		if !ok {
			continue
		}

		// A launcher and its program are one run, and the outermost process stands for it.
		r.near, r.process, r.seen = near, p, true
		r.above = r.in.Chain[i+1:]
		if n := launchedBy(p, near, r.above); n > 0 {
			r.process, r.above = r.above[n-1], r.above[n:]
		}

		switch {
		case near.sandbox:
			r.say("The nearest harness is %s: process %d (%s) is its sandbox.", near.row.Title, p.ID.PID, p.Comm)
		case r.process.ID == p.ID:
			r.say("The nearest harness is %s: process %d (%s).", near.row.Title, p.ID.PID, p.Comm)
		default:
			r.say("The nearest harness is %s: process %d (%s), started by its own process %d (%s).",
				near.row.Title, p.ID.PID, p.Comm, r.process.ID.PID, r.process.Comm)
		}

		return
	}
}

// fromEnvironment finds a harness by the caller's environment: by a session id if there is one, else by a
// marker. A worker's command comes last, because a harness that it runs is nearer.
func (r *resolver) fromEnvironment() *Row {
	for i := range Rows {
		if name, _ := r.firstSet(Rows[i].SessionEnv); name != "" {
			r.say("%s is set, so this is %s.", name, Rows[i].Title)
			return &Rows[i]
		}
	}

	for i := range Rows {
		if name, _ := r.firstSet(Rows[i].Markers); name != "" {
			r.say("%s is set, so this is a shell inside %s.", name, Rows[i].Title)
			return &Rows[i]
		}
	}

	if row, ok := knownAs(agentName(r.in.Getenv)); ok {
		r.say("%s is set, so this is a shell inside %s.", AgentEnv, row.Title)
		return &row
	}

	if row, ok := genericRow(r.in.Getenv); ok {
		r.say("%s is set, so this is a shell inside %s.", AgentEnv, row.Title)
		return &row
	}

	if name, _ := r.firstSet(workerRow.SessionEnv); name != "" {
		r.say("%s is set, so this is %s.", name, workerRow.Title)
		return &workerRow
	}

	return nil
}

// sayStale explains which variables were ignored.
func (r *resolver) sayStale() {
	all := append(slices.Clone(Rows), workerRow)
	if row, ok := genericRow(r.in.Getenv); ok {
		all = append(all, row)
	}

	for _, row := range all {
		for _, names := range [][]string{row.SessionEnv, row.Markers} {
			if name, _ := r.firstSet(names); name != "" {
				r.say("%s is set, but %s isn't an ancestor, so the variable is ignored.", name, row.Title)
			}
		}
	}
}

// fillAgent fills in the caller as an agent of row.
func (r *resolver) fillAgent(row Row) {
	r.caller.Harness = row.Name

	// A variable may be inherited from a harness further up, so it counts only for the nearest.
	near := r.seen && r.near.row.Name == row.Name
	name, id := r.firstSet(row.SessionEnv)

	switch {
	case r.in.SessionID != "":
		r.caller.SessionID = r.in.SessionID
		r.say("The call itself gives the session id.")
	case name == "":
		r.say("No session id was found.")
	case near || !r.in.Complete || r.caller.Detached:
		r.caller.SessionID, r.caller.Earlier = id, r.in.Connection != nil || row.SubagentsDiffer
		r.say("The session id comes from %s.", name)
	}

	switch {
	// Which process vouches for the session depends on how the harness was found.
	case r.caller.Client:
		r.sayClient()
	case near && !r.near.sandbox:
		r.caller.Process, r.caller.Proof, r.caller.OnDaemon = r.process.ID, r.near.proof, r.near.onDaemon
		r.say("%s", proofText[r.near.proof])
	case r.seen && !near:
		r.say("The nearest harness isn't %s, so no process vouches for the session.", row.Title)
	default:
		r.say("Its process can't be seen, so no process vouches for the session.")
	}

	// Only of a harness among the ancestors it is known what runs above it.
	if near {
		r.findParents()
	}
	if r.caller.As != "" {
		r.say("%s gives it the name %s.", r.in.AsSource, r.caller.As)
	}
}

var proofText = map[stick.Proof]stick.Words{
	stick.ProvesSession: "While that process lives, so does the session.",
	stick.ProvesCarrier: "That process runs sessions of others and outlives them, so its life proves nothing.",
}
