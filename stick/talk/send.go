package talk

import (
	"slices"
	"strings"

	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// Sending is a request to send a message. Message.To holds the recipients: full names of members, roles, or
// one of [stick.ToRoom], [stick.ToBroadcast] and [stick.ToSystem].
type Sending struct {
	By      stick.AgentID
	Task    string
	Author  stick.AgentID // the author of the message that this one replies to; it gets the reply as well
	Message stick.Message
}

// Send sends a message to its recipients, except for those that are gone. It fails with [stick.CodeUsage],
// [stick.CodeMessageTooLarge], [stick.CodeContractIncomplete], [stick.CodeUnknownMember], [stick.CodeNoRecipient] and
// [stick.CodeRoomClosed].
func Send(r stick.Room, q Sending, s *stick.Probed, now stick.Time) (stick.Room, []stick.Event, error) {
	m := q.Message
	if err := Check(m); err != nil {
		return r, nil, err
	}

	if err := stick.CheckTask(q.Task); err != nil {
		return r, nil, err
	}
	if r.Closed {
		return r, nil, r.ErrClosed()
	}

	// Only some rooms ask for whole contracts.
	if missing := m.Missing(m.Category); r.Policy.RequireContracts && len(missing) > 0 {
		return r, nil, stick.Errorf(stick.CodeContractIncomplete,
			"in this room, %s messages must also have %s",
			m.Category, stick.Words(strings.Join(missing, ", "))).
			With("missing", missing).Hintf("add %s", flagNames(missing))
	}

	to, err := listRecipients(r, q)
	if err != nil {
		return r, nil, err
	}

	// Who is gone won't read it; the message says whom it didn't reach.
	m.LeftOut = nil
	var present []stick.AgentID
	for _, a := range to {
		if r.IsGone(a, s) {
			m.LeftOut = append(m.LeftOut, a)
		} else {
			present = append(present, a)
		}
	}

	switch {
	// The log keeps "room" as a word, so that the list needn't be stored.
	case m.IsToEverybody():
		m.To = []stick.AgentID{stick.ToRoom}
	case !m.IsToNobody():
		m.To = present
	}
	if len(present) == 0 && !m.IsToNobody() {
		return r, nil, noRecipient(q.Message.To, m.LeftOut)
	}

	e := r.NewEvent(stick.EventMessageSent, q.By, "")

	// A single recipient stands in the event itself.
	if len(m.To) == 1 && !m.IsToEverybody() && !m.IsToNobody() {
		e.To = m.To[0]
	}

	e.Task = q.Task
	owes := stick.OwesReading
	if m.RequiresAck {
		owes = stick.OwesAck
	}

	for _, a := range present {
		e.For = append(e.For, stick.Addressee{Agent: a, Owes: owes})
	}

	r.Turn.Messages++
	return r, []stick.Event{e.WithPayload(stick.MessageSentPayload{Message: &m})}, nil
}

// listRecipients returns the members that a message is for, including those that are gone.
func listRecipients(r stick.Room, q Sending) ([]stick.AgentID, error) {
	m := q.Message
	switch {
	case m.IsToNobody():
		return nil, nil
	case m.IsToEverybody():
		var to []stick.AgentID
		for _, x := range r.Members {
			if x.State == stick.Joined && x.Agent != q.By {
				to = append(to, x.Agent)
			}
		}

		return to, nil
	case len(m.To) == 0:
		return nil, stick.BadMessage("to", "the message has no recipient").Hintf("name a member, or room for all of them")
	case len(m.To) > stick.MaxRecipients:
		return nil, stick.BadMessage("to", "the message names %d recipients; at most %d are allowed",
			len(m.To), stick.MaxRecipients).
			Hintf("to reach all members: room")
	}
	var to []stick.AgentID
	for _, a := range m.To {
		// A role stands for whoever has it now.
		of, isRole, err := presence.WithRole(r, a, q.By)
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
		case a == stick.ToRoom || a == stick.ToBroadcast || a == stick.ToSystem:
			return nil, stick.BadMessage("to", "%s can't be combined with other recipients", a).
				Hintf("name members, or %s", a)
		case a == q.By:
			return nil, stick.BadMessage("to", "%s is you", a).
				Hintf("to keep something for later: %s", stick.Cmd("tt notes add …"))
		case !r.IsJoined(a):
			return nil, stick.Errorf(stick.CodeUnknownMember, "%s isn't a member of this room",
				stick.Clip(string(a), stick.MaxAgentBytes)).
				With("to_agent_id", a).Hintf("see who is here: %s", stick.Cmd("tt state"))
		case !slices.Contains(to, a):
			to = append(to, a)
		}
	}

	// A reply reaches the author of what it replies to, whomever else it names.
	if a := q.Author; a != q.By && r.IsJoined(a) && !slices.Contains(to, a) {
		to = append(to, a)
	}

	return to, nil
}

func noRecipient(to, leftOut []stick.AgentID) *stick.Error {
	if len(leftOut) == 0 {
		missing := stick.Words("nobody else is in the room")

		// Of a role, nobody may have it.
		if role, ok := strings.CutPrefix(string(to[0]), stick.ToRole); ok {
			missing = stick.Wordsf("nobody else in the room is a %s", role)
		}

		return stick.Errorf(stick.CodeNoRecipient, "%s", missing).
			Hintf("leave a note for whoever comes next: %s", stick.Cmd("tt notes add …"))
	}

	are := stick.Words("is")
	if len(leftOut) > 1 {
		are = "are"
	}

	return stick.Errorf(stick.CodeNoRecipient, "%s %s gone", stick.AgentList(leftOut), are).
		With("left_out", leftOut).Hintf("leave a note for whoever comes next: %s", stick.Cmd("tt notes add …"))
}

// flagNames writes the names of fields as flags of a command line.
func flagNames(fields []string) stick.Words {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = "--" + strings.ReplaceAll(f, "_", "-")
	}
	return stick.Words(strings.Join(out, " "))
}
