package stick

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Role is what a session is to the others in its workspace.
type Role string

// The roles. At most one session of a room is its primary.
const (
	RolePrimary Role = "primary" // the one that does startup and wrap-up for the workspace
	RoleHelper  Role = "helper"  // works beside a primary, and leaves what is the primary's alone
)

// StartKind is how a session began.
type StartKind string

// How sessions begin.
const (
	StartFresh    StartKind = "fresh"    // nothing was left behind
	StartRecover  StartKind = "recover"  // the primary before left its context and never ended its session
	StartHelper   StartKind = "helper"   // another agent is the primary, or was asked for
	StartContinue StartKind = "continue" // the same session goes on
	StartPromoted StartKind = "promoted" // it became the primary later
)

// Session is the run of a member that its log tells of.
type Session struct {
	Role    Role   // of the present session, or of the last one
	Context string // the name of its context file; empty for the primary's own
	Running bool   // it started and hasn't ended
	Since   Time   // when it started
}

// Starting is a session that starts.
type Starting struct {
	By AgentID

	// Helper says that it is to be a helper, by its own word now. Launched says that it was started as one,
	// which its surroundings go on saying for as long as its process lives, whatever it became since.
	Helper, Launched bool

	// Same says that the session which By has here is still this one: nothing shows another process.
	Same bool
	// Continues says that the harness calls it the same: resumed, cleared or compacted.
	Continues bool
	// Before are the other agents that the caller's process has carried, the latest first. A process of
	// that kind carries one session at a time: theirs are over.
	Before []AgentID
	// Earlier says that an agent runs here that began before this one and that nobody has heard of.
	Earlier bool

	Anchor   bool // the primary's context file exists
	AnchorAt Time // when it was last written

	Context string   // the name that was asked for its context file, or ""
	Seed    string   // from which a helper's name is made
	Taken   []string // names of context files that exist
}

// Started is what became of a session that started.
type Started struct {
	Session
	Kind    StartKind
	Primary AgentID // another one, if there is one that isn't gone
	Crashed AgentID // whose session never ended: the primary's before, or an earlier one of the agent itself
	Already bool    // it had started before, and goes on as it was
}

// Primary is the member whose session is the room's primary one, gone or not.
func (r Room) Primary() (Member, bool) {
	i := slices.IndexFunc(r.Members, func(m Member) bool { return m.leads() })
	if i < 0 {
		return Member{}, false
	}
	return r.Members[i], true
}

func (m Member) leads() bool {
	return m.State == Joined && m.Session.Running && m.Session.Role == RolePrimary
}

// StartSession gives a session of a member its role, and says how it began. There is never more than
// one primary that isn't gone: who comes while there is one, or while an agent runs that began before
// and can still register, is a helper.
func (r Room) StartSession(q Starting, s *Probed, now Time) (Room, []Event, Started) {
	me, _ := r.Member(q.By)
	inherited := me.Session
	var events []Event
	for _, a := range q.Before {
		if before, _ := r.Member(a); inherited.Role == "" {
			inherited = before.Session
		}
		events = append(events, r.endSession(a, fmt.Sprintf("its process carries %s now", q.By), now)...)
	}
	prior, led := r.Primary()
	led = led && prior.Agent != q.By
	live := led && prior.Verdict(s) != Gone
	same := me.Session.Running && q.Same
	moved := !q.Same && len(q.Before) == 0 // into a process that has carried no session here
	out := Started{}
	if live {
		out.Primary = prior.Agent
	}
	switch {
	case q.Helper:
		out.Role = RoleHelper
	case same:
		out.Role = me.Session.Role
	case live:
		out.Role = RoleHelper // also one that was the primary once: never two
	case q.Continues && inherited.Role != "" && !(q.Launched && moved):
		out.Role = inherited.Role
	case q.Launched, q.Earlier:
		out.Role = RoleHelper
	default:
		out.Role = RolePrimary
	}
	kept := "" // what stands in it is of this session, whatever its process is called
	if (same || q.Continues && !(moved && q.Context != "")) && inherited.Role == out.Role {
		kept = inherited.Context
	}
	out.Context = r.contextName(q, out.Role, kept, s)
	crashed := led && !live && out.Role == RolePrimary
	switch {
	case crashed:
		out.Crashed = prior.Agent
	case me.Session.Running && !q.Same && me.Session.Role == RolePrimary && out.Role == RolePrimary:
		out.Crashed = q.By
	}
	out.Kind = r.startOf(q, out)
	out.Running, out.Since = true, now
	if same && me.Session.Role == out.Role && me.Session.Context == out.Context {
		out.Since, out.Already = me.Session.Since, true
		return r, events, out
	}
	p := SessionStartedPayload{Role: out.Role, Context: out.Context, Start: out.Kind}
	if out.Kind == StartRecover { // so that it can be told again
		p.Prior, p.Written = out.Crashed, q.AnchorAt
	}
	if led && out.Role == RolePrimary {
		p.Prior, p.Verdict = prior.Agent, prior.Verdict(s)
		r.edit(prior.Agent, func(m *Member) { m.Session.Running = false })
	}
	if heir, ok := r.writes(out.Context, q.By); ok { // it is gone, and its file goes over
		p.Prior, p.Verdict = heir, Gone
		r.edit(heir, func(m *Member) { m.Session.Running = false })
	}
	if same && me.leads() && out.Role == RoleHelper { // it gives the role up, which is no crash
		events = append(events, r.endSession(q.By, "it goes on as a helper", now)...)
	}
	r.edit(q.By, func(m *Member) { m.Session = out.Session })
	events = append(events, r.event(EventSessionStarted, q.By, "").with(p))
	if out.Kind == StartRecover {
		events = append(events, r.resumed(q.By, out.Crashed, q.AnchorAt, now))
	}
	return r, events, out
}

// startOf says how a session with a role began.
func (r Room) startOf(q Starting, out Started) StartKind {
	switch {
	case out.Role == RoleHelper:
		return StartHelper
	case out.Crashed == "" && (q.Continues || r.runs(q.By) && q.Same):
		return StartContinue
	case !q.Anchor || r.SessionEndedAt > q.AnchorAt: // at the same instant nobody knows, and nothing is to be lost
		return StartFresh
	}
	return StartRecover
}

func (r Room) runs(a AgentID) bool {
	m, ok := r.Member(a)
	return ok && m.Session.Running
}

// resumed tells the one whose session never ended that its work goes on with another.
func (r Room) resumed(by, crashed AgentID, written, now Time) Event {
	prior := string(crashed)
	why := "its process has ended and its session hasn't"
	if crashed == "" {
		prior, why = "unknown", "no session has ended since its context was written"
	}
	to := crashed
	if to == by {
		to = ""
	}
	return r.event(EventResume, by, to).with(ResumePayload{Message: &Message{Category: Resume, Contract: Contract{
		ResumeReason: "the primary session before this one didn't end properly", PriorSession: prior, Adopted: string(by),
		Evidence: fmt.Sprintf("%s; its context was written %s", why, Ago(now.Sub(written))),
	}}})
}

// maxContext bounds the name of a context file.
const maxContext = 64

// ContextName makes a name that was asked for fit for a file in one directory, whatever it holds:
// letters, digits, dots, dashes and underscores, and no dot in front. It is empty when nothing is left.
func ContextName(s string) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
			return c
		}
		return '-'
	}, s)
	name = strings.Trim(name, "-.")
	if len(name) > maxContext { // what is cut off still counts
		name = strings.TrimRight(name[:maxContext-9], "-.") + "-" + shortSum(s, 8)
	}
	for _, device := range []string{"con", "prn", "aux", "nul", "com", "lpt"} { // of Windows, with any ending
		stem, _, _ := strings.Cut(strings.ToLower(name), ".")
		if stem == device || len(stem) == 4 && strings.HasPrefix(stem, device) {
			return "session-" + name
		}
	}
	return name
}

func shortSum(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:n]
}

// contextName names a session's context file. The primary's is always the same one, so that whoever comes
// next finds it. A helper's is as it was kept or asked for, else by four digits of its own. No two
// sessions share one unless one of them is gone: its notes are then the other's.
func (r Room) contextName(q Starting, role Role, kept string, s *Probed) string {
	if role == RolePrimary {
		return ""
	}
	used := func(name string) bool {
		return slices.ContainsFunc(r.Members, func(m Member) bool {
			return m.Agent != q.By && m.writes(name) && m.Verdict(s) != Gone
		})
	}
	if kept != "" && !used(kept) {
		return kept
	}
	if asked := ContextName(q.Context); asked != "" {
		name := asked
		for n := 2; used(name); n++ {
			name = fmt.Sprintf("%s-%d", asked, n)
		}
		return name
	}
	for n := 0; ; n++ {
		name := "helper-" + shortSum(fmt.Sprintf("%s/%d", q.Seed, n), 4+n/1000)
		if !used(name) && !slices.ContainsFunc(q.Taken, func(t string) bool { return strings.EqualFold(t, name) }) {
			return name
		}
	}
}

// writes reports whether a context file is that of a member's running session, also where the file system
// doesn't tell letters of different case apart.
func (m Member) writes(name string) bool {
	return m.State == Joined && m.Session.Running && strings.EqualFold(m.Session.Context, name)
}

// writes finds another member than a whose session has a helper's context file.
func (r Room) writes(name string, a AgentID) (AgentID, bool) {
	i := slices.IndexFunc(r.Members, func(m Member) bool { return name != "" && m.Agent != a && m.writes(name) })
	if i < 0 {
		return "", false
	}
	return r.Members[i].Agent, true
}

// Promote makes a member's session the room's primary one, where there is none that isn't gone, or
// one that nothing is known of and that was silent for as long as a lease lives. It fails with
// [CodeUnknownMember] and [CodeMemberPresent].
func (r Room) Promote(a AgentID, s *Probed, now Time) (Room, []Event, error) {
	if !r.runs(a) || !r.joined(a) {
		return r, nil, Errorf(CodeUnknownMember, "%s has no session here", a).With("agent_id", a).Hintf("start one: %s", Cmd("tt session start"))
	}
	me, _ := r.Member(a)
	if me.leads() {
		return r, nil, nil
	}
	p := SessionStartedPayload{Role: RolePrimary, Start: StartPromoted}
	if prior, led := r.Primary(); led {
		v := prior.Verdict(s)
		silent := Deadline{prior.LastSeenAt, r.Policy.OwnerLeaseTTL}
		if v == Alive || v == Unknown && !silent.Due(now) {
			e := Errorf(CodeMemberPresent, "%s is the primary, and was seen %s", prior.Agent, Ago(now.Sub(prior.LastSeenAt))).
				With("agent_id", prior.Agent).With("verdict", v).
				Hintf("ask it to end its session: %s", Cmd("tt msg send <agent> …", prior.Agent))
			return r, nil, e
		}
		p.Prior, p.Verdict = prior.Agent, v
		r.edit(prior.Agent, func(m *Member) { m.Session.Running = false })
	}
	r.edit(a, func(m *Member) { m.Session = Session{Role: RolePrimary, Running: true, Since: now} })
	return r, []Event{r.event(EventSessionStarted, a, "").with(p)}, nil
}

// endSession ends the session of a member that takes part no longer, by its own act.
func (r *Room) endSession(a AgentID, reason string, now Time) []Event {
	m, ok := r.Member(a)
	if !ok || !m.Session.Running {
		return nil
	}
	if m.Session.Role == RolePrimary {
		r.SessionEndedAt = now
	}
	r.edit(a, func(m *Member) { m.Session.Running = false })
	e := r.event(EventSessionEnded, a, "").with(SessionEndedPayload{Role: m.Session.Role, Context: m.Session.Context})
	e.Reason = reason
	return []Event{e}
}

// Registered reports whether a process is one of a running session.
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

// Before reports whether p began before q, so that of several at the same instant one is the first:
// for processes of one world, in the order of their starts and then of their pids.
func (p Process) Before(q Process) bool {
	if !p.Comparable(q) {
		return false
	}
	return p.Start < q.Start || p.Start == q.Start && p.PID < q.PID
}

// toRole is how a message names the sessions with a role.
const toRole = "role:"

// NamesRole reports whether a recipient of a message is a role rather than a member.
func NamesRole(to AgentID) bool { return strings.HasPrefix(string(to), toRole) }

// withRole lists the members whose running session has the role that a recipient names; ok is false
// when it names no role.
func (r Room) withRole(to, but AgentID) (agents []AgentID, ok bool, err error) {
	name, ok := strings.CutPrefix(string(to), toRole)
	if !ok {
		return nil, false, nil
	}
	role := Role(name)
	if role != RolePrimary && role != RoleHelper {
		return nil, true, badMessage("to", "a role is %s or %s, not %q", RolePrimary, RoleHelper, clip(name, 40))
	}
	for _, m := range r.Members {
		if m.State == Joined && m.Session.Running && m.Session.Role == role && m.Agent != but {
			agents = append(agents, m.Agent)
		}
	}
	return agents, true, nil
}
