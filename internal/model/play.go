package model

// After returns the room after an act. offered is whether the wait that looks in it was offered a takeover. A
// refused act leaves the room as it was.
func (r Room) After(a Act, offered bool) (Room, Result) {
	next, res := r, Result{}
	if res.Refusal = next.playAct(a, offered, &res); res.Refusal != Accepted {
		return r, res
	}
	return next, res
}

func (r *Room) playAct(a Act, offered bool, res *Result) Refusal {
	by := &r.Agents[a.By]

	// An agent that is mute does nothing, nor does one whose process has ended.
	if a.Kind.isOfAgent() && (by.Process == Ended || by.Process == Mute) {
		return Impossible
	}

	switch a.Kind {
	case Join:
		return r.joinRoom(a.By)
	case Wait, WaitForEvents, WaitAgain:
		return r.beginWait(a, offered, res)
	case Try:
		return r.tryStick(a.By, res)
	case Call, Prompt, ToolBegins, ToolEnds, Message:
		return r.playCall(a)
	case Heartbeat:
		return r.sendHeartbeat(a.By)
	case SaveDraft, ReleaseOldTurn, ReleaseByLease:
		return r.checkFence(a)
	case Release, ReleaseUnchanged, Pass, PassNext:
		return r.releaseStick(a)
	case Take, TakeForPerson:
		return r.takeStick(a, res)
	case Leave, Abandon:
		return r.leaveRoom(a)
	case Kick, KickByForce:
		return r.kickMember(a)
	case Close, PersonCloses:
		return r.closeRoom(a)
	case SetLimits, PersonSetsLimits:
		return r.setLimits(a)
	case SetEnforce, PersonSetsEnforce:
		return r.setEnforce(a)
	case Reorder:
		return r.reorderMembers(a)
	case Pause:
		return "person_only"
	case PersonPauses, PersonResumes:
		return r.pauseOrResume(a)
	case Edit:
		res.Judgement = r.judgeEdit(a.By, a.Path)
	case Reserve:
		return r.reservePath(a)
	case Unreserve:
		return r.unreservePath(a)
	case WaitLooks:
		if by.Wait == NoWait || by.Stopped {
			return Impossible
		}
		r.readByWait(a.By, offered, res)
	case WaitReturns, WaitIsKilled, WaitStops, WaitContinues:
		return r.changeWait(a)
	case ProcessEnds, ProcessMutes, ProcessUnmutes, ProcessRestarts:
		return r.changeProcess(a)
	case Restore:
		return r.restoreRoom()
	case Tick:
		r.letTimePass()
	}
	return Accepted
}

// The acts, one by one. Each changes the room, or returns why it is refused; then what it has changed doesn't
// count.

func (r *Room) isMember(a Who) bool { return r.Agents[a].Membership == Joined }

// beginCommand does what every command of a member begins with: the agent acts, and what was due is done.
func (r *Room) beginCommand(a Who) {
	r.recordAct(a)
	r.settleDue(a, false)
}

func (r *Room) joinRoom(a Who) Refusal {
	if r.isMember(a) && !r.Closed {
		return Impossible
	}

	// A join opens a closed room again.
	if r.Closed {
		r.Closed = false
		r.wakeWaits()
	}

	r.addMember(a)
	r.beginCommand(a)
	return Accepted
}

func (r *Room) playCall(a Act) Refusal {
	if !r.isMember(a.By) || a.Kind == Message && r.Closed {
		return Impossible
	}
	r.recordAct(a.By)

	switch a.Kind {
	case ToolBegins:
		r.Agents[a.By].BusySince = r.Now
	case ToolEnds:
		r.Agents[a.By].BusySince = Never
	case Prompt:
		r.endRest(a.By)
	case Message:
		r.settleDue(a.By, false)
		r.wakeWaits()
		return r.sendToAll(a.By)
	}
	return Accepted
}

// sendToAll sends a message to everybody, and is refused if there is nobody else.
func (r *Room) sendToAll(a Who) Refusal {
	refusal := Refusal("no_recipient")
	for b := range r.Count {
		if b != a && r.isPresent(b) {
			r.endRest(b)
			refusal = Accepted
		}
	}

	r.endRest(a)
	return refusal
}

func (r *Room) sendHeartbeat(a Who) Refusal {
	if r.Owner != a {
		return "stale_lease"
	}

	r.recordProcess(a)
	r.Acked, r.GoneSince = true, Never

	// It counts as an act if its process proves who sends it, and for four limits after the last other act.
	if r.Agents[a].Proof != Carrier && r.Now < r.ownerActedAt()+4*r.Limits.Idle {
		r.HeartbeatAt = r.Now
	}

	// Where a guardian renews the lease, heartbeats don't.
	if !r.hasGuardian() {
		r.RenewedAt, r.GuardianAt = r.Now, Never
	}
	return Accepted
}

// checkFence performs a command of a holder that changes nothing of the stick.
func (r *Room) checkFence(a Act) Refusal {
	switch {
	case !r.isMember(a.By):
		return Impossible
	case a.Kind == ReleaseOldTurn:
		return "turn_mismatch"
	case a.Kind == ReleaseByLease || r.Owner != a.By:
		return "stale_lease"
	}

	r.recordAct(a.By)
	return Accepted
}

func (r *Room) releaseStick(a Act) Refusal {
	if r.Owner != a.By {
		return "stale_lease"
	}

	r.recordAct(a.By)
	if a.Kind == ReleaseUnchanged {
		// Hooks would have shown an edit.
		r.Agents[a.By].Rests = r.Agents[a.By].HasHooks && r.Enforce != Off
	}

	r.endTurn()
	r.leaveHandoff()
	defer r.wakeWaits()

	to := a.To
	switch a.Kind {
	case Release, ReleaseUnchanged:
		r.nameNext()
		return Accepted
	case PassNext:
		to = r.nextForPass(a.By)
	case Pass:
		if to == a.By {
			return "usage"
		}
	}

	if to == Nobody || !r.isPresent(to) {
		return "unknown_member"
	}
	r.reserveFor(to, true)
	r.endRest(to)
	return Accepted
}

func (r *Room) takeStick(a Act, res *Result) Refusal {
	if !r.isMember(a.By) {
		return Impossible
	}
	if r.Closed {
		return "room_closed"
	}

	r.recordAct(a.By)
	r.settleDue(a.By, true)

	switch {
	case r.Owner == a.By:
		return "already_owner"
	case r.Paused:
		return "paused"
	case r.mayClaim(a.By):
		r.grantTurn(a.By, true)
		res.Status = YourTurn
		return Accepted
	}

	// From here on the stick is taken from somebody.
	res.Cause = r.Cause()
	switch {
	case a.Kind == TakeForPerson:
		res.Cause = OnAPersonsWord
	case r.Stage == Idle:
		return "prior_owner"
	case res.Cause == NoCause && r.isNoticeDue():
		// The take is refused. The notice is what it has changed.
		r.tellIdle()
		return Accepted
	case res.Cause == NoCause:
		return "takeover_not_available"
	case r.isGuardedFrom(a.By):
		return "prior_owner"
	}

	// Who loses the stick comes last in the fair order.
	if r.Stage == Owned {
		r.putLast(r.Owner)
		r.Prior = r.Owner
	}

	r.grantTurn(a.By, false)
	res.Status = YourTurn
	return Accepted
}

func (r *Room) leaveRoom(a Act) Refusal {
	if !r.isMember(a.By) || a.Kind == Leave && r.Owner != a.By {
		return Impossible
	}

	r.beginCommand(a.By)
	r.endMembership(a.By, Outside, a.Kind == Leave)
	return Accepted
}

func (r *Room) kickMember(a Act) Refusal {
	if !r.isMember(a.By) {
		return Impossible
	}

	r.beginCommand(a.By)
	switch {
	case !r.isMember(a.To):
		return "unknown_member"
	case a.To == a.By:
		return "usage"
	case a.Kind == Kick && r.Verdict(a.To) != Gone:
		return "member_present"
	}

	r.endMembership(a.To, Removed, false)
	return Accepted
}

// endMembership ends what a member had, and the release rule names the next.
func (r *Room) endMembership(a Who, to Membership, handoff bool) {
	r.endWait(a)
	r.Agents[a].Membership = to

	// Its reservations of paths end with it.
	for i := range r.Reservations {
		if r.Reservations[i].By == a {
			r.Reservations[i].By = Nobody
		}
	}

	// The release rule names who is next after it.
	switch a {
	case r.Owner:
		r.endTurn()
		if handoff {
			r.leaveHandoff()
		}
		r.nameNext()
	case r.Recipient:
		r.nameAnother()
	}

	r.wakeWaits()
}

func (r *Room) closeRoom(a Act) Refusal {
	if r.Closed {
		return "room_closed"
	}

	if a.Kind == PersonCloses {
		if r.Stage == Owned {
			return "not_your_turn"
		}

		if r.Stage == Reserved {
			r.setFree(r.Prior)
		}
	} else {
		if !r.isMember(a.By) {
			return Impossible
		}

		if r.Owner != a.By {
			return "not_your_turn"
		}

		r.recordAct(a.By)
		r.endTurn()
		r.leaveHandoff()
	}

	r.Closed = true
	r.wakeWaits()
	return Accepted
}

func (r *Room) reservePath(a Act) Refusal {
	if !r.isMember(a.By) {
		return Impossible
	}

	r.beginCommand(a.By)
	if r.Closed {
		return "room_closed"
	}

	v := &r.Reservations[a.Path]
	switch {
	case v.By == a.By:
		// A reservation of its own stays as it is.
		return Accepted
	case v.By != Nobody && r.IsStale(a.Path):
		return "reservation_stale"
	case v.By != Nobody:
		return "reservation_conflict"
	}

	r.made++
	*v = Reservation{By: a.By, MadeAt: r.Now, Number: r.made}
	r.wakeWaits()
	r.endRest(a.By)
	r.tellOverlaps(a)
	return Accepted
}

// tellOverlaps tells those who have reserved what overlaps with a new reservation: a directory, or the file in it.
func (r *Room) tellOverlaps(a Act) {
	other := map[int]int{FileBelow: Directory, Directory: FileBelow}
	path, overlaps := other[a.Path]
	if !overlaps {
		return
	}

	v := r.Reservations[path]
	if v.By != Nobody && v.By != a.By && !r.IsStale(path) {
		r.endRest(v.By)
	}
}

func (r *Room) unreservePath(a Act) Refusal {
	if !r.isMember(a.By) || r.Reservations[a.Path].By != a.By {
		return Impossible
	}

	r.beginCommand(a.By)
	r.Reservations[a.Path].By = Nobody
	r.wakeWaits()
	r.endRest(a.By)
	return Accepted
}
