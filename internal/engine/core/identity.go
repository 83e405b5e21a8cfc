package core

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// Identity is a caller with its name.
type Identity struct {
	Agent      stick.AgentID
	Caller     Caller
	Session    store.Session
	Note       string // something the caller should be told about its name
	Explain    []string
	Unrecorded bool   // the session isn't recorded yet
	before     string // the key by which it was recorded until its id was told; else empty
}

// Identify names the caller. It writes nothing. It fails with [stick.CodeIdentityMismatch] when
// an assumed name belongs to a session that lives elsewhere.
func Identify(tx *store.Tx, probes *Probes, by Caller) (Identity, error) {
	id := Identity{Caller: by}
	switch {
	case by.As != "":
		id.Agent = stick.AgentID(by.As)
		elsewhere, err := probes.elsewhere(tx, id.Agent, by)
		if err != nil {
			return id, err
		}
		if !elsewhere.IsZero() {
			return id, stick.Errorf(stick.CodeIdentityMismatch, "%s is a session that lives in process %d, and this isn't it", id.Agent, elsewhere.PID).
				With("agent_id", id.Agent).With("pid", elsewhere.PID).
				Hintf("act as yourself: call without --as, and with TT_HARNESS_AGENT_ID unset")
		}
		return id, nil
	case by.Person:
		id.Agent = HumanID(by)
		id.Session = store.Session{Key: string(id.Agent), Agent: id.Agent, Harness: by.Harness}
		_, known, err := tx.AgentOf(id.Session.Key)
		id.Unrecorded = !known
		return id, err
	}
	return id, id.nameBySession(tx, probes)
}

// nameBySession names an agent by its session, or by its process where the session isn't known.
func (id *Identity) nameBySession(tx *store.Tx, probes *Probes) error {
	by := id.Caller
	id.Session = store.Session{Key: by.Seed(), Harness: by.Harness, ID: by.SessionID}
	agent, known, err := id.sessionOfProcess(tx)
	if err != nil {
		return err
	}
	if !known {
		id.Unrecorded = true
		id.Agent, err = newName(tx, by.Harness, by.Seed())
		return err
	}
	id.Agent = agent
	elsewhere, err := probes.elsewhere(tx, agent, by)
	if err != nil {
		return err
	}
	// One session, resumed in two terminals: the second is a member of its own, and stays it when the
	// first one ends.
	apart := id.Session.Key + " in " + by.Process.Key()
	if elsewhere.IsZero() {
		if by.SessionID == "" || by.Process.IsZero() || id.Session.Key != by.Seed() {
			return nil
		}
		if agent, known, err = tx.AgentOf(apart); known {
			id.Agent, id.Session.Key = agent, apart
		}
		return err
	}
	id.Session.Key = apart
	id.Note = fmt.Sprintf("the session of %s also lives in process %d; here you are another member", agent, elsewhere.PID)
	id.Explain = append(id.Explain, id.Note+".")
	if id.Agent, known, err = tx.AgentOf(id.Session.Key); known || err != nil {
		return err
	}
	id.Unrecorded = true
	for n := 2; ; n++ {
		id.Agent = stick.AgentID(fmt.Sprintf("%s-%d", agent, n))
		if taken, err := tx.Known(id.Agent); err != nil || !taken {
			return err
		}
	}
}

// sessionOfProcess finds the agent of the caller's session, or of the session that its process is known to
// carry: where the call tells no session, and where it tells one that may be over. A process that
// carries several sessions tells nothing of the caller's.
func (id *Identity) sessionOfProcess(tx *store.Tx) (agent stick.AgentID, known bool, err error) {
	by := id.Caller
	told := by.SessionID != "" && !by.Earlier
	if told || by.Process.IsZero() || by.Proof == stick.ProvesCarrier {
		agent, known, err = tx.AgentOf(id.Session.Key)
		if known || err != nil || by.Process.IsZero() || by.Proof == stick.ProvesCarrier {
			return agent, known, err
		}
	}
	carried, known, err := tx.SessionOf(by.Process)
	switch {
	case err != nil:
		return "", false, err
	case told:
		// A session that was known by its process only, until something tells its id.
		if !known || carried.ID != "" || carried.Harness != by.Harness {
			return "", false, nil
		}
		id.Session.Agent, id.Unrecorded, id.before = carried.Agent, true, carried.Key
		return carried.Agent, true, nil
	case !known:
		return tx.AgentOf(id.Session.Key)
	}
	if carried.Key != id.Session.Key {
		id.Explain = append(id.Explain, fmt.Sprintf("Process %d is known to carry the session of %s.", by.Process.PID, carried.Agent))
	}
	id.Session = carried
	return carried.Agent, true, nil
}

// IdentifyUnrecorded names a caller where there is no database yet.
func IdentifyUnrecorded(by Caller) Identity {
	id := Identity{Caller: by, Unrecorded: true}
	switch {
	case by.As != "":
		id.Agent = stick.AgentID(by.As)
	case by.Person:
		id.Agent = HumanID(by)
	default:
		id.Agent = shortName(by.Harness, by.Seed(), 8)
	}
	return id
}

// Person tells whether the caller is a person and acts as itself: who takes an agent's name has no
// more rights than an agent.
func (id Identity) Person() bool { return id.Caller.Person && id.Agent.Human() }

func HumanID(by Caller) stick.AgentID { return stick.AgentID(by.Harness + ":" + by.User) }

// shortName makes an agent's id of the first n hexadecimal digits of its seed's sum.
func shortName(prefix, seed string, n int) stick.AgentID {
	sum := sha256.Sum256([]byte(seed))
	return stick.AgentID(prefix + ":" + hex.EncodeToString(sum[:])[:n])
}

// newName makes the id of an agent that isn't known yet, longer when it collides.
func newName(tx *store.Tx, prefix, seed string) (stick.AgentID, error) {
	for n := 8; ; n++ {
		a := shortName(prefix, seed, n)
		if taken, err := tx.Known(a); err != nil || !taken || n == 2*sha256.Size {
			return a, err
		}
	}
}

// elsewhere is a process that proves that a's session lives outside of the caller's ancestry;
// zero if there is none, or if the caller's own process can't be seen.
func (s *Probes) elsewhere(tx *store.Tx, a stick.AgentID, by Caller) (stick.Process, error) {
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
		v, err := s.Verdict(ev.Process)
		if err != nil {
			missed = err
		}
		if v == stick.Alive {
			return ev.Process, nil
		}
	}
	return stick.Process{}, missed
}

// Record stores the caller's session and process. A process that is new for an agent which owns
// the stick, or has it reserved, rings: those who wait for the agent's death have another to watch.
func (id Identity) Record(tx *store.Tx, probes *Probes) error {
	by := id.Caller
	if id.Unrecorded && id.Session.Key != "" {
		id.Session.Agent = id.Agent
		if err := tx.PutSession(id.Session); err != nil {
			return err
		}
	}
	if id.before != "" { // it is the same session, and ends with this one
		if _, err := tx.EndSession(id.before, id.Agent); err != nil {
			return err
		}
	}
	if by.Process.IsZero() || (by.Person && by.As != "") {
		return nil // a person's shell says nothing about the agent whose name the person assumes
	}
	recorded, err := tx.Processes(id.Agent)
	if err != nil {
		return err
	}
	ev := stick.Evidence{Process: by.Process, Proof: by.Proof}
	if slices.Contains(recorded, ev) {
		return id.recordReturn(tx, ev)
	}
	// A new process is the moment to forget those that have ended: what lives outweighs them.
	var missed error
	for _, old := range recorded {
		v, err := probes.Verdict(old.Process)
		if err != nil {
			missed = err
		} else if v == stick.Gone {
			if err := tx.DropProcess(id.Agent, old.Process); err != nil {
				return err
			}
		}
	}
	if missed != nil {
		return missed
	}
	if err := tx.PutProcess(id.Agent, id.Session.Key, ev); err != nil {
		return err
	}
	rooms, err := tx.HeldBy(id.Agent)
	for _, r := range rooms {
		tx.Ring(r)
	}
	return err
}

// recordReturn notes that a process carries again a session that it has carried before, for calls that
// don't tell theirs.
func (id Identity) recordReturn(tx *store.Tx, ev stick.Evidence) error {
	by := id.Caller
	if by.As != "" || by.Person || by.SessionID == "" || by.Earlier || by.Proof == stick.ProvesCarrier {
		return nil
	}
	carried, known, err := tx.SessionOf(ev.Process)
	if err != nil || known && carried.Key == id.Session.Key {
		return err
	}
	return tx.PutProcess(id.Agent, id.Session.Key, ev)
}

// sign adds to the events that the caller makes who it is beyond its name.
func (id Identity) sign(events []stick.Event) []stick.Event {
	by := id.Caller
	for i, e := range events {
		if e.From != id.Agent {
			continue
		}
		events[i].Session = by.SessionID
		if by.As != "" || by.Terminal != "" {
			named := stick.Caller{Terminal: by.Terminal}
			if by.As != "" {
				named.Override = by.AsSource
			}
			events[i] = events[i].CalledBy(named)
		}
	}
	return events
}
