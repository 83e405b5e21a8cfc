package stick

import (
	"slices"
	"strings"
)

// Sending is a request to send a message. Message.To holds the recipients: full names of members, roles, or
// one of [ToRoom], [ToBroadcast] and [ToSystem].
type Sending struct {
	By      AgentID
	Task    string
	Author  AgentID // the author of the message that this one replies to; it gets the reply as well
	Message Message
}

// Send sends a message to its recipients, except for those that are gone. It fails with [CodeUsage],
// [CodeMessageTooLarge], [CodeContractIncomplete], [CodeUnknownMember], [CodeNoRecipient] and
// [CodeRoomClosed].
func (r Room) Send(q Sending, s *Probed, now Time) (Room, []Event, error) {
	m := q.Message
	if err := m.Check(); err != nil {
		return r, nil, err
	}

	if err := CheckTask(q.Task); err != nil {
		return r, nil, err
	}
	if r.Closed {
		return r, nil, r.errClosed()
	}

	// Only some rooms ask for whole contracts.
	if missing := m.Missing(m.Category); r.Policy.RequireContracts && len(missing) > 0 {
		return r, nil, Errorf(CodeContractIncomplete, "in this room a message of category %s must also say %s",
			m.Category, Words(strings.Join(missing, ", "))).
			With("missing", missing).Hintf("add %s", flagNames(missing))
	}

	to, err := r.listRecipients(q)
	if err != nil {
		return r, nil, err
	}

	// Who is gone won't read it; the message says whom it didn't reach.
	m.LeftOut = nil
	var present []AgentID
	for _, a := range to {
		if r.isGone(a, s) {
			m.LeftOut = append(m.LeftOut, a)
		} else {
			present = append(present, a)
		}
	}

	switch {
	// The log keeps "room" as a word, so that the list needn't be stored.
	case m.isToEverybody():
		m.To = []AgentID{ToRoom}
	case !m.isToNobody():
		m.To = present
	}
	if len(present) == 0 && !m.isToNobody() {
		return r, nil, noRecipient(q.Message.To, m.LeftOut)
	}

	e := r.newEvent(EventMessageSent, q.By, "")

	// A single recipient stands in the event itself.
	if len(m.To) == 1 && !m.isToEverybody() && !m.isToNobody() {
		e.To = m.To[0]
	}

	e.Task = q.Task
	owes := OwesReading
	if m.RequiresAck {
		owes = OwesAck
	}

	for _, a := range present {
		e.For = append(e.For, Addressee{a, owes})
	}

	r.Turn.Messages++
	return r, []Event{e.withPayload(MessageSentPayload{Message: &m})}, nil
}

// listRecipients returns the members that a message is for, including those that are gone.
func (r Room) listRecipients(q Sending) ([]AgentID, error) {
	m := q.Message
	switch {
	case m.isToNobody():
		return nil, nil
	case m.isToEverybody():
		var to []AgentID
		for _, x := range r.Members {
			if x.State == Joined && x.Agent != q.By {
				to = append(to, x.Agent)
			}
		}

		return to, nil
	case len(m.To) == 0:
		return nil, badMessage("to", "the message is for nobody").Hintf("name a member, or room for all of them")
	case len(m.To) > MaxRecipients:
		return nil, badMessage("to", "the message names %d recipients; at most %d are allowed", len(m.To), MaxRecipients).
			Hintf("to reach all members: room")
	}
	var to []AgentID
	for _, a := range m.To {
		// A role stands for whoever has it now.
		of, isRole, err := r.withRole(a, q.By)
		if err != nil {
			return nil, err
		}

		if isRole {
			for _, a := range of {
				if !slices.Contains(to, a) {
					to = append(to, a)
				}
			}

			continue
		}

		switch {
		case a == ToRoom || a == ToBroadcast || a == ToSystem:
			return nil, badMessage("to", "%s can't be combined with other recipients", a).
				Hintf("name members, or %s", a)
		case a == q.By:
			return nil, badMessage("to", "%s is you", a).Hintf("to keep something for later: %s", Cmd("tt notes add …"))
		case !r.isJoined(a):
			return nil, Errorf(CodeUnknownMember, "%s isn't a member of this room", Clip(string(a), maxAgentBytes)).
				With("to_agent_id", a).Hintf("%s lists the members", Cmd("tt state"))
		case !slices.Contains(to, a):
			to = append(to, a)
		}
	}

	// A reply reaches the author of what it replies to, whomever else it names.
	if a := q.Author; a != q.By && r.isJoined(a) && !slices.Contains(to, a) {
		to = append(to, a)
	}

	return to, nil
}

func (m Message) isToEverybody() bool {
	return len(m.To) == 1 && (m.To[0] == ToRoom || m.To[0] == ToBroadcast)
}

func (m Message) isToNobody() bool { return len(m.To) == 1 && m.To[0] == ToSystem }

func noRecipient(to, leftOut []AgentID) *Error {
	if len(leftOut) == 0 {
		missing := Words("nobody else is in the room")

		// Of a role, nobody may have it.
		if role, ok := strings.CutPrefix(string(to[0]), toRole); ok {
			missing = Wordsf("nobody else in the room is a %s", role)
		}

		return Errorf(CodeNoRecipient, "%s", missing).
			Hintf("leave it for those who come: %s", Cmd("tt notes add …"))
	}

	are := Words("is")
	if len(leftOut) > 1 {
		are = "are"
	}

	return Errorf(CodeNoRecipient, "%s %s gone", agentList(leftOut), are).
		With("left_out", leftOut).Hintf("leave it for those who come: %s", Cmd("tt notes add …"))
}

// flagNames writes the names of fields as flags of a command line.
func flagNames(fields []string) Words {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = "--" + strings.ReplaceAll(f, "_", "-")
	}
	return Words(strings.Join(out, " "))
}
