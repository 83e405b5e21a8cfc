package web

import (
	"fmt"

	"talkingstick/internal/engine"
	"talkingstick/internal/monitor"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// StickOf says in a few words who has the stick of a room.
func (v *view) StickOf(r *monitor.Room) string {
	st := r.State
	switch {
	case st.Paused != nil:
		return "paused"
	case st.State == stick.StateClosed:
		return "closed"
	case st.Owner != nil:
		return string(*st.Owner) + " has the stick"
	case st.ReservedFor != nil:
		return "reserved for " + string(*st.ReservedFor)
	}

	return "nobody has the stick"
}

// Holder is who has the stick, or for whom it is reserved; empty for nobody.
func (v *view) Holder(r *monitor.Room) stick.AgentID {
	switch {
	case r.State.Owner != nil:
		return *r.State.Owner
	case r.State.ReservedFor != nil:
		return *r.State.ReservedFor
	}

	return ""
}

// CountPresent counts the members that aren't gone.
func (v *view) CountPresent(r *monitor.Room) (n int) {
	for _, m := range r.State.Members {
		if m.Verdict != stick.Gone {
			n++
		}
	}

	return n
}

// OpenTasks are the tasks that aren't over.
func (v *view) OpenTasks(r *monitor.Room) (n int) {
	for _, t := range r.Tasks {
		if t.State != stick.TaskCompleted && t.State != stick.TaskFailed {
			n++
		}
	}

	return n
}

// Last is the last event of a room, nil for none.
func (v *view) Last(r *monitor.Room) *stick.Event {
	if n := len(r.Events); n > 0 {
		return &r.Events[n-1]
	}
	return nil
}

// ActivityOf says what a member does, and since when that has been so.
func (v *view) ActivityOf(m engine.RoomMember) activity {
	a := m.Activity
	switch {
	case m.Verdict == stick.Gone:
		return activity{"gone", "gone", m.LastSeenAt}
	case a != nil:
		d := activity{string(a.State), string(a.State.Words()), a.Since}
		if a.Silent {
			d.Words = "idle since its last sign"
		}

		// What it waits for says more than that it asks.
		if says := v.AwaitedAnswer(m); says != "" {
			d.Words = says
		}

		return d
	case m.Listening == stick.Work:
		return activity{string(presence.AgentWaits), string(presence.AgentWaits.Words()), 0}
	case m.AgentID.Human():
		return activity{"person", "a person", 0}
	}

	return activity{"unknown", "unknown", m.LastSeenAt}
}

// AwaitedAnswer says whose answer a member waits for that has asked its person something; empty for others.
func (v *view) AwaitedAnswer(m engine.RoomMember) string {
	if a := m.Activity; a == nil || a.State != presence.AgentAsks || m.Verdict == stick.Gone {
		return ""
	}
	whose, where := monitor.AskedPerson(m)
	return string("waits for " + whose + " answer " + where)
}

// activity is what a member does. Kind is the name of a style.
type activity struct {
	Kind, Words string
	Since       stick.Time
}

// HoldsStick reports whether the person holds the stick of a room.
func (v *view) HoldsStick(r *monitor.Room) bool {
	return r.State.Owner != nil && *r.State.Owner == v.Picture.Me
}

// OtherMembers are the members that a person can write to or pass the stick to.
func (v *view) OtherMembers(r *monitor.Room) (out []stick.AgentID) {
	for _, m := range r.State.Members {
		if m.AgentID != v.Picture.Me && m.Verdict != stick.Gone {
			out = append(out, m.AgentID)
		}
	}

	return out
}

// LeaseKeeper says what keeps the holder's turn.
func (v *view) LeaseKeeper(r *monitor.Room) string {
	switch r.State.LeaseKeptBy {
	case stick.KeptByProcess:
		return "its process keeps the turn"
	case stick.KeptByGuardian:
		return fmt.Sprintf("process %d keeps the turn", r.State.GuardianPID)
	}

	return "its own calls keep the turn"
}
