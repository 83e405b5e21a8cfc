package stick

import (
	"time"
)

// Fence is what every command of an owner carries: the grant that it believes it has.
type Fence struct {
	Turn  int64
	Lease LeaseID
}

// CheckFence refuses an act of by that doesn't carry the current grant. It fails with [CodeTurnMismatch] if the
// turn isn't the current one, and with [CodeStaleLease] if the lease isn't, or by isn't the owner.
func (r Room) CheckFence(by AgentID, f Fence, now Time) error {
	switch {
	case f.Turn != r.Turn.ID:
		return r.errTurnMismatch(by, f.Turn, now)
	case r.Turn.State == Owned && r.Turn.Owner != by:
		return r.WithStickFacts(Errorf(CodeStaleLease, "turn %d isn't yours; %s", f.Turn, r.Holder(now)).
			Hintf("%s", r.FencedStep(by)))
	case r.Turn.State == Owned && r.Turn.Lease != f.Lease:
		return r.WithStickFacts(Errorf(CodeStaleLease, "you hold turn %d, but that isn't its lease", f.Turn).
			Hintf("%s", r.FencedStep(by)))
	case r.Turn.State != Owned:
		return r.WithStickFacts(Errorf(CodeStaleLease,
			"that isn't the lease of turn %d; %s", f.Turn, r.HolderFor(by, now)).
			Hintf("%s", r.FencedStep(by)))
	}
	return nil
}

// errTurnMismatch refuses an act of by on a turn that isn't the current one.
func (r Room) errTurnMismatch(by AgentID, turn int64, now Time) *Error {
	what := "turn %d is over; %s"
	if turn > r.Turn.ID {
		what = "there is no turn %d yet; %s"
	}
	return r.WithStickFacts(Errorf(CodeTurnMismatch, what, turn, r.HolderFor(by, now)).Hintf("%s", r.FencedStep(by)))
}

// FencedStep returns the hint for a, whose command named a turn or a lease that isn't the current one: what
// it can do next.
func (r Room) FencedStep(a AgentID) Hint {
	m, _ := r.Member(a)
	switch {
	case m.State == Kicked:
		return Hintf("stop; %s", RejoinStep(a))
	case r.Closed:
		return Hintf("stop here; a closed room has no turns")
	case r.Turn.State == Owned && r.Turn.Owner == a:
		return Hintf("repeat it with the turn and lease of turn %d; %s shows them", r.Turn.ID, Cmd("tt try"))
	case r.Turn.State == Reserved && r.Turn.ReservedFor == a:
		return Hintf("take your turn: %s", Cmd("tt wait"))
	}
	return Hintf("stop, and %s", r.NextStep())
}

// RejoinStep returns the hint how a, who was removed from a room, comes back. A person decides that, so it
// needn't ask one.
func RejoinStep(a AgentID) Hint {
	if a.Human() {
		return Hintf("to come back: %s", Cmd("tt join"))
	}
	return Hintf("ask a person; on their word: %s", Cmd("tt join"))
}

// WithStickFacts adds the state of the stick to an error.
func (r Room) WithStickFacts(e *Error) *Error {
	e.With("room_state", r.Turn.State).With("current_turn_id", r.Turn.ID).With("current_owner", nil)
	if r.Closed {
		// What the turn says doesn't matter in a closed room.
		e.With("room_state", StateClosed)
	}

	switch r.Turn.State {
	case Owned:
		e.With("current_owner", r.Turn.Owner)
	case Reserved:
		e.With("reserved_for", r.Turn.ReservedFor)
	}
	return e
}

// NextStep returns the hint what to do without the stick.
func (r Room) NextStep() Hint {
	if r.Turn.State != Owned || r.Closed {
		return Hintf("wait for your turn: %s", Cmd("tt wait"))
	}
	return Hintf("wait: %s; ask: %s", Cmd("tt wait"), Cmd("tt msg send <agent> …", r.Turn.Owner))
}

// Holder says who has the stick, as a part of a sentence.
func (r Room) Holder(now Time) Words {
	switch {
	case r.Closed:
		return "the room is closed"
	case r.Turn.State == Owned:
		return Holds(r.Turn.Owner, now.Sub(r.Turn.GrantedAt))
	case r.Turn.State == Reserved:
		return "the stick is reserved for " + AgentName(r.Turn.ReservedFor) + ", who was named " + Ago(now.Sub(r.Turn.ReservedAt))
	}
	return "nobody holds the stick"
}

// HolderFor says to a who has the stick, as a part of a sentence.
func (r Room) HolderFor(a AgentID, now Time) Words {
	if !r.Closed && r.Turn.State == Owned && r.Turn.Owner == a {
		return Wordsf("you hold turn %d", r.Turn.ID)
	}
	return r.Holder(now)
}

// Holds says how long an agent has held the stick, as a part of a sentence.
func Holds(a AgentID, d time.Duration) Words {
	if d < time.Second {
		return AgentName(a) + " has just taken the stick"
	}
	return AgentName(a) + " has held the stick for " + Age(d)
}

// grantTurn gives the stick to a. Every turn begins here.
func (r Room) grantTurn(a AgentID, lease LeaseID, now Time, byClaim bool) Room {
	t := r.Turn

	// Limits that waited for the next turn apply from here on.
	r.Policy = r.Policy.applyPending()
	r.Turn = Turn{
		ID:            t.ID + 1,
		State:         Owned,
		SequenceIndex: t.SequenceIndex,
		Owner:         a,
		Lease:         lease,
		GrantedAt:     now,
		Prior:         t.Prior,
		HandoffSeq:    t.HandoffSeq,
		HandoffDirect: t.HandoffPending && byClaim,
		NextAction:    t.NextAction,
		Round:         t.Round + 1,
	}
	if m, ok := r.Member(a); ok {
		r.Turn.SequenceIndex = m.Ordinal
		// That its last wait came back without the turn, or its last turn changed nothing, no longer matters.
		r.EditMember(a, func(m *Member) { m.ReturnedAt, m.RestsSince = 0, 0 })
	}

	return r.clampTimes(now)
}

// clampTimes moves times of the owner's acts that are after now to now. Otherwise, once the clock went back,
// the owner's earlier acts would count as the latest, and nothing could renew its lease until the clock
// caught up.
func (r Room) clampTimes(now Time) Room {
	t := &r.Turn
	t.GrantedAt, t.RenewedAt = min(t.GrantedAt, now), min(t.RenewedAt, now)
	t.HeartbeatAt, t.ResumedAt = min(t.HeartbeatAt, now), min(t.ResumedAt, now)

	if m, ok := r.Member(r.Turn.Owner); ok && m.LastSeenAt > now {
		r.EditMember(m.Agent, func(m *Member) { m.LastSeenAt = now })
	}
	return r
}

// freeStick ends the current turn or reservation. Then nobody has the stick.
func (r Room) freeStick(prior AgentID, now Time) Room {
	t := r.Turn
	r.Turn = Turn{
		ID:             t.ID,
		State:          Idle,
		SequenceIndex:  t.SequenceIndex,
		Prior:          prior,
		FreeSince:      now,
		Messages:       t.Messages,
		HandoffSeq:     t.HandoffSeq,
		HandoffPending: t.HandoffPending,
		NextAction:     t.NextAction,
		Round:          t.Round,
	}
	return r
}

// reserveStick reserves the stick for a.
func (r Room) reserveStick(a AgentID, by ReservedBy, now Time) Room {
	r.Turn.State = Reserved
	r.Turn.ReservedFor, r.Turn.ReservedBy, r.Turn.ReservedAt = a, by, now
	r.Turn.FreeSince = 0
	r.Turn.Round++

	// Offers of the last round don't count for a new reservation.
	r.Turn.RoundAt, r.Turn.OfferedAt = 0, 0

	if m, ok := r.Member(a); ok {
		r.Turn.SequenceIndex = m.Ordinal
	}

	return r
}

// Stamp copies the sequence numbers that the store gave to the events of an operation into the room. The fair
// order and the last handoff depend on these numbers, never on times. What the events say to members ends their
// rests.
func (r Room) Stamp(events []Event) Room {
	for _, e := range events {
		held := e.TurnEndedOf()
		switch e.Type {
		case EventJoin:
			r.EditMember(e.From, func(m *Member) { m.JoinSeq = e.Seq })
		case EventRelease, EventPass:
			r.Turn.HandoffSeq = e.Seq
			held = e.From
		}
		if held != "" {
			r.EditMember(held, func(m *Member) { m.HeldSeq = e.Seq })
		}
		r = r.endRestsBy(e)
	}

	return r
}

// Heartbeat records that the owner says that it still works, and acknowledges the grant. proof is what the
// process proves that sends the heartbeat. If it proves the session, the heartbeat counts as activity, but
// heartbeats alone do so only until [Room.HeartbeatsUntil]. Without a guardian, a heartbeat renews the lease,
// whoever sends it. It fails with [CodeTurnMismatch] and [CodeStaleLease].
func (r Room) Heartbeat(by AgentID, f Fence, proof Proof, now Time) (Room, error) {
	if err := r.CheckFence(by, f, now); err != nil {
		return r, err
	}

	r = r.clampTimes(now)
	r.Turn.Acked, r.Turn.OpenedAt = true, 0

	// Somebody else's process may send it, which proves nothing of the owner.
	if r.HeartbeatCounts(proof, now) {
		r.Turn.HeartbeatAt = now
	}

	// While a guardian renews the lease, heartbeats don't.
	if r.Guardian(now) == 0 {
		r.Turn.RenewedAt, r.Turn.GuardianPID, r.Turn.GuardianOf = now, 0, ""
	}

	return r, nil
}

// Renew is a guardian's heartbeat: it renews the lease while the owner's process lives, and isn't an act of
// the owner. It fails with [CodeTurnMismatch] and [CodeStaleLease]; then the guardian ends.
func (r Room) Renew(owner AgentID, f Fence, pid int, of Process, now Time) (Room, error) {
	if err := r.CheckFence(owner, f, now); err != nil {
		return r, err
	}
	r.Turn.RenewedAt, r.Turn.GuardianPID, r.Turn.GuardianOf = now, pid, of.Key()
	return r.clampTimes(now), nil
}

// RestoreSkip is how many turn ids [Room.Restore] skips. After a power loss the database may have lost its
// last commits, and with them the highest turn ids. Its log holds at most 16 MiB of commits, and a grant
// takes at least one page of 4 KiB, so no more than this many grants can be lost.
const RestoreSkip = 4096

// Generation is a stretch in the life of a database. What was granted in an earlier generation is over.
type Generation struct {
	Number int64
	Cause  string // what began it, see [RebootCause]; empty for the first
	Above  int64  // the highest turn that can have been granted before it, in any room; 0 if the rooms themselves know
	Lost   Lost   // what ended the generation before it; zero for nothing
}

// Lost are the events that a database has lost, by their numbers. Some of these numbers may be of other
// rooms, or of none.
type Lost struct{ From, To int64 }

// Words names the events, as a part of a sentence.
func (l Lost) Words() Words {
	if l.From == l.To {
		return Wordsf("event %d", l.To)
	}
	return Wordsf("events %d to %d", l.From, l.To)
}

// The causes of a new generation.
const (
	RebootCause  = "reboot"  // the machine started again
	RestoreCause = "restore" // an older state of the database is back
	LossCause    = "loss"    // the database has lost its last changes
)

// Restore ends the lease or the reservation of a room if it was made in a generation before g: before a
// reboot, or before the database was restored. The handoff stays, and the release rule names the next holder.
func (r Room) Restore(g Generation, s *Probed, now Time) (Room, []Event) {
	was := r.Turn
	r, events := r.beginGeneration(g, now)
	if was.State == Idle || len(events) == 0 {
		return r, events
	}

	// The release rule runs before the event has a number, and the holder whose turn it ends comes last.
	if was.State == Owned {
		r.EditMember(was.Owner, func(m *Member) { m.HeldSeq = unnumbered })
	}

	r, moved := r.rerouteStick(s, now)
	return r, append(events, moved...)
}

// beginGeneration ends what was granted in an earlier generation, and leaves the stick free. The next turn is above all
// that can have been granted.
func (r Room) beginGeneration(g Generation, now Time) (Room, []Event) {
	if r.Generation == g.Number {
		return r, nil
	}

	t := r.Turn
	p := RestoredPayload{
		Generation: g.Number, World: g.Cause, LostFrom: g.Lost.From, LostTo: g.Lost.To,
		Ends: t.State == Owned, Prior: t.Owner,
	}
	if t.State == Reserved {
		p.Prior = t.ReservedFor
	}

	r = r.freeStick("", now)
	r.Generation = g.Number

	// The ids of turns that were lost may still be known to somebody.
	if r.Turn.ID > 0 {
		r.Turn.ID += RestoreSkip
	}

	r.Turn.ID = max(r.Turn.ID, g.Above)
	return r, []Event{r.NewEvent(EventRestored, "", p.Prior).WithPayload(p)}
}
