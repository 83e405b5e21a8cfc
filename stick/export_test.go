package stick

import (
	"encoding/json"
	"slices"
)

// What the tests from outside of the package look at, and nobody else.

const (
	MinPolicyDuration = minPolicyDuration
	MaxPolicyDuration = maxPolicyDuration
	AsksAgain         = asksAgain
	TimeToTake        = timeToTake
	OtherMarks        = otherMarks
)

var Strictness = strictness

func DrawnBlank(r rune) bool { return drawnBlank(r) }

func HasTag(s string) bool { return hasTag(s) }

func EncodePayload(p Payload) json.RawMessage { return encodePayload(p) }

// RingAfterBy and RingWithoutBy are RingAfter and RingWithout with another number of sentinels.
func (r Room) RingAfterBy(before Room, events []Event, sentinels int) Ring {
	return r.ringAfter(before, events, sentinels)
}

func (r Room) RingWithoutBy(sentinels int, ended ...ListenerID) Ring {
	return r.ringWithout(sentinels, ended)
}

func (r Room) GraceAfter(from Time) Deadline { return r.graceAfter(from) }

func (r Room) IdleDeadline() Deadline { return r.idleDeadline() }

func (r Room) IdleNoticeDue(s *Probed, now Time) bool { return r.idleNoticeDue(s, now) }

func (r Room) IdleNoticeSent() bool { return r.idleNoticeSent() }

func (r Room) OwnerActedAt() Time { return r.ownerActedAt() }

func (r Room) OwnerActiveAt() Time { return r.ownerActiveAt() }

func (r Room) GuardUntil(a AgentID, o Opening, s *Probed, now Time) Time {
	return r.guardUntil(a, o, s, now)
}

// RecordSenders lets a record take messages that a test replays without those before.
func (c *Record) RecordSenders() { c.senders = map[int64]AgentID{} }

// IsOfTask reports whether the row is of an event of a task.
func (i EventInfo) IsOfTask() bool { return i.ofTask() }

// Lacks are the parts that the row should have, and hasn't.
func (i EventInfo) Lacks() []string { return i.typed.(interface{ lacks() []string }).lacks() }

// lacks are the parts that a row should have, and hasn't.
func (k *typedKind[P, D]) lacks() (parts []string) {
	for part, missing := range map[string]bool{
		"Meaning": k.Meaning == "", "For": k.For == nil, "Say": k.Say == nil, "Replay (or Apply)": k.Replay == nil,
	} {
		if missing {
			parts = append(parts, part)
		}
	}

	slices.Sort(parts)
	return parts
}
