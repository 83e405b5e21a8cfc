package stick

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Join makes a a member, whom people call name; empty to call it by its id. A member that left gets its old
// place back and counts as new for fairness. Without explicit, Join refuses a member that was removed with
// [CodeKicked], and a closed room with [CodeRoomClosed]. joined is false if a was already a member.
func (r Room) Join(
	a AgentID, name string, explicit bool, now Time,
) (next Room, events []Event, joined bool, err error) {
	m, known := r.Member(a)
	switch {
	case known && m.State == Kicked && !explicit:
		return r, nil, false, r.WithStickFacts(Errorf(CodeKicked, "%s was removed from this room", a).
			Hintf("%s", RejoinStep(a)))
	case r.Closed && !explicit:
		return r, nil, false, r.ErrClosed()
	}

	// To join explicitly opens a closed room again.
	if r.Closed {
		r.Closed = false
		events = append(events, r.NewEvent(EventReopen, a, ""))
	}

	if known && m.State == Joined {
		return r.Touch(a, now), events, false, nil
	}

	// Its old place in the order stays, but what it had of earlier offers doesn't.
	if known {
		r.EditMember(a, func(m *Member) {
			m.State, m.Name, m.JoinedAt, m.JoinSeq = Joined, cmp.Or(name, m.Name), now, unnumbered
			m.LastOfferRound, m.ReturnedAt, m.RestsSince = 0, 0, 0
		})
	} else {
		m = Member{Agent: a, Name: name, Ordinal: r.nextOrdinal(), State: Joined, JoinedAt: now, JoinSeq: unnumbered}
		r.Members = append(slices.Clip(r.Members), m)
	}

	events = append(events, r.NewEvent(EventJoin, a, "").WithPayload(JoinPayload{Ordinal: m.Ordinal, Name: name}))
	return r.Touch(a, now), events, true, nil
}

// Named returns the member that a name means: a full id or name, the name of a harness, a person's without the
// host, or the start of a name or an id that tt has made. Of several members that fit it means the one that
// isn't gone, and of several of those the active one. A name that fits no member is returned unchanged. It
// fails with [CodeUsage] and [CodeAmbiguousRecipient].
func (r Room) Named(name AgentID, s *Probed, now Time) (AgentID, error) {
	if _, err := ParseAgentID(string(name)); err != nil {
		return "", err
	}

	if _, ok := r.Member(name); ok {
		return name, nil
	}

	fits := r.findCalled(name)
	if len(fits) == 0 {
		return name, nil
	}

	// Of several, those drop out that are gone, and then those that are inactive.
	for _, out := range []func(AgentID) bool{
		func(a AgentID) bool { return r.IsGone(a, s) },
		func(a AgentID) bool { return !r.Active(a, now, s) },
	} {
		if len(fits) == 1 {
			break
		}

		// A sieve that would leave nobody tells nothing.
		if left := slices.DeleteFunc(slices.Clone(fits), out); len(left) > 0 {
			fits = left
		}
	}

	if len(fits) == 1 {
		return fits[0], nil
	}

	return "", errAmbiguous(name, fits)
}

// findCalled lists the members that are called name. What fits more closely comes first: a whole name, then the
// harness or the person, then the start of a name, then that of an id.
func (r Room) findCalled(name AgentID) []AgentID {
	for _, isCalled := range []func(Member) bool{
		func(m Member) bool { return m.Name == string(name) },
		func(m Member) bool { return m.Agent.hasShortName(name) },
		func(m Member) bool { return m.Name != "" && strings.HasPrefix(m.Name, string(name)) },
		func(m Member) bool { return m.Name != "" && strings.HasPrefix(string(m.Agent), string(name)) },
	} {
		var fits []AgentID
		for _, m := range r.Members {
			if m.State == Joined && isCalled(m) {
				fits = append(fits, m.Agent)
			}
		}

		if len(fits) > 0 {
			return fits
		}
	}

	return nil
}

func errAmbiguous(name AgentID, fits []AgentID) *Error {
	return Errorf(CodeAmbiguousRecipient, "%s matches %d members", name, len(fits)).
		With("candidates", fits).Hintf("name one of them in full: %s", AgentList(fits))
}

// NamedEver is like [Room.Named], but also finds members that have left, because the log still has what they
// did. It fails with [CodeUnknownMember] for a name that has never been a member's.
func (r Room) NamedEver(name AgentID, s *Probed, now Time) (AgentID, error) {
	found, err := r.Named(name, s, now)
	if err != nil {
		return "", err
	}

	if _, ok := r.Member(found); ok {
		return found, nil
	}

	var fits []AgentID
	var names []string // that one might have meant
	for _, m := range r.Members {
		// The name of a harness may have been meant as well.
		harness, _, _ := strings.Cut(string(m.Agent), ":")
		if m.Agent.hasShortName(name) || m.Name == string(name) {
			fits = append(fits, m.Agent)
		}
		names = append(names, string(m.Agent), harness)

		// People have no second name.
		if m.Name != "" {
			names = append(names, m.Name)
		}
	}

	switch {
	case len(fits) == 1:
		return fits[0], nil
	case len(fits) > 1:
		return "", errAmbiguous(name, fits)
	}
	e := Errorf(CodeUnknownMember, "no agent in this room has ever been called %s", name).With("agent_id", name)
	if len(names) == 0 {
		return "", e.Hintf("nobody has joined it: %s", Cmd("tt state"))
	}

	return "", e.Hintf("did you mean %s? %s lists the members", nearestMatch(string(name), names),
		Cmd("tt state --all"))
}

// AgentList joins the names of agents, and cuts the list after a few.
func AgentList(agents []AgentID) Words {
	const most = 5
	var names []Words
	for _, a := range agents[:min(len(agents), most)] {
		names = append(names, AgentName(a))
	}

	if len(agents) > most {
		names = append(names, "…")
	}

	return JoinWords(names, ", ")
}

// unnumbered stands for the number of an event before [Room.Stamp] gives it. It is higher than every
// number in the log, because what happens now comes last.
const unnumbered = math.MaxInt64

func (r Room) nextOrdinal() int {
	n := 0
	for _, m := range r.Members {
		n = max(n, m.Ordinal)
	}
	return n + 1
}

// Leaving is a request to leave.
type Leaving struct {
	By      AgentID
	Fence   Fence    // for an owner
	Handoff *Handoff // an owner leaves a handoff,
	Abandon string   // or says why it leaves none
	Ending  *Ending  // why tt ends its session, instead of Abandon; nil if the agent leaves itself
}

// Leave ends a membership. An owner leaves a handoff, or abandons its turn and gives a reason. Either
// way the release rule names the next holder. It fails with [CodeUnknownMember], [CodeUsage],
// [CodeInvalidHandoff], [CodeTurnMismatch], [CodeStaleLease], and [CodeNotYourTurn] for a handoff of
// anybody but the owner.
func (r Room) Leave(q Leaving, s *Probed, now Time) (Room, []Event, error) {
	if !r.IsJoined(q.By) {
		return r, nil, Errorf(CodeUnknownMember, "%s isn't a member of this room", q.By).
			Hintf("see the rooms around here: %s; there is nothing to leave", Cmd("tt list"))
	}

	if err := CheckReason("abandon", q.Abandon); err != nil {
		return r, nil, err
	}

	var events []Event
	p := LeavePayload{Ending: q.Ending}
	why := EndReason{q.Ending, strings.TrimSpace(q.Abandon)}
	owner := r.Turn.State == Owned && r.Turn.Owner == q.By

	switch {
	// An owner owes a handoff or a reason, and nobody else can give one.
	case owner && q.Handoff == nil && why.text() == "":
		return r, nil, badHandoff("status", "you hold the stick: leave a handoff, or say why you abandon the turn").
			Hintf("%s, or %s", Cmd("tt leave --status … --next-action …"), Cmd("tt leave --abandon …"))
	case owner:
		if err := r.CheckFence(q.By, q.Fence, now); err != nil {
			return r, nil, err
		}
	case q.Handoff != nil:
		return r, nil, r.WithStickFacts(Errorf(CodeNotYourTurn, "only the holder of the stick can leave a handoff; %s",
			r.Holder(now)).
			Hintf("to leave without a handoff: %s", Cmd("tt leave")))
	}
	// The member leaves first, so that the release rule doesn't name it.
	given := r
	ended := r.EndSession(q.By, why, now)
	r.EditMember(q.By, func(m *Member) { m.State = Left })

	switch {
	case owner && q.Handoff != nil:
		var err error
		if r, events, err = r.Release(q.By, q.Fence, *q.Handoff, s, now); err != nil {
			return given, nil, err
		}
	case owner:
		p.Ends, p.Lease = true, LeaseSum(q.Fence.Lease)
		r = r.freeStick(q.By, now)
	}
	leave := r.NewEvent(EventLeave, q.By, "").WithPayload(p)
	leave.Reason = why.text()
	return r.rerouteAfter(append(append(ended, events...), leave), q.By, s, now)
}

// rerouteAfter names the next holder if a, which has just left or been removed, had the stick or a
// reservation of it. events end with the one by which it did.
func (r Room) rerouteAfter(events []Event, a AgentID, s *Probed, now Time) (Room, []Event, error) {
	t := r.Turn
	if t.State == Idle && events[len(events)-1].TurnEndedOf() != "" || t.State == Reserved && t.ReservedFor == a {
		next, moved := r.rerouteStick(s, now)
		return next, append(events, moved...), nil
	}
	return r, events, nil
}

// Kicking is a request to remove a member.
type Kicking struct {
	By      AgentID
	Who     AgentID
	Force   bool // remove it even if it isn't gone
	Relayed bool // By is an agent that relays a person's word
	Reason  string
}

// Kick removes a member that is gone, and with Force any other. It fails with [CodeUnknownMember],
// with [CodeMemberPresent], and with [CodeUsage] for a reason that is no text, and if By names itself.
func (r Room) Kick(q Kicking, s *Probed, now Time) (Room, []Event, error) {
	if err := CheckReason("reason", q.Reason); err != nil {
		return r, nil, err
	}

	m, ok := r.Member(q.Who)
	if !ok || m.State != Joined {
		return r, nil, r.errUnknownMember(q.Who, "you can't remove", s)
	}

	if q.Who == q.By {
		return r, nil, Errorf(CodeUsage, "you can't remove yourself").With("agent_id", q.Who).
			Hintf("leave instead: %s", Cmd("tt leave"))
	}

	v := m.Verdict(s)
	if v != Gone && !q.Force {
		advice := Hintf("ask a person; on their word: %s", Cmd("tt kick <agent> --force", q.Who))
		if q.By.Human() {
			advice = Hintf("to remove it anyway: %s", Cmd("tt kick <agent> --force", q.Who))
		}

		return r, nil, Errorf(CodeMemberPresent, "%s may still be here: it was last seen %s",
			q.Who, Ago(now.Sub(r.SeenAt(m)))).
			With("agent_id", q.Who).With("verdict", v).Hintf("%s", advice)
	}

	p := KickPayload{Verdict: v, Forced: v != Gone}
	r.EditMember(q.Who, func(m *Member) { m.State, m.Session.Running = Kicked, false })
	kick := r.NewEvent(EventKick, q.By, q.Who)
	kick.Reason = strings.TrimSpace(q.Reason)

	// Only what needed a person's word is told to the people.
	if q.Relayed && p.Forced {
		p.RelayedBy, p.Told = r.tellPeople(&kick)
	}

	// Its turn ends with it: nobody would ever release it.
	if r.Turn.State == Owned && r.Turn.Owner == q.Who {
		p.Ends, p.Prior, p.Lease = true, q.Who, LeaseSum(r.Turn.Lease)
		r = r.freeStick(q.Who, now)
	}

	return r.rerouteAfter([]Event{kick.WithPayload(p)}, q.Who, s, now)
}

// HasOthers reports whether somebody else than an agent is in a room.
func (r Room) HasOthers(than AgentID) bool {
	return slices.ContainsFunc(r.Members, func(m Member) bool { return m.State == Joined && m.Agent != than })
}

// HasWork reports whether anything has happened in a log but that members came and went, and that the room was
// closed, moved or got another policy.
func HasWork(log []Event) bool {
	isComing := func(e Event) bool {
		switch e.Type {
		case EventJoin, EventLeave, EventKick, EventClose, EventReopen, EventRoomMoved, EventPolicyChanged,
			EventSessionStarted, EventSessionEnded:
			return true
		}
		return false
	}

	return slices.ContainsFunc(log, func(e Event) bool { return !isComing(e) })
}

// Move says that the workspace of a room lies at another path now. Its owner is told.
func (r Room) Move(by AgentID, to string) (Room, []Event) {
	from := r.Path
	if from == to {
		return r, nil
	}

	r.Path = to
	return r, []Event{r.NewEvent(EventRoomMoved, by, r.Turn.Owner).WithPayload(RoomMovedPayload{From: from, To: to})}
}

// Closing is a request to close a room.
type Closing struct {
	By      AgentID
	Person  bool
	Fence   Fence
	Handoff *Handoff // required of an owner
	Reason  string
}

// Close closes a room, so that nobody takes turns there. The owner closes it with a handoff; a person can
// while nobody owns the stick. It fails with [CodeUsage], [CodeRoomClosed], [CodeNotYourTurn],
// [CodeInvalidHandoff], [CodeTurnMismatch] and [CodeStaleLease].
func (r Room) Close(q Closing, now Time) (Room, []Event, error) {
	if err := CheckReason("reason", q.Reason); err != nil {
		return r, nil, err
	}

	var events []Event
	switch {
	case r.Closed:
		return r, nil, r.ErrClosed()
	case r.Turn.State == Owned && r.Turn.Owner == q.By:
		if q.Handoff == nil {
			return r, nil, badHandoff("status", "you hold the stick: close the room with a handoff").
				Hintf("%s", Cmd("tt close --status … --next-action …"))
		}

		next, release, err := r.handOver(EventRelease, q.By, q.Fence, *q.Handoff, now)
		if err != nil {
			return r, nil, err
		}

		r = next
		events = append(events, release.WithPayload(ReleasePayload{
			Lease: LeaseSum(q.Fence.Lease), Nobody: NobodyClosed,
		}))
	case !q.Person:
		e := r.WithStickFacts(Errorf(CodeNotYourTurn, "an agent can close a room only while it holds the stick; %s",
			r.Holder(now)))
		if r.Turn.State == Owned {
			return r, nil, e.Hintf("%s", r.NextStep())
		}
		return r, nil, e.Hintf("take the turn first: %s", Cmd("tt wait"))
	case r.Turn.State == Owned:
		return r, nil, r.WithStickFacts(Errorf(CodeNotYourTurn,
			"you can't close the room while %s holds the stick", r.Turn.Owner).
			Hintf("ask: %s; or take the stick first: %s",
				Cmd("tt msg send <agent> …", r.Turn.Owner), Cmd("tt take --operator-requested --reason …")))
	}
	if r.Turn.State == Reserved {
		r = r.freeStick(r.Turn.Prior, now)
	}

	r.Closed = true
	e := r.NewEvent(EventClose, q.By, "")
	e.Reason = strings.TrimSpace(q.Reason)
	return r, append(events, e), nil
}
