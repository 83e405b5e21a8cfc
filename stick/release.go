package stick

// Why a release names nobody.
const (
	NobodyWaits  = "nobody else waits for the turn"
	NobodyWorks  = "nobody else has work: the last turns of those who wait changed nothing"
	NobodyClosed = "the room closes"
)

// Release ends the turn of by, and the release rule names the next holder. It fails with
// [CodeInvalidHandoff], [CodeTurnMismatch] and [CodeStaleLease].
func (r Room) Release(by AgentID, f Fence, h Handoff, s *Probed, now Time) (Room, []Event, error) {
	r, e, err := r.handOver(EventRelease, by, f, h, now)
	if err != nil {
		return r, nil, err
	}

	r, to, nobody := r.nameNext(s, now)
	e.To = to
	return r, []Event{e.WithPayload(ReleasePayload{
		Lease: LeaseSum(f.Lease), Nobody: nobody, Expires: r.ClaimExpiresAt(), Rests: r.rests(by),
	})}, nil
}

// Next is the recipient of a pass that lets the room choose.
const Next AgentID = "next"

// Pass ends the turn of by and reserves the stick for an active member. [Next] is the member that a release
// would name, or else the next active member in order. It fails with [CodeInvalidHandoff],
// [CodeTurnMismatch], [CodeStaleLease], with [CodeUsage] if by names itself, and with [CodeUnknownMember]
// if the recipient is unknown, gone or inactive.
func (r Room) Pass(by AgentID, f Fence, to AgentID, h Handoff, s *Probed, now Time) (Room, []Event, error) {
	given := r
	r, e, err := r.handOver(EventPass, by, f, h, now)
	if err != nil {
		return given, nil, err
	}

	// The choice is made after the turn has ended, as a release would make it.
	if to == Next {
		to = r.nextActive(by, s, now)
	}

	if to == by {
		return given, nil, Errorf(CodeUsage, "you hold the stick already").With("to_agent_id", to).
			Hintf("pass it to another member, or release it: %s", Cmd("tt release --status … --next-action …"))
	}

	if !r.Active(to, now, s) {
		return given, nil, r.errUnknownMember(to, "you can't pass the stick to", s)
	}

	r = r.reserveStick(to, ByPass, now)

	// The event says whether the recipient waits, so that the pass wakes it.
	reachable := r.Listening(to, "", s)
	e.To = to
	return r, []Event{e.WithPayload(PassPayload{
		Lease: LeaseSum(f.Lease), Reachable: &reachable, Expires: r.ClaimExpiresAt(), Rests: r.rests(by),
	})}, nil
}

// errUnknownMember refuses an agent that isn't an active member, and says why it isn't.
func (r Room) errUnknownMember(a AgentID, what Words, s *Probed) *Error {
	why := Words("it isn't a member of this room")
	if m, ok := r.Member(a); ok {
		switch {
		case m.State == Left:
			why = "it has left the room"
		case m.State == Kicked:
			why = "it was removed from the room"
		case m.Verdict(s) == Gone:
			why = "its process has ended"
		default:
			why = "it hasn't been seen for " + Age(r.Policy.PresenceTTL) + " and isn't listening"
		}
	}

	if a == "" {
		return Errorf(CodeUnknownMember, "no other member is active").With("to_agent_id", nil).
			Hintf("release instead; whoever comes next finds the handoff: %s",
				Cmd("tt release --status … --next-action …"))
	}

	return Errorf(CodeUnknownMember, "%s %s: %s", what, Clip(string(a), 70), why).With("to_agent_id", a).
		Hintf("see who is here: %s; or let the room choose: %s",
			Cmd("tt state"), Cmd("tt release --status … --next-action …"))
}

// handOver does what release and pass have in common: it checks the handoff and the fence, and ends the
// turn. The event that it returns has no payload.
func (r Room) handOver(t EventType, by AgentID, f Fence, h Handoff, now Time) (Room, Event, error) {
	if err := h.Check(); err != nil {
		return r, Event{}, err
	}

	if err := r.CheckFence(by, f, now); err != nil {
		return r, Event{}, err
	}

	e := r.NewEvent(t, by, "")

	// What the log holds must read back as it was written.
	h.Workspace = h.Workspace.withValidText()
	e.Handoff = &h
	r = r.freeStick(by, now).endRestsNamedIn(h, by)
	r.Turn.HandoffPending = true
	r.Turn.NextAction = Clip(h.NextAction, 80)

	return r, e, nil
}

// Settle does what is due in a room before anything else happens there. It records when the owner was first
// seen to be gone. It moves a reservation on if the recipient is gone or its time is over; but a recipient
// that acts now (by) still gets the stick. With take, a reservation whose recipient is gone stays, so that it
// can be taken over. Nothing is due in a paused room.
func (r Room) Settle(by AgentID, take bool, s *Probed, now Time) (Room, []Event) {
	t := r.Turn
	if r.Paused.On() {
		return r, nil
	}

	switch t.State {
	case Owned:
		if t.OpenedAt.IsZero() && t.Owner != by && r.IsGone(t.Owner, s) {
			r.Turn.OpenedAt = now
		}
	case Reserved:
		// Time alone ends no pass: that takes a takeover.
		lapsed := t.ReservedBy == ByRelease && t.ReservedFor != by && r.ClaimDeadline().Due(now)
		lost := !r.IsJoined(t.ReservedFor) || (t.ReservedFor != by && r.IsGone(t.ReservedFor, s))
		if (lapsed && !lost) || (lost && !take) {
			// It isn't named again until it acts.
			r.EditMember(t.ReservedFor, func(m *Member) { m.PassedOver = true })
			return r.rerouteStick(s, now)
		}
	}
	return r, nil
}

// rerouteStick lets the release rule name the next holder after a reservation was lost or a turn ended without a
// handoff. It makes no event if nobody had a reservation and nobody gets one.
func (r Room) rerouteStick(s *Probed, now Time) (Room, []Event) {
	from := r.Turn.ReservedFor
	p := ReroutedPayload{Prior: from}
	if m, ok := r.Member(from); ok {
		p.Verdict = m.Verdict(s)
	}

	// Whoever ended the last turn still comes last.
	r = r.freeStick(r.Turn.Prior, now)
	r, to, nobody := r.nameNext(s, now)
	if from == "" && to == "" {
		return r, nil
	}

	p.Nobody, p.Expires = nobody, r.ClaimExpiresAt()
	return r, []Event{r.NewEvent(EventRerouted, "", to).WithPayload(p)}
}
