package stick

import (
	"slices"
)

// Room is a room as the rules see it: the turn, who takes part, who listens. Rules take a Room
// and give a changed one back; they never write into the slices of the one they were given.
type Room struct {
	ID         RoomID
	Path       string
	Closed     bool
	UpdatedAt  Time // when its last event was made, or the room itself
	Policy     Policy
	Generation int64 // of the database, when the turn below was last settled
	Turn       Turn
	Members    []Member // ordered by Ordinal; those that left stay, for the record
	Listeners  []Listener

	SessionEndedAt Time // when a primary session last ended by its own act
}

// TurnState is the stored part of a room's state; the rest is derived by [Room.State].
type TurnState string

// The stored states of a turn.
const (
	Idle     TurnState = "idle"
	Owned    TurnState = "owned"
	Reserved TurnState = "reserved"
)

// ReservedBy says which act reserved the stick.
type ReservedBy string

const (
	// ByRelease is a reservation by the release rule: it lasts Policy.WaiterGrace and then moves on.
	ByRelease ReservedBy = "release"
	// ByPass is a reservation by an explicit pass: it lasts until somebody takes over after Policy.ClaimTTL.
	ByPass ReservedBy = "pass"
)

// Turn is the stick of a room: the current grant, or who may have it next.
type Turn struct {
	ID            int64 // rises by one with each grant, and only then; a restore may skip
	State         TurnState
	SequenceIndex int // ordinal of the member that was named or granted last

	// While owned.
	Owner        AgentID
	Lease        LeaseID
	GrantedAt    Time
	Acked        bool // the owner made any call after the grant
	RenewedAt    Time // the last heartbeat, or the guardian's last renewal
	GuardianPID  int  // the guardian that renews, 0 for none
	IdleNoticeAt Time // when the owner was told that it looks idle
	IdleSince    Time // the activity since which it did
	OpenedAt     Time // when the owner was first seen to be gone

	// While reserved.
	ReservedFor AgentID
	ReservedBy  ReservedBy
	ReservedAt  Time

	// While nobody owns.
	Prior     AgentID // who ended the last turn
	FreeSince Time    // when nobody could be named; zero while reserved or owned

	Messages int64 // sent since the last grant

	// The last handoff. Only a release or a pass writes it, and nothing clears it.
	HandoffSeq     int64
	HandoffPending bool   // no grant since
	HandoffDirect  bool   // the current turn is the first one granted after it, and by a claim
	NextAction     string // its next action, for refusals

	// Offers of a takeover. Evidence only.
	Round     int64 // members told in this round carry its number
	RoundAt   Time  // when the round began, if not with the opening itself
	OfferedAt Time  // the last offer
}

// MemberState says whether a member takes part.
type MemberState string

// The states of a member.
const (
	Joined MemberState = "joined"
	Left   MemberState = "left"
	Kicked MemberState = "kicked"
)

// Member is an agent in a room.
type Member struct {
	Agent    AgentID
	Ordinal  int // place in the order of joining
	State    MemberState
	JoinedAt Time
	JoinSeq  int64 // the event of the last join
	HeldSeq  int64 // the event that ended its last turn, 0 if it never held the stick
	Session  Session

	// Evidence.
	LastSeenAt     Time // its last act
	LastOfferRound int64
	PassedOver     bool // named by a release, didn't claim, wasn't heard of since
	ReturnedAt     Time // when its own wait for work last returned without the turn
	Processes      []Evidence
	HooksSeen      bool // the harness's hooks have fired in this session
	BusySince      Time // a tool call in progress began then
	IdleAt         Time // its harness stopped working then, and no hook fired since
}

// Evidence is a process of a member and what it proves.
type Evidence struct {
	Process Process
	Proof   Proof
}

// Purpose says what a wait is for.
type Purpose string

const (
	// Work wants the turn.
	Work Purpose = "work"
	// Listen wants events only: it is never granted, never named and never offered anything.
	Listen Purpose = "listen"
	// Wake is the wait of a harness for something that its idle agent is to be woken for. It
	// isn't the agent's own, which may wait beside it.
	Wake Purpose = "wake"
)

// Listener is one blocked wait of a member. Its process holds a lock that the operating system
// releases, so that it is known to live without being asked.
type Listener struct {
	ID        ListenerID
	Agent     AgentID
	Purpose   Purpose
	Deaf      bool // it ignores events
	Process   Process
	StartedAt Time
}

// Probed is what was probed before a transaction: verdicts by process, and whether a listener
// still holds its lock. What wasn't probed is Unknown and is noted, so that the operation can
// probe it and run again.
type Probed struct {
	Processes map[Process]Verdict
	Listeners map[ListenerID]Verdict

	missed bool
}

// Incomplete reports whether a rule asked for something that wasn't probed.
func (s *Probed) Incomplete() bool { return s.missed }

func (s *Probed) process(p Process) Verdict {
	v, ok := s.Processes[p]
	if !ok {
		s.missed = true
		return Unknown
	}
	return v
}

func (s *Probed) listener(id ListenerID) Verdict {
	v, ok := s.Listeners[id]
	if !ok {
		s.missed = true
		return Unknown
	}
	return v
}

// Verdict says whether the member is alive. It is Gone only when all its recorded processes prove
// it, and Alive when one of them proves that; a member without processes is Unknown.
func (m Member) Verdict(s *Probed) Verdict {
	gone := len(m.Processes) > 0
	for _, e := range m.Processes {
		switch s.process(e.Process) {
		case Alive:
			if e.Proof != ProvesCarrier {
				return Alive
			}
			gone = false
		case Gone:
			if e.Proof == ProvesTurn {
				gone = false
			}
		case Unknown:
			gone = false
		}
	}
	if gone {
		return Gone
	}
	return Unknown
}

// Member returns the member named a, whatever its state.
func (r Room) Member(a AgentID) (Member, bool) {
	i := r.index(a)
	if i < 0 {
		return Member{}, false
	}
	return r.Members[i], true
}

// index is the place of a among the members, -1 for none. Rooms with a thousand members ask it a
// thousand times, so that it copies no member to compare it.
func (r Room) index(a AgentID) int {
	for i := range r.Members {
		if r.Members[i].Agent == a {
			return i
		}
	}
	return -1
}

func (r Room) joined(a AgentID) bool {
	m, ok := r.Member(a)
	return ok && m.State == Joined
}

// edit changes one member of r without touching the slice that r was made with.
func (r *Room) edit(a AgentID, change func(*Member)) {
	i := r.index(a)
	if i < 0 {
		return
	}
	r.Members = slices.Clone(r.Members)
	change(&r.Members[i])
}

func (r Room) gone(a AgentID, s *Probed) bool {
	m, ok := r.Member(a)
	return ok && m.Verdict(s) == Gone
}

// Listening reports whether a waits now, with the given intent if one is given.
func (r Room) Listening(a AgentID, intent Purpose, s *Probed) bool {
	return slices.ContainsFunc(r.Listeners, func(l Listener) bool {
		return l.Agent == a && (intent == "" || l.Purpose == intent) && s.listener(l.ID) != Gone
	})
}

// waiting lists the members that could be named or offered something: joined, not gone, and with
// a live listener that wants work. The longest without the stick comes first.
func (r Room) waiting(s *Probed) []Member {
	var out []Member
	for _, m := range r.Members {
		if m.State == Joined && r.Listening(m.Agent, Work, s) && m.Verdict(s) != Gone {
			out = append(out, m)
		}
	}
	return r.inOrder(out)
}

// another reports whether a member other than those given waits for work.
func (r Room) another(s *Probed, but ...AgentID) bool {
	for _, m := range r.Members {
		if m.State == Joined && !slices.Contains(but, m.Agent) && r.Listening(m.Agent, Work, s) && m.Verdict(s) != Gone {
			return true
		}
	}
	return false
}

// inOrder sorts members by the room's order: fair puts the one first that has gone longest
// without the stick, counting from its joining; sequence starts behind the member that was
// named or granted last.
func (r Room) inOrder(ms []Member) []Member {
	slices.SortStableFunc(ms, func(a, b Member) int {
		if r.Policy.Order == Sequence {
			return r.distance(a) - r.distance(b)
		}
		return int(max(-1, min(1, max(a.HeldSeq, a.JoinSeq)-max(b.HeldSeq, b.JoinSeq))))
	})
	return ms
}

// distance is how many places m stands behind the sequence index, going round.
func (r Room) distance(m Member) int {
	d := m.Ordinal - r.Turn.SequenceIndex
	if d <= 0 {
		d += 1 << 30
	}
	return d
}

// Active reports whether a member takes part now: it listens, or its process lives, or it acted
// within Policy.PresenceTTL; and it isn't gone.
func (r Room) Active(a AgentID, now Time, s *Probed) bool {
	m, ok := r.Member(a)
	if !ok || m.State != Joined {
		return false
	}
	v := m.Verdict(s)
	if v == Gone {
		return false
	}
	return v == Alive || !(Deadline{m.LastSeenAt, r.Policy.PresenceTTL}).Due(now) || r.Listening(a, "", s)
}

// Touch records an act of a member: it is seen, it is passed over no longer, and if it owns the
// stick it has acknowledged the grant and isn't gone.
func (r Room) Touch(a AgentID, now Time) Room {
	r.edit(a, func(m *Member) { m.LastSeenAt, m.PassedOver = now, false })
	if r.Turn.State == Owned && r.Turn.Owner == a {
		r.Turn.Acked, r.Turn.OpenedAt = true, 0
		return r.noFuture(now)
	}
	return r
}

// LeaseKeeper says what keeps the current lease from timing out.
type LeaseKeeper string

// What keeps a lease.
const (
	KeptByProcess   LeaseKeeper = "process"
	KeptByGuardian  LeaseKeeper = "guardian"
	KeptByHeartbeat LeaseKeeper = "heartbeat"
)

// LeaseKeptBy says what keeps the lease of the current owner.
func (r Room) LeaseKeptBy(s *Probed) LeaseKeeper {
	m, _ := r.Member(r.Turn.Owner)
	switch {
	case m.Verdict(s) == Alive:
		return KeptByProcess
	case r.Turn.GuardianPID != 0:
		return KeptByGuardian
	}
	return KeptByHeartbeat
}

// lease is when the current lease times out, unless a process keeps it.
func (r Room) lease() Deadline {
	m, _ := r.Member(r.Turn.Owner)
	return Deadline{max(r.Turn.GrantedAt, r.Turn.RenewedAt, m.LastSeenAt), r.Policy.OwnerLeaseTTL}
}

// LeaseExpiresAt is when the lease times out; zero when a process keeps it or nobody owns.
func (r Room) LeaseExpiresAt(s *Probed) Time {
	if r.Turn.State != Owned || r.LeaseKeptBy(s) == KeptByProcess {
		return 0
	}
	return r.lease().At()
}

// ClaimExpiresAt is when the reservation ends its recipient's first right; zero when there is none.
func (r Room) ClaimExpiresAt() Time {
	if r.Turn.State != Reserved {
		return 0
	}
	return r.claim().At()
}

// claim is the limit of the current reservation.
func (r Room) claim() Deadline {
	ttl := r.Policy.ClaimTTL
	if r.Turn.ReservedBy == ByRelease {
		ttl = r.Policy.WaiterGrace
	}
	return Deadline{r.Turn.ReservedAt, ttl}
}

// activity is when the owner last did something.
func (r Room) activity() Time {
	m, _ := r.Member(r.Turn.Owner)
	return max(r.Turn.GrantedAt, m.LastSeenAt)
}

// idle is when an owner whose lease is kept counts as idle. A tool call in progress counts as
// activity, for at most four times the limit.
func (r Room) idle() Deadline {
	m, _ := r.Member(r.Turn.Owner)
	d := Deadline{r.activity(), r.Policy.OwnerIdleTTL}
	if !m.BusySince.IsZero() {
		if busy := (Deadline{m.BusySince, 4 * r.Policy.OwnerIdleTTL}); busy.At() > d.At() {
			return busy
		}
	}
	return d
}

// idleNoticeSent reports whether the owner was told that it looks idle and has done nothing since.
func (r Room) idleNoticeSent() bool {
	return !r.Turn.IdleNoticeAt.IsZero() && r.Turn.IdleSince == r.activity()
}

// idleNoticeEnds is when an owner that was told that it looks idle may be replaced.
func (r Room) idleNoticeEnds() Deadline { return Deadline{r.Turn.IdleNoticeAt, r.Policy.WaiterGrace} }

// unacknowledged is when a grant that its owner never reacted to may be taken over. It exists
// only where a reaction would be seen, that is where hooks fire.
func (r Room) unacknowledged() (Deadline, bool) {
	m, _ := r.Member(r.Turn.Owner)
	return Deadline{r.Turn.GrantedAt, r.Policy.ClaimTTL}, m.HooksSeen && !r.Turn.Acked
}

func (r Room) grace(from Time) Deadline { return Deadline{from, r.Policy.WaiterGrace} }

// earlier returns the earlier of two times, of which zero means never.
func earlier(a, b Time) Time {
	if a.IsZero() || (!b.IsZero() && b < a) {
		return b
	}
	return a
}

// since is when a deadline that is due fell due. It is zero when that can't be said because the
// clock went back: were it now, whatever is counted from it would never come.
func since(d Deadline, now Time) Time {
	if d.At() > now {
		return 0
	}
	return d.At()
}
