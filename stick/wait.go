package stick

import (
	"time"
)

// WaitStatus is the outcome of a wait.
type WaitStatus string

// The outcomes of a wait.
const (
	YourTurn          WaitStatus = "your_turn"
	TakeoverAvailable WaitStatus = "takeover_available"
	GotEvents         WaitStatus = "events"
	NotYet            WaitStatus = "not_yet"
	InPause           WaitStatus = "paused" // like NotYet, in a paused room
	RoomClosed        WaitStatus = "closed"
	WasKicked         WaitStatus = "kicked"
	HasLeft           WaitStatus = "left"
	WasReplaced       WaitStatus = "replaced"
	UnderParent       WaitStatus = "under_parent" // the turn of the agent that started the caller covers it, see [Room.Parent]
)

// Asking is one check of a room by a wait.
type Asking struct {
	Agent    AgentID
	Purpose  Purpose
	Above    Lineage // of the agent's caller
	Blocking bool    // it is a live listener, which gets offers when its turn comes
	Insists  bool    // it waits for the turn and nothing else
	NotSoon  Time    // it gets no offer before this time, because its machine has slept
	Lease    LeaseID // the lease to grant
}

// Answer is the outcome of a check. Status is empty if the wait has to go on.
type Answer struct {
	Status  WaitStatus
	Claim   ClaimReason // with YourTurn
	Opening Opening     // with TakeoverAvailable
	Changed bool        // the room has changed, and has to be saved
}

// WaitStatusOf returns how every wait of a ends because a takes no part or the room is closed. It is empty
// for a member of an open room.
func (r Room) WaitStatusOf(a AgentID) WaitStatus {
	m, ok := r.Member(a)
	switch {
	case ok && m.State == Kicked:
		return WasKicked
	case !ok || m.State == Left:
		return HasLeft
	case r.Closed:
		return RoomClosed
	}
	return ""
}

// Ask checks the room for a waiting member. It settles what is due, claims the turn if the member may have
// it, tells an idle owner that it looks idle, and offers an open takeover when it is the member's turn to get
// the offer. A member that works under the turn of the agent that started it is told so. In a paused room
// every wait for the stick goes on, also the holder's; only a try tells the holder which turn it has. A wait
// first calls it in a transaction that only reads, and writes only if something would change.
func (r Room) Ask(q Asking, s *Probed, now Time) (Room, []Event, Answer) {
	if end := r.WaitStatusOf(q.Agent); end != "" {
		return r, nil, Answer{Status: end}
	}

	m, _ := r.Member(q.Agent)
	changed := m.PassedOver
	if changed {
		r.EditMember(q.Agent, func(m *Member) { m.PassedOver = false })
	}

	// A try is an act, and so is a wait for nothing but the turn: whoever has no work does neither.
	isAct := !q.Blocking || q.Insists
	if isAct && q.Purpose == Work && m.Rests() {
		r, changed = r.EndRest(q.Agent), true
	}

	var events []Event

	// Right after its machine has slept, a wait settles nothing and gets no offer.
	if now >= q.NotSoon {
		before := r.Turn
		r, events = r.Settle(q.Agent, false, s, now)
		changed = changed || len(events) > 0 || r.Turn != before
	}

	// A wait for events only never gets the stick.
	if q.Purpose != Work {
		return r, events, Answer{Changed: changed}
	}
	if r.Paused.On() && (q.Blocking || r.Turn.Owner != q.Agent) {
		return r, events, Answer{Changed: changed}
	}

	if _, under := r.Parent(q.Agent, q.Above, s); under {
		return r, events, Answer{Status: UnderParent, Changed: changed}
	}

	// Nobody who rests takes the free stick by waiting for it.
	if r.Turn.State == Idle && r.rests(q.Agent) {
		return r, events, Answer{Changed: changed}
	}

	r, claimed, why := r.Claim(q.Agent, q.Lease, s, now)
	if why != "" {
		return r, append(events, claimed...),
			Answer{Status: YourTurn, Claim: why, Changed: changed || why != AlreadyOwner}
	}

	if r.idleNoticeDue(s, now) && now >= q.NotSoon {
		var told []Event
		r, told = r.sendIdleNotice(now)
		events, changed = append(events, told...), true
	}

	if o := r.Opening(s, now); o.Open() && o.Cause != RecipientGone {
		// A try isn't offered the stick: it may take over at once, or must leave it to others.
		if !q.Blocking {
			if !r.guardUntil(q.Agent, o, s, now).IsZero() {
				return r, events, Answer{Changed: changed}
			}
			return r, events, Answer{Status: TakeoverAvailable, Opening: o, Changed: changed}
		}

		if at, told := r.offerAt(q.Agent, o, s, now); !told && now >= max(at, q.NotSoon) {
			return r.recordOffer(q.Agent, o, now), events, Answer{Status: TakeoverAvailable, Opening: o, Changed: true}
		}
	}

	return r, events, Answer{Changed: changed}
}

// NextDeadline returns when a waiting member has to check again even if nothing rings, zero for never. It is
// never zero for a member that waits for work while the stick is owned by another or reserved for another,
// unless the room is paused: then only the end of the pause matters. Time doesn't end a rest.
func (r Room) NextDeadline(q Asking, s *Probed, now Time) Time {
	if r.Closed || r.Paused.On() || q.Purpose != Work {
		return 0
	}
	return max(r.nextCheckAt(q.Agent, s, now), q.NotSoon)
}

func (r Room) nextCheckAt(a AgentID, s *Probed, now Time) Time {
	t := r.Turn
	if t.State == Idle && r.rests(a) {
		return 0 // what ends its rest wakes it
	}
	if t.State == Idle {
		return r.graceAfter(t.FreeSince).At() // the end of a's deferral; nothing else keeps it from claiming
	}

	if o := r.Opening(s, now); o.Open() && o.Cause != RecipientGone {
		at, told := r.offerAt(a, o, s, now)
		if !told && t.State == Owned && r.keptWhileIdle(s, now) && !r.idleNoticeSent() {
			at = EarlierTime(at, r.idleDeadline().At()) // the owner still has to be told that it looks idle
		}
		return at
	}

	if t.State == Reserved {
		return r.ClaimDeadline().At()
	}

	// The stick is another's: whatever can open a takeover first.
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
			at = EarlierTime(at, r.idleDeadline().At())
		}
	}

	return at
}

// WaitedSince returns since when a has waited for the turn that it gets now: the start of its oldest wait for
// work, or of waits before that. It is zero if a doesn't wait, and if its wait has begun just now.
func (r Room) WaitedSince(a AgentID, s *Probed, now Time) Time {
	// A wait that has begun just now is none.
	since := now
	for _, l := range r.Listeners {
		if l.Agent == a && l.Purpose == Work && s.ListenerVerdict(l.ID) != Gone {
			since = min(since, l.StartedAt)
		}
	}

	m, _ := r.Member(a)
	if since = m.waitBegan(since); since == now {
		return 0
	}

	return since
}

// asksAgain is how soon after a wait another one, or the turn, counts as the same wait. Many harnesses end
// commands and calls that take long, so their agents wait in pieces; between two of them a model reads the
// answer.
const asksAgain = time.Minute

// waitBegan returns when the member began to wait whose present wait began at a time: earlier, if that wait
// followed another closely.
func (m Member) waitBegan(since Time) Time {
	if m.ReturnedAt.IsZero() || m.WaitedSince.IsZero() || since.Sub(m.ReturnedAt) > asksAgain {
		return since
	}
	return min(since, m.WaitedSince)
}

// Returned records that a member's wait for work, which began at a time, returned without the turn.
func (r Room) Returned(a AgentID, since, now Time) Room {
	r.EditMember(a, func(m *Member) { m.WaitedSince, m.ReturnedAt = m.waitBegan(since), now })
	return r
}
