package stick

// Why a release names nobody.
const (
	NobodyWaits  = "nobody else waits for the turn"
	NobodyClosed = "the room closes"
)

// Release ends the turn of by and names the next one by the release rule. It fails with
// [CodeInvalidHandoff], [CodeTurnMismatch] and [CodeStaleLease].
func (r Room) Release(by AgentID, f Fence, h Handoff, s *Probed, now Time) (Room, []Event, error) {
	r, e, err := r.handOver(EventRelease, by, f, h, now)
	if err != nil {
		return r, nil, err
	}
	r, to, nobody := r.nameNext(s, now)
	e.To = to
	return r, []Event{e.with(ReleasePayload{Lease: LeaseSum(f.Lease), Nobody: nobody, Expires: r.ClaimExpiresAt()})}, nil
}

// Next is the recipient of a pass that leaves the choice to the room.
const Next AgentID = "next"

// Pass ends the turn of by and reserves the stick for an active member; [Next] is the one that a
// release would name, else the next active member in order. It fails with [CodeInvalidHandoff],
// [CodeTurnMismatch], [CodeStaleLease], and with [CodeUnknownMember] when the recipient is
// unknown, gone or inactive.
func (r Room) Pass(by AgentID, f Fence, to AgentID, h Handoff, s *Probed, now Time) (Room, []Event, error) {
	given := r
	r, e, err := r.handOver(EventPass, by, f, h, now)
	if err != nil {
		return given, nil, err
	}
	if to == Next {
		to = r.nextActive(by, s, now)
	}
	if to == by {
		return given, nil, Errorf(CodeUsage, "you hold the stick already").With("to_agent_id", to).
			Hintf("pass it to another member, or release it: %s", Cmd("tt release"))
	}
	if !r.Active(to, now, s) {
		return given, nil, r.unknown(to, "can't be passed the stick", s)
	}
	r = r.reserve(to, ByPass, now)
	reachable := r.Listening(to, "", s)
	e.To = to
	return r, []Event{e.with(PassPayload{Lease: LeaseSum(f.Lease), Reachable: &reachable, Expires: r.ClaimExpiresAt()})}, nil
}

// unknown refuses a recipient and says why it is none.
func (r Room) unknown(a AgentID, what string, s *Probed) *Error {
	why := "isn't a member of this room"
	if m, ok := r.Member(a); ok {
		switch {
		case m.State == Left:
			why = "has left the room"
		case m.State == Kicked:
			why = "was removed from the room"
		case m.Verdict(s) == Gone:
			why = "is gone: its process has ended"
		default:
			why = "wasn't seen for " + Age(r.Policy.PresenceTTL) + " and doesn't listen"
		}
	}
	if a == "" {
		return Errorf(CodeUnknownMember, "no other member is active").With("to_agent_id", nil).
			Hintf("release instead; whoever comes next finds the handoff: %s", Cmd("tt release"))
	}
	return Errorf(CodeUnknownMember, "%s %s: it %s", clip(string(a), 70), what, why).With("to_agent_id", a).
		Hintf("%s lists the members; %s lets the room choose", Cmd("tt state"), Cmd("tt release"))
}

// handOver is what release and pass share: the fence, the handoff, the end of the turn. The event
// lacks its payload.
func (r Room) handOver(t EventType, by AgentID, f Fence, h Handoff, now Time) (Room, Event, error) {
	if err := h.Check(); err != nil {
		return r, Event{}, err
	}
	if err := r.fenced(by, f, now); err != nil {
		return r, Event{}, err
	}
	e := r.event(t, by, "")
	h.Workspace = h.Workspace.text()
	e.Handoff = &h
	r = r.free(by, now)
	r.Turn.HandoffPending = true
	r.Turn.NextAction = clip(h.NextAction, 80)
	return r, e, nil
}

// nameNext is the release rule: it reserves the free stick for the candidate who comes first, or
// leaves it to nobody and says why.
func (r Room) nameNext(s *Probed, now Time) (Room, AgentID, string) {
	next, ok := r.candidate(s, now)
	if !ok {
		r.Turn.FreeSince = now
		return r, "", NobodyWaits
	}
	return r.reserve(next, ByRelease, now), next, ""
}

// candidate picks whom the release rule names: of the members that wait for work and weren't
// passed over, the one that comes first, the one who ended the turn last. Only if there is none,
// of those whose own wait returned without the turn a moment ago.
func (r Room) candidate(s *Probed, now Time) (AgentID, bool) {
	var recent []Member
	for _, m := range r.Members {
		if m.State == Joined && !m.ReturnedAt.IsZero() && !r.grace(m.ReturnedAt).Due(now) &&
			!r.Listening(m.Agent, Listen, s) && m.Verdict(s) != Gone {
			recent = append(recent, m)
		}
	}
	for _, ms := range [][]Member{r.waiting(s), r.inOrder(recent)} {
		prior := false
		for _, m := range ms {
			switch {
			case m.PassedOver:
			case m.Agent == r.Turn.Prior:
				prior = true
			default:
				return m.Agent, true
			}
		}
		if prior {
			return r.Turn.Prior, true
		}
	}
	return "", false
}

// nextActive resolves [Next] for a pass by a: whom a release would name, else the next active
// member in order.
func (r Room) nextActive(a AgentID, s *Probed, now Time) AgentID {
	if next, ok := r.candidate(s, now); ok && next != a {
		return next
	}
	var active []Member
	for _, m := range r.Members {
		if m.Agent != a && r.Active(m.Agent, now, s) {
			active = append(active, m)
		}
	}
	if len(active) == 0 {
		return ""
	}
	return r.inOrder(active)[0].Agent
}

// Settle does what is due in a room before anything else happens in it: a first sign of a dead
// owner is noted, and a reservation whose recipient is gone or has had its time moves on. The act
// of the recipient itself (by) comes before the end of its time. take leaves reservations of the
// dead to be taken over, also when their time is over.
func (r Room) Settle(by AgentID, take bool, s *Probed, now Time) (Room, []Event) {
	t := r.Turn
	switch t.State {
	case Owned:
		if t.OpenedAt.IsZero() && t.Owner != by && r.gone(t.Owner, s) {
			r.Turn.OpenedAt = now
		}
	case Reserved:
		lapsed := t.ReservedBy == ByRelease && t.ReservedFor != by && r.claim().Due(now)
		lost := !r.joined(t.ReservedFor) || (t.ReservedFor != by && r.gone(t.ReservedFor, s))
		if (lapsed && !lost) || (lost && !take) {
			r.edit(t.ReservedFor, func(m *Member) { m.PassedOver = true })
			return r.reroute(s, now)
		}
	}
	return r, nil
}

// reroute names the next one by the release rule after a reservation was lost or a turn ended
// without a handoff. It makes no event when nobody was named before and nobody is now.
func (r Room) reroute(s *Probed, now Time) (Room, []Event) {
	from := r.Turn.ReservedFor
	p := ReroutedPayload{Prior: from}
	if m, ok := r.Member(from); ok {
		p.Verdict = m.Verdict(s)
	}
	r = r.free(r.Turn.Prior, now)
	r, to, nobody := r.nameNext(s, now)
	if from == "" && to == "" {
		return r, nil
	}
	p.Nobody, p.Expires = nobody, r.ClaimExpiresAt()
	return r, []Event{r.event(EventRerouted, "", to).with(p)}
}
