package stick

import (
	"fmt"
	"slices"
	"strings"
)

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

// Starting is a session that starts.
type Starting struct {
	By    AgentID
	Above Lineage // of the caller

	// Helper says that it asks now to be a helper. Launched says that its process was started as a helper.
	// The environment of the process goes on saying so, whatever the session has become since.
	Helper, Launched bool

	// Follows says that it never leads, because it works on a task in the task's worktree.
	Follows bool
	// Followers are the other members of which that is true.
	Followers []AgentID

	// Same says that this is the session that By already has here: nothing shows another process.
	Same bool
	// Continues says that the harness continues a session, because it was resumed, cleared or compacted.
	Continues bool
	// Before are the other agents whose sessions the caller's process has carried, the latest first. Such a
	// process carries one session at a time, so theirs are over.
	Before []AgentID
	// Earlier says that an agent is running here that began before this one and hasn't registered.
	Earlier bool
	// Process is the caller's, zero if it is unknown. A member whose process began before it may lead.
	Process Process
	// AlongWith is the agent whose start also starts this session, because this one was here first. It is
	// empty if the session starts itself.
	AlongWith AgentID

	Anchor   bool // the primary's context file exists
	AnchorAt Time // when it was last written

	Context string   // the requested name of its context file, or ""
	Seed    string   // what a helper's name is made from
	Taken   []string // names of the context files that exist
}

// Started is the outcome of [Room.StartSession].
type Started struct {
	Session
	Parent  AgentID // the agent under whose turn it works, see [Room.Parent], or ""
	Kind    StartKind
	Primary AgentID // another agent that is the primary and isn't gone, or ""
	Elder   AgentID // the same agent, if its session started along with this one
	Crashed AgentID // the agent whose primary session never ended: another one, or the caller itself
	Already bool    // the session had already started, and nothing about it changed
}

// Primary returns the member whose session is the primary, whether or not it is gone.
func (r Room) Primary() (Member, bool) {
	i := slices.IndexFunc(r.Members, func(m Member) bool { return m.isPrimary() })
	if i < 0 {
		return Member{}, false
	}
	return r.Members[i], true
}

func (m Member) isPrimary() bool {
	return m.State == Joined && m.Session.Running && m.Session.Role == RolePrimary
}

// StartSession gives a member's session its role, and says how it began. There is never more than one primary
// that isn't gone. A session that starts while there is one is a helper; so is one that starts while an agent
// is running that began earlier and can still register, and one that works under the turn of the agent that
// started it. If the agent that began earlier is a member, its session starts along with this one, as the
// primary. See docs/decisions/sessions-and-roles.md#which-role-it-has.
func (r Room) StartSession(q Starting, s *Probed, now Time) (Room, []Event, Started) {
	r, events, out := r.startOne(q, s, now)
	elder, ok := r.findElder(q, s)
	if !ok || out.Role != RoleHelper || out.Primary != "" {
		return r, events, out
	}

	// The elder leads, and its session starts now: it has never started one itself.
	r, more, _ := r.startOne(Starting{By: elder, AlongWith: q.By, Anchor: q.Anchor, AnchorAt: q.AnchorAt}, s, now)
	out.Primary, out.Elder = elder, elder
	return r, append(events, more...), out
}

// startFindings is what a starting session finds.
type startFindings struct {
	me        Member
	inherited Session // of the agent, or of those whose sessions its process carried
	prior     Member  // the primary before, if it is another
	led       bool    // there is one
	live      bool    // and it isn't gone
	older     bool    // another agent was here first
	same      bool    // the session runs already
	moved     bool    // its process has carried no session here
}

// prepareStart ends the sessions that the agent's process carried, and returns what the new one finds.
func (r *Room) prepareStart(q Starting, s *Probed, now Time) (b startFindings, events []Event) {
	b.me, _ = r.Member(q.By)
	b.inherited = b.me.Session
	for _, a := range q.Before {
		if before, _ := r.Member(a); b.inherited.Role == "" {
			b.inherited = before.Session
		}
		events = append(events, r.endSession(a, endReason{ending: &Ending{Cause: EndedByNext, Next: q.By}}, now)...)
	}

	b.prior, b.led = r.Primary()
	b.led = b.led && b.prior.Agent != q.By

	// A primary that is gone only left its place.
	b.live = b.led && b.prior.Verdict(s) != Gone
	_, b.older = r.findElder(q, s)
	b.same = b.me.Session.Running && q.Same
	b.moved = !q.Same && len(q.Before) == 0

	return b, events
}

// chooseRole returns the role of a starting session. parent is the agent that has started it and holds the stick,
// if one has.
func (b startFindings) chooseRole(q Starting, parent AgentID) Role {
	switch {
	case q.Helper, parent != "":
		return RoleHelper
	case b.same:
		return b.me.Session.Role
	case b.live:
		return RoleHelper // even if it was the primary once: there are never two
	case q.Continues && b.inherited.Role != "" && !(q.Launched && b.moved):
		return b.inherited.Role
	case q.Launched, q.Follows, q.Earlier, b.older:
		return RoleHelper
	}
	return RolePrimary
}

// startOne starts the session of q.By alone.
func (r Room) startOne(q Starting, s *Probed, now Time) (Room, []Event, Started) {
	b, events := r.prepareStart(q, s, now)
	me, inherited, prior, led, same := b.me, b.inherited, b.prior, b.led, b.same
	out := Started{}
	out.Parent, _ = r.Parent(q.By, q.Above, s)

	if b.live {
		out.Primary = prior.Agent
	}

	out.Role = b.chooseRole(q, out.Parent)
	kept := "" // the context file that this session has written, under whatever name of its agent
	if (same || q.Continues && !(b.moved && q.Context != "")) && inherited.Role == out.Role {
		kept = inherited.Context
	}

	// The name depends on the role: a primary's file is always the same.
	out.Context = r.contextName(q, out.Role, kept, s)
	crashed := led && !b.live && out.Role == RolePrimary
	switch {
	// Another's session never ended, or an earlier one of this agent.
	case crashed:
		out.Crashed = prior.Agent
	case me.Session.Running && !q.Same && me.Session.Role == RolePrimary && out.Role == RolePrimary:
		out.Crashed = q.By
	}
	out.Kind = r.startKind(q, out)

	// A session that runs already, with the same role and file, stays as it is.
	out.Running, out.Since = true, now
	if same && me.Session.Role == out.Role && me.Session.Context == out.Context {
		out.Since, out.Already = me.Session.Since, true
		return r, events, out
	}

	p := SessionStartedPayload{Role: out.Role, Context: out.Context, Start: out.Kind}
	if out.Kind == StartRecover { // so that the recovery can be shown again
		p.Prior, p.Written = out.Crashed, q.AnchorAt
	}

	// There is never a second primary: the one before ends with this start.
	if led && out.Role == RolePrimary {
		p.Prior, p.Verdict = prior.Agent, prior.Verdict(s)
		r.editMember(prior.Agent, func(m *Member) { m.Session.Running = false })
	}

	if heir, ok := r.contextOwner(out.Context, q.By); ok { // that member is gone, and this session inherits its file
		p.Prior, p.Verdict = heir, Gone
		r.editMember(heir, func(m *Member) { m.Session.Running = false })
	}

	if same && me.isPrimary() { // it gives up its role, which isn't a crash
		events = append(events, r.endSession(q.By, endReason{ending: &Ending{Cause: EndedAsHelper}}, now)...)
	}

	// All that ended before is in the log before the new session.
	r.editMember(q.By, func(m *Member) { m.Session = out.Session })
	p.AlongWith = q.AlongWith
	events = append(events, r.newEvent(EventSessionStarted, q.By, "").withPayload(p).addressUnaskedStart(p))

	if out.Kind == StartRecover {
		events = append(events, r.resumeEvent(q.By, out.Crashed, q.AnchorAt, now))
	}

	return r, events, out
}

// findElder returns the member that leads although it has never started a session here: it joined while it was
// alone, its process is alive, and that process began before the caller's. Of several it returns the one that
// began first.
func (r Room) findElder(q Starting, s *Probed) (first AgentID, ok bool) {
	// It must have begun before the caller, and before all others that could lead.
	oldest := q.Process
	for _, m := range r.Members {
		// Who has had a role here had its chance to lead.
		if m.State != Joined || m.Session.Role != "" || m.Agent == q.By || slices.Contains(q.Followers, m.Agent) ||
			m.Verdict(s) != Alive {
			continue
		}

		for _, e := range m.Processes {
			if e.Proof == ProvesSession && s.Processes[e.Process] == Alive && e.Process.Before(oldest) {
				first, oldest, ok = m.Agent, e.Process, true
			}
		}
	}

	return first, ok
}

// startKind returns how a session began, whose role is known.
func (r Room) startKind(q Starting, out Started) StartKind {
	switch {
	case out.Role == RoleHelper:
		return StartHelper
	case out.Crashed == "" && (q.Continues || r.hasSession(q.By) && q.Same):
		return StartContinue
	// At the same instant nobody knows which came first, and recovering loses nothing.
	case !q.Anchor || r.SessionEndedAt > q.AnchorAt:
		return StartFresh
	}
	return StartRecover
}

func (r Room) hasSession(a AgentID) bool {
	m, ok := r.Member(a)
	return ok && m.Session.Running
}

// resumeEvent makes the event that tells the agent whose session never ended who goes on with its work.
func (r Room) resumeEvent(by, crashed AgentID, written, now Time) Event {
	prior := string(crashed)
	why := "its process has ended and its session hasn't"
	if crashed == "" {
		prior, why = "unknown", "no session has ended since its context was written"
	}

	// A session that goes on with its own work needn't be told.
	to := crashed
	if to == by {
		to = ""
	}

	return r.newEvent(EventResume, by, to).withPayload(ResumePayload{Message: &Message{Category: Resume, Contract: Contract{
		ResumeReason: "the primary session before this one didn't end properly",
		PriorSession: prior, Adopted: string(by),
		Evidence: fmt.Sprintf("%s; its context was written %s", why, Ago(now.Sub(written))),
	}}})
}

// Promote makes a member's session the primary if there is no other one, or if the primary is gone. A
// primary whose verdict is unknown counts as gone once it has been silent for as long as a lease lasts.
// A member that works under the turn of the agent that started it stays a helper.
// It fails with [CodeUnknownMember] and [CodeMemberPresent].
func (r Room) Promote(a AgentID, above Lineage, s *Probed, now Time) (Room, []Event, error) {
	if !r.hasSession(a) || !r.isJoined(a) {
		return r, nil, Errorf(CodeUnknownMember, "%s has no session here", a).With("agent_id", a).
			Hintf("start one: %s", Cmd("tt session start"))
	}

	me, _ := r.Member(a)
	if me.isPrimary() {
		return r, nil, nil
	}

	if parent, under := r.Parent(a, above, s); under {
		return r, nil, Errorf(CodeMemberPresent,
			"%s started you and holds the stick, so you work under its turn, as a helper", parent).
			With("agent_id", parent).With("verdict", Alive).
			Hintf("go on as a helper; %s says what is left to the primary", Cmd("tt session role"))
	}

	// A primary that shows no life for the time of a lease gives way.
	p := SessionStartedPayload{Role: RolePrimary, Start: StartPromoted}
	if prior, led := r.Primary(); led {
		v := prior.Verdict(s)
		silent := Deadline{r.SeenAt(prior), r.Policy.OwnerLeaseTTL}
		if v == Alive || v == Unknown && !silent.Due(now) {
			e := Errorf(CodeMemberPresent,
				"%s is the primary, and was seen %s", prior.Agent, Ago(now.Sub(r.SeenAt(prior)))).
				With("agent_id", prior.Agent).With("verdict", v).
				Hintf("ask it to end its session: %s", Cmd("tt msg send <agent> …", prior.Agent))
			return r, nil, e
		}

		p.Prior, p.Verdict = prior.Agent, v
		r.editMember(prior.Agent, func(m *Member) { m.Session.Running = false })
	}

	r.editMember(a, func(m *Member) { m.Session = Session{Role: RolePrimary, Running: true, Since: now} })
	return r, []Event{r.newEvent(EventSessionStarted, a, "").withPayload(p)}, nil
}

// endReason is why a session or a membership ends: a reason of tt's or, without one, what the agent wrote.
type endReason struct {
	ending *Ending
	wrote  string
}

// text is the reason as events have it for whoever reads only that.
func (e endReason) text() string {
	if e.ending != nil {
		return string(e.ending.Words())
	}
	return e.wrote
}

// endSession ends the running session of a member in an orderly way, and returns the event for it.
func (r *Room) endSession(a AgentID, why endReason, now Time) []Event {
	m, ok := r.Member(a)
	if !ok || !m.Session.Running {
		return nil
	}

	// A context file that is older than this end was dealt with.
	if m.Session.Role == RolePrimary {
		r.SessionEndedAt = now
	}

	r.editMember(a, func(m *Member) { m.Session.Running = false })
	e := r.newEvent(EventSessionEnded, a, "").withPayload(SessionEndedPayload{
		Role: m.Session.Role, Context: m.Session.Context, Ending: why.ending,
	})
	e.Reason = why.text()
	return []Event{e}
}

// Registered returns the member whose running session has the process, and false if there is none.
func (r Room) Registered(p Process) (AgentID, bool) {
	for _, m := range r.Members {
		if m.State != Joined || !m.Session.Running {
			continue
		}

		for _, e := range m.Processes {
			if e.Process == p {
				return m.Agent, true
			}
		}
	}

	return "", false
}

// Before reports whether p began before q. Of two that began at the same instant, the one with the lower pid
// is the first. It is false if p and q can't be compared.
func (p Process) Before(q Process) bool {
	if !p.Comparable(q) {
		return false
	}
	return p.Start < q.Start || p.Start == q.Start && p.PID < q.PID
}

// toRole begins a recipient that stands for the sessions with a role.
const toRole = "role:"

// NamesRole reports whether a recipient of a message is a role rather than a member.
func NamesRole(to AgentID) bool { return strings.HasPrefix(string(to), toRole) }

// withRole lists the members, except for but, whose running session has the role that a recipient names. ok
// is false if the recipient isn't a role. It fails with [CodeUsage] for an unknown role.
func (r Room) withRole(to, but AgentID) (agents []AgentID, ok bool, err error) {
	name, ok := strings.CutPrefix(string(to), toRole)
	if !ok {
		return nil, false, nil
	}

	role := Role(name)
	if role != RolePrimary && role != RoleHelper {
		return nil, true, badMessage("to", "a role is %s or %s, not %q", RolePrimary, RoleHelper, Clip(name, 40))
	}

	for _, m := range r.Members {
		if m.State == Joined && m.Session.Running && m.Session.Role == role && m.Agent != but {
			agents = append(agents, m.Agent)
		}
	}

	return agents, true, nil
}
