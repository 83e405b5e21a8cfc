package stick

import (
	"errors"
	"fmt"
)

// SessionStartedPayload is the payload of [EventSessionStarted].
type SessionStartedPayload struct {
	Caller
	// the agent whose session never ended: the primary before it, or the helper whose context file it
	// inherits
	Prior   AgentID   `json:"prior,omitempty"`
	Verdict Verdict   `json:"verdict,omitempty"`   // of that agent
	Role    Role      `json:"role,omitempty"`      // its role from now on
	Context string    `json:"context,omitempty"`   // the name of its context file; absent for the primary's own
	Start   StartKind `json:"start,omitempty"`     // how it began
	Written Time      `json:"written_at,omitzero"` // when the context file that it recovers was last written

	// the agent that started after this one was there, and whose start made a session of this one, too
	AlongWith AgentID `json:"along_with,omitempty"`
}

// AddressUnaskedStart addresses the event to the agent itself, if the session was started for it: nothing else
// tells it.
func (e Event) AddressUnaskedStart(p SessionStartedPayload) Event {
	if p.AlongWith != "" {
		e.For = append(e.For, Addressee{Agent: e.From})
	}
	return e
}

// Ending is the reason why tt ended a session or a membership: the agent gave none itself. Only tt writes it,
// so whatever an agent gives as its reason, nobody takes it for one of tt's.
type Ending struct {
	Cause EndCause `json:"cause"`
	Said  string   `json:"said,omitempty"` // how the harness calls it
	Next  AgentID  `json:"next,omitempty"` // whose session the process carries now
}

// EndCause is a reason of tt's why a session ended.
type EndCause string

// The causes.
const (
	EndedByHarness EndCause = "harness" // the harness said that the session ended
	EndedByNext    EndCause = "next"    // the process carries the session of another agent now
	EndedAsHelper  EndCause = "helper"  // the agent goes on as a helper
)

// Words says the reason, in our words.
func (e Ending) Words() Words {
	switch e.Cause {
	case EndedByNext:
		return "its process carries " + AgentName(e.Next) + " now"
	case EndedAsHelper:
		return "it goes on as a helper"
	}

	if e.Said == "" {
		return "session ended"
	}
	return Wordsf("session ended (%s)", e.Said)
}

// endReasonSuffix is the reason of an end, for the end of a sentence about the agent: that of tt if it has one,
// or what the agent wrote.
func endReasonSuffix(e *Ending, reason string) Words {
	if e != nil {
		return ": " + e.Words()
	}
	return reasonSuffix(reason)
}

// SessionEndedPayload is the payload of [EventSessionEnded].
type SessionEndedPayload struct {
	Caller
	Role    Role    `json:"role,omitempty"`    // its role until now
	Context string  `json:"context,omitempty"` // the name of its context file; absent for the primary's own
	Ending  *Ending `json:"ending,omitempty"`  // why tt ended it; absent if the agent ended it itself
}

// sessionEvents are the events of sessions.
var sessionEvents = []EventInfo{
	eventRow(eventKind[SessionStartedPayload]{
		Type: EventSessionStarted, Meaning: "a session started; its payload tells its role", For: forNamed,
		Say: func(e Event, p SessionStartedPayload) Words {
			s := AgentName(e.From) + " started a session"
			switch p.Role {
			case RolePrimary:
				s = AgentName(e.From) + " is the primary"
			case RoleHelper:
				s = AgentName(e.From) + " works here as a helper"
			}
			if p.Context != "" {
				s += ", " + CutName(p.Context, MaxContext)
			}

			switch {
			case p.Start == StartRecover:
				s += ", and recovers what was left behind"
			case p.Prior != "":
				s += " after " + AgentName(p.Prior)
			}
			if p.AlongWith != "" {
				s += "; it was here before " + AgentName(p.AlongWith)
			}

			return s
		},
		Replay: func(c *Record, e *Event, p SessionStartedPayload) error {
			// The session before it never ended by itself, so it ends here.
			c.endSession(p.Prior)
			for a, s := range c.Sessions {
				if a != e.From && p.Role == RolePrimary && s.Running && s.Role == RolePrimary {
					return fmt.Errorf("%s is the primary", a)
				}
			}

			c.Sessions[e.From] = Session{p.Role, p.Context, true, e.CreatedAt}

			// Nothing else tells an agent whose session another one's start has started.
			*e = e.AddressUnaskedStart(p)
			return nil
		},
	}),
	eventRow(eventKind[SessionEndedPayload]{
		Type: EventSessionEnded, For: forNamed,
		Meaning: "a session ended: it said so, its harness said so, or its process now runs another one",
		Say: func(e Event, p SessionEndedPayload) Words {
			s := AgentName(e.From) + " ended its session"
			if p.Role != "" {
				s += " as " + CutName(string(p.Role), 20)
			}
			return s + endReasonSuffix(p.Ending, e.Reason)
		},
		Replay: func(c *Record, e *Event, p SessionEndedPayload) error {
			if !c.Sessions[e.From].Running {
				return errors.New("it has no session")
			}

			c.endSession(e.From)

			// A later primary compares this with its context file: was anything left behind?
			if p.Role == RolePrimary {
				c.EndedAt = e.CreatedAt
			}

			return nil
		},
	}),
}
