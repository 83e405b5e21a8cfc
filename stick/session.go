package stick

// Role is a session's role in its workspace.
type Role string

// The roles. At most one session of a room is its primary.
const (
	RolePrimary Role = "primary" // does the startup and wrap-up work for the workspace
	RoleHelper  Role = "helper"  // works beside a primary, and leaves the primary's work and files to it
)

// StartKind is how a session began.
type StartKind string

// How sessions begin.
const (
	StartFresh    StartKind = "fresh"    // nothing was left behind
	StartRecover  StartKind = "recover"  // the primary before it left its context file and never ended its session
	StartHelper   StartKind = "helper"   // it works beside a primary, or was asked to be a helper
	StartContinue StartKind = "continue" // the same session goes on
	StartPromoted StartKind = "promoted" // it became the primary later
)

// Session is the latest session of a member, as the log knows it.
type Session struct {
	Role    Role   // of the running session, or of the last one
	Context string // the name of its context file; empty for the primary's own
	Running bool   // it started and hasn't ended
	Since   Time   // when it started
}

// EndReason is why a session or a membership ends: a reason of tt's or, without one, what the agent wrote.
type EndReason struct {
	Ending *Ending
	wrote  string
}

// text is the reason as events have it for whoever reads only that.
func (e EndReason) text() string {
	if e.Ending != nil {
		return string(e.Ending.Words())
	}
	return e.wrote
}

// EndSession ends the running session of a member in an orderly way, and returns the event for it.
func (r *Room) EndSession(a AgentID, why EndReason, now Time) []Event {
	m, ok := r.Member(a)
	if !ok || !m.Session.Running {
		return nil
	}

	// A context file that is older than this end was dealt with.
	if m.Session.Role == RolePrimary {
		r.SessionEndedAt = now
	}

	r.EditMember(a, func(m *Member) { m.Session.Running = false })
	e := r.NewEvent(EventSessionEnded, a, "").WithPayload(SessionEndedPayload{
		Role: m.Session.Role, Context: m.Session.Context, Ending: why.Ending,
	})
	e.Reason = why.text()
	return []Event{e}
}

// Before reports whether p began before q. Of two that began at the same instant, the one with the lower pid
// is the first. It is false if p and q can't be compared.
func (p Process) Before(q Process) bool {
	if !p.Comparable(q) {
		return false
	}
	return p.Start < q.Start || p.Start == q.Start && p.PID < q.PID
}

// ToRole begins a recipient that stands for the sessions with a role.
const ToRole = "role:"
