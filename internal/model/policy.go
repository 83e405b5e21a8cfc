package model

// setLimits sets the limits of turns and rests, now or from the next turn on.
func (r *Room) setLimits(a Act) Refusal {
	person := a.Kind == PersonSetsLimits
	if !person {
		if !r.isMember(a.By) || r.Closed {
			return Impossible
		}
		r.beginCommand(a.By)
	}

	// An agent doesn't shorten the time of another one that has the stick.
	isAnothers := r.Stage == Owned && r.Owner != a.By || r.Stage == Reserved && r.Recipient != a.By

	now, next, wanted := r.Limits.fields(), r.NextTurn.fields(), a.Limits.fields()
	for i := range now {
		*next[i] = Never

		// A shorter limit waits for the next turn.
		if !person && isAnothers && *wanted[i] < *now[i] {
			*next[i] = *wanted[i]
		} else {
			*now[i] = *wanted[i]
		}
	}

	r.Sequence = a.Sequence
	r.wakeWaits()
	return Accepted
}

// setEnforce sets what happens to edits out of turn.
func (r *Room) setEnforce(a Act) Refusal {
	if r.Closed {
		return Impossible
	}

	if a.Kind == SetEnforce {
		if !r.isMember(a.By) {
			return Impossible
		}
		r.beginCommand(a.By)

		// Only a person makes the room milder.
		if a.Enforce < r.Enforce {
			return "person_only"
		}
	}

	r.Enforce = a.Enforce
	r.wakeWaits()
	return Accepted
}

// reorderMembers puts some members first. Whose turn comes after whom doesn't change by it: the place that
// the sequence has reached moves along with its member.
func (r *Room) reorderMembers(a Act) Refusal {
	if !r.isMember(a.By) {
		return Impossible
	}
	r.beginCommand(a.By)

	order, named := append([]Who{}, a.Order...), [MaxAgents]bool{}
	for _, b := range a.Order {
		if !r.isMember(b) {
			return "unknown_member"
		}
		named[b] = true
	}

	// Who isn't named stays behind, in the order so far.
	reached := Nobody
	for _, b := range r.membersByOrdinal() {
		if !named[b] {
			order = append(order, b)
		}
		if r.Agents[b].Ordinal == r.LastOrdinal {
			reached = b
		}
	}

	for i, b := range order {
		r.Agents[b].Ordinal = i + 1
	}

	// The sequence goes on after the same member.
	if reached != Nobody {
		r.LastOrdinal = r.Agents[reached].Ordinal
	}

	r.wakeWaits()
	return Accepted
}

// pauseOrResume is a person's: nobody acts in a paused room, and its limits stand still.
func (r *Room) pauseOrResume(a Act) Refusal {
	if r.Closed {
		return "room_closed"
	}

	if a.Kind == PersonPauses {
		if !r.Paused {
			r.endAllRests()
		}
		r.Paused = true
		r.wakeWaits()
		return Accepted
	}

	if !r.Paused {
		return Accepted
	}

	// All limits begin anew, and so do the offers: one that was offered the takeover before the pause may get
	// it again at once, because nobody could take it meanwhile.
	r.Paused = false
	r.beginRound()
	r.GoneSince, r.NoticeAt = Never, Never
	switch r.Stage {
	case Owned:
		r.ResumedAt = r.Now
	case Reserved:
		r.ReservedAt = r.Now
	case Idle:
		r.nameAnother()
	}

	// The room is told at the end, so that this names nobody who rests.
	r.endAllRests()
	r.wakeWaits()
	return Accepted
}
