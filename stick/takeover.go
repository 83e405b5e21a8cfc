package stick

import (
	"strings"
)

// Cause says why a takeover is open. It is what the program found; the reason is what the caller says.
type Cause string

// The causes of a takeover.
const (
	OwnerGone         Cause = "owner_gone"         // the owner's processes have ended
	OwnerTimeout      Cause = "owner_timeout"      // the lease is over and nothing proves that the owner lives
	OwnerIdle         Cause = "owner_idle"         // the owner lives, does nothing, and was told so
	ClaimTimeout      Cause = "claim_timeout"      // a pass wasn't claimed, or a grant wasn't acknowledged
	RecipientGone     Cause = "recipient_gone"     // the one for whom the stick is reserved has ended
	OperatorRequested Cause = "operator_requested" // a person said so
)

// Opening is a takeover that is open, since when. The zero Opening is none.
type Opening struct {
	Cause Cause
	Since Time
}

// Open reports whether there is a takeover to be had.
func (o Opening) Open() bool { return o.Cause != "" }

// Opening finds the takeover that is open in a room, if one is.
func (r Room) Opening(s *Probed, now Time) Opening {
	t := r.Turn
	switch {
	case r.Closed:
	case t.State == Owned:
		m, _ := r.Member(t.Owner)
		if m.Verdict(s) == Gone {
			if t.OpenedAt.IsZero() {
				return Opening{OwnerGone, now}
			}
			return Opening{OwnerGone, t.OpenedAt}
		}
		if d, ok := r.unacknowledged(); ok && d.Due(now) {
			return Opening{ClaimTimeout, since(d, now)}
		}
		if !r.leaseStands(s, now) {
			return Opening{OwnerTimeout, since(r.lease(), now)}
		}
		if r.keptWhileIdle(s) && r.idleNoticeSent() && r.idleNoticeEnds().Due(now) {
			return Opening{OwnerIdle, since(r.idleNoticeEnds(), now)}
		}
	case t.State == Reserved:
		if !r.joined(t.ReservedFor) || r.gone(t.ReservedFor, s) {
			return Opening{RecipientGone, now}
		}
		if t.ReservedBy == ByPass && r.claim().Due(now) {
			return Opening{ClaimTimeout, since(r.claim(), now)}
		}
	}
	return Opening{}
}

// leaseStands reports whether the lease of the current owner still stands.
func (r Room) leaseStands(s *Probed, now Time) bool {
	return r.LeaseKeptBy(s) == KeptByProcess || !r.lease().Due(now)
}

// keptWhileIdle reports whether something other than the owner's own calls keeps the lease, so that it
// would never time out however idle the owner is.
func (r Room) keptWhileIdle(s *Probed) bool { return r.LeaseKeptBy(s) != KeptByHeartbeat }

// idleNoticeDue reports whether the owner has to be told now that it looks idle.
func (r Room) idleNoticeDue(s *Probed, now Time) bool {
	return !r.Closed && r.Turn.State == Owned && r.keptWhileIdle(s) && !r.idleNoticeSent() && r.idle().Due(now) &&
		!r.gone(r.Turn.Owner, s)
}

// sendIdleNotice tells the owner, in its stream, that it looks idle. A grace later it may be replaced.
func (r Room) sendIdleNotice(now Time) (Room, []Event) {
	r.Turn.IdleNoticeAt, r.Turn.IdleSince = now, r.activity()
	return r, []Event{r.event(EventOwnerIdle, "", r.Turn.Owner).with(OwnerIdlePayload{IdleSince: r.Turn.IdleSince})}
}

// Take is a request to take over.
type Take struct {
	By           AgentID
	ExpectedTurn int64  // refused with [CodeTurnMismatch] if another turn is current; 0 for any
	Reason       string // required: why, in the caller's words
	Operator     bool   // a person asks for it, whatever is open
	Relayed      bool   // By is an agent that relays the person's word
}

// Check refuses a request without a reason, or with one that is no text, with [CodeUsage].
func (q Take) Check() error {
	if err := checkReason("reason", q.Reason); err != nil {
		return err
	}
	if strings.TrimSpace(q.Reason) == "" {
		return Errorf(CodeUsage, "a takeover needs a reason").With("field", "reason").
			Hintf("say why: %s", Cmd("tt take --reason …"))
	}
	return nil
}

// Takeover gives the stick to the caller when a takeover is open: [CodeTakeoverNotAvailable] if
// none is, [CodePriorOwner] while the one who passed the stick on must let others go first,
// [CodeTurnMismatch] if the turn isn't the expected one, [CodeUnknownMember] if the caller takes no
// part. If the owner only looks idle and wasn't told yet, it is told now, and the caller is refused
// until the owner had its grace.
func (r Room) Takeover(q Take, lease LeaseID, s *Probed, now Time) (Room, []Event, ClaimReason, error) {
	if err := q.Check(); err != nil {
		return r, nil, "", err
	}
	t := r.Turn
	switch {
	case r.Closed:
		return r, nil, "", r.errClosed()
	case !r.joined(q.By):
		return r, nil, "", r.unknown(q.By, "can't take over", s)
	case t.State == Owned && t.Owner == q.By:
		return r, nil, AlreadyOwner, nil
	case q.ExpectedTurn != 0 && q.ExpectedTurn != t.ID:
		return r, nil, "", r.mismatch(q.ExpectedTurn, now)
	case t.State == Idle, t.State == Reserved && t.ReservedFor == q.By:
		if r, events, why := r.Claim(q.By, lease, s, now); why != "" {
			return r, events, why, nil
		}
		if !q.Operator {
			return r, nil, "", r.errPriorOwner(now)
		}
	}
	o := r.Opening(s, now)
	cause := o.Cause
	switch {
	case q.Operator:
		cause = OperatorRequested
	case !o.Open():
		var told []Event
		if r.idleNoticeDue(s, now) {
			r, told = r.sendIdleNotice(now)
		}
		return r, told, "", r.errNotOpen(s, now)
	case cause == ClaimTimeout && r.priorOwnerMustWait(q.By, s, now):
		return r, nil, "", r.errPriorOwner(now)
	}
	p := TakeoverPayload{Cause: cause, Lease: LeaseSum(lease), Prior: t.Owner, Ends: t.State == Owned}
	if t.State == Reserved {
		p.Prior = t.ReservedFor
	}
	if t.HandoffPending {
		p.HandoffSeq = t.HandoffSeq
	}
	if m, ok := r.Member(p.Prior); ok {
		p.Verdict = m.Verdict(s)
	}
	prior := t.Prior
	if t.State == Owned {
		prior = t.Owner
	}
	r = r.grant(q.By, lease, now, false)
	r.Turn.Prior = prior
	e := r.event(EventTakeover, q.By, p.Prior)
	e.Reason = strings.TrimSpace(q.Reason)
	if q.Relayed && q.Operator {
		p.RelayedBy, p.Told = r.tellPeople(&e)
	}
	return r, []Event{e.with(p)}, TookOver, nil
}

// priorOwnerMustWait reports whether a, who passed the stick on, must let another go first: while another
// waits for work, and for a grace from the end of the recipient's time.
func (r Room) priorOwnerMustWait(a AgentID, s *Probed, now Time) bool {
	return r.Turn.Prior == a && !r.guardEnd().Due(now) && r.another(s, a, r.Turn.ReservedFor, r.Turn.Owner)
}

// guardEnd is the end of the prior owner's guard after a claim timeout.
func (r Room) guardEnd() Deadline {
	if r.Turn.State == Owned {
		d, _ := r.unacknowledged()
		return Deadline{d.SetAt, d.TTL + r.Policy.WaiterGrace}
	}
	c := r.claim()
	return Deadline{c.SetAt, c.TTL + r.Policy.WaiterGrace}
}

func (r Room) errPriorOwner(now Time) *Error {
	return r.facts(Errorf(CodePriorOwner, "you had the stick last and others are waiting for it; %s", r.Holder(now)).
		Hintf("%s", r.NextStep()))
}

func (r Room) errClosed() *Error {
	return r.facts(Errorf(CodeRoomClosed, "the room is closed").Hintf("open it again on purpose: %s", Cmd("tt join")))
}

// errNotOpen refuses a takeover and says when one could open.
func (r Room) errNotOpen(s *Probed, now Time) *Error {
	e := r.facts(Errorf(CodeTakeoverNotAvailable, "you can't take over now; %s", r.Holder(now)).
		Hintf("%s", r.NextStep()))
	if at := r.opensAt(s, now); !at.IsZero() {
		e.With("opens_at", at)
	}
	return e
}

// opensAt is the earliest moment at which a takeover can open if nothing happens until then.
func (r Room) opensAt(s *Probed, now Time) Time {
	t := r.Turn
	switch {
	case t.State == Reserved:
		return r.claim().At()
	case t.State != Owned:
		return 0
	}
	var at Time
	if d, ok := r.unacknowledged(); ok {
		at = d.At()
	}
	if r.LeaseKeptBy(s) != KeptByProcess {
		at = earlier(at, r.lease().At())
	}
	if r.keptWhileIdle(s) {
		if r.idleNoticeSent() {
			at = earlier(at, r.idleNoticeEnds().At())
		} else {
			at = earlier(at, max(now, r.idle().At()).Add(r.Policy.WaiterGrace))
		}
	}
	return at
}

// round is the current round of offers of an open takeover: who was told carries its number. A
// new round begins Policy.ClaimTTL after the last offer, and when the owner ended since then: that
// wakes everybody by itself, while a limit that opens again does so only for whoever has to look.
type round struct {
	number int64
	start  Time
	last   Time // the last offer in it, or zero
}

func (r Room) round(o Opening, now Time) round {
	t := r.Turn
	again := Deadline{t.OfferedAt, r.Policy.ClaimTTL}
	switch {
	case t.OfferedAt.IsZero():
		return round{t.Round, o.Since, 0}
	case again.Due(now):
		return round{t.Round + 1, max(o.Since, since(again, now)), 0}
	case o.Cause == OwnerGone && o.Since > t.OfferedAt:
		return round{t.Round + 1, o.Since, 0}
	}
	return round{t.Round, t.RoundAt, t.OfferedAt}
}

// offerAt is when the open takeover is offered to a: the k-th of those who weren't told in this round
// is told k graces after the round began, or k+1 graces after the last offer. told is true when
// a was told already; at is then the start of the next round.
func (r Room) offerAt(a AgentID, o Opening, s *Probed, now Time) (at Time, told bool) {
	c := r.round(o, now)
	if m, _ := r.Member(a); m.LastOfferRound == c.number {
		return c.last.Add(r.Policy.ClaimTTL), true
	}
	k := 0
	for _, m := range r.waiting(s) {
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
	if o.Cause == ClaimTimeout && r.priorOwnerMustWait(a, s, now) {
		at = max(at, r.guardEnd().At())
	}
	return at, false
}

// offer notes that a was told of the open takeover.
func (r Room) offer(a AgentID, o Opening, now Time) Room {
	c := r.round(o, now)
	r.Turn.Round, r.Turn.RoundAt, r.Turn.OfferedAt = c.number, c.start, now
	r.edit(a, func(m *Member) { m.LastOfferRound = c.number })
	return r
}

// Causes lists the causes of a takeover with what they mean, for the reference.
var Causes = []struct {
	Cause   Cause
	Meaning string
}{
	{OwnerGone, "the owner's processes have ended"},
	{OwnerTimeout, "the lease is over and nothing proves that the owner lives"},
	{OwnerIdle, "the owner lives but did nothing for owner_idle_ttl, and was told so a waiter_grace ago"},
	{ClaimTimeout, "a pass wasn't claimed for claim_ttl, or a grant wasn't acknowledged for that long"},
	{RecipientGone, "the one for whom the stick is reserved has ended"},
	{OperatorRequested, "a person said so"},
}
