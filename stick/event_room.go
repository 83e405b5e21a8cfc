package stick

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// ClaimPayload is the payload of [EventClaim].
type ClaimPayload struct {
	Caller
	Claim      ClaimReason `json:"claim,omitempty"`       // why the member has the turn
	Lease      string      `json:"lease,omitempty"`       // the sum of the lease granted
	HandoffSeq int64       `json:"handoff_seq,omitempty"` // the handoff that was waiting

	WaitedSince Time `json:"waited_since,omitzero"` // since when the member had waited for the turn; absent if it hadn't
}

// ReleasePayload is the payload of [EventRelease].
type ReleasePayload struct {
	Caller
	Lease   string `json:"lease,omitempty"`           // the sum of the lease that ended
	Expires Time   `json:"claim_expires_at,omitzero"` // until when the named member may take the stick
	Nobody  string `json:"nobody,omitempty"`          // why nobody is named
	Rests   bool   `json:"rests,omitempty"`           // the turn changed nothing, so its owner rests
}

// PassPayload is the payload of [EventPass].
type PassPayload struct {
	Caller
	Lease     string `json:"lease,omitempty"`           // the sum of the lease that ended
	Reachable *bool  `json:"reachable,omitempty"`       // whether the recipient waits now
	Expires   Time   `json:"claim_expires_at,omitzero"` // until when the recipient may take the stick
	Rests     bool   `json:"rests,omitempty"`           // the turn changed nothing, so its owner rests
}

// ReroutedPayload is the payload of [EventRerouted].
type ReroutedPayload struct {
	Caller
	Prior   AgentID `json:"prior,omitempty"`           // who lost the reservation
	Verdict Verdict `json:"verdict,omitempty"`         // of the member that lost it
	Expires Time    `json:"claim_expires_at,omitzero"` // until when the named member may take the stick
	Nobody  string  `json:"nobody,omitempty"`          // why nobody is named
}

// TakeoverPayload is the payload of [EventTakeover].
type TakeoverPayload struct {
	Caller
	Lease      string    `json:"lease,omitempty"`       // the sum of the lease granted
	HandoffSeq int64     `json:"handoff_seq,omitempty"` // the handoff that was waiting
	Cause      Cause     `json:"cause,omitempty"`       // what opened the takeover
	Prior      AgentID   `json:"prior,omitempty"`       // who lost the stick, or a reservation of it
	Verdict    Verdict   `json:"verdict,omitempty"`     // of the member that lost it
	Ends       bool      `json:"ends_turn,omitempty"`   // a turn ended without a handoff
	RelayedBy  AgentID   `json:"relayed_by,omitempty"`  // the agent that relayed a person's word
	Told       []AgentID `json:"told,omitempty"`        // the people who have it in their inboxes

	// since when the member that took over had waited for the turn; absent if it hadn't
	WaitedSince Time `json:"waited_since,omitzero"`
}

// ClosePayload is the payload of [EventClose].
type ClosePayload struct{ Caller }

// ReopenPayload is the payload of [EventReopen].
type ReopenPayload struct{ Caller }

// RestoredPayload is the payload of [EventRestored].
type RestoredPayload struct {
	Caller
	Prior      AgentID `json:"prior,omitempty"`      // who lost the stick, or a reservation of it
	Ends       bool    `json:"ends_turn,omitempty"`  // a turn ended without a handoff
	Generation int64   `json:"generation,omitempty"` // counts restarts and restores
	// "reboot", "restore", or "loss" if the database has lost its last changes
	World    string `json:"world,omitempty"`
	LostFrom int64  `json:"lost_from,omitempty"` // the first event that the database has lost, of any room
	LostTo   int64  `json:"lost_to,omitempty"`   // the last one
}

// RoomMovedPayload is the payload of [EventRoomMoved].
type RoomMovedPayload struct {
	Caller
	From string `json:"from_path"` // where the workspace was
	To   string `json:"to_path"`   // where it is now
}

// PolicyChangedPayload is the payload of [EventPolicyChanged].
type PolicyChangedPayload struct {
	Caller
	Policy   map[string]Change `json:"policy,omitempty"`    // by the names of policies
	NextTurn map[string]Change `json:"next_turn,omitempty"` // what changes with the next turn, by the names of policies
	Order    []AgentID         `json:"order,omitempty"`     // the new order of members
}

// Change is the old and the new value of a policy.
type Change struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// OwnerIdlePayload is the payload of [EventOwnerIdle].
type OwnerIdlePayload struct {
	Caller
	IdleSince Time `json:"idle_since,omitzero"` // when the owner last did something
}

// RoomPausedPayload is the payload of [EventRoomPaused].
type RoomPausedPayload struct{ Caller }

// RoomResumedPayload is the payload of [EventRoomResumed].
type RoomResumedPayload struct {
	Caller
	Since Time `json:"since,omitzero"` // when the pause began
}

func (p LeavePayload) turnEndedOf(e Event) AgentID { return ownerIfEnded(p.Ends, e.From) }

func (p KickPayload) turnEndedOf(e Event) AgentID { return ownerIfEnded(p.Ends, e.To) }

func (p TakeoverPayload) turnEndedOf(e Event) AgentID { return ownerIfEnded(p.Ends, p.Prior) }

func (p RestoredPayload) turnEndedOf(e Event) AgentID { return ownerIfEnded(p.Ends, p.Prior) }

func ownerIfEnded(ends bool, a AgentID) AgentID {
	if ends {
		return a
	}
	return ""
}

func (p LeavePayload) leaseSum() string { return p.Lease }

func (p KickPayload) leaseSum() string { return p.Lease }

func (p ClaimPayload) leaseSum() string { return p.Lease }

func (p ReleasePayload) leaseSum() string { return p.Lease }

func (p PassPayload) leaseSum() string { return p.Lease }

func (p TakeoverPayload) leaseSum() string { return p.Lease }

// roomEvents are the events of the turn and of the room.
var roomEvents = []EventInfo{
	eventRow(eventKind[ClaimPayload]{
		Type: EventClaim, Meaning: "the stick was claimed: a turn began", Turn: nextTurn, For: forNamed,
		Say: func(e Event, _ ClaimPayload) Words {
			return Wordsf("%s took the stick (turn %d)", AgentName(e.From), e.Turn)
		},
		Replay: func(c *Record, e *Event, p ClaimPayload) error {
			switch {
			// A claim takes a stick that is free, or reserved for the claimant.
			case c.State == Owned:
				return fmt.Errorf("the stick is owned by %s", c.Owner)
			case p.Claim != OpenClaim && c.Reserved != e.From:
				return fmt.Errorf("the stick is reserved for %s", c.Reserved)
			case p.Claim == OpenClaim && c.State != Idle:
				return errors.New("the stick isn't free")
			}
			return c.grantTurn(e.From, p.Lease, true)
		},
	}),
	eventRow(eventKind[ReleasePayload]{
		Type: EventRelease, For: forRecipient,
		Meaning: "the owner gave the stick back with a handoff; to_agent_id is the one named next",
		Say: func(e Event, _ ReleasePayload) Words {
			s := AgentName(e.From) + " released the stick"
			if e.To != "" {
				s += ", next is " + AgentName(e.To)
			}
			return s + nextActionOf(e)
		},
		Replay: func(c *Record, e *Event, p ReleasePayload) error { return c.handOver(e, p.Lease, ByRelease) },
	}),
	eventRow(eventKind[PassPayload]{
		Type: EventPass, Meaning: "the owner passed the stick to a member with a handoff", For: forRecipient,
		Say: func(e Event, _ PassPayload) Words {
			return Wordsf("%s passed the stick to %s%s", AgentName(e.From), AgentName(e.To), nextActionOf(e))
		},
		Replay: func(c *Record, e *Event, p PassPayload) error { return c.handOver(e, p.Lease, ByPass) },
	}),
	eventRow(eventKind[ReroutedPayload]{
		Type: EventRerouted, For: forRecipient,
		Meaning: "the stick went on to the next one: a reservation was lost, or a turn ended without a handoff",
		Say: func(e Event, p ReroutedPayload) Words {
			to := Words("the stick is free")
			if e.To != "" {
				to = "next is " + AgentName(e.To)
			}

			switch {
			case p.Prior == "":
				return to
			case p.Verdict == Gone:
				return Wordsf("%s is gone; %s", AgentName(p.Prior), to)
			}
			return Wordsf("%s didn't take the stick; %s", AgentName(p.Prior), to)
		},
		Replay: func(c *Record, e *Event, _ ReroutedPayload) error {
			c.freeStick()
			c.reserveStick(e.To, ByRelease)
			return nil
		},
	}),
	eventRow(eventKind[TakeoverPayload]{
		Type:    EventTakeover,
		Meaning: "the stick was taken from its owner or recipient",
		Turn:    nextTurn, For: forRecipient,
		Say: func(e Event, p TakeoverPayload) Words {
			from := Words("nobody")
			if p.Prior != "" {
				from = AgentName(p.Prior)
			}
			return Wordsf("%s took over the stick from %s (%s, turn %d)%s%s", AgentName(e.From), from,
				p.Cause.plainWords(), e.Turn, relayedNote(p.RelayedBy), reasonSuffix(e.Reason))
		},
		Replay: func(c *Record, e *Event, p TakeoverPayload) error {
			if p.Ends {
				c.endTurn(p.Prior, e.Seq)
			}
			addressPeople(e, p.Told)
			return c.grantTurn(e.From, p.Lease, false)
		},
	}),
	eventRow(eventKind[ClosePayload]{
		Type: EventClose, Meaning: "the room was closed", For: forNamed,
		Say: func(e Event, _ ClosePayload) Words {
			return AgentName(e.From) + " closed the room" + reasonSuffix(e.Reason)
		},
		Replay: func(c *Record, _ *Event, _ ClosePayload) error {
			c.Closed = true
			c.freeStick()
			return nil
		},
	}),
	eventRow(eventKind[ReopenPayload]{
		Type: EventReopen, Meaning: "the room was opened again", For: forNamed,
		Say: func(e Event, _ ReopenPayload) Words { return AgentName(e.From) + " opened the room again" },
		Replay: func(c *Record, _ *Event, _ ReopenPayload) error {
			c.Closed = false
			return nil
		},
	}),
	eventRow(eventKind[RestoredPayload]{
		Type: EventRestored, Turn: laterTurn, For: forRecipient,
		Meaning: "the machine restarted, or the database was restored or has lost its last changes; this ended all leases and reservations",
		Say: func(_ Event, p RestoredPayload) Words {
			s := Words("the machine restarted")
			switch lost := (Lost{p.LostFrom, p.LostTo}); {
			case p.World == RestoreCause:
				s = "the database was restored"
			case p.World == LossCause && lost.To > 0:
				s = "the database lost " + lost.Words()
			case p.World == LossCause:
				s = "the database lost its last changes"
			}
			if p.Ends {
				s += "; " + AgentName(p.Prior) + "'s turn ended"
			}

			return s
		},
		Replay: func(c *Record, e *Event, p RestoredPayload) error {
			if e.Turn < c.Turn {
				return errors.New("turn ids never fall")
			}
			if p.Ends {
				c.endTurn(p.Prior, e.Seq)
			}

			c.freeStick()

			// The new generation has no prior owner, and reservations of paths end with the old one.
			c.Prior = ""
			c.Turn, c.Generation = e.Turn, p.Generation
			clear(c.Reservations)

			return nil
		},
	}),
	eventRow(eventKind[RoomMovedPayload]{
		Type:    EventRoomMoved,
		Meaning: "the room's directory was gone, and the room moved to another",
		For:     forRecipient,
		Say: func(e Event, p RoomMovedPayload) Words {
			if p.From == "" || p.To == "" { // damaged
				return AgentName(e.From) + " moved the room"
			}
			return AgentName(e.From) + " moved the room from " + CutName(p.From, 150) + " to " + CutName(p.To, 150)
		},
		Replay: func(c *Record, _ *Event, p RoomMovedPayload) error {
			c.Path = p.To
			return nil
		},
	}),
	eventRow(eventKind[PolicyChangedPayload]{
		Type: EventPolicyChanged, Meaning: "a policy or the order of members was changed", For: forRecipient,
		Say: func(e Event, p PolicyChangedPayload) Words {
			var parts []Words
			for _, k := range slices.Sorted(maps.Keys(p.Policy)) {
				parts = append(parts, Wordsf("%s from %s to %s", k, p.Policy[k].From, p.Policy[k].To))
			}

			for _, k := range slices.Sorted(maps.Keys(p.NextTurn)) {
				parts = append(parts, Wordsf("%s from %s to %s as of the next turn", k, p.NextTurn[k].From,
					p.NextTurn[k].To))
			}

			if len(p.Order) > 0 {
				names := make([]Words, len(p.Order))
				for i, a := range p.Order {
					names[i] = AgentName(a)
				}
				parts = append(parts, "the order to "+JoinWords(names, ", "))
			}

			if len(parts) == 0 { // a newer program wrote it, or it is damaged
				return AgentName(e.From) + " changed a policy"
			}

			return AgentName(e.From) + " changed " + JoinWords(parts, ", ")
		},
		Replay: func(c *Record, _ *Event, p PolicyChangedPayload) error {
			for k, v := range p.Policy {
				// What applies at once replaces what the next turn would have changed.
				c.Policy[k] = v.To
				delete(c.NextTurn, k)
			}

			for k, v := range p.NextTurn {
				c.NextTurn[k] = v.To
			}

			for i, a := range p.Order {
				c.changeMember(a, func(m *MemberRecord) { m.Ordinal = i + 1 })
			}

			return nil
		},
	}),
	eventRow(eventKind[OwnerIdlePayload]{
		Type: EventOwnerIdle, For: forRecipient,
		Meaning: "the owner was told that it looks idle; a heartbeat, or anything else that it does, ends that",
		Say: func(e Event, p OwnerIdlePayload) Words {
			return Wordsf("%s holds the stick and has done nothing for %s", AgentName(e.To),
				Age(e.CreatedAt.Sub(p.IdleSince)))
		},
		Tell: func(e Event, p OwnerIdlePayload) Words {
			return Wordsf("you hold turn %d and have done nothing for %s, so others may soon take it over; to keep it: %s; to give it up: %s",
				e.Turn, Age(e.CreatedAt.Sub(p.IdleSince)), Cmd("tt heartbeat"),
				Cmd("tt release --status … --next-action …"))
		},
		Replay: replayNothing[OwnerIdlePayload],
	}),
	eventRow(eventKind[RoomPausedPayload]{
		Type: EventRoomPaused, For: forNamed,
		Meaning: "a person paused the room, or gave another reason for the pause; nobody is granted the stick until a person resumes it",
		Say: func(e Event, _ RoomPausedPayload) Words {
			return AgentName(e.From) + " paused the room" + reasonSuffix(e.Reason)
		},
		Tell: func(e Event, _ RoomPausedPayload) Words {
			return Wordsf("%s paused the room; stop editing until a person resumes it: %s; %s",
				AgentName(e.From), Cmd("tt wait"),
				Wrote(e.From, e.Reason, maxShownReason))
		},
		Replay: func(c *Record, e *Event, _ RoomPausedPayload) error {
			p := Pause{By: e.From, Reason: e.Reason, Since: e.CreatedAt}
			if c.Paused.On() {
				// Another reason doesn't begin another pause.
				p.Since = c.Paused.Since
			}

			c.Paused = p
			c.tellAll(e)
			return nil
		},
	}),
	eventRow(eventKind[RoomResumedPayload]{
		Type: EventRoomResumed, Meaning: "a person ended the pause of the room", For: forNamed,
		Say: func(e Event, p RoomResumedPayload) Words {
			s := AgentName(e.From) + " resumed the room"
			if d := e.CreatedAt.Sub(p.Since); d >= time.Minute && !p.Since.IsZero() {
				s += ", which was paused for " + Age(d)
			}
			return s
		},
		Replay: func(c *Record, e *Event, _ RoomResumedPayload) error {
			if !c.Paused.On() {
				return errors.New("the room isn't paused")
			}

			c.Paused = Pause{}
			c.tellAll(e)
			return nil
		},
	}),
}
