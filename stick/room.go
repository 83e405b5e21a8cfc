package stick

import (
	"slices"
)

// Room is a room as the rules see it: the turn, the members, and the waits that block now. A rule returns a
// changed Room and never writes into the slices of the one it was given.
type Room struct {
	ID         RoomID
	Path       string // of the checkout that is meant on this host; empty where it has none
	Key        string // names the room where several hosts share it; else empty
	Closed     bool
	Paused     Pause
	UpdatedAt  Time // when its last event, or the room itself, was made
	Policy     Policy
	Generation int64 // the database's generation that the turn belongs to, see [Room.Restore]
	Turn       Turn
	Members    []Member // ordered by Ordinal; those that left stay in the list
	Listeners  []Listener

	SessionEndedAt Time // when a primary session last ended in an orderly way
}

// TurnState is the stored part of a room's state. [Room.State] derives the rest.
type TurnState string

// The stored states of a turn.
const (
	Idle     TurnState = "idle"
	Owned    TurnState = "owned"
	Reserved TurnState = "reserved"
)

// ReservedBy says what reserved the stick.
type ReservedBy string

const (
	// ByRelease: the release rule did. After Policy.WaiterGrace the reservation moves on.
	ByRelease ReservedBy = "release"
	// ByPass: a pass did. After Policy.ClaimTTL others may take over; until one does, the reservation stays.
	ByPass ReservedBy = "pass"
)

// Turn is the stick of a room: the current grant, or who may have it next.
type Turn struct {
	ID            int64 // rises by one with each grant, and only then; a restore may skip
	State         TurnState
	SequenceIndex int // ordinal of the member that was last granted the stick or named for it

	// While owned.
	Owner        AgentID
	Lease        LeaseID
	GrantedAt    Time
	Acked        bool   // the owner has made a call since the grant
	RenewedAt    Time   // when a heartbeat or the guardian last renewed the lease
	HeartbeatAt  Time   // the last heartbeat that counted as activity
	GuardianPID  int    // the guardian that has last renewed the lease, 0 for none; see [Room.Guardian]
	GuardianOf   string // the key of the process that it serves
	IdleNoticeAt Time   // when the owner was told that it looks idle
	IdleSince    Time   // its last activity before that
	OpenedAt     Time   // when the owner was first seen to be gone
	ResumedAt    Time   // when a pause last ended; the owner's time limits count from then

	// While reserved.
	ReservedFor AgentID
	ReservedBy  ReservedBy
	ReservedAt  Time

	// While nobody owns.
	Prior     AgentID // who ended the last turn
	FreeSince Time    // since when the stick is free; zero while it is reserved or owned

	Messages int64 // sent since the last grant

	// The last handoff. Only a release or a pass writes it, and nothing clears it.
	HandoffSeq     int64
	HandoffPending bool   // no turn was granted since
	HandoffDirect  bool   // the current turn is the first one after it, and was granted by a claim
	NextAction     string // what the last handoff says the holder should do, for those who look

	// Offers of a takeover. They don't follow from the log.
	Round     int64 // the number of the round; Member.LastOfferRound is compared with it
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
	Name     string // what people call it, see package names; empty where that is its id
	Ordinal  int    // place in the order of members
	State    MemberState
	JoinedAt Time
	JoinSeq  int64 // the event of the last join
	HeldSeq  int64 // the event that ended its last turn, 0 if it never held the stick
	Session  Session

	// Evidence, which doesn't follow from the log.
	Checkout       Checkout // in which it acted last
	LastSeenAt     Time     // its last act; heartbeats of a turn are in the turn, see [Room.SeenAt]
	LastOfferRound int64    // the last round in which it was offered a takeover
	PassedOver     bool     // a release named it, and it didn't claim the stick and hasn't acted since
	ReturnedAt     Time     // when its own wait for work last returned without the turn
	WaitedSince    Time     // when that wait began, or the first of those that followed each other closely
	RestsSince     Time     // since when it rests, see [Room.MayRest]; zero if it doesn't
	Processes      []Evidence
	HooksSeen      bool // the harness's hooks have fired in this session
	BusySince      Time // when the tool call that is in progress began
	IdleAt         Time // when its harness stopped working, if no hook has fired since
}

// Evidence is a process of a member and what it proves.
type Evidence struct {
	Process Process
	Proof   Proof
	Gone    bool // its host has found that it ended, which other hosts can't see for themselves
}

// Purpose says what a wait is for.
type Purpose string

const (
	// Work waits for the turn.
	Work Purpose = "work"
	// Listen waits for events only. Such a wait is never granted the turn, named for it or offered it.
	Listen Purpose = "listen"
	// Wake is a harness's wait for something that it should wake its idle agent for. The agent itself
	// may wait at the same time.
	Wake Purpose = "wake"
)

// Listener is one blocked wait of a member. Its process holds a lock that the operating system releases when
// the process ends. So others see that it is alive without asking it.
type Listener struct {
	ID        ListenerID
	Agent     AgentID
	Purpose   Purpose
	Deaf      bool // it waits for the turn only, and events don't wake it
	Process   Process
	StartedAt Time
}

// Probed holds the verdicts that were probed before a transaction: of processes, and of listeners by whether
// they still hold their lock. What wasn't probed is Unknown. A rule that asks for it makes Probed
// incomplete, so that the operation can probe it and run again.
type Probed struct {
	Processes map[Process]Verdict
	Listeners map[ListenerID]Verdict

	missed bool
}

// Incomplete reports whether a rule asked for something that wasn't probed.
func (s *Probed) Incomplete() bool { return s.missed }

func (s *Probed) processVerdict(p Process) Verdict {
	v, ok := s.Processes[p]
	if !ok {
		s.missed = true
		return Unknown
	}
	return v
}

// ListenerVerdict returns what was probed of a wait, and notes that it is missing if nothing was.
func (s *Probed) ListenerVerdict(id ListenerID) Verdict {
	v, ok := s.Listeners[id]
	if !ok {
		s.missed = true
		return Unknown
	}
	return v
}

// Verdict returns whether the member is alive. It is Alive if one of its recorded processes proves that, and
// Gone only if all of them prove that. A member without processes is Unknown.
func (m Member) Verdict(s *Probed) Verdict {
	gone := len(m.Processes) > 0
	for _, e := range m.Processes {
		switch s.processVerdict(e.Process) {
		// A carrier outlives its sessions, so that it proves no life.
		case Alive:
			if e.Proof != ProvesCarrier {
				return Alive
			}
			gone = false

		// The end of a process that comes and goes proves nothing.
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

// Member returns the member a in whatever state it is, and false if there is none.
func (r Room) Member(a AgentID) (Member, bool) {
	i := r.memberIndex(a)
	if i < 0 {
		return Member{}, false
	}
	return r.Members[i], true
}

// memberIndex returns the place of a among the members, -1 for none. It copies no member to compare it, because a
// room with a thousand members calls it a thousand times.
func (r Room) memberIndex(a AgentID) int {
	for i := range r.Members {
		if r.Members[i].Agent == a {
			return i
		}
	}
	return -1
}

// IsJoined reports whether a takes part in the room.
func (r Room) IsJoined(a AgentID) bool {
	m, ok := r.Member(a)
	return ok && m.State == Joined
}

// EditMember changes a member in a copy of r's members, because other Rooms may share the slice.
func (r *Room) EditMember(a AgentID, change func(*Member)) {
	i := r.memberIndex(a)
	if i < 0 {
		return
	}

	// The slice may belong to another Room, too.
	r.Members = slices.Clone(r.Members)
	change(&r.Members[i])
}

// IsGone reports whether a member is known to be gone.
func (r Room) IsGone(a AgentID, s *Probed) bool {
	m, ok := r.Member(a)
	return ok && m.Verdict(s) == Gone
}

// Listening reports whether a waits now, for the purpose intent unless that is empty.
func (r Room) Listening(a AgentID, intent Purpose, s *Probed) bool {
	return slices.ContainsFunc(r.Listeners, func(l Listener) bool {
		return l.Agent == a && (intent == "" || l.Purpose == intent) && s.ListenerVerdict(l.ID) != Gone
	})
}

// Active reports whether a member takes part now. It isn't gone, and it waits, its process is alive, or it
// has acted within Policy.PresenceTTL.
func (r Room) Active(a AgentID, now Time, s *Probed) bool {
	m, ok := r.Member(a)
	if !ok || m.State != Joined {
		return false
	}

	v := m.Verdict(s)
	if v == Gone {
		return false
	}

	return v == Alive || !(Deadline{r.SeenAt(m), r.Policy.PresenceTTL}).Due(now) || r.Listening(a, "", s)
}

// SeenAt returns when a member was last seen: at its last act or, if it owns the stick, at its last
// heartbeat. That is kept with the turn, because heartbeats alone carry neither the turn nor a reservation
// for ever.
func (r Room) SeenAt(m Member) Time {
	if r.Turn.State != Owned || r.Turn.Owner != m.Agent {
		return m.LastSeenAt
	}

	renewed := r.Turn.RenewedAt
	if r.Turn.GuardianPID != 0 {
		renewed = 0 // its guardian did that
	}

	return max(m.LastSeenAt, r.Turn.HeartbeatAt, renewed)
}

// Touch records that a member acts: it was seen now and is no longer passed over. An owner has thereby
// acknowledged its grant, and isn't gone.
func (r Room) Touch(a AgentID, now Time) Room {
	r.EditMember(a, func(m *Member) { m.LastSeenAt, m.PassedOver = now, false })
	if r.Turn.State == Owned && r.Turn.Owner == a {
		// An owner that acts isn't gone, whatever was thought of it.
		r.Turn.Acked, r.Turn.OpenedAt = true, 0
		return r.clampTimes(now)
	}
	return r
}
