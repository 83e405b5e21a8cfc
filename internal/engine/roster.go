package engine

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

// GetRosterParams asks which agents are at work.
type GetRosterParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	All bool `json:"all,omitempty"` // also what doesn't count: agents elsewhere on this machine, members that aren't active
}

// GetRosterResult says whether the caller is alone, and who else is there.
type GetRosterResult struct {
	RoomID     stick.RoomID  `json:"room_id,omitempty"` // empty where there is no room
	Path       string        `json:"workspace_root"`
	Alone      bool          `json:"alone"`
	Blind      bool          `json:"blind,omitempty"` // processes can't be seen from here: only members are known
	Others     []RosterAgent `json:"others"`
	Self       RosterAgent   `json:"self"`
	Unreadable []RosterAgent `json:"unreadable,omitempty"`       // agents of which it can't be told where they work
	Closed     int           `json:"closed_processes,omitempty"` // of how many processes not even the name may be read
	More       []RosterAgent `json:"more,omitempty"`             // with all: what doesn't count
}

// RosterAgent is an agent at work: a process that was found, a member, or both.
type RosterAgent struct {
	PID        int           `json:"pid,omitempty"` // absent for a member whose process can't be seen
	Harness    string        `json:"harness,omitempty"`
	AgentID    stick.AgentID `json:"agent_id,omitempty"` // absent for an agent that nobody has heard of
	Cwd        string        `json:"cwd,omitempty"`      // where its process works, if that can be seen
	Role       stick.Role    `json:"role,omitempty"`     // of its running session
	Task       string        `json:"task_id,omitempty"`  // on which it works
	Verdict    stick.Verdict `json:"verdict"`
	Registered bool          `json:"registered"` // it is a member
	LastSeenAt stick.Time    `json:"last_seen_at"`
}

// scanResult are the agents around a caller, as a scan found them.
type scanResult struct {
	harness.Roster
	elsewhere []harness.Running
}

// scan looks for agents at work in a workspace; with all, elsewhere too. It is done outside of
// transactions. A scan that fails is blind.
func (e *Engine) scan(by core.Caller, place *workspace.Place, all bool) scanResult {
	inside := e.inside(place)
	asked := inside
	if all {
		asked = func(string) bool { return true }
	}
	mine := by.Process
	if by.Person { // what a person's shell started are the agents that the person asks about
		mine = stick.Process{}
	}
	found, err := harness.Scan(e.core.Config.Procs, asked, e.self(), mine)
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

// inside is the question whether who works in a directory works in the workspace of a place.
func (e *Engine) inside(place *workspace.Place) func(dir string) bool {
	root, tops := place.Root, workspace.Worktrees(place.Root)
	if e.isUnmarked(place) {
		return func(dir string) bool { return dir == root }
	}
	return func(dir string) bool {
		return workspace.Within(dir, root) || slices.ContainsFunc(tops, func(top string) bool { return workspace.Within(dir, top) })
	}
}

// isUnmarked tells whether a place is a workspace only by itself: a directory that nothing marks, or the home
// directory, whose marker counts for nothing below it. Who works below works in another workspace.
func (e *Engine) isUnmarked(p *workspace.Place) bool {
	switch p.Found {
	case workspace.FoundPath:
		return true
	case workspace.FoundMarker:
		home, err := filepath.EvalSymlinks(e.core.Config.Workspace.Home)
		return err == nil && home == p.Root
	}
	return false
}

// self is the pid of the calling process.
func (e *Engine) self() int {
	if p, err := e.core.Config.Procs.Self(); err == nil {
		return p.PID
	}
	return os.Getpid()
}

// scanned is an agent of a scan, with what the room knows of it.
type scanned struct {
	harness.Running
	member stick.AgentID // empty for one that isn't a member
	mine   bool          // it is the caller's own
}

// match finds out which members the agents of a scan are: by their processes and, where a member is
// carried by a daemon that terminals come to, by elimination. What it is seen in is then one of its
// harness's terminals that nobody else is; the caller's own is the youngest. Of an agent whose own
// process carries sessions nothing is left to find: it is that process.
func match(r stick.Room, s scanResult, by core.Caller, me stick.AgentID, probed *stick.Probed) []scanned {
	out := make([]scanned, len(s.Agents))
	for i, a := range s.Agents {
		out[i] = scanned{Running: a, member: carriedBy(r, a.Process)}
	}
	free := func(name string, from, step int) int {
		for i := from; i >= 0 && i < len(out); i += step {
			if out[i].Harness == name && out[i].DaemonTerminal && out[i].member == "" && !out[i].mine {
				return i
			}
		}
		return -1
	}
	if by.OnDaemon {
		if i := free(by.Harness, len(out)-1, -1); i >= 0 {
			out[i].mine, out[i].member = true, me
		}
	}
	for _, m := range r.Members {
		if m.State != stick.Joined || m.Agent == me || !m.Session.Running || !carried(m) || s.has(m, by) || m.Verdict(probed) == stick.Gone {
			continue
		}
		name, _, _ := strings.Cut(string(m.Agent), ":")
		if i := free(name, 0, 1); i >= 0 {
			out[i].member = m.Agent
		}
	}
	return out
}

// has tells whether a process of a member is known to be no daemon that terminals come to: it is an agent that
// the scan found, or the caller's own.
func (s scanResult) has(m stick.Member, by core.Caller) bool {
	return slices.ContainsFunc(m.Processes, func(e stick.Evidence) bool {
		is := func(a harness.Running) bool { return a.Process == e.Process }
		return slices.ContainsFunc(s.Agents, is) || slices.ContainsFunc(s.elsewhere, is) || e.Process == by.Process && !by.OnDaemon
	})
}

// carried tells whether all that is known of a member are processes that outlive sessions.
func carried(m stick.Member) bool {
	return len(m.Processes) > 0 && !slices.ContainsFunc(m.Processes, func(e stick.Evidence) bool { return e.Proof != stick.ProvesCarrier })
}

// carriedBy is the member whose process p is, empty for nobody's: of several the one whose session runs.
func carriedBy(r stick.Room, p stick.Process) (by stick.AgentID) {
	for _, m := range r.Members {
		if m.State == stick.Joined && carries(m, p) && (by == "" || m.Session.Running) {
			by = m.Agent
		}
	}
	return by
}

// carries tells whether p is a process of a member.
func carries(m stick.Member, p stick.Process) bool {
	return slices.ContainsFunc(m.Processes, func(e stick.Evidence) bool { return e.Process == p })
}

// GetRoster tells which other agents are at work in a workspace: running processes of harnesses, and
// members of its room. Neither the caller's ancestors nor what it started count. It writes nothing, and
// it needs no room. It fails with [stick.CodeInvalidPath].
func (e *Engine) GetRoster(ctx context.Context, p GetRosterParams) (GetRosterResult, error) {
	var res GetRosterResult
	w := p.Where
	if w.RoomID != "" {
		path, err := e.pathOf(ctx, w.RoomID)
		if err != nil {
			return res, err
		}
		w = core.Where{Path: path}
	}
	place, err := e.core.PlaceToRead(w)
	if err != nil {
		return res, err
	}
	around := e.scan(p.Caller, place, p.All)
	none := func(me stick.AgentID) {
		res = e.roster(stick.Room{Path: place.Root}, around, p, me, core.NewProbed(), stick.At(e.core.Now()))
	}
	db, err := e.core.Open(ctx, false)
	if err == store.ErrAbsent {
		none(core.IdentifyUnrecorded(p.Caller).Agent)
		return res, nil
	}
	if err != nil {
		return res, err
	}
	return res, e.core.View(ctx, db, p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		me, err := core.Identify(tx, probes, p.Caller)
		if err != nil {
			return err
		}
		r, ok, err := tx.RoomAt(place.Chain)
		if err != nil {
			return err
		}
		if !ok {
			none(me.Agent)
			return nil
		}
		r = r.AtGeneration(tx.Generation(), tx.Now())
		res = e.roster(r, around, p, me.Agent, probes.Probed, tx.Now())
		if err := res.tasks(tx); err != nil {
			return err
		}
		return probes.Enough(r)
	})
}

// roster makes of what was scanned and of what the room knows the list of agents.
func (e *Engine) roster(r stick.Room, around scanResult, p GetRosterParams, me stick.AgentID, s *stick.Probed, now stick.Time) GetRosterResult {
	by := p.Caller
	res := GetRosterResult{RoomID: r.ID, Path: r.Path, Blind: around.Blind, Closed: around.Closed, Others: []RosterAgent{}}
	res.Self = RosterAgent{Harness: by.Harness, AgentID: me, PID: by.Process.PID, Cwd: e.core.Config.Workspace.Dir, Verdict: stick.Alive}
	if m, ok := r.Member(me); ok {
		res.Self = rosterMember(m, s)
		res.Self.Harness, res.Self.PID, res.Self.Cwd, res.Self.Verdict = by.Harness, by.Process.PID, e.core.Config.Workspace.Dir, stick.Alive
	}
	listed := map[stick.AgentID]bool{me: true}
	for _, f := range match(r, around, by, me, s) {
		if f.mine || f.member == me && me != "" {
			continue
		}
		res.Others = append(res.Others, rosterProcess(r, f.Running, f.member, s))
		for _, m := range r.Members { // also those that the process carried before: it is one agent
			if m.Agent == f.member || carries(m, f.Process) {
				listed[m.Agent] = true
			}
		}
	}
	for _, m := range r.Members {
		if listed[m.Agent] || m.Agent.Human() || related(m, around.Related) {
			continue
		}
		v := rosterMember(m, s)
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
	res.Alone = len(res.Others) == 0
	return res
}

// tasks adds on what the agents work.
func (res *GetRosterResult) tasks(tx *store.Tx) error {
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

// related tells whether a member is above the caller, or was started by it.
func related(m stick.Member, processes []stick.Process) bool {
	return slices.ContainsFunc(m.Processes, func(e stick.Evidence) bool {
		return e.Proof == stick.ProvesSession && slices.Contains(processes, e.Process)
	})
}

func rosterProcess(r stick.Room, a harness.Running, member stick.AgentID, s *stick.Probed) RosterAgent {
	v := RosterAgent{}
	if m, ok := r.Member(member); ok && member != "" {
		v = rosterMember(m, s)
	}
	v.PID, v.Harness, v.Cwd, v.Verdict = a.Process.PID, a.Harness, a.Dir, stick.Alive
	return v
}

func rosterMember(m stick.Member, s *stick.Probed) RosterAgent {
	name, _, _ := strings.Cut(string(m.Agent), ":")
	v := RosterAgent{Harness: name, AgentID: m.Agent, Verdict: m.Verdict(s), Registered: m.State == stick.Joined, LastSeenAt: m.LastSeenAt}
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
