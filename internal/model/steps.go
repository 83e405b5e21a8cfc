package model

// Steps that several acts have in common.

// wakeWaits wakes every wait.
func (r *Room) wakeWaits() {
	for a := range r.Count {
		r.Agents[a].Woken = r.Agents[a].Wait != NoWait
	}
}

// recordProcess is a part of every call: the others learn of the process from which the agent calls.
func (r *Room) recordProcess(a Who) {
	m := &r.Agents[a]
	if m.Seen == m.Run {
		return
	}

	m.Seen = m.Run
	if m.Process == Restarted {
		m.Process = Running
	}
	if r.Owner == a || r.Recipient == a {
		r.wakeWaits()
	}
}

// recordAct records that an agent acts.
func (r *Room) recordAct(a Who) {
	r.recordProcess(a)

	r.Agents[a].PassedOver, r.Agents[a].LastAct = false, r.Now
	if r.Owner == a {
		r.Acked, r.GoneSince = true, Never
	}
}

// settleDue does what is due before an act of an agent. take is whether the act is a takeover, which may take
// the reservation of a recipient that is gone.
func (r *Room) settleDue(by Who, take bool) {
	switch {
	case r.Paused: // nothing is due
	case r.Stage == Owned:
		// Who sees first that the owner is gone fixes the time.
		if r.GoneSince == Never && r.Owner != by && r.Verdict(r.Owner) == Gone {
			r.GoneSince = r.Now
		}
	case r.Stage == Reserved:
		gone := r.Recipient != by && r.Verdict(r.Recipient) == Gone
		lost := gone || r.Agents[r.Recipient].Membership != Joined
		lapsed := !r.ByPass && r.Recipient != by && r.Now >= r.claimEndsAt()

		// A takeover takes the reservation of one that is gone by itself.
		if lost && !take || lapsed && !lost {
			r.Agents[r.Recipient].PassedOver = true
			r.nameAnother()
		}
	}
}

// addMember makes an agent a member if it isn't one.
func (r *Room) addMember(a Who) {
	m := &r.Agents[a]
	if m.Membership == Joined {
		return
	}

	// A member that comes back has its place from before.
	if m.Ordinal == 0 {
		m.Ordinal = len(r.membersByOrdinal()) + 1
	}

	m.Membership, m.ReturnedAt, m.HasOffer, m.Rests = Joined, Never, false, false
	r.putLast(a)
	r.wakeWaits()
}

// endRest ends the rest of an agent. Its wait may have the stick now.
func (r *Room) endRest(a Who) {
	if r.Agents[a].Rests {
		r.Agents[a].Rests = false
		r.wakeWaits()
	}
}

// endAllRests ends the rests of all members, because all of them were told something.
func (r *Room) endAllRests() {
	for a := range r.Count {
		if r.isMember(a) {
			r.endRest(a)
		}
	}
}

// putLast puts an agent at the end of the fair order.
func (r *Room) putLast(a Who) {
	order := make([]Who, 0, MaxAgents)
	for _, b := range r.FairOrder[:r.Count] {
		if b != a {
			order = append(order, b)
		}
	}

	copy(r.FairOrder[:], append(order, a))
}

// beginRound begins a round of offers.
func (r *Room) beginRound() {
	r.OfferedAt = Never
	for a := range r.Count {
		r.Agents[a].HasOffer = false
	}
}

// grantTurn begins a turn of an agent.
func (r *Room) grantTurn(a Who, claimed bool) {
	r.beginLimits()
	r.Turn++

	// Only a claim gets the handoff directly.
	r.HandoffDirect, r.HandoffPending = r.HandoffPending && claimed, false

	r.Stage, r.Owner, r.Recipient = Owned, a, Nobody

	// What was known of the last owner says nothing of this one.
	r.forgetOwner()
	r.GrantedAt, r.Acked = r.Now, false
	r.LastOrdinal = r.Agents[a].Ordinal
	r.Agents[a].ReturnedAt, r.Agents[a].Rests = Never, false

	r.beginRound()
	r.wakeWaits()
}

// forgetOwner forgets what is known of an owner.
func (r *Room) forgetOwner() {
	r.ResumedAt, r.HeartbeatAt, r.RenewedAt = Never, Never, Never
	r.GuardianAt, r.NoticeAt, r.GoneSince = Never, Never, Never
}

// beginLimits applies the limits that have waited for the next turn.
func (r *Room) beginLimits() {
	now, next := r.Limits.fields(), r.NextTurn.fields()
	for i := range now {
		if *next[i] != Never {
			*now[i] = *next[i]
		}
	}

	r.NextTurn = noLimits
}

func (l *Limits) fields() []*int { return []*int{&l.Grace, &l.Claim, &l.Lease, &l.Idle} }

// setFree leaves the stick to nobody, after a turn of prior.
func (r *Room) setFree(prior Who) {
	r.forgetOwner()
	r.Stage, r.Owner, r.Recipient, r.Prior, r.FreeSince = Idle, Nobody, Nobody, prior, r.Now
	r.HandoffDirect, r.OfferedAt = false, Never
}

// endTurn ends the turn of the owner.
func (r *Room) endTurn() {
	r.putLast(r.Owner)
	r.setFree(r.Owner)
}

// reserveFor reserves the stick.
func (r *Room) reserveFor(a Who, byPass bool) {
	r.Stage, r.Recipient, r.ByPass, r.ReservedAt = Reserved, a, byPass, r.Now
	r.LastOrdinal = r.Agents[a].Ordinal
	r.beginRound()
}

// nameNext reserves the free stick for whom the release rule names.
func (r *Room) nameNext() {
	if to := r.nextHolder(); to != Nobody {
		r.reserveFor(to, false)
	}
}

// nameAnother lets the release rule name somebody else.
func (r *Room) nameAnother() {
	wasReserved := r.Stage == Reserved
	r.setFree(r.Prior)
	r.nameNext()

	// That the stick stays free changes nothing for those that wait.
	if wasReserved || r.Stage == Reserved {
		r.wakeWaits()
	}
}

// leaveHandoff keeps a handoff for the next holder.
func (r *Room) leaveHandoff() { r.HasHandoff, r.HandoffPending = true, true }

// tellIdle tells the owner that it looks idle.
func (r *Room) tellIdle() {
	r.NoticeAt, r.NoticeOf = r.Now, r.ownerActiveAt()
	r.wakeWaits()
}
