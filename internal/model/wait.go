package model

// Waits and tries.

// addAskingMember makes an agent that asks for the stick a member, but brings nobody back that was removed.
func (r *Room) addAskingMember(a Who) Refusal {
	switch {
	case r.Agents[a].Membership == Removed:
		return "kicked"
	case r.Closed:
		return "room_closed"
	}

	r.addMember(a)
	r.recordAct(a)
	return Accepted
}

func (r *Room) beginWait(a Act, offered bool, res *Result) Refusal {
	m := &r.Agents[a.By]
	waits := m.Wait != NoWait

	if refusal := r.addAskingMember(a.By); refusal != Accepted {
		return refusal
	}

	if a.Kind == WaitAgain && !waits {
		return Impossible
	}
	if a.Kind != WaitAgain && waits {
		return "already_listening"
	}

	// A wait that begins again replaces the one that runs.
	r.endWait(a.By)
	m.Wait = ForWork
	if a.Kind == WaitForEvents {
		m.Wait = ForEvents
	}

	r.readByWait(a.By, offered, res)
	return Accepted
}

// readByWait does what a wait does when it reads the room.
func (r *Room) readByWait(a Who, offered bool, res *Result) {
	m := &r.Agents[a]
	m.Alarm, m.Watches = Never, false

	// One that takes no part has nothing to wait for.
	if m.Membership != Joined || r.Closed {
		r.returnWait(a)
		res.Status = Over
		return
	}

	m.PassedOver = false
	r.settleDue(a, false)

	// Its own commit has woken it, too.
	m.Woken = false

	if m.Wait == ForEvents || r.Paused {
		res.Status = GoesOn
		return
	}

	// Who rests leaves the free stick to others.
	leavesIt := r.Stage == Idle && m.Rests
	if !leavesIt && r.answerAtOnce(a, res) {
		r.endWait(a)
		return
	}
	if r.isNoticeDue() {
		r.tellIdle()
		m.Woken = false
	}

	res.Cause = r.Cause()
	res.MayOffer = r.isOffered() && r.mayBeOffered(a)

	if offered {
		r.takeOffer(a)
		res.Status = Takeover
		return
	}

	res.Status = GoesOn

	// Else only these two can change the answer without an act.
	m.Watches = r.hasVisibleHolder()
	if m.Alarm = r.nextAlarm(); leavesIt {
		m.Alarm = Never
	}
}

// answerAtOnce answers a wait or a try that needn't go on.
func (r *Room) answerAtOnce(a Who, res *Result) bool {
	switch {
	case r.IsUnder(a):
		res.Status = UnderParent
	case r.Owner == a:
		res.Status = AlreadyHeld
	case r.mayClaim(a):
		r.grantTurn(a, true)
		res.Status = YourTurn
	default:
		return false
	}
	return true
}

// takeOffer records that a wait of an agent was offered the open takeover.
func (r *Room) takeOffer(a Who) {
	if !r.isRoundOpen() {
		r.beginRound()
	}

	r.Agents[a].HasOffer, r.OfferedAt = true, r.Now
	r.returnWait(a)
}

// hasVisibleHolder reports whether the process of the holder or the recipient can be watched.
func (r *Room) hasVisibleHolder() bool {
	// One of the two is nobody.
	a := max(r.Owner, r.Recipient)
	if a == Nobody {
		return false
	}

	m := r.Agents[a]
	return m.Proof != Hidden && m.Proof != Guarded && (m.Process == Running || m.Process == Mute)
}

// nextAlarm is when a wait has to look again at the latest, because then time alone has changed its answer.
func (r *Room) nextAlarm() int {
	if r.isOffered() {
		// Which offer is whose isn't said here.
		return Never
	}

	at := Never
	sooner := func(tick int) {
		if tick > r.Now && (at == Never || tick < at) {
			at = tick
		}
	}

	switch r.Stage {
	case Idle:
		sooner(r.FreeSince + r.Limits.Grace)
	case Reserved:
		sooner(r.claimEndsAt())
	case Owned:
		if r.showsNoCall() {
			sooner(r.claimEndsAt())
		}
		if r.Verdict(r.Owner) != Alive {
			sooner(r.leaseEndsAt())
		}
		if r.isKept() && r.hasNotice() {
			sooner(r.idleOpensAt())
		} else if r.isKept() {
			sooner(r.idleAt())
		}
	}

	return at
}

// endWait ends a wait. returnWait also remembers that it brought no turn: its agent is likely to ask again.
func (r *Room) endWait(a Who) {
	m := &r.Agents[a]
	m.Wait, m.Stopped, m.Woken, m.Watches, m.Alarm = NoWait, false, false, false, Never
}

func (r *Room) returnWait(a Who) {
	if r.Agents[a].Wait == ForWork {
		r.Agents[a].ReturnedAt = r.Now
	}
	r.endWait(a)
}

func (r *Room) changeWait(a Act) Refusal {
	m := &r.Agents[a.By]
	switch {
	case m.Wait == NoWait:
		return Impossible
	case a.Kind == WaitIsKilled:
		r.endWait(a.By)
		return Accepted
	case m.Stopped != (a.Kind == WaitContinues):
		return Impossible
	case a.Kind == WaitReturns:
		r.returnWait(a.By)
		return Accepted
	}

	m.Stopped = a.Kind == WaitStops
	if a.Kind == WaitContinues {
		m.Woken = true

		// The process that it served has ended.
		if m.Process == Ended || m.Process == Restarted {
			r.endWait(a.By)
		}
	}
	return Accepted
}

func (r *Room) tryStick(a Who, res *Result) Refusal {
	if refusal := r.addAskingMember(a); refusal != Accepted {
		return refusal
	}

	// Who tries has found work.
	r.endRest(a)
	r.settleDue(a, false)

	res.Status = GoesOn
	if r.Paused {
		if r.Owner == a {
			res.Status = AlreadyHeld
		}
		return Accepted
	}

	if r.answerAtOnce(a, res) {
		return Accepted
	}
	if r.isNoticeDue() {
		r.tellIdle()
	}

	if r.isOffered() && !r.isGuardedFrom(a) {
		res.Status, res.Cause = Takeover, r.Cause()
	}

	return Accepted
}
