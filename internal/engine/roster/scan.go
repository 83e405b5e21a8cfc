package roster

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// GetRosterParams asks which agents are working here.
type GetRosterParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	All bool `json:"all,omitempty"` // also agents elsewhere on this machine, and inactive members; neither count
}

// GetRosterResult says whether the caller is alone, and who else is there.
type GetRosterResult struct {
	RoomID     stick.RoomID  `json:"room_id,omitempty"` // empty where there is no room
	Path       string        `json:"workspace_root"`
	Alone      *bool         `json:"alone"`           // null where nobody can know that from here
	Blind      bool          `json:"blind,omitempty"` // processes are not visible from here: only members are known
	Note       stick.Words   `json:"note,omitempty"`  // why nobody can know who else works here
	Others     []RosterAgent `json:"others"`
	Self       RosterAgent   `json:"self"`
	Unreadable []RosterAgent `json:"unreadable,omitempty"`       // agents whose working directory can't be read
	Closed     int           `json:"closed_processes,omitempty"` // how many processes hide even their name
	More       []RosterAgent `json:"more,omitempty"`             // with all: agents and members that don't count
}

// RosterAgent is an agent: a process that the scan found, a member of the room, or both.
type RosterAgent struct {
	PID        int           `json:"pid,omitempty"` // absent if no process of the member is visible
	Harness    string        `json:"harness,omitempty"`
	AgentID    stick.AgentID `json:"agent_id,omitempty"` // absent for an agent that isn't known here
	Name       string        `json:"name,omitempty"`     // what people call it, where that isn't its id
	Cwd        string        `json:"cwd,omitempty"`      // the working directory of its process, if that is visible
	Role       stick.Role    `json:"role,omitempty"`     // of its running session
	Task       string        `json:"task_id,omitempty"`  // the task that it works on
	Verdict    stick.Verdict `json:"verdict"`
	Registered bool          `json:"registered"` // it is a member
	LastSeenAt stick.Time    `json:"last_seen_at"`
}

// scanResult is what a scan found: the agents in a workspace, and those elsewhere.
type scanResult struct {
	harness.Roster
	elsewhere []harness.Running
}

// scanAgents finds the agents that work in a workspace, and with all those elsewhere, too. It is called
// outside of transactions. If the scan fails, the result is blind.
func (ro *Roster) scanAgents(by core.Caller, place *workspace.Place, all bool) scanResult {
	inside := ro.insideFilter(place)
	asked := inside
	if all {
		asked = func(string) bool { return true }
	}

	mine := by.Process

	// To a person, agents that the person's shell started are others.
	if by.Person {
		mine = stick.Process{}
	}

	found, err := harness.Scan(ro.core.Config.Procs, asked, ro.ownPID(), mine)
	if err != nil {
		found = harness.Roster{Blind: true}
	}

	out := scanResult{Roster: found}
	out.Agents = nil
	for _, a := range found.Agents {
		if inside(a.Dir) {
			out.Agents = append(out.Agents, a)
		} else {
			out.elsewhere = append(out.elsewhere, a)
		}
	}

	return out
}

// insideFilter returns a function that reports whether a process with this working directory works in the
// workspace of a place.
func (ro *Roster) insideFilter(place *workspace.Place) func(dir string) bool {
	root, tops := place.Root, place.Worktrees()
	if ro.isUnmarked(place) {
		return func(dir string) bool { return dir == root }
	}

	return func(dir string) bool {
		return workspace.IsWithin(dir, root) ||
			slices.ContainsFunc(tops, func(top string) bool { return workspace.IsWithin(dir, top) })
	}
}

// isUnmarked reports whether a place is a workspace on its own only: a directory without a marker, or the
// home directory, whose marker doesn't count for the directories below. Agents below such a place work
// elsewhere.
func (ro *Roster) isUnmarked(p *workspace.Place) bool {
	switch p.Found {
	case workspace.FoundPath:
		return true
	case workspace.FoundMarker:
		home, err := filepath.EvalSymlinks(ro.core.Config.Workspace.Home)
		return err == nil && home == p.Root
	}

	return false
}

// ownPID returns the pid of this process.
func (ro *Roster) ownPID() int {
	if p, err := ro.core.Config.Procs.Self(); err == nil {
		return p.PID
	}

	return os.Getpid()
}

// scannedAgent is an agent of a scan, and the member that it is.
type scannedAgent struct {
	harness.Running
	member stick.AgentID // empty if it isn't known to be a member
	mine   bool          // it is the caller itself
}

// matchMembers finds out which member each agent of a scan is. Most are known by their process.
//
// A member whose sessions run in a daemon shows up as one of its harness's terminals. matchMembers gives such
// a member a terminal of this harness that nobody else has, and the caller the youngest of them. A member
// whose own process the scan found needs no terminal: it is that process.
func matchMembers(r stick.Room, s scanResult, by core.Caller, me stick.AgentID, probed *stick.Probed) []scannedAgent {
	out := make([]scannedAgent, len(s.Agents))
	for i, a := range s.Agents {
		out[i] = scannedAgent{Running: a, member: carriedBy(r, a.Process)}
	}

	findTerminal := func(name string, from, step int) int {
		for i := from; i >= 0 && i < len(out); i += step {
			if out[i].Harness == name && out[i].DaemonTerminal && out[i].member == "" && !out[i].mine {
				return i
			}
		}
		return -1
	}

	// The caller's terminal is the youngest one.
	if by.OnDaemon {
		if i := findTerminal(by.Harness, len(out)-1, -1); i >= 0 {
			out[i].mine, out[i].member = true, me
		}
	}

	for _, m := range r.Members {
		isInTerminal := m.State == stick.Joined && m.Agent != me && m.Session.Running && isCarried(m)
		if !isInTerminal || s.hasProcessOf(m, by) || m.Verdict(probed) == stick.Gone {
			continue
		}

		name, _, _ := strings.Cut(string(m.Agent), ":")
		if i := findTerminal(name, 0, 1); i >= 0 {
			out[i].member = m.Agent
		}
	}

	return out
}

// hasProcessOf reports whether a process of a member is an agent on its own and no daemon: the scan found it,
// or it is the caller's.
func (s scanResult) hasProcessOf(m stick.Member, by core.Caller) bool {
	return slices.ContainsFunc(m.Processes, func(e stick.Evidence) bool {
		is := func(a harness.Running) bool { return a.Process == e.Process }
		return slices.ContainsFunc(s.Agents, is) || slices.ContainsFunc(s.elsewhere, is) ||
			e.Process == by.Process && !by.OnDaemon
	})
}

// isCarried reports whether a member is known only by processes that outlive sessions.
func isCarried(m stick.Member) bool {
	return len(m.Processes) > 0 && !slices.ContainsFunc(m.Processes, func(e stick.Evidence) bool {
		return e.Proof != stick.ProvesCarrier
	})
}

// carriedBy returns the member that p belongs to, or empty for none. If there are several, it returns one
// whose session is running.
func carriedBy(r stick.Room, p stick.Process) (by stick.AgentID) {
	for _, m := range r.Members {
		if m.State == stick.Joined && hasProcess(m, p) && (by == "" || m.Session.Running) {
			by = m.Agent
		}
	}
	return by
}

// hasProcess reports whether p is a process of a member.
func hasProcess(m stick.Member, p stick.Process) bool {
	return slices.ContainsFunc(m.Processes, func(e stick.Evidence) bool { return e.Process == p })
}

// GetRoster returns the other agents in a workspace: running processes of harnesses, and members of its room.
// The caller's ancestors don't count, and neither does what the caller started. It writes nothing, and needs
// no room. It fails with [stick.CodeInvalidPath].
func (ro *Roster) GetRoster(ctx context.Context, p GetRosterParams) (GetRosterResult, error) {
	var res GetRosterResult
	place, err := ro.core.PlaceOf(ctx, p.Where)
	if err != nil {
		return res, err
	}

	around := ro.scanAgents(p.Caller, place, p.All)
	withoutRoom := func(me stick.AgentID) {
		res = ro.buildRoster(stick.Room{Path: place.Root}, around, p, me, core.NewProbed(), stick.At(ro.core.Now()))
		res.Alone = aloneOutside(place, around, res.Others)
		if lost := place.CheckRepository(); lost != nil {
			res.Note = stick.AsError(lost).Words()
		}
	}

	db, err := ro.core.Open(ctx, false)
	if err == store.ErrAbsent {
		withoutRoom(ro.core.IdentifyUnrecorded(p.Caller).Agent)
		return res, nil
	}
	if err != nil {
		return res, err
	}

	return res, ro.core.View(ctx, db, p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		me, err := core.Identify(tx, probes, p.Caller)
		if err != nil {
			return err
		}

		r, ok, err := tx.RoomAt(place.Chain)
		if err != nil {
			return err
		}
		if !ok {
			withoutRoom(me.Agent)
			return nil
		}

		r = r.AtGeneration(tx.Generation(), tx.Now())
		res = ro.buildRoster(r, around, p, me.Agent, probes.Probed, tx.Now())
		if err := res.addAgentTasks(tx); err != nil {
			return err
		}

		return probes.RequireComplete(r)
	})
}

// buildRoster makes the list of agents from a scan and from the members of a room.
func (ro *Roster) buildRoster(
	r stick.Room, around scanResult, p GetRosterParams, me stick.AgentID, s *stick.Probed, now stick.Time,
) GetRosterResult {
	by := p.Caller
	res := GetRosterResult{
		RoomID: r.ID, Path: r.Path, Blind: around.Blind, Closed: around.Closed, Others: []RosterAgent{},
	}
	res.Self = RosterAgent{
		Harness: by.Harness, AgentID: me, PID: by.Process.PID,
		Cwd: ro.core.Config.Workspace.Dir, Verdict: stick.Alive,
	}
	if m, ok := r.Member(me); ok {
		res.Self = rosterMember(r, m, s)
		res.Self.Harness, res.Self.PID, res.Self.Verdict = by.Harness, by.Process.PID, stick.Alive
		res.Self.Cwd = ro.core.Config.Workspace.Dir
	}

	listed := map[stick.AgentID]bool{me: true}
	for _, f := range matchMembers(r, around, by, me, s) {
		if f.mine || f.member == me && me != "" {
			continue
		}

		res.Others = append(res.Others, rosterProcess(r, f.Running, f.member, s))

		// The members that the process carried before are the same agent, too.
		for _, m := range r.Members {
			if m.Agent == f.member || hasProcess(m, f.Process) {
				listed[m.Agent] = true
			}
		}
	}

	for _, m := range r.Members {
		if listed[m.Agent] || m.Agent.Human() || isRelated(m, around.Related) {
			continue
		}

		v := rosterMember(r, m, s)
		switch {
		case r.Active(m.Agent, now, s):
			res.Others = append(res.Others, v)
		case p.All && m.State == stick.Joined:
			res.More = append(res.More, v)
		}
	}
	for _, h := range around.Hidden {
		res.Unreadable = append(res.Unreadable, rosterProcess(r, h, "", s))
	}
	for _, a := range around.elsewhere {
		res.More = append(res.More, rosterProcess(r, a, carriedBy(r, a.Process), s))
	}

	res.Alone = new(len(res.Others) == 0)
	return res
}

// aloneOutside reports whether nobody else works at a place without a room, where only the scan can tell. It
// returns nil if the scan saw nobody and can't see all who work there: it was blind, or they are at the
// repository, which can't be found from here.
func aloneOutside(place *workspace.Place, around scanResult, others []RosterAgent) *bool {
	if len(others) == 0 && (around.Blind || place.CheckRepository() != nil) {
		return nil
	}
	return new(len(others) == 0)
}

// addAgentTasks adds the task that each agent works on.
func (res *GetRosterResult) addAgentTasks(tx *store.Tx) error {
	all, err := tx.Tasks(res.RoomID)
	if err != nil {
		return err
	}

	of := map[stick.AgentID]string{}
	for _, t := range all {
		if t.Busy() {
			of[t.Worker] = t.ID
		}
	}

	res.Self.Task = of[res.Self.AgentID]
	for _, list := range [][]RosterAgent{res.Others, res.More} {
		for i := range list {
			list[i].Task = of[list[i].AgentID]
		}
	}

	return nil
}

// isRelated reports whether a process of m is among processes: those above the caller, and those it started.
func isRelated(m stick.Member, processes []stick.Process) bool {
	return slices.ContainsFunc(m.Processes, func(e stick.Evidence) bool {
		return e.Proof == stick.ProvesSession && slices.Contains(processes, e.Process)
	})
}

func rosterProcess(r stick.Room, a harness.Running, member stick.AgentID, s *stick.Probed) RosterAgent {
	v := RosterAgent{}
	if m, ok := r.Member(member); ok && member != "" {
		v = rosterMember(r, m, s)
	}

	v.PID, v.Harness, v.Cwd, v.Verdict = a.Process.PID, a.Harness, a.Dir, stick.Alive
	return v
}

func rosterMember(r stick.Room, m stick.Member, s *stick.Probed) RosterAgent {
	name, _, _ := strings.Cut(string(m.Agent), ":")
	if _, known := harness.ByName(name); !known && name != harness.Human {
		// The agent has a name of its own, such as alice.
		name = ""
	}

	v := RosterAgent{
		Harness: name, AgentID: m.Agent, Name: m.Name, Verdict: m.Verdict(s),
		Registered: m.State == stick.Joined, LastSeenAt: r.SeenAt(m),
	}
	if m.State == stick.Joined && m.Session.Running {
		v.Role = m.Session.Role
	}

	for _, e := range m.Processes {
		if e.Proof == stick.ProvesSession && s.Processes[e.Process] == stick.Alive {
			v.PID = e.Process.PID
		}
	}

	return v
}
