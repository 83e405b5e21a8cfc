package stick

// ClaimReason says why a member has the turn.
type ClaimReason string

// The reasons in an answer "your_turn".
const (
	DirectPass   ClaimReason = "direct_pass"   // it was passed to the claimant
	InSequence   ClaimReason = "sequence"      // a release named the claimant
	OpenClaim    ClaimReason = "open_claim"    // nobody had it
	AlreadyOwner ClaimReason = "already_owner" // the claimant has it since an earlier call
	TookOver     ClaimReason = "takeover"      // it was taken over
)

// Claim gives the stick to a if it may have it: when nobody owns it and nobody is named, or when
// a is the one named, also after its time as long as nobody else has taken over. The one who
// ended the last turn waits for Policy.WaiterGrace while another waits for work. Claim answers
// "" when a may not have it now; asking again as the owner answers [AlreadyOwner].
func (r Room) Claim(a AgentID, lease LeaseID, s *Probed, now Time) (Room, []Event, ClaimReason) {
	t := r.Turn
	var why ClaimReason
	switch {
	case r.Closed || !r.joined(a):
		return r, nil, ""
	case t.State == Owned && t.Owner == a:
		return r, nil, AlreadyOwner
	case t.State == Reserved && t.ReservedFor == a && t.ReservedBy == ByPass:
		why = DirectPass
	case t.State == Reserved && t.ReservedFor == a:
		why = InSequence
	case t.State == Idle && !r.deferred(a, s, now):
		why = OpenClaim
	default:
		return r, nil, ""
	}
	p := ClaimPayload{Claim: why, Lease: LeaseSum(lease)}
	if t.HandoffPending {
		p.HandoffSeq = t.HandoffSeq
	}
	r = r.grant(a, lease, now, true)
	return r, []Event{r.event(EventClaim, a, "").with(p)}, why
}

// deferred reports whether a, who ended the last turn, must let others go first.
func (r Room) deferred(a AgentID, s *Probed, now Time) bool {
	return r.Turn.Prior == a && !r.grace(r.Turn.FreeSince).Due(now) && r.another(s, a)
}
