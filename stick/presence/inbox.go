package presence

import (
	"slices"

	"talkingstick/stick"
)

// Inbox is what is known of the socket by which a member's harness takes texts for the member.
type Inbox struct {
	Process stick.Process // listens on it now; zero if the caller can write nothing to it
	Signs   Signs         // of the member
}

// WokenByInbox reports whether what is new for a member is written to its harness's inbox: the member is
// idle, and no wait brings it events. h is what its hooks have reported. A wait for the turn alone brings
// none.
func WokenByInbox(r stick.Room, a stick.AgentID, h Signs, s *stick.Probed, now stick.Time) bool {
	if r.Closed || a.Human() {
		return false
	}

	// A wait that hears events brings them; nobody is told twice.
	for _, l := range r.Listeners {
		if l.Agent == a && !l.Deaf && s.ListenerVerdict(l.ID) != stick.Gone {
			return false
		}
	}

	m, _ := r.Member(a)
	does, ok := ActivityOf(r, a, h, s, now)

	// While it works, its hooks show it what is new.
	return ok && (does.State == AgentIdle || does.State == AgentWaits && !m.IdleAt.IsZero())
}

// Attended reports whether a process that waits for another member would write to the inbox of a, which
// process p listens on: what is due there by time, and what those who commit can't write themselves. It has
// to be on the same host.
func Attended(r stick.Room, a stick.AgentID, p stick.Process, s *stick.Probed) bool {
	return slices.ContainsFunc(r.Listeners, func(l stick.Listener) bool {
		return l.Agent != a && l.Process.Comparable(p) && s.ListenerVerdict(l.ID) == stick.Alive
	})
}
