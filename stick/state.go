package stick

// RoomState is the state of a room as it is shown: the stored state, or something that follows from it and
// matters more.
type RoomState string

// The states of a room. The last four are derived; of several that hold, the first is shown.
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

// State returns the state of a room as it is shown.
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

	// A room in which nobody takes part is dormant, whatever its turn says.
	for _, m := range r.Members {
		if r.Active(m.Agent, now, s) {
			return RoomState(r.Turn.State)
		}
	}

	return StateDormant
}

// AtGeneration returns r as a reader must show it. A room of an earlier generation looks as after the
// beginning of [Room.Restore], because a reader can't store that. Whom the release rule will name isn't known
// before it is stored.
func (r Room) AtGeneration(g Generation, now Time) Room {
	r, _ = r.beginGeneration(g, now)
	return r
}
