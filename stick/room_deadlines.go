package stick

// LeaseKeeper says what keeps the current lease from timing out.
type LeaseKeeper string

// What keeps a lease.
const (
	KeptByProcess   LeaseKeeper = "process"
	KeptByGuardian  LeaseKeeper = "guardian"
	KeptByHeartbeat LeaseKeeper = "heartbeat"
)

// Guardian returns the pid of the guardian that renews the lease, 0 for none. A guardian that hasn't renewed
// it for twice Policy.HeartbeatInterval has ended, because others can't see it either.
func (r Room) Guardian(now Time) int {
	if (Deadline{r.Turn.RenewedAt, 2 * r.Policy.HeartbeatInterval}).Due(now) {
		return 0
	}
	return r.Turn.GuardianPID
}

// LeaseKeptBy returns what keeps the lease of the current owner.
func (r Room) LeaseKeptBy(s *Probed, now Time) LeaseKeeper {
	m, _ := r.Member(r.Turn.Owner)
	switch {
	case m.Verdict(s) == Alive:
		return KeptByProcess
	case r.Guardian(now) != 0:
		return KeptByGuardian
	}
	return KeptByHeartbeat
}

// leaseDeadline returns when the current lease times out, unless a process keeps it.
func (r Room) leaseDeadline() Deadline {
	m, _ := r.Member(r.Turn.Owner)
	t := r.Turn
	return Deadline{max(t.GrantedAt, t.ResumedAt, t.RenewedAt, t.HeartbeatAt, m.LastSeenAt), r.Policy.OwnerLeaseTTL}
}

// LeaseExpiresAt returns when the lease times out. It is zero if a process keeps the lease, nobody owns the
// stick, or the room is paused.
func (r Room) LeaseExpiresAt(s *Probed, now Time) Time {
	if r.Turn.State != Owned || r.Paused.On() || r.LeaseKeptBy(s, now) == KeptByProcess {
		return 0
	}
	return r.leaseDeadline().At()
}

// ClaimExpiresAt returns when the stick no longer waits for its recipient alone. It is zero if the stick
// isn't reserved, or the room is paused.
func (r Room) ClaimExpiresAt() Time {
	if r.Turn.State != Reserved || r.Paused.On() {
		return 0
	}
	return r.ClaimDeadline().At()
}

// ClaimDeadline returns the deadline of the current reservation.
func (r Room) ClaimDeadline() Deadline {
	// Who is passed the stick gets longer than whom a release only names.
	ttl := r.Policy.ClaimTTL
	if r.Turn.ReservedBy == ByRelease {
		ttl = r.Policy.WaiterGrace
	}
	return Deadline{r.Turn.ReservedAt, ttl}
}

// ownerActedAt returns when the owner last did something other than to send a heartbeat. In a pause it had nothing
// to do.
func (r Room) ownerActedAt() Time {
	m, _ := r.Member(r.Turn.Owner)
	return max(r.Turn.GrantedAt, r.Turn.ResumedAt, m.LastSeenAt)
}

// ownerActiveAt returns when the owner last did something. Heartbeats count, but alone only up to a time after
// which the owner counts as idle at [Room.HeartbeatsUntil].
func (r Room) ownerActiveAt() Time {
	// Heartbeats alone mustn't keep the stick for ever.
	acted := r.ownerActedAt()
	return max(acted, min(r.Turn.HeartbeatAt, acted.Add((maxQuiet-1)*r.Policy.OwnerIdleTTL)))
}

// maxQuiet is for how many times Policy.OwnerIdleTTL a tool call in progress, or heartbeats alone, count as
// activity.
const maxQuiet = 4

// heartbeatDeadline returns until when heartbeats alone keep the owner from counting as idle.
func (r Room) heartbeatDeadline() Deadline {
	return Deadline{r.ownerActedAt(), maxQuiet * r.Policy.OwnerIdleTTL}
}

// HeartbeatsUntil returns until when heartbeats alone keep the owner from counting as idle. It is zero if
// nobody owns the stick.
func (r Room) HeartbeatsUntil() Time {
	if r.Turn.State != Owned {
		return 0
	}
	return r.heartbeatDeadline().At()
}

// HeartbeatCounts reports whether a heartbeat counts as activity of the owner if a process with this proof
// sends it.
func (r Room) HeartbeatCounts(proof Proof, now Time) bool {
	return (proof == ProvesSession || proof == ProvesTurn) && !r.heartbeatDeadline().Due(now)
}

// IdleAt returns when the owner counts as idle if it does nothing until then. It is zero if nobody owns the
// stick, in a pause, and if only the owner's own acts keep the lease, because then the lease times out
// instead.
func (r Room) IdleAt(s *Probed, now Time) Time {
	if r.Turn.State != Owned || r.Paused.On() || !r.keptWhileIdle(s, now) {
		return 0
	}
	return r.idleDeadline().At()
}

// idleDeadline returns when the owner counts as idle. A tool call in progress counts as activity, for at most
// maxQuiet times the limit.
func (r Room) idleDeadline() Deadline {
	m, _ := r.Member(r.Turn.Owner)
	d := Deadline{r.ownerActiveAt(), r.Policy.OwnerIdleTTL}
	if !m.BusySince.IsZero() {
		if busy := (Deadline{m.BusySince, maxQuiet * r.Policy.OwnerIdleTTL}); busy.At() > d.At() {
			return busy
		}
	}

	return d
}

// idleNoticeSent reports whether the owner was told that it looks idle and has done nothing since.
func (r Room) idleNoticeSent() bool {
	return !r.Turn.IdleNoticeAt.IsZero() && r.Turn.IdleSince == r.ownerActiveAt()
}

// idleNoticeEnds returns until when an owner that was told that it looks idle may answer that.
func (r Room) idleNoticeEnds() Deadline { return Deadline{r.Turn.IdleNoticeAt, r.Policy.WaiterGrace} }

// idleOpensAt returns when an owner that was told that it looks idle may be replaced: both after the limit,
// which a change of policy may have moved, and after the notice.
func (r Room) idleOpensAt() Time { return max(r.idleDeadline().At(), r.idleNoticeEnds().At()) }

// ackDeadline returns when others may take over a grant that its owner hasn't reacted to. It is false if
// the owner has, or if nobody would see a reaction because no hooks fire.
func (r Room) ackDeadline() (Deadline, bool) {
	m, _ := r.Member(r.Turn.Owner)
	return Deadline{max(r.Turn.GrantedAt, r.Turn.ResumedAt), r.Policy.ClaimTTL}, m.HooksSeen && !r.Turn.Acked
}

func (r Room) graceAfter(from Time) Deadline { return Deadline{from, r.Policy.WaiterGrace} }

// EarlierTime returns the earlier of two times. Zero means never.
func EarlierTime(a, b Time) Time {
	if a.IsZero() || (!b.IsZero() && b < a) {
		return b
	}
	return a
}

// passedAt returns when an overdue deadline passed. It is zero if the clock went back, because then nobody
// knows. It can't be now instead: a time that is counted from it would move on with every call and never
// come.
func passedAt(d Deadline, now Time) Time {
	if d.At() > now {
		return 0
	}
	return d.At()
}
