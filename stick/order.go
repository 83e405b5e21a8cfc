package stick

import (
	"slices"
)

// The order in which members get the stick: who waits, who comes first among them, and whom a release names.

// ListWaiting lists the members to which the stick can be offered: they have joined, aren't gone, and wait for work
// now. Those that don't rest can also be named. They come in the room's order.
func (r Room) ListWaiting(s *Probed) []Member {
	var out []Member
	for _, m := range r.Members {
		if m.State == Joined && r.Listening(m.Agent, Work, s) && m.Verdict(s) != Gone {
			out = append(out, m)
		}
	}

	return r.sortByOrder(out)
}

// hasOtherWaiter reports whether a member other than a waits for work, and may be named.
func (r Room) hasOtherWaiter(s *Probed, a AgentID) bool {
	for _, m := range r.Members {
		if m.Agent == a || m.Rests() {
			continue
		}
		if m.State == Joined && r.Listening(m.Agent, Work, s) && m.Verdict(s) != Gone {
			return true
		}
	}
	return false
}

// sortByOrder sorts members by the room's order. Fair begins with the member that has gone longest without the
// stick, or since it joined. Sequence begins behind the member that was last named or granted the stick.
func (r Room) sortByOrder(ms []Member) []Member {
	slices.SortStableFunc(ms, func(a, b Member) int {
		if r.Policy.Order == Sequence {
			return r.placesAfterIndex(a) - r.placesAfterIndex(b)
		}
		// Numbers of events decide, never times: clocks may go back.
		return int(max(-1, min(1, max(a.HeldSeq, a.JoinSeq)-max(b.HeldSeq, b.JoinSeq))))
	})

	return ms
}

// placesAfterIndex returns how many places m comes after the sequence index, where the first member follows the last.
func (r Room) placesAfterIndex(m Member) int {
	d := m.Ordinal - r.Turn.SequenceIndex
	if d <= 0 {
		// Who was before the index comes round again, behind all others.
		d += 1 << 30
	}
	return d
}

// nameNext is the release rule: it reserves the free stick for the first candidate. If there is none, it
// leaves the stick free and says why.
func (r Room) nameNext(s *Probed, now Time) (Room, AgentID, string) {
	next, ok := r.nextCandidate(s, now)
	if !ok {
		r.Turn.FreeSince = now
		if r.hasRestingWaiter(s) {
			return r, "", NobodyWorks
		}
		return r, "", NobodyWaits
	}
	return r.reserveStick(next, ByRelease, now), next, ""
}

// nextCandidate picks the member that the release rule names: the first of those that wait for work, weren't
// passed over and don't rest. The member that ended the turn comes last of them. If nobody waits, it picks in
// the same way from those whose own wait returned without the turn a moment ago.
func (r Room) nextCandidate(s *Probed, now Time) (AgentID, bool) {
	var recent []Member
	for _, m := range r.Members {
		if m.State == Joined && !m.ReturnedAt.IsZero() && !r.graceAfter(m.ReturnedAt).Due(now) &&
			!r.Listening(m.Agent, Listen, s) && m.Verdict(s) != Gone {
			recent = append(recent, m)
		}
	}

	// Who waits now comes before who waited a moment ago.
	for _, ms := range [][]Member{r.ListWaiting(s), r.sortByOrder(recent)} {
		if line := queueOf(ms, r.Turn.Prior); len(line) > 0 {
			return line[0], true
		}
	}

	return "", false
}

// hasRestingWaiter reports whether a member other than the one that ended the last turn waits for work and rests.
func (r Room) hasRestingWaiter(s *Probed) bool {
	return slices.ContainsFunc(r.ListWaiting(s), func(m Member) bool { return m.Rests() && m.Agent != r.Turn.Prior })
}

// queueOf leaves out those that were passed over or rest, and puts the member that ended the turn last.
func queueOf(ms []Member, prior AgentID) []AgentID {
	var line, last []AgentID
	for _, m := range ms {
		switch {
		case m.PassedOver || m.Rests():
		case m.Agent == prior:
			last = append(last, m.Agent)
		default:
			line = append(line, m.Agent)
		}
	}

	return append(line, last...)
}

// InLine lists the members that wait for the stick, in the order in which releases would name them.
func (r Room) InLine(s *Probed) []AgentID {
	if r.Turn.State != Owned {
		return queueOf(r.ListWaiting(s), r.Turn.Prior)
	}

	// The holder may wait, too, for its next turn.
	others := slices.DeleteFunc(r.ListWaiting(s), func(m Member) bool { return m.Agent == r.Turn.Owner })
	return queueOf(others, "") // the holder will have ended the last turn by then
}

// nextActive resolves [Next] for a pass by a: the member that a release would name, or else the next active
// member in order. It is "" if no other member is active.
func (r Room) nextActive(a AgentID, s *Probed, now Time) AgentID {
	if next, ok := r.nextCandidate(s, now); ok && next != a {
		return next
	}

	// Nobody waits: whoever is active gets the pass with its next command.
	var active []Member
	for _, m := range r.Members {
		if m.Agent != a && r.Active(m.Agent, now, s) {
			active = append(active, m)
		}
	}

	if len(active) == 0 {
		return ""
	}

	return r.sortByOrder(active)[0].Agent
}

// mustDefer reports whether a must let others go first, because it ended the last turn a moment ago.
func (r Room) mustDefer(a AgentID, s *Probed, now Time) bool {
	return r.Turn.Prior == a && !r.graceAfter(r.Turn.FreeSince).Due(now) && r.hasOtherWaiter(s, a)
}
