package stick

// ClaimReason says why a member has the turn.
type ClaimReason string

// The reasons beside the status "your_turn".
const (
	DirectPass   ClaimReason = "direct_pass"   // it was passed to the claimant
	InSequence   ClaimReason = "sequence"      // a release named the claimant
	OpenClaim    ClaimReason = "open_claim"    // nobody had it
	AlreadyOwner ClaimReason = "already_owner" // the claimant has had it since an earlier call
	TookOver     ClaimReason = "takeover"      // it was taken over
)

// Claim gives the stick to a, or returns "" if a may not have it now. a may have a free stick, and one that
// is reserved for a. The reservation counts even after its time, until somebody else takes over. If the stick
// is free, the agent that ended the last turn must wait for Policy.WaiterGrace while another member waits for
// work. Nobody may have it while the room is paused. An owner that claims again gets [AlreadyOwner].
func (r Room) Claim(a AgentID, lease LeaseID, s *Probed, now Time) (Room, []Event, ClaimReason) {
	t := r.Turn

	var why ClaimReason
	switch {
	case r.Closed || !r.IsJoined(a):
		return r, nil, ""
	case t.State == Owned && t.Owner == a:
		return r, nil, AlreadyOwner
	case r.Paused.On():
		return r, nil, ""
	case t.State == Reserved && t.ReservedFor == a && t.ReservedBy == ByPass:
		why = DirectPass
	case t.State == Reserved && t.ReservedFor == a:
		why = InSequence
	case t.State == Idle && !r.mustDefer(a, s, now):
		why = OpenClaim
	default:
		return r, nil, ""
	}

	p := ClaimPayload{Claim: why, Lease: LeaseSum(lease), WaitedSince: r.WaitedSince(a, s, now)}
	if t.HandoffPending {
		p.HandoffSeq = t.HandoffSeq
	}

	r = r.grantTurn(a, lease, now, true)
	return r, []Event{r.NewEvent(EventClaim, a, "").WithPayload(p)}, why
}
