package model

// What follows from a room, before anybody acts.

// Cause is what has opened a takeover.
type Cause uint8

// The causes of a takeover.
const (
	NoCause Cause = iota
	OwnerGone
	RecipientGone
	OwnerTimeout
	OwnerIdle
	ClaimTimeout
	OnAPersonsWord
)

// Verdict says what the others can know of an agent.
func (r *Room) Verdict(a Who) Verdict {
	m := r.Agents[a]
	if m.Seen == 0 {
		return Unknown
	}

	ended := m.Process == Ended || m.Seen != m.Run
	switch {
	case ended && (m.Proof == Session || m.Proof == Carrier):
		return Gone
	case !ended && (m.Proof == Session || m.Proof == Person):
		return Alive
	}

	return Unknown
}

// isPresent reports whether an agent is a member that isn't gone.
func (r *Room) isPresent(a Who) bool {
	return r.Agents[a].Membership == Joined && r.Verdict(a) != Gone
}

func (r *Room) waitsForWork(a Who) bool {
	return r.Agents[a].Wait == ForWork && r.isPresent(a)
}

// hasJustAsked reports whether an agent's own wait returned without the turn less than a grace ago.
func (r *Room) hasJustAsked(a Who) bool {
	at := r.Agents[a].ReturnedAt
	return at != Never && r.Now < at+r.Limits.Grace
}

// hasGuardian reports whether a guardian renews the lease.
func (r *Room) hasGuardian() bool {
	return r.GuardianAt != Never && r.Now < r.GuardianAt+2*r.Heartbeat
}

// isKept reports whether something other than the owner's own calls keeps its lease.
func (r *Room) isKept() bool { return r.Verdict(r.Owner) == Alive || r.hasGuardian() }

// ownerActedAt is when the owner last did something other than to send heartbeats.
func (r *Room) ownerActedAt() int {
	return max(r.GrantedAt, r.ResumedAt, r.Agents[r.Owner].LastAct)
}

// ownerActiveAt is when the owner last did something. Heartbeats alone count for so long that it is idle
// after four limits.
func (r *Room) ownerActiveAt() int {
	acted := r.ownerActedAt()
	return max(acted, min(r.HeartbeatAt, acted+3*r.Limits.Idle))
}

// idleAt is when the owner looks idle. A tool call in progress counts for at most four limits.
func (r *Room) idleAt() int {
	at := r.ownerActiveAt() + r.Limits.Idle
	if since := r.Agents[r.Owner].BusySince; since != Never {
		at = max(at, since+4*r.Limits.Idle)
	}

	return at
}

func (r *Room) leaseEndsAt() int {
	return max(r.ownerActedAt(), r.HeartbeatAt, r.RenewedAt) + r.Limits.Lease
}

// claimEndsAt is when an owner should have called, or a recipient should have claimed.
func (r *Room) claimEndsAt() int {
	switch {
	case r.Stage == Owned:
		return max(r.GrantedAt, r.ResumedAt) + r.Limits.Claim
	case r.ByPass:
		return r.ReservedAt + r.Limits.Claim
	}
	return r.ReservedAt + r.Limits.Grace
}

// showsNoCall reports whether hooks would have shown a call of the owner, and there was none since its grant.
func (r *Room) showsNoCall() bool { return r.Agents[r.Owner].HasHooks && !r.Acked }

// hasNotice reports whether the owner was told that it looks idle and has done nothing since.
func (r *Room) hasNotice() bool { return r.NoticeAt != Never && r.NoticeOf == r.ownerActiveAt() }

// isNoticeDue reports whether it is time to tell the owner that it looks idle.
func (r *Room) isNoticeDue() bool {
	if r.Stage != Owned || r.Verdict(r.Owner) == Gone {
		return false
	}
	return r.isKept() && !r.hasNotice() && r.Now >= r.idleAt()
}

// Cause returns what has opened a takeover.
func (r *Room) Cause() Cause {
	switch {
	case r.Closed || r.Paused || r.Stage == Idle:
		return NoCause
	case r.Stage == Reserved:
		return r.causeOfRecipient()
	}
	return r.causeOfOwner()
}

func (r *Room) causeOfRecipient() Cause {
	switch {
	case !r.isPresent(r.Recipient):
		return RecipientGone
	case r.ByPass && r.Now >= r.claimEndsAt():
		return ClaimTimeout
	}
	return NoCause
}

func (r *Room) causeOfOwner() Cause {
	switch {
	case r.Verdict(r.Owner) == Gone:
		return OwnerGone
	case r.showsNoCall() && r.Now >= r.claimEndsAt():
		return ClaimTimeout
	case r.Verdict(r.Owner) != Alive && r.Now >= r.leaseEndsAt():
		return OwnerTimeout
	case r.isKept() && r.hasNotice() && r.Now >= r.idleOpensAt():
		return OwnerIdle
	}
	return NoCause
}

// idleOpensAt is when an owner that was told that it looks idle may be replaced.
func (r *Room) idleOpensAt() int { return max(r.idleAt(), r.NoticeAt+r.Limits.Grace) }

// isOffered reports whether a takeover is open that waits are offered. That of a recipient that is gone
// isn't: the reservation moves on instead.
func (r *Room) isOffered() bool {
	c := r.Cause()
	return c != NoCause && c != RecipientGone
}

// ownerGoneSince is when the owner was found to be gone, now if nobody has yet.
func (r *Room) ownerGoneSince() int {
	if r.GoneSince != Never {
		return r.GoneSince
	}
	return r.Now
}

// isRoundOpen reports whether the round of the last offer isn't over.
func (r *Room) isRoundOpen() bool {
	if r.OfferedAt == Never || r.Now >= r.OfferedAt+r.Limits.Claim {
		return false
	}

	return r.Cause() != OwnerGone || r.ownerGoneSince() <= r.OfferedAt
}

// hasOffer reports whether an agent was offered the takeover in this round.
func (r *Room) hasOffer(a Who) bool { return r.Agents[a].HasOffer && r.isRoundOpen() }

// mayBeOffered reports whether an offer to an agent is allowed now: each gets one in a round, and they are a
// grace apart. When several could have it, the model doesn't say which.
func (r *Room) mayBeOffered(a Who) bool {
	if r.hasOffer(a) || r.isGuardedFrom(a) {
		return false
	}

	return r.OfferedAt == Never || r.Now >= r.OfferedAt+r.Limits.Grace
}

// isGuardedFrom reports whether an agent must leave the takeover to others after a timeout of a claim,
// because it had the turn before.
func (r *Room) isGuardedFrom(a Who) bool {
	if r.Cause() != ClaimTimeout || r.Prior != a || r.hasOffer(a) {
		return false
	}

	end := r.claimEndsAt() + r.Limits.Grace

	// After an offer, the others have a grace or a minute to take it, whichever is longer.
	if r.isRoundOpen() {
		end = max(end, r.OfferedAt+max(r.Limits.Grace, Minute))
	}
	if r.Now >= end {
		return false
	}

	// It gives way only to somebody who may want the turn.
	for b := range r.Count {
		if b == a || b == r.Owner || b == r.Recipient || !r.isPresent(b) {
			continue
		}
		if r.hasOffer(b) || r.waitsForWork(b) || r.hasJustAsked(b) {
			return true
		}
	}
	return false
}

// mayClaim reports whether an agent may have the stick that nobody holds.
func (r *Room) mayClaim(a Who) bool {
	switch r.Stage {
	case Reserved:
		return r.Recipient == a
	case Idle:
		return !r.letsOthersFirst(a)
	}
	return false
}

// letsOthersFirst reports whether an agent ended the last turn less than a grace ago, and another one waits.
func (r *Room) letsOthersFirst(a Who) bool {
	if r.Prior != a || r.Now >= r.FreeSince+r.Limits.Grace {
		return false
	}

	for b := range r.Count {
		if b != a && r.waitsForWork(b) && !r.Agents[b].Rests {
			return true
		}
	}
	return false
}

// agentsInOrder lists all agents in the room's order.
func (r *Room) agentsInOrder() []Who {
	// The fair order is a list already.
	if !r.Sequence {
		return r.FairOrder[:r.Count]
	}

	var behind, first []Who // of the member that was last granted the stick or named for it, and the others
	for _, a := range r.membersByOrdinal() {
		if r.Agents[a].Ordinal > r.LastOrdinal {
			behind = append(behind, a)
		} else {
			first = append(first, a)
		}
	}

	return append(behind, first...)
}

// membersByOrdinal lists those that have ever joined, in the order of members.
func (r *Room) membersByOrdinal() []Who {
	var all []Who
	for n := 1; n <= int(r.Count); n++ {
		for a := range r.Count {
			if r.Agents[a].Ordinal == n {
				all = append(all, a)
			}
		}
	}
	return all
}

// nextHolder is the release rule: it returns whom a turn that ends now goes to.
func (r *Room) nextHolder() Who {
	waits := func(a Who) bool { return r.waitsForWork(a) }
	asked := func(a Who) bool { return r.isPresent(a) && r.Agents[a].Wait == NoWait && r.hasJustAsked(a) }

	// Those that wait come first, then those that have asked a short time ago.
	for _, isCandidate := range []func(Who) bool{waits, asked} {
		last := Nobody
		for _, a := range r.agentsInOrder() {
			switch {
			case r.Agents[a].PassedOver || r.Agents[a].Rests:
			case !isCandidate(a):
			case a == r.Prior:
				last = a
			default:
				return a
			}
		}

		// Who had the last turn comes after the others.
		if last != Nobody {
			return last
		}
	}
	return Nobody
}

// NextAfterRelease returns whom a release of the holder would name now.
func (r Room) NextAfterRelease() Who {
	r.endTurn()
	return r.nextHolder()
}

// nextForPass returns whom a pass to the next one means: whom a release names, or else the next member that
// isn't gone.
func (r *Room) nextForPass(a Who) Who {
	if to := r.nextHolder(); to != Nobody && to != a {
		return to
	}

	// Nobody waits or has asked: any other member will do.
	for _, b := range r.agentsInOrder() {
		if b != a && r.isPresent(b) {
			return b
		}
	}
	return Nobody
}

// IsUnder reports whether an agent works under the turn of the holder, which started it in a tool call.
func (r *Room) IsUnder(a Who) bool {
	p := r.Agents[a].Parent
	if p == Nobody || r.Closed || r.Stage != Owned || r.Owner != p {
		return false
	}

	// It knows its parent by the process that started it, if that carries no other sessions and is the one
	// that the parent has now.
	m := r.Agents[p]
	if m.Proof == Carrier || m.Proof == Person || m.Seen != 1 {
		return false
	}
	return r.Verdict(p) != Gone
}

// Judgement says what the room makes of an edit.
type Judgement uint8

// The judgements.
const (
	Fine Judgement = iota
	Told
	Denied
)

// judgeEdit says what the room makes of an edit of a file by an agent.
func (r *Room) judgeEdit(a Who, file int) Judgement {
	if r.Closed || r.Enforce == Off || r.mayEdit(a, file) {
		return Fine
	}

	if r.Enforce == Warn {
		return Told
	}
	return Denied
}

func (r *Room) mayEdit(a Who, file int) bool {
	switch {
	case r.Agents[a].Membership == Removed || r.Paused:
		return false
	case r.Owner == a || r.IsUnder(a):
		return true
	case r.Enforce == Stick:
		return false
	}

	// The earliest reservation that isn't stale decides.
	first := -1
	for i, v := range r.Reservations {
		// A directory holds the second file.
		matches := i == file || i == Directory && file == FileBelow
		if !matches || v.By == Nobody || r.IsStale(i) {
			continue
		}

		if first < 0 || v.Number < r.Reservations[first].Number {
			first = i
		}
	}

	return first >= 0 && r.Reservations[first].By == a
}

// IsStale reports whether the reservation of a path is past its time, or its owner is gone.
func (r *Room) IsStale(path int) bool {
	v := r.Reservations[path]
	return r.Now >= max(v.MadeAt, r.Agents[v.By].LastAct)+ReservationTTL || r.Verdict(v.By) == Gone
}
