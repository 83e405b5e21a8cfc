package presence

import (
	"fmt"
	"slices"
	"strings"

	"talkingstick/stick"
)

// Starting is a session that starts.
type Starting struct {
	By    stick.AgentID
	Above stick.Lineage // of the caller

	// Helper says that it asks now to be a helper. Launched says that its process was started as a helper.
	// The environment of the process goes on saying so, whatever the session has become since.
	Helper, Launched bool

	// Follows says that it never leads, because it works on a task in the task's worktree.
	Follows bool
	// Followers are the other members of which that is true.
	Followers []stick.AgentID

	// Same says that this is the session that By already has here: nothing shows another process.
	Same bool
	// Continues says that the harness continues a session, because it was resumed, cleared or compacted.
	Continues bool
	// Before are the other agents whose sessions the caller's process has carried, the latest first. Such a
	// process carries one session at a time, so theirs are over.
	Before []stick.AgentID
	// Earlier says that an agent is running here that began before this one and hasn't registered.
	Earlier bool
	// Process is the caller's, zero if it is unknown. A member whose process began before it may lead.
	Process stick.Process
	// AlongWith is the agent whose start also starts this session, because this one was here first. It is
	// empty if the session starts itself.
	AlongWith stick.AgentID

	Anchor   bool       // the primary's context file exists
	AnchorAt stick.Time // when it was last written

	Context string   // the requested name of its context file, or ""
	Seed    string   // what a helper's name is made from
	Taken   []string // names of the context files that exist
}

// Started is the outcome of [StartSession].
type Started struct {
	stick.Session
	Parent  stick.AgentID // the agent under whose turn it works, see [stick.Room.Parent], or ""
	Kind    stick.StartKind
	Primary stick.AgentID // another agent that is the primary and isn't gone, or ""
	Elder   stick.AgentID // the same agent, if its session started along with this one
	Crashed stick.AgentID // the agent whose primary session never ended: another one, or the caller itself
	Already bool          // the session had already started, and nothing about it changed
}

// Primary returns the member whose session is the primary, whether or not it is gone.
func Primary(r stick.Room) (stick.Member, bool) {
	i := slices.IndexFunc(r.Members, func(m stick.Member) bool { return isPrimary(m) })
	if i < 0 {
		return stick.Member{}, false
	}
	return r.Members[i], true
}

func isPrimary(m stick.Member) bool {
	return m.State == stick.Joined && m.Session.Running && m.Session.Role == stick.RolePrimary
}

// StartSession gives a member's session its role, and says how it began. There is never more than one primary
// that isn't gone. A session that starts while there is one is a helper; so is one that starts while an agent
// is running that began earlier and can still register, and one that works under the turn of the agent that
// started it. If the agent that began earlier is a member, its session starts along with this one, as the
// primary. See docs/decisions/sessions-and-roles.md#which-role-it-has.
func StartSession(r stick.Room, q Starting, s *stick.Probed, now stick.Time) (stick.Room, []stick.Event, Started) {
	r, events, out := startOne(r, q, s, now)
	elder, ok := findElder(r, q, s)
	if !ok || out.Role != stick.RoleHelper || out.Primary != "" {
		return r, events, out
	}

	// The elder leads, and its session starts now: it has never started one itself.
	r, more, _ := startOne(r, Starting{By: elder, AlongWith: q.By, Anchor: q.Anchor, AnchorAt: q.AnchorAt}, s, now)
	out.Primary, out.Elder = elder, elder
	return r, append(events, more...), out
}

// startFindings is what a starting session finds.
type startFindings struct {
	me        stick.Member
	inherited stick.Session // of the agent, or of those whose sessions its process carried
	prior     stick.Member  // the primary before, if it is another
	led       bool          // there is one
	live      bool          // and it isn't gone
	older     bool          // another agent was here first
	same      bool          // the session runs already
	moved     bool          // its process has carried no session here
}

// prepareStart ends the sessions that the agent's process carried, and returns what the new one finds.
func prepareStart(r *stick.Room, q Starting, s *stick.Probed, now stick.Time) (b startFindings, events []stick.Event) {
	b.me, _ = r.Member(q.By)
	b.inherited = b.me.Session
	for _, a := range q.Before {
		if before, _ := r.Member(a); b.inherited.Role == "" {
			b.inherited = before.Session
		}
		events = append(events, r.EndSession(a,
			stick.EndReason{Ending: &stick.Ending{Cause: stick.EndedByNext, Next: q.By}}, now)...)
	}

	b.prior, b.led = Primary(*r)
	b.led = b.led && b.prior.Agent != q.By

	// A primary that is gone only left its place.
	b.live = b.led && b.prior.Verdict(s) != stick.Gone
	_, b.older = findElder(*r, q, s)
	b.same = b.me.Session.Running && q.Same
	b.moved = !q.Same && len(q.Before) == 0

	return b, events
}

// chooseRole returns the role of a starting session. parent is the agent that has started it and holds the stick,
// if one has.
func (b startFindings) chooseRole(q Starting, parent stick.AgentID) stick.Role {
	switch {
	case q.Helper, parent != "":
		return stick.RoleHelper
	case b.same:
		return b.me.Session.Role
	case b.live:
		return stick.RoleHelper // even if it was the primary once: there are never two
	case q.Continues && b.inherited.Role != "" && !(q.Launched && b.moved):
		return b.inherited.Role
	case q.Launched, q.Follows, q.Earlier, b.older:
		return stick.RoleHelper
	}
	return stick.RolePrimary
}

// startOne starts the session of q.By alone.
func startOne(r stick.Room, q Starting, s *stick.Probed, now stick.Time) (stick.Room, []stick.Event, Started) {
	b, events := prepareStart(&r, q, s, now)
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
	out.Context = contextName(r, q, out.Role, kept, s)
	crashed := led && !b.live && out.Role == stick.RolePrimary
	switch {
	// Another's session never ended, or an earlier one of this agent.
	case crashed:
		out.Crashed = prior.Agent
	case me.Session.Running && !q.Same && me.Session.Role == stick.RolePrimary && out.Role == stick.RolePrimary:
		out.Crashed = q.By
	}
	out.Kind = startKind(r, q, out)

	// A session that runs already, with the same role and file, stays as it is.
	out.Running, out.Since = true, now
	if same && me.Session.Role == out.Role && me.Session.Context == out.Context {
		out.Since, out.Already = me.Session.Since, true
		return r, events, out
	}

	p := stick.SessionStartedPayload{Role: out.Role, Context: out.Context, Start: out.Kind}
	if out.Kind == stick.StartRecover { // so that the recovery can be shown again
		p.Prior, p.Written = out.Crashed, q.AnchorAt
	}

	// There is never a second primary: the one before ends with this start.
	if led && out.Role == stick.RolePrimary {
		p.Prior, p.Verdict = prior.Agent, prior.Verdict(s)
		r.EditMember(prior.Agent, func(m *stick.Member) { m.Session.Running = false })
	}

	if heir, ok := contextOwner(r, out.Context, q.By); ok { // that member is gone, and this session inherits its file
		p.Prior, p.Verdict = heir, stick.Gone
		r.EditMember(heir, func(m *stick.Member) { m.Session.Running = false })
	}

	if same && isPrimary(me) { // it gives up its role, which isn't a crash
		events = append(events, r.EndSession(q.By,
			stick.EndReason{Ending: &stick.Ending{Cause: stick.EndedAsHelper}}, now)...)
	}

	// All that ended before is in the log before the new session.
	r.EditMember(q.By, func(m *stick.Member) { m.Session = out.Session })
	p.AlongWith = q.AlongWith
	events = append(events, r.NewEvent(stick.EventSessionStarted, q.By, "").WithPayload(p).AddressUnaskedStart(p))

	if out.Kind == stick.StartRecover {
		events = append(events, resumeEvent(r, q.By, out.Crashed, q.AnchorAt, now))
	}

	return r, events, out
}

// findElder returns the member that leads although it has never started a session here: it joined while it was
// alone, its process is alive, and that process began before the caller's. Of several it returns the one that
// began first.
func findElder(r stick.Room, q Starting, s *stick.Probed) (first stick.AgentID, ok bool) {
	// It must have begun before the caller, and before all others that could lead.
	oldest := q.Process
	for _, m := range r.Members {
		// Who works in a task's worktree never leads, and who has had a role here had its chance.
		mayLead := m.Session.Role == "" && !slices.Contains(q.Followers, m.Agent)
		if m.Agent == q.By || !mayLead {
			continue
		}
		if m.State != stick.Joined || m.Verdict(s) != stick.Alive {
			continue
		}

		for _, e := range m.Processes {
			if e.Proof == stick.ProvesSession && s.Processes[e.Process] == stick.Alive && e.Process.Before(oldest) {
				first, oldest, ok = m.Agent, e.Process, true
			}
		}
	}

	return first, ok
}

// startKind returns how a session began, whose role is known.
func startKind(r stick.Room, q Starting, out Started) stick.StartKind {
	switch {
	case out.Role == stick.RoleHelper:
		return stick.StartHelper
	case out.Crashed == "" && (q.Continues || hasSession(r, q.By) && q.Same):
		return stick.StartContinue
	// At the same instant nobody knows which came first, and recovering loses nothing.
	case !q.Anchor || r.SessionEndedAt > q.AnchorAt:
		return stick.StartFresh
	}
	return stick.StartRecover
}

func hasSession(r stick.Room, a stick.AgentID) bool {
	m, ok := r.Member(a)
	return ok && m.Session.Running
}

// resumeEvent makes the event that tells the agent whose session never ended who goes on with its work.
func resumeEvent(r stick.Room, by, crashed stick.AgentID, written, now stick.Time) stick.Event {
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

	return r.NewEvent(stick.EventResume, by, to).
		WithPayload(stick.ResumePayload{Message: &stick.Message{Category: stick.Resume, Contract: stick.Contract{
			ResumeReason: "the primary session before this one didn't end properly",
			PriorSession: prior, Adopted: string(by),
			Evidence: fmt.Sprintf("%s; its context was written %s", why, stick.Ago(now.Sub(written))),
		}}})
}

// Promote makes a member's session the primary if there is no other one, or if the primary is gone. A
// primary whose verdict is unknown counts as gone once it has been silent for as long as a lease lasts.
// A member that works under the turn of the agent that started it stays a helper.
// It fails with [stick.CodeUnknownMember] and [stick.CodeMemberPresent].
func Promote(
	r stick.Room, a stick.AgentID, above stick.Lineage, s *stick.Probed, now stick.Time,
) (stick.Room, []stick.Event, error) {
	if !hasSession(r, a) || !r.IsJoined(a) {
		return r, nil, stick.Errorf(stick.CodeUnknownMember, "%s has no session here", a).With("agent_id", a).
			Hintf("start one: %s", stick.Cmd("tt session start"))
	}

	me, _ := r.Member(a)
	if isPrimary(me) {
		return r, nil, nil
	}

	if parent, under := r.Parent(a, above, s); under {
		return r, nil, stick.Errorf(stick.CodeMemberPresent,
			"%s started you and holds the stick, so you work under its turn, as a helper", parent).
			With("agent_id", parent).With("verdict", stick.Alive).
			Hintf("go on as a helper; to see what is left to the primary: %s", stick.Cmd("tt session role"))
	}

	// A primary that shows no life for the time of a lease gives way.
	p := stick.SessionStartedPayload{Role: stick.RolePrimary, Start: stick.StartPromoted}
	if prior, led := Primary(r); led {
		v := prior.Verdict(s)
		silent := stick.Deadline{SetAt: r.SeenAt(prior), TTL: r.Policy.OwnerLeaseTTL}
		if v == stick.Alive || v == stick.Unknown && !silent.Due(now) {
			e := stick.Errorf(stick.CodeMemberPresent,
				"%s is the primary, and was seen %s", prior.Agent, stick.Ago(now.Sub(r.SeenAt(prior)))).
				With("agent_id", prior.Agent).With("verdict", v).
				Hintf("ask it to end its session: %s", stick.Cmd("tt msg send <agent> …", prior.Agent))
			return r, nil, e
		}

		p.Prior, p.Verdict = prior.Agent, v
		r.EditMember(prior.Agent, func(m *stick.Member) { m.Session.Running = false })
	}

	r.EditMember(a, func(m *stick.Member) {
		m.Session = stick.Session{
			Role: stick.RolePrimary, Running: true, Since: now,
		}
	})
	return r, []stick.Event{r.NewEvent(stick.EventSessionStarted, a, "").WithPayload(p)}, nil
}

// NamesRole reports whether a recipient of a message is a role rather than a member.
func NamesRole(to stick.AgentID) bool { return strings.HasPrefix(string(to), stick.ToRole) }

// WithRole lists the members, except for but, whose running session has the role that a recipient names. ok
// is false if the recipient isn't a role. It fails with [stick.CodeUsage] for an unknown role.
func WithRole(r stick.Room, to, but stick.AgentID) (agents []stick.AgentID, ok bool, err error) {
	name, ok := strings.CutPrefix(string(to), stick.ToRole)
	if !ok {
		return nil, false, nil
	}

	role := stick.Role(name)
	if role != stick.RolePrimary && role != stick.RoleHelper {
		return nil, true, stick.BadMessage("to", "a role is %s or %s, not %q", stick.RolePrimary,
			stick.RoleHelper, stick.Clip(name, 40))
	}

	for _, m := range r.Members {
		if m.State == stick.Joined && m.Session.Running && m.Session.Role == role && m.Agent != but {
			agents = append(agents, m.Agent)
		}
	}

	return agents, true, nil
}
