package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/glob"
)

// StartSessionParams is a session of an agent that starts.
type StartSessionParams struct {
	HookParams
	Auto     bool   // a hook says so, and not the agent: it keeps silent where the agent would be refused
	Source   string // why it starts, in the harness's words: startup, resume, clear, compact
	Helper   bool   // it is told to be a helper, now
	Launched bool   // it was started as a helper, as its environment says for as long as it lives
	Context  string // the name that it was given for its context file
}

// StartSessionResult is what an agent should know when its session starts. Where it is alone and
// there is no room, it has no room_id, and nothing was written.
type StartSessionResult struct {
	RoomID      stick.RoomID    `json:"room_id,omitempty"`
	Path        string          `json:"canonical_path,omitempty"`
	AgentID     stick.AgentID   `json:"agent_id,omitempty"`
	Alone       bool            `json:"alone"`
	Blind       bool            `json:"blind,omitempty"`
	Role        stick.Role      `json:"role,omitempty"`
	Start       stick.StartKind `json:"verdict,omitempty"` // how the session begins
	Already     bool            `json:"already,omitempty"` // it had started before
	Context     string          `json:"context_path,omitempty"`
	Primary     *stick.AgentID  `json:"primary,omitempty"` // another agent
	Recovered   *Recovered      `json:"recovered,omitempty"`
	Contract    *RoleContract   `json:"contract,omitempty"`
	Others      []RosterAgent   `json:"others"`
	RoomState   stick.RoomState `json:"room_state,omitempty"`
	Holder      string          `json:"holder,omitempty"` // who has the stick, in words
	YourTurn    bool            `json:"your_turn"`
	ReservedFor *stick.AgentID  `json:"reserved_for,omitempty"`
	Unread      int             `json:"unread"`
	Unacked     int             `json:"unacked"`
	Notes       int             `json:"unresolved_notes"`
	Joined      bool            `json:"joined,omitempty"`  // by this
	Created     bool            `json:"created,omitempty"` // the room was made
	Note        string          `json:"note,omitempty"`
	Task        string          `json:"task_id,omitempty"` // whose worktree this is

	// Instructions are the project's own, from .talking-stick/instructions.md.
	Instructions string `json:"instructions,omitempty"`
}

// Recovered is what the session before left that never ended.
type Recovered struct {
	AgentID   stick.AgentID  `json:"agent_id,omitempty"` // whose it was, if that is known
	Path      string         `json:"context_path"`
	WrittenAt stick.Time     `json:"written_at"`        // null where the log is of an earlier version
	Handoff   *stick.Handoff `json:"handoff,omitempty"` // the room's last one
	EventSeq  int64          `json:"handoff_event_seq,omitempty"`
}

// RoleContract is what a role may do with the files of the workspace. Everything may be read.
type RoleContract struct {
	Append      []glob.Pattern `json:"append"`       // add to them, and rewrite nothing
	PrimaryOnly []glob.Pattern `json:"primary_only"` // the primary's
}

// project is what the project of a room sets, and where the room's sessions keep their context.
type project struct {
	config.Config
	anchor anchor
}

// project reads what is set for a room: in its own directory, else at the root of its workspace. Where
// that can't be read it is the default, with [stick.CodeProjectConfig].
func (e *Engine) project(room string) (project, error) {
	from := room
	if _, err := os.Lstat(filepath.Join(room, config.FileName)); err != nil {
		if place, err := workspace.Resolve(room, e.core.Config.Workspace); err == nil {
			from = place.Root
		}
	}
	c, err := config.Read(from)
	return project{c, anchorOf(room, c)}, err
}

// contract is the contract of the room's roles. By default only the primary's own file, and the
// configuration that says so, are the primary's.
func (p project) contract() *RoleContract {
	out := &RoleContract{Append: []glob.Pattern{}, PrimaryOnly: p.Roles.PrimaryOnly}
	out.Append = append(out.Append, p.Roles.Append...)
	if out.PrimaryOnly == nil {
		for _, path := range []string{p.anchor.file, config.FileName} {
			if p, err := stick.ParsePattern(glob.Quote(path)); err == nil {
				out.PrimaryOnly = append(out.PrimaryOnly, p)
			}
		}
	}
	return out
}

// maxInstructions bounds the project's own instructions: every session pays for them.
const maxInstructions = 4096

// sessionStart is a session start as it runs.
type sessionStart struct {
	e *Engine
	p StartSessionParams
	project
	around scanResult
	taken  []string   // names of context files that exist
	left   bool       // the primary's exists,
	leftAt stick.Time // written then
	root   string     // of the workspace, around which a nested room lies
	goes   bool       // the harness says that the session goes on
	elder  *scanned   // an agent that has started no session here and began before this one
	out    stick.Started
	res    StartSessionResult
	at     stick.Time
	seed   string
}

// StartSession begins the session of an agent, or says that it goes on: it looks who else is there,
// joins the room, and gives the session its role, all in one transaction. Outside of rooms it only
// looks: alone it writes nothing, else it makes the room. It fails with [stick.CodeUsage],
// [stick.CodeProjectConfig], [stick.CodeRoomClosed] and [stick.CodeKicked].
func (e *Engine) StartSession(ctx context.Context, p StartSessionParams) (StartSessionResult, error) {
	silent := StartSessionResult{Others: []RosterAgent{}}
	place, err := e.core.Place(p.Where)
	if err != nil {
		return silent, err
	}
	if place == nil {
		return silent, stick.Errorf(stick.CodeUsage, "a session starts at a path, not in a room by its id").With("field", "room_id")
	}
	if err := requireAgent(p.Caller); err != nil {
		return silent, err
	}
	s := &sessionStart{e: e, p: p, root: place.Root, seed: store.NewID()}
	room, err := e.roomAt(ctx, place)
	if err != nil {
		return silent, err
	}
	path := room
	if room == "" {
		path = place.Root
	}
	s.goes = slices.Contains([]string{"resume", "clear", "compact"}, p.Source)
	var wrong error
	if s.project, wrong = e.project(path); p.Auto && !s.Session.Auto {
		return silent, nil
	}
	s.around = e.scan(p.Caller, place, false)
	if room == "" && !p.Helper && !p.Launched && (p.Auto || wrong == nil) && !s.hasOthers() {
		silent.Alone, silent.Blind = true, s.around.Blind
		return silent, nil
	}
	if wrong != nil { // to a hook it doesn't matter where there is nothing to coordinate
		return silent, wrong
	}
	s.taken = s.anchor.taken()
	s.leftAt, s.left = s.anchor.written()
	who := core.JoinsIfNew
	if p.Auto && p.Source == "compact" { // the agent that left is the same one still
		who = core.JoinsUnlessLeft
	}
	err = e.write(ctx, p.Where, p.Caller, who, s.run, s.done)
	if p.Auto && slices.Contains([]stick.Code{stick.CodeKicked, stick.CodeRoomClosed, stick.CodeUnknownMember}, stick.CodeOf(err)) {
		return silent, nil
	}
	if err != nil {
		return silent, err
	}
	s.after()
	if f, ok := core.ReadTaskFile(place.Worktree); ok {
		s.res.Task = f.TaskID
	}
	return s.res, nil
}

// requireAgent refuses a person, who has no session, with [stick.CodeUsage].
func requireAgent(by core.Caller) error {
	if !by.Person || by.As != "" {
		return nil
	}
	return stick.Errorf(stick.CodeUsage, "a session is an agent's, and you are %s", core.HumanID(by)).
		Hintf("run it inside of a harness, or give the agent's name: --as <agent>")
}

// hasOthers tells whether other agents are at work where there is no room.
func (s *sessionStart) hasOthers() bool {
	return slices.ContainsFunc(match(stick.Room{}, s.around, s.p.Caller, "", core.NewProbed()), func(f scanned) bool { return !f.mine })
}

// roomAt is the path of the room of a place; empty when there is none.
func (e *Engine) roomAt(ctx context.Context, place *workspace.Place) (path string, err error) {
	db, err := e.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return path, db.View(ctx, func(tx *store.Tx) error {
		r, _, err := tx.RoomAt(place.Chain)
		path = r.Path
		return err
	})
}

// run gives the session its role, inside of the transaction.
func (s *sessionStart) run(o *op) error {
	o.Settle()
	by := s.p.Caller
	was, _ := o.Before.Member(o.Me.Agent)
	q := stick.Starting{
		By: o.Me.Agent, Helper: s.p.Helper, Launched: s.p.Launched, Context: s.p.Context, Seed: s.seed, Taken: s.taken, Anchor: s.left, AnchorAt: s.leftAt,
		Continues: s.goes,
		Same:      by.Process.IsZero() || len(was.Processes) == 0 || slices.ContainsFunc(was.Processes, func(e stick.Evidence) bool { return e.Process == by.Process }),
	}
	var err error
	// A session that is told ends what its process carried before, where a process carries one at a time
	// and says by that what became of it.
	if told := by.SessionID != "" && !by.Earlier && by.As == ""; told && !s.p.Sub && by.Proof == stick.ProvesSession {
		if q.Before, err = o.Tx.CarriedBefore(by.Process, o.Me.Agent); err != nil {
			return err
		}
	}
	s.elder = s.earlier(o)
	q.Earlier = s.elder != nil
	r, events, out := o.Room.StartSession(q, o.Probes.Probed, o.Tx.Now())
	o.Apply(r, events)
	s.out, s.at = out, o.Tx.Now()
	for _, m := range r.Members { // so that all of them are probed: the answer lists those that aren't gone
		if m.State == stick.Joined {
			m.Verdict(o.Probes.Probed)
		}
	}
	if !s.p.Auto {
		return nil
	}
	if err := o.Tx.RecordHook(o.Me.Session.Key, 0); err != nil {
		return err
	}
	if !by.Process.IsZero() && !by.Person && o.Me.Session.Key != "" {
		// The latest to be seen is the one that the process carries now.
		return o.Tx.PutProcess(o.Me.Agent, o.Me.Session.Key, stick.Evidence{Process: by.Process, Proof: by.Proof})
	}
	return nil
}

// earlier finds an agent without a session here that began before this one, and can still come: one that
// works around a nested room has its sessions in the room there.
func (s *sessionStart) earlier(o *op) *scanned {
	agents := match(o.Room, s.around, s.p.Caller, o.Me.Agent, o.Probes.Probed)
	mine := s.p.Caller.Process
	for _, f := range agents {
		if f.mine {
			mine = f.Process
		}
	}
	i := slices.IndexFunc(agents, func(f scanned) bool {
		comes := o.Room.Path == s.root || workspace.Within(f.Dir, o.Room.Path)
		return comes && !f.mine && f.member != o.Me.Agent && !isRegistered(o.Room, f) && f.Process.Before(mine)
	})
	if i < 0 {
		return nil
	}
	return &agents[i]
}

// isRegistered tells whether an agent of a scan has started a session here, also one that it has ended since:
// then it won't come and lead.
func isRegistered(r stick.Room, f scanned) bool {
	return slices.ContainsFunc(r.Members, func(m stick.Member) bool {
		return m.Session.Role != "" && (m.Agent == f.member ||
			slices.ContainsFunc(m.Processes, func(e stick.Evidence) bool { return e.Process == f.Process }))
	})
}

// done says what came of it.
func (s *sessionStart) done(o *op) error {
	now := o.Tx.Now()
	s.res = StartSessionResult{
		RoomID: o.Room.ID, Path: o.Room.Path, AgentID: o.Me.Agent, Role: s.out.Role, Start: s.out.Kind, Already: s.out.Already,
		Context: s.anchor.path(s.out.Context), Contract: s.contract(), RoomState: o.Room.State(o.Probes.Probed, now),
		Holder: o.Room.Holder(now), Joined: o.Joined, Created: o.Created, Note: o.Me.Note,
		YourTurn: o.Room.Turn.State == stick.Owned && o.Room.Turn.Owner == o.Me.Agent,
	}
	if s.out.Primary != "" {
		s.res.Primary = &s.out.Primary
	}
	if o.Room.Turn.State == stick.Reserved {
		s.res.ReservedFor = &o.Room.Turn.ReservedFor
	}
	roster := s.e.roster(o.Room, s.around, GetRosterParams{Caller: s.p.Caller}, o.Me.Agent, o.Probes.Probed, now)
	s.res.Others, s.res.Alone, s.res.Blind = roster.Others, roster.Alone, roster.Blind
	var err error
	if !s.goes || !s.out.Already { // what it was told at first; a session that goes on has read it
		var how stick.StartKind
		if how, s.res.Recovered, err = startOf(o.Tx, o.Room, o.Me.Agent); err != nil {
			return err
		}
		s.res.Start = how
		s.res.Recovered.in(s.anchor)
	}
	if s.res.Unread, s.res.Unacked, err = o.Tx.CountOpen(o.Room.ID, o.Me.Agent); err != nil {
		return err
	}
	s.res.Notes, err = o.Tx.CountNotes(openNotes(o.Room))
	return err
}

// noPrimaryNote says to a helper who is going to be the primary where none is known. A member starts its session
// by itself; another agent is told to by its next hook.
func (s *sessionStart) noPrimaryNote() string {
	const promote = "if you are the only one: tt session promote"
	switch f := s.elder; {
	case f == nil:
		return promote
	case f.member != "":
		return fmt.Sprintf("%s was here before you, and becomes the primary when it starts its session; %s", f.member, promote)
	default:
		return fmt.Sprintf("%s (pid %d) was here before you, and becomes the primary at its next prompt; should it end before that, and %s", f.Harness, f.Process.PID, promote)
	}
}

// startOf tells from the log how a member's running session began, and what of an earlier one it is to
// recover: as often as it is asked, because an answer may have been lost.
func startOf(tx *store.Tx, r stick.Room, a stick.AgentID) (stick.StartKind, *Recovered, error) {
	started, _, err := tx.Events(store.EventQuery{Room: r.ID, From: a, Types: []stick.EventType{stick.EventSessionStarted}, Limit: 1, Newest: true})
	if err != nil || len(started) == 0 {
		return "", nil, err
	}
	f, _ := stick.PayloadOf[stick.SessionStartedPayload](started[0])
	if f.Start != stick.StartRecover {
		return f.Start, nil, nil
	}
	left := &Recovered{AgentID: f.Prior, WrittenAt: f.Written}
	if seq := r.Turn.HandoffSeq; seq != 0 {
		last, err := tx.Event(r.ID, seq)
		if err != nil {
			return "", nil, err
		}
		left.Handoff, left.EventSeq = last.Handoff, seq
	}
	return f.Start, left, nil
}

// in says where the files of the room's sessions lie.
func (r *Recovered) in(a anchor) {
	if r != nil {
		r.Path = a.path("")
	}
}

// after makes the session's context file, and reads what the project adds.
func (s *sessionStart) after() {
	if !s.out.Already || !s.anchor.has(s.out.Context) { // who started it may have died before it made the file
		if err := s.anchor.begin(s.out.Context, s.res.AgentID, s.at); err != nil {
			s.res.Note = joinNotes(s.res.Note, "the context file can't be made: "+stick.Clip(err.Error(), 160))
		}
	}
	if s.out.Role == stick.RoleHelper && s.out.Primary == "" {
		s.res.Note = joinNotes(s.res.Note, s.noPrimaryNote())
	}
	s.res.Instructions = instructions(s.res.Path)
}

// instructions are the project's own, unless they aren't fit to be shown.
func instructions(room string) string {
	const name = ownDir + "/instructions.md"
	b, err := config.ReadFile(room, name, maxInstructions)
	switch {
	case errors.Is(err, config.ErrTooLong):
		return fmt.Sprintf("(%s is left out: at most %d bytes fit.)", name, maxInstructions)
	case errors.Is(err, config.ErrNotPlain):
		return fmt.Sprintf("(%s is left out: it is no plain file of the workspace.)", name)
	case err != nil:
		return ""
	}
	return strings.TrimSpace(string(b))
}
