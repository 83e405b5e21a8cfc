package stick

import (
	"strings"
	"time"
)

// Cause says what opened a takeover. The program finds the cause; the reason is what the caller says.
type Cause string

// The causes of a takeover.
const (
	OwnerGone         Cause = "owner_gone"         // the owner's processes have ended
	OwnerTimeout      Cause = "owner_timeout"      // the lease has timed out and nothing proves that the owner is alive
	OwnerIdle         Cause = "owner_idle"         // the owner is alive, does nothing, and was told so
	ClaimTimeout      Cause = "claim_timeout"      // a pass wasn't claimed, or a grant wasn't acknowledged
	RecipientGone     Cause = "recipient_gone"     // the process of the member that the stick is reserved for has ended
	OperatorRequested Cause = "operator_requested" // a person asked for it
)

// Opening is an open takeover: what opened it, and when. The zero Opening is none.
type Opening struct {
	Cause Cause
	Since Time
}

// Open reports whether the stick can be taken over.
func (o Opening) Open() bool { return o.Cause != "" }

// Opening says why the stick can be taken over, and since when. It is zero if it can't.
func (r Room) Opening(s *Probed, now Time) Opening {
	t := r.Turn
	switch {
	case r.Closed, r.Paused.On():
	case t.State == Owned:
		m, _ := r.Member(t.Owner)
		if m.Verdict(s) == Gone {
			if t.OpenedAt.IsZero() {
				return Opening{OwnerGone, now}
			}
			return Opening{OwnerGone, t.OpenedAt}
		}

		// A grant that nobody has reacted to was perhaps never seen.
		if d, ok := r.ackDeadline(); ok && d.Due(now) {
			return Opening{ClaimTimeout, passedAt(d, now)}
		}
		if !r.leaseStands(s, now) {
			return Opening{OwnerTimeout, passedAt(r.leaseDeadline(), now)}
		}

		// An idle owner is told first, and may answer.
		limit, told := r.idleDeadline(), r.idleNoticeEnds()
		if r.keptWhileIdle(s, now) && r.idleNoticeSent() && limit.Due(now) && told.Due(now) {
			return Opening{OwnerIdle, max(passedAt(limit, now), passedAt(told, now))}
		}
	case t.State == Reserved:
		if !r.IsJoined(t.ReservedFor) || r.IsGone(t.ReservedFor, s) {
			return Opening{RecipientGone, now}
		}
		if t.ReservedBy == ByPass && r.ClaimDeadline().Due(now) {
			return Opening{ClaimTimeout, passedAt(r.ClaimDeadline(), now)}
		}
	}
	return Opening{}
}

// leaseStands reports whether the lease of the current owner hasn't timed out.
func (r Room) leaseStands(s *Probed, now Time) bool {
	return r.LeaseKeptBy(s, now) == KeptByProcess || !r.leaseDeadline().Due(now)
}

// keptWhileIdle reports whether something other than the owner's own calls keeps the lease, so that it
// would never time out however idle the owner is.
func (r Room) keptWhileIdle(s *Probed, now Time) bool {
	return r.LeaseKeptBy(s, now) != KeptByHeartbeat
}

// idleNoticeDue reports whether it is time to tell the owner that it looks idle.
func (r Room) idleNoticeDue(s *Probed, now Time) bool {
	return !r.Closed && r.Turn.State == Owned && r.keptWhileIdle(s, now) && !r.idleNoticeSent() &&
		r.idleDeadline().Due(now) &&
		!r.IsGone(r.Turn.Owner, s)
}

// sendIdleNotice tells the owner by an event that it looks idle. Policy.WaiterGrace later others may take
// over.
func (r Room) sendIdleNotice(now Time) (Room, []Event) {
	r.Turn.IdleNoticeAt, r.Turn.IdleSince = now, r.ownerActiveAt()
	return r, []Event{r.NewEvent(EventOwnerIdle, "",
		r.Turn.Owner).WithPayload(OwnerIdlePayload{IdleSince: r.Turn.IdleSince})}
}

// Take is a request to take over.
type Take struct {
	By           AgentID
	ExpectedTurn int64  // the turn that By means to end; 0 for any
	Reason       string // why, in the caller's words; required
	Operator     bool   // a person asks for it, so no takeover needs to be open
	Relayed      bool   // By is an agent that acts on the person's word
}

// Check refuses a request whose reason is missing, too long or not text. It fails with [CodeUsage].
func (q Take) Check() error {
	if err := CheckReason("reason", q.Reason); err != nil {
		return err
	}

	if strings.TrimSpace(q.Reason) == "" {
		return Errorf(CodeUsage, "a takeover needs a reason").With("field", "reason").
			Hintf("say why: %s", Cmd("tt take --reason …"))
	}

	return nil
}

// Takeover gives the stick to the caller if it can be taken over. It fails with [CodeTakeoverNotAvailable] if
// none is, with [CodePriorOwner] while the caller must let others go first because it had the last turn, with
// [CodeTurnMismatch] if the turn isn't the expected one, with [CodeUnknownMember] if the caller takes no
// part, and with [CodePaused], [CodeUsage] and [CodeRoomClosed]. If the owner only looks idle and hasn't been
// told so, Takeover tells it, and refuses the caller until Policy.WaiterGrace has passed. See
// docs/decisions/turns-and-takeovers.md#takeovers-and-offers.
func (r Room) Takeover(q Take, lease LeaseID, s *Probed, now Time) (Room, []Event, ClaimReason, error) {
	if err := q.Check(); err != nil {
		return r, nil, "", err
	}

	t := r.Turn
	switch {
	case r.Closed:
		return r, nil, "", r.ErrClosed()
	case !r.IsJoined(q.By):
		return r, nil, "", r.errUnknownMember(q.By, "can't take over", s)
	case t.State == Owned && t.Owner == q.By:
		return r, nil, AlreadyOwner, nil
	case q.ExpectedTurn != 0 && q.ExpectedTurn != t.ID:
		return r, nil, "", r.errTurnMismatch(q.By, q.ExpectedTurn, now)
	case r.Paused.On():
		return r, nil, "", r.errPaused(q.By, now)
	case t.State == Idle, t.State == Reserved && t.ReservedFor == q.By:
		if r, events, why := r.Claim(q.By, lease, s, now); why != "" {
			return r, events, why, nil
		}
		if !q.Operator {
			return r, nil, "", r.errPriorOwner(r.graceAfter(t.FreeSince).At(), now)
		}
	}

	// What opened the takeover, and until when the caller must leave it to others.
	o := r.Opening(s, now)
	cause, guard := o.Cause, r.guardUntil(q.By, o, s, now)
	switch {
	case q.Operator:
		cause = OperatorRequested
	case !o.Open():
		var told []Event

		// The refusal also starts the clock for an owner that looks idle.
		if r.idleNoticeDue(s, now) {
			r, told = r.sendIdleNotice(now)
		}
		return r, told, "", r.errNotOpen(s, now)
	case !guard.IsZero():
		return r, nil, "", r.errPriorOwner(guard, now)
	}
	p := TakeoverPayload{
		Cause: cause, Lease: LeaseSum(lease), Prior: t.Owner,
		Ends: t.State == Owned, WaitedSince: r.WaitedSince(q.By, s, now),
	}
	if t.State == Reserved {
		p.Prior = t.ReservedFor
	}
	if t.HandoffPending {
		p.HandoffSeq = t.HandoffSeq
	}

	if m, ok := r.Member(p.Prior); ok {
		p.Verdict = m.Verdict(s)
	}

	// Who had the stick last lets others go first the next time.
	prior := t.Prior
	if t.State == Owned {
		prior = t.Owner
	}

	r = r.grantTurn(q.By, lease, now, false)
	r.Turn.Prior = prior
	e := r.NewEvent(EventTakeover, q.By, p.Prior)
	e.Reason = strings.TrimSpace(q.Reason)

	// Nobody has heard the person, so all people of the room are told.
	if q.Relayed && q.Operator {
		p.RelayedBy, p.Told = r.tellPeople(&e)
	}

	return r, []Event{e.WithPayload(p)}, TookOver, nil
}

// timeToTake is how long a member that was offered a takeover has at least before the prior owner may take
// over. Its wait only wakes it: then an agent has to read the answer and to run a command.
const timeToTake = 60 * time.Second

// guardUntil returns until when a must leave a takeover after a [ClaimTimeout] to others, because it had the stick
// last. It is zero if a needn't. Others are members that aren't gone, and wait for work, got the offer in
// this round, or asked for work a moment ago; the owner and the recipient don't count. The guard lasts one
// grace from the end of the claim, and timeToTake from the last offer.
func (r Room) guardUntil(a AgentID, o Opening, s *Probed, now Time) Time {
	t, c := r.Turn, r.currentRound(o, now)
	if m, _ := r.Member(a); o.Cause != ClaimTimeout || t.Prior != a || m.LastOfferRound == c.number {
		return 0
	}

	claim := r.ClaimDeadline()
	if t.State == Owned {
		claim, _ = r.ackDeadline()
	}

	// One grace after the claim has ended, or longer if somebody was offered the stick.
	end := pendingAt(Deadline{claim.SetAt, claim.TTL + r.Policy.WaiterGrace}, now)
	if !c.last.IsZero() {
		end = max(end, pendingAt(Deadline{c.last, max(r.Policy.WaiterGrace, timeToTake)}, now))
	}

	// It waits only for members that could take over.
	var until Time
	for _, m := range r.Members {
		switch {
		case m.State != Joined || m.Agent == a || m.Agent == t.Owner || m.Agent == t.ReservedFor || m.Verdict(s) == Gone:
		case m.LastOfferRound == c.number || r.Listening(m.Agent, Work, s):
			return end
		case !m.ReturnedAt.IsZero():
			until = max(until, min(end, pendingAt(r.graceAfter(m.ReturnedAt), now)))
		}
	}

	return until
}

// pendingAt returns when a deadline passes, zero if it has passed.
func pendingAt(d Deadline, now Time) Time {
	if d.Due(now) {
		return 0
	}
	return d.At()
}

// errPriorOwner refuses a because others come first until the given time.
func (r Room) errPriorOwner(until, now Time) *Error {
	return r.WithStickFacts(Errorf(CodePriorOwner, "you had the stick last, so others come first; %s", r.Holder(now)).
		Hintf("if nobody takes it, you can take it in %s; until then %s",
			timeLeft(until.Sub(now)), r.NextStep())).With("opens_at", until)
}

// timeLeft says how much time is left.
func timeLeft(d time.Duration) Words {
	if d < time.Second {
		return "a moment"
	}
	return Age(d)
}

// ErrClosed refuses an act in a closed room.
func (r Room) ErrClosed() *Error {
	return r.WithStickFacts(Errorf(CodeRoomClosed, "the room is closed").
		Hintf("if it should be open again: %s", Cmd("tt join")))
}

// errNotOpen refuses a takeover, says why, and says when one could open.
func (r Room) errNotOpen(s *Probed, now Time) *Error {
	why, t := r.Holder(now), r.Turn
	if t.State == Owned {
		// An owner that isn't gone, silent or idle keeps its turn.
		why = Holds(t.Owner, now.Sub(t.GrantedAt)) + ", and nothing shows that it has stopped"
		if r.idleNoticeSent() && r.idleDeadline().Due(now) {
			why = AgentName(t.Owner) + " looks idle, and still has time to answer that"
		}
	}

	e := r.WithStickFacts(Errorf(CodeTakeoverNotAvailable,
		"you can't take over yet: %s", why).Hintf("%s", r.NextStep()))
	at := r.OpensAt(s, now)
	if at.IsZero() {
		return e
	}

	switch t.State {
	case Owned:
		e.Hintf("if %s does nothing, you can take over in %s at the earliest; until then %s",
			t.Owner, timeLeft(at.Sub(now)), r.NextStep())
	case Reserved:
		e.Hintf("%s has %s left to take the stick; %s", t.ReservedFor, timeLeft(at.Sub(now)), r.NextStep())
	}
	return e.With("opens_at", at)
}

// OpensAt returns the earliest time at which a takeover can open if nobody acts until then. It is zero if
// none can.
func (r Room) OpensAt(s *Probed, now Time) Time {
	t := r.Turn
	switch {
	case t.State == Reserved:
		return r.ClaimDeadline().At()
	case t.State != Owned:
		return 0
	}
	var at Time
	if d, ok := r.ackDeadline(); ok {
		at = d.At()
	}
	if r.LeaseKeptBy(s, now) != KeptByProcess {
		at = EarlierTime(at, r.leaseDeadline().At())
	}

	if r.keptWhileIdle(s, now) {
		if r.idleNoticeSent() {
			at = EarlierTime(at, r.idleOpensAt())
		} else {
			at = EarlierTime(at, max(now, r.idleDeadline().At()).Add(r.Policy.WaiterGrace))
		}
	}

	return at
}

// offerRound is a round of offers of an open takeover. Members that got the offer in it carry its number. A new
// round begins Policy.ClaimTTL after the last offer. It also begins when the owner's process ends, because
// that wakes every wait anyway; a deadline wakes only the wait whose turn it is to check. But it begins no
// earlier than one grace after the last offer, so that offers never come closer.
type offerRound struct {
	number int64
	start  Time
	last   Time // the last offer in it, or zero
}

func (r Room) currentRound(o Opening, now Time) offerRound {
	t := r.Turn
	again, spaced := Deadline{t.OfferedAt, r.Policy.ClaimTTL}, r.graceAfter(t.OfferedAt)

	// Two offers never come closer than one grace.
	soonest := spaced.At()

	if spaced.Due(now) {
		soonest = passedAt(spaced, now)
	}

	switch {
	case t.OfferedAt.IsZero():
		return offerRound{t.Round, o.Since, 0}
	case again.Due(now):
		return offerRound{t.Round + 1, max(o.Since, passedAt(again, now), soonest), 0}
	case o.Cause == OwnerGone && o.Since > t.OfferedAt:
		return offerRound{t.Round + 1, max(o.Since, soonest), 0}
	}
	return offerRound{t.Round, t.RoundAt, t.OfferedAt}
}

// offerAt returns when the open takeover is offered to a. Of the members that haven't got the offer in this
// round, the k-th from 0 gets it k graces after the round began, or k+1 graces after the last offer. told is
// true if a got the offer in this round; at is then the start of the next round.
func (r Room) offerAt(a AgentID, o Opening, s *Probed, now Time) (at Time, told bool) {
	c := r.currentRound(o, now)
	if m, _ := r.Member(a); m.LastOfferRound == c.number {
		return c.last.Add(r.Policy.ClaimTTL), true
	}

	// It is the caller's turn after those who wait before it and haven't got the offer.
	k := 0
	for _, m := range r.ListWaiting(s) {
		if m.Agent == a {
			break
		}
		if m.LastOfferRound != c.number && m.Agent != r.Turn.Owner && m.Agent != r.Turn.ReservedFor {
			k++
		}
	}

	start := c.start
	if !c.last.IsZero() {
		start, k = c.last, k+1
	}

	at = start

	for range k {
		at = at.Add(r.Policy.WaiterGrace)
	}

	return max(at, r.guardUntil(a, o, s, now)), false
}

// recordOffer records that the open takeover was offered to a.
func (r Room) recordOffer(a AgentID, o Opening, now Time) Room {
	c := r.currentRound(o, now)
	r.Turn.Round, r.Turn.RoundAt, r.Turn.OfferedAt = c.number, c.start, now
	r.EditMember(a, func(m *Member) { m.LastOfferRound = c.number })
	return r
}

// CauseInfo is a row of [Causes].
type CauseInfo struct {
	Cause   Cause
	Meaning string
}

// Causes lists the causes of a takeover and their meanings, for the reference.
var Causes = []CauseInfo{
	{OwnerGone, "the owner's processes have ended"},
	{OwnerTimeout, "the lease has timed out and nothing proves that the owner is alive"},
	{
		OwnerIdle,
		"the owner is alive but has done nothing for owner_idle_ttl, and was told so at least waiter_grace ago",
	},
	{ClaimTimeout, "a pass wasn't claimed for claim_ttl, or a grant wasn't acknowledged for that long"},
	{RecipientGone, "the process of the member that the stick is reserved for has ended"},
	{OperatorRequested, "a person asked for it"},
}
