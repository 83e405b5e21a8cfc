package stick

// RoomState is the state of a room as it is shown: what is stored, or the most actionable thing
// that follows from it.
type RoomState string

// The states of a room. The last four are derived, the most actionable first.
const (
	StateIdle          RoomState = "idle"
	StateOwned         RoomState = "owned"
	StateReserved      RoomState = "reserved"
	StateClosed        RoomState = "closed"
	StateOwnerGone     RoomState = "owner_gone"
	StateRecipientGone RoomState = "recipient_gone"
	StateStaleOwner    RoomState = "stale_owner"
	StateDormant       RoomState = "dormant"
)

// State derives the state of a room as it is shown.
func (r Room) State(s *Probed, now Time) RoomState {
	if r.Closed {
		return StateClosed
	}
	switch r.Opening(s, now).Cause {
	case OwnerGone:
		return StateOwnerGone
	case RecipientGone:
		return StateRecipientGone
	case OwnerTimeout, OwnerIdle:
		return StateStaleOwner
	}
	for _, m := range r.Members {
		if r.Active(m.Agent, now, s) {
			return RoomState(r.Turn.State)
		}
	}
	return StateDormant
}

// AtGeneration is r as somebody sees it who may write nothing: a room from another world is shown as it
// is after its restore.
func (r Room) AtGeneration(generation int64, now Time) Room {
	r, _ = r.Restore(generation, "", now)
	return r
}
