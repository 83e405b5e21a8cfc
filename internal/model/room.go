// Package model says the rules of a room and of its tasks a second time, as docs/PROTOCOL.md states them.
// Tests of package stick play the same random acts by the rules and by the model, and compare the two after
// each act.
//
// The model has nothing in common with package stick: it imports nothing, counts ticks where the rules keep
// deadlines, knows what the world really is where the rules know what was probed, and keeps the fair order as
// a list where they compare numbers of events. So a mistake shows unless it was made twice. Who changes a
// rule changes the protocol first, and then the model by what the protocol says, without a look at the rule.
//
// Where the protocol leaves something open, such as which of several waits reads the room first, the model is
// told what happened, and says whether that was allowed.
package model

// MaxAgents is how many agents a room has at most. All of a room is in arrays, so that an assignment copies
// it.
const MaxAgents = 4

// Who is the place of an agent in [Room.Agents].
type Who int8

// Nobody is no agent.
const Nobody Who = -1

// Never is the tick of what hasn't happened, or won't.
const Never = -1

// Minute is a minute in ticks, which the protocol names at some places.
const Minute = 2

// Stage says who has the stick.
type Stage uint8

// The stages of a room.
const (
	Idle Stage = iota
	Owned
	Reserved
)

// Proof says what the process of an agent proves to the others.
type Proof uint8

// What processes prove.
const (
	Session Proof = iota // that the agent is alive, and that it is gone
	Carrier              // a daemon: that the agent is gone
	Person               // a person's shell: that the person is alive
	Hidden               // a session in a pid namespace of its own: nothing
	Guarded              // the same, and a guardian runs while it holds the stick
)

// Process is what a process of an agent really does.
type Process uint8

// The states of a process.
const (
	Running Process = iota
	Mute            // it runs, and the agent does nothing
	Ended
	Restarted // another process has taken the agent on, and hasn't called yet
)

// Verdict is what the others can know of an agent.
type Verdict uint8

// The verdicts.
const (
	Unknown Verdict = iota
	Alive
	Gone
)

// Membership says whether an agent takes part.
type Membership uint8

// The states of a membership.
const (
	Outside Membership = iota
	Joined
	Removed
)

// Purpose is what an agent waits for.
type Purpose uint8

// The purposes of a wait.
const (
	NoWait Purpose = iota
	ForWork
	ForEvents
)

// Enforce says how strictly the room judges edits, the mildest first.
type Enforce uint8

// How strict a room is.
const (
	Off Enforce = iota
	Warn
	Scopes
	Stick
)

// Limits are the policies that protect whoever has the stick, in ticks.
type Limits struct {
	Grace, Claim, Lease, Idle int
}

// noLimits are limits of which none waits for the next turn.
var noLimits = Limits{Never, Never, Never, Never}

// The paths that can be reserved: two files, and the directory that holds the second.
const (
	File = iota
	FileBelow
	Directory
	paths
)

// ReservationTTL is how long a reservation of a path lasts, in ticks.
const ReservationTTL = 12

// Reservation is the reservation of one path.
type Reservation struct {
	By     Who
	MadeAt int
	Number int // an earlier reservation has a lower one
}

// Agent is an agent, its process and its wait.
type Agent struct {
	Proof    Proof
	HasHooks bool
	Parent   Who // in whose first process it runs as a tool call

	Membership Membership
	Ordinal    int // its place in the order of members, from 1; 0 until it joins
	LastAct    int
	BusySince  int // since when a tool call is in progress
	PassedOver bool
	Rests      bool // its last turn has changed nothing, and nothing has called it since
	HasOffer   bool // the open takeover was offered to it in this round
	ReturnedAt int  // when its own wait for work last returned without the turn

	Process Process
	Run     int // counts its processes
	Seen    int // the process that its last call recorded, by that count; 0 for none

	Wait    Purpose
	Stopped bool
	Woken   bool
	Watches bool // its wait notices when the process of the holder or the recipient ends
	Alarm   int  // when its wait looks at the latest, because time alone may change its answer
}

// Room is a room with its surroundings.
type Room struct {
	Now       int
	Count     Who // how many agents there are
	Agents    [MaxAgents]Agent
	FairOrder [MaxAgents]Who // the agent comes first that has held the stick, or joined, longest ago

	Limits    Limits
	NextTurn  Limits // limits that wait for the next turn
	Heartbeat int    // heartbeat_interval
	Sequence  bool   // the order is sequence, not fair
	Enforce   Enforce

	Closed, Paused bool
	Stage          Stage
	Turn           int // counts the grants
	LastOrdinal    int // of the member that was last granted the stick or named for it

	Owner       Who
	GrantedAt   int
	ResumedAt   int
	Acked       bool // the owner has called since its grant
	HeartbeatAt int  // of the last heartbeat that counts as an act
	RenewedAt   int
	GuardianAt  int // when a guardian last renewed the lease
	NoticeAt    int // when the owner was told that it looks idle,
	NoticeOf    int // and since when it was idle then
	GoneSince   int // when the owner was first found to be gone

	Recipient  Who
	ByPass     bool // the stick was reserved by a pass, else by a release
	ReservedAt int

	Prior     Who // who ended the last turn
	FreeSince int

	OfferedAt int // the last offer of this round

	HasHandoff     bool
	HandoffPending bool // no turn was granted since
	HandoffDirect  bool // this turn is the first since, and was claimed

	Reservations [paths]Reservation
	made         int // counts the reservations
}

// NewRoom returns a room that nobody has joined, with agents that never called.
func NewRoom(limits Limits, sequence bool, agents ...Agent) Room {
	r := Room{
		Count: Who(len(agents)), Limits: limits, NextTurn: noLimits, Heartbeat: 1, Sequence: sequence, Enforce: Warn,
		Owner: Nobody, Recipient: Nobody, Prior: Nobody,
		ResumedAt: Never, HeartbeatAt: Never, RenewedAt: Never, GuardianAt: Never,
		NoticeAt: Never, GoneSince: Never, OfferedAt: Never,
	}

	for i := range r.Reservations {
		r.Reservations[i].By = Nobody
	}
	for i := range r.FairOrder {
		r.FairOrder[i] = Who(i)
	}

	for i, a := range agents {
		a.Run, a.LastAct = 1, Never
		a.BusySince, a.ReturnedAt, a.Alarm = Never, Never, Never
		r.Agents[i] = a
	}

	return r
}
