package model

// What happens around the agents: processes end and begin, and time passes.

func (r *Room) changeProcess(a Act) Refusal {
	m := &r.Agents[a.By]
	switch a.Kind {
	case ProcessEnds:
		if m.Process == Ended {
			return Impossible
		}
		r.endProcess(a.By)
	case ProcessMutes:
		if m.Process != Running {
			return Impossible
		}
		m.Process = Mute
	case ProcessUnmutes:
		if m.Process != Mute {
			return Impossible
		}
		m.Process = Running
	case ProcessRestarts:
		if m.Process != Ended || m.Parent != Nobody {
			return Impossible
		}
		m.Process = Restarted
		m.Run++
	}
	return Accepted
}

// endProcess ends the process of an agent, and with it its wait, unless that is stopped. Waits that watch the
// process notice.
func (r *Room) endProcess(a Who) {
	m := &r.Agents[a]
	m.Process = Ended

	// A wait that is stopped ends when it continues.
	if m.Wait != NoWait && !m.Stopped {
		r.endWait(a)
	}

	// Others watch only a process that they have learnt of, of a holder or a recipient.
	if m.Seen != m.Run || r.Owner != a && r.Recipient != a {
		return
	}

	for b := range r.Count {
		if w := &r.Agents[b]; w.Watches {
			w.Watches, w.Woken = false, true
		}
	}
}

// restoreRoom does what a reboot or a restore does: it ends the turn and all reservations, of the stick and
// of paths.
func (r *Room) restoreRoom() Refusal {
	if r.Stage == Idle {
		return Impossible
	}

	if r.Stage == Owned {
		r.putLast(r.Owner)
	}

	r.setFree(Nobody)
	r.nameNext()

	for i := range r.Reservations {
		r.Reservations[i].By = Nobody
	}

	r.wakeWaits()
	return Accepted
}

// letTimePass lets time pass.
func (r *Room) letTimePass() {
	r.Now++

	for a := range r.Count {
		m := &r.Agents[a]
		if m.Wait != NoWait && m.Alarm != Never && m.Alarm <= r.Now {
			m.Alarm, m.Woken = Never, true
		}
	}

	r.RunGuardian()
}

// RunGuardian lets the guardian of the owner renew the lease, if there is one: it runs while the owner's
// process does.
func (r *Room) RunGuardian() bool {
	if r.Stage != Owned || r.Agents[r.Owner].Proof != Guarded {
		return false
	}

	m := r.Agents[r.Owner]

	// A guardian renews only while the process that it watches runs.
	if m.Process != Running && m.Process != Mute || m.Seen != m.Run {
		return false
	}

	r.GuardianAt, r.RenewedAt = r.Now, r.Now
	return true
}
