package stick

// RoomUse is what is known of the use of a room, beside the room itself.
type RoomUse struct {
	IsGone    bool  // its workspace isn't on the disk
	OpenTasks int64 // that are neither completed nor failed
}

// WhyKept says why a room and its log stay; empty if a person may remove them. A room goes once nobody can go on in
// it, and nothing has happened there since before.
func (r Room) WhyKept(use RoomUse, before Time) Words {
	switch {
	case !r.Closed && !use.IsGone:
		return "it is open, and its workspace is there"
	case use.OpenTasks > 0:
		return Wordsf("it has %s open", Count(use.OpenTasks, "task"))
	case r.LastUse() >= before:
		return "something has happened there since"
	}
	return ""
}

// LastUse is when anything was last seen to happen in a room.
func (r Room) LastUse() Time {
	last := max(r.UpdatedAt, r.Turn.GrantedAt, r.Turn.RenewedAt, r.Turn.HeartbeatAt)
	for _, m := range r.Members {
		last = max(last, m.LastSeenAt)
	}
	return last
}
