package stick

import (
	"errors"
)

// JoinPayload is the payload of [EventJoin].
type JoinPayload struct {
	Ordinal int    `json:"ordinal,omitempty"` // the member's place in the order
	Name    string `json:"name,omitempty"`    // what people call it, where that isn't its id
	Caller
}

// LeavePayload is the payload of [EventLeave].
type LeavePayload struct {
	Caller
	Lease string  `json:"lease,omitempty"`     // the sum of the lease that ended
	Ends  bool    `json:"ends_turn,omitempty"` // the member's turn ended without a handoff
	Owed  []int64 `json:"owed,omitempty"`      // messages that the member won't acknowledge now

	// why tt ended the session, and the membership with it; absent if the agent left by itself
	Ending *Ending `json:"ending,omitempty"`
}

// KickPayload is the payload of [EventKick].
type KickPayload struct {
	Caller
	Lease     string    `json:"lease,omitempty"`      // the sum of the lease that ended
	Prior     AgentID   `json:"prior,omitempty"`      // who lost the stick
	Verdict   Verdict   `json:"verdict,omitempty"`    // of the member removed
	Ends      bool      `json:"ends_turn,omitempty"`  // the member's turn ended without a handoff
	RelayedBy AgentID   `json:"relayed_by,omitempty"` // the agent that relayed a person's word
	Told      []AgentID `json:"told,omitempty"`       // the people who have it in their inboxes
	Forced    bool      `json:"forced,omitempty"`     // the member wasn't known to be gone
	Owed      []int64   `json:"owed,omitempty"`       // messages that the member won't acknowledge now
}

// Owing adds to the event by which a member left or was removed which messages it won't acknowledge now.
func (e Event) Owing(messages []int64) Event {
	if e.Type == EventKick {
		return Amend(e, func(p *KickPayload) { p.Owed = messages })
	}
	return Amend(e, func(p *LeavePayload) { p.Owed = messages })
}

// memberEvents are the events of members.
var memberEvents = []EventInfo{
	eventRow(eventKind[JoinPayload]{
		Type: EventJoin, Meaning: "a member joined", For: forNamed,
		Say: func(e Event, _ JoinPayload) Words { return AgentName(e.From) + " joined" },
		Replay: func(c *Record, e *Event, p JoinPayload) error {
			c.changeMember(e.From, func(m *MemberRecord) {
				m.State, m.JoinSeq = Joined, e.Seq
				if p.Name != "" {
					m.Name = p.Name // a name once given stays, also where an older tt joins it again
				}
				if m.Ordinal == 0 {
					m.Ordinal = p.Ordinal
				}
			})

			return nil
		},
	}),
	eventRow(eventKind[LeavePayload]{
		Type: EventLeave, Meaning: "a member left; an owner without a handoff abandoned its turn", For: forNamed,
		Say: func(e Event, p LeavePayload) Words {
			if p.Ends {
				return AgentName(e.From) + " left and abandoned its turn" + owedNote(p.Owed) + endReasonSuffix(p.Ending, e.Reason)
			}
			return AgentName(e.From) + " left" + owedNote(p.Owed) + endReasonSuffix(p.Ending, e.Reason)
		},
		Replay: func(c *Record, e *Event, p LeavePayload) error {
			c.endReservations(e.From)

			// A session ends by an event of its own, before its member leaves.
			c.changeMember(e.From, func(m *MemberRecord) { m.State = Left })
			if c.Sessions[e.From].Running {
				return errors.New("its session hasn't ended")
			}

			if p.Ends {
				if c.Owner != e.From || c.LeaseSum != p.Lease {
					return errors.New("the one who abandons doesn't own")
				}
				c.endTurn(e.From, e.Seq)
			}

			c.addressOwed(e, p.Owed)
			return nil
		},
	}),
	eventRow(eventKind[KickPayload]{
		Type: EventKick, Meaning: "a member was removed", For: forRecipient,
		Say: func(e Event, p KickPayload) Words {
			s := Wordsf("%s removed %s", AgentName(e.From), AgentName(e.To))
			if p.Verdict == Gone {
				s += ", which was gone"
			}
			if p.Ends {
				s += "; its turn ended"
			}

			return s + owedNote(p.Owed) + relayedNote(p.RelayedBy) + reasonSuffix(e.Reason)
		},
		Replay: func(c *Record, e *Event, p KickPayload) error {
			c.endReservations(e.To)
			c.changeMember(e.To, func(m *MemberRecord) { m.State = Kicked })
			c.endSession(e.To)

			if p.Ends {
				c.endTurn(e.To, e.Seq)
			}

			// People learn that an agent relayed a word of theirs; senders, that nobody will answer them.
			addressPeople(e, p.Told)
			c.addressOwed(e, p.Owed)
			return nil
		},
	}),
}
