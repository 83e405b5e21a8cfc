package core

import (
	"slices"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// Identity is a caller together with the name that it has in rooms.
type Identity struct {
	Agent      stick.AgentID
	Caller     Caller
	Session    store.Session
	Above      stick.Lineage // what is known of the agents that started the caller
	Note       stick.Words   // what the caller should know about its name; mostly empty
	Explain    []stick.Words // sentences that say how the name was found, for tt whoami --explain
	Unrecorded bool          // the session isn't recorded yet
	Detached   bool          // only its environment says that the caller is of a session that runs elsewhere
	earlierKey string        // the key that the session had before a call gave its id; else empty
}

// Identify names the caller. It writes nothing. It fails with [stick.CodeIdentityMismatch] when the caller
// assumes the name of a session that lives in another process, and with [ErrProbe] when it needs the verdict
// of a process that wasn't probed.
func Identify(tx *store.Tx, probes *Probes, by Caller) (Identity, error) {
	id := Identity{Caller: by, Above: stick.Lineage{Processes: by.Above}}

	// The agents that started the caller are known by their sessions.
	for _, seed := range by.AboveIn {
		if a, known, err := tx.AgentOf(seed); err != nil {
			return id, err
		} else if known {
			id.Above.Agents = append(id.Above.Agents, a)
		}
	}

	switch {
	case by.Behalf != "":
		id.Agent = by.Behalf
		return id, nil
	case by.As != "":
		id.Agent = stick.AgentID(by.As)
		elsewhere, err := probes.findOtherProcess(tx, id.Agent, by)
		if err != nil {
			return id, err
		}

		if !elsewhere.IsZero() {
			return id, stick.Errorf(stick.CodeIdentityMismatch, "%s is a session that runs in process %d, and this command runs elsewhere", id.Agent, elsewhere.PID).
				With("agent_id", id.Agent).With("pid", elsewhere.PID).
				Hintf("act as yourself: leave out --as and unset TT_HARNESS_AGENT_ID")
		}
		return id, nil
	case by.Person:
		var err error
		if id.Agent, err = personID(tx, by); err != nil {
			return id, err
		}

		id.Session = store.Session{Key: string(id.Agent), Agent: id.Agent, Harness: by.Harness}
		_, known, err := tx.AgentOf(id.Session.Key)
		id.Unrecorded = !known
		return id, err
	}
	if err := id.findDetached(tx, probes); err != nil {
		return id, err
	}

	return id, id.nameBySession(tx, probes)
}

// IdentifyToRecord is [Identify] before [Identity.Record]. Where other transactions may write at the same
// time, and there is something new to record, it keeps them from recording the same session or name in
// another room.
func IdentifyToRecord(tx *store.Tx, probes *Probes, by Caller) (Identity, error) {
	id, err := Identify(tx, probes, by)
	if err != nil || !tx.IsConcurrent() {
		return id, err
	}

	// Most calls record nothing new, and lock nothing.
	if isNew, err := id.isNew(tx); err != nil || !isNew {
		return id, err
	}

	// Another transaction may have taken the name until the names were locked.
	if again, err := tx.LockNames(); err != nil || !again {
		return id, err
	}

	return Identify(tx, probes, by)
}

// isNew reports whether the caller's session or process isn't recorded.
func (id Identity) isNew(tx *store.Tx) (bool, error) {
	if id.Unrecorded || id.Caller.Process.IsZero() {
		return id.Unrecorded, nil
	}
	recorded, err := tx.Processes(id.Agent)
	return !slices.Contains(recorded, stick.Evidence{Process: id.Caller.Process, Proof: id.Caller.Proof}), err
}

// findDetached decides whose command a detached one is: that of the session which its environment names, if
// that session runs, else that of a member of its own. Commands whose environments name different sessions
// are different members: one that knows no session may not act for another.
func (id *Identity) findDetached(tx *store.Tx, probes *Probes) error {
	by := &id.Caller
	if !by.Detached || by.SessionID == "" {
		return nil
	}

	agent, runs, err := tx.RunningSession(by.Seed())
	if err != nil {
		return err
	}

	if runs {
		m := stick.Member{}
		if m.Processes, err = tx.Processes(agent); err != nil {
			return err
		}

		// A verdict that is missing ends the transaction, and is probed then.
		for _, ev := range m.Processes {
			if _, err := probes.Verdict(ev); err != nil {
				return err
			}
		}

		runs = m.Verdict(probes.Probed) != stick.Gone
	}

	if !runs {
		id.Explain = append(id.Explain, "That session isn't known to run, so this is a member of its own.")
		*by = by.WithoutSession()
		return nil
	}

	id.Detached = true
	id.Explain = append(id.Explain, "That session runs, so this is its agent. To end its turn, the command has to name the turn and its lease.")
	return nil
}

// nameBySession names an agent by its session, or by its process where the session isn't known.
func (id *Identity) nameBySession(tx *store.Tx, probes *Probes) error {
	by := id.Caller

	// The key is that of the session, or of the process where the session isn't known.
	id.Session = store.Session{Key: by.Seed(), Harness: by.Harness, ID: by.SessionID}
	agent, known, err := id.sessionOfProcess(tx)
	if err != nil {
		return err
	}

	if !known {
		id.Unrecorded = true
		id.Agent, err = nameFor(tx, by)
		return err
	}

	id.Agent = agent
	elsewhere, err := probes.findOtherProcess(tx, agent, by)
	if err != nil {
		return err
	}

	// A session can be resumed in two terminals. The second one is a member of its own then, and remains
	// one when the first ends.
	separateKey := id.Session.Key + " in " + by.Process.Key()
	if elsewhere.IsZero() {
		if by.SessionID == "" || by.Process.IsZero() || id.Session.Key != by.Seed() {
			return nil
		}
		if agent, known, err = tx.AgentOf(separateKey); known {
			id.Agent, id.Session.Key = agent, separateKey
		}

		return err
	}

	// The same name would make one member of two agents.
	id.Session.Key = separateKey
	id.Note = stick.Wordsf("the session of %s also runs in process %d; here you are another member", agent, elsewhere.PID)
	id.Explain = append(id.Explain, id.Note+".")
	if id.Agent, known, err = tx.AgentOf(id.Session.Key); known || err != nil {
		return err
	}

	id.Unrecorded = true
	id.Agent, err = numberedName(tx, agent, 2)
	return err
}

// sessionOfProcess finds the agent of the caller's session. Where the call names no session, or one that may
// be over, it is the agent of the session that the caller's process carries. A process that carries several
// sessions says nothing about the caller's.
func (id *Identity) sessionOfProcess(tx *store.Tx) (agent stick.AgentID, known bool, err error) {
	by := id.Caller

	// An id that may be an older one of the process says less than the database.
	namesSession := by.SessionID != "" && !by.Earlier

	// A session that is known by its id needs no process.
	if namesSession || by.Process.IsZero() || by.Proof == stick.ProvesCarrier {
		agent, known, err = tx.AgentOf(id.Session.Key)
		if known || err != nil || by.Process.IsZero() || by.Proof == stick.ProvesCarrier {
			return agent, known, err
		}
	}

	carried, known, err := tx.SessionOf(by.Process)
	switch {
	case err != nil:
		return "", false, err
	case namesSession:
		// The session was known only by its process. This call is the first that gives its id.
		if !known || carried.ID != "" || carried.Harness != by.Harness {
			return "", false, nil
		}

		id.Session.Agent, id.Unrecorded, id.earlierKey = carried.Agent, true, carried.Key
		return carried.Agent, true, nil
	case !known:
		return tx.AgentOf(id.Session.Key)
	}
	if carried.Key != id.Session.Key {
		id.Explain = append(id.Explain, stick.Wordsf("Process %d is known to carry the session of %s.", by.Process.PID, carried.Agent))
	}

	id.Session = carried
	return carried.Agent, true, nil
}

// IdentifyUnrecorded names a caller where there is no database yet.
func (k *Kernel) IdentifyUnrecorded(by Caller) Identity {
	id := Identity{Caller: by, Unrecorded: true}
	switch {
	case by.As != "":
		id.Agent = stick.AgentID(by.As)
	case by.Person && k.Config.Database != "":
		id.Agent = humanAt(by, hostName(k.Config.Host))
	case by.Person:
		id.Agent = HumanID(by)
	case by.Detached: // no session is known to run
		id.Caller = by.WithoutSession()
		id.Agent = shortName(by.Harness, id.Caller.Seed(), 8)
	case by.Number > 1:
		id.Agent = withNumber(shortName(by.Harness, by.First().Seed(), 8), by.Number)
	default:
		id.Agent = shortName(by.Harness, by.Seed(), 8)
	}
	return id
}

// Actor returns the caller with all names under which its session and its process have acted, and their
// evidence.
func (id Identity) Actor(tx *store.Tx) (stick.Actor, error) {
	by := id.Caller
	a := stick.Actor{Names: []stick.AgentID{id.Agent}, Above: id.Above}
	var seeds []string
	if !by.Person {
		seeds = append(seeds, by.Seed())
	}

	// The agent of the session may have left this command behind.
	if by.Stray != "" {
		seeds = append(seeds, by.StrayAgent().Seed())
	}

	for _, seed := range seeds {
		n, known, err := tx.AgentOf(seed)
		if err != nil {
			return a, err
		}
		if known {
			a.Names = append(a.Names, n)
		}
	}
	if err := withProcesses(tx, &a); err != nil || by.Process.IsZero() {
		return a, err
	}

	a.Processes = append(a.Processes, stick.Evidence{Process: by.Process, Proof: by.Proof})
	return a, nil
}

// ActorOf returns an agent that doesn't call, with its evidence.
func ActorOf(tx *store.Tx, a stick.AgentID) (stick.Actor, error) {
	out := stick.Actor{Names: []stick.AgentID{a}}
	return out, withProcesses(tx, &out)
}

// withProcesses adds the processes that are recorded for an actor's names.
func withProcesses(tx *store.Tx, a *stick.Actor) error {
	for _, n := range a.Names {
		ps, err := tx.Processes(n)
		if err != nil {
			return err
		}

		a.Processes = append(a.Processes, ps...)
	}

	return nil
}

// Person reports whether the caller is a person and acts under its own name. A person that assumes an agent's
// name has no more rights than that agent.
func (id Identity) Person() bool { return id.Caller.Person && id.Agent.Human() }

// findOtherProcess returns a live process that proves that the session of a runs outside of the caller's
// ancestry. It returns the zero process if there is none, or if the caller's own process isn't visible.
func (p *Probes) findOtherProcess(tx *store.Tx, a stick.AgentID, by Caller) (stick.Process, error) {
	recorded, err := tx.Processes(a)
	if err != nil {
		return stick.Process{}, err
	}
	if by.Process.IsZero() && by.As == "" {
		return stick.Process{}, nil
	}

	var missed error
	for _, ev := range recorded {
		if ev.Process == by.Process || ev.Proof != stick.ProvesSession {
			continue
		}

		v, err := p.Verdict(ev)
		if err != nil {
			missed = err
		}

		// One that lives decides, whatever the others are.
		if v == stick.Alive {
			return ev.Process, nil
		}
	}

	return stick.Process{}, missed
}
