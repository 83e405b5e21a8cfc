package roster

import (
	"cmp"
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// StartSessionParams describes a session that starts.
type StartSessionParams struct {
	core.HookParams
	Auto     bool   // a hook calls, not the agent: return nothing where an agent would be refused
	Source   string // why it starts, in the harness's words: startup, resume, clear, compact
	Helper   bool   // this call asks for a helper
	Launched bool   // its environment says for its whole life that it is a helper
	Context  string // the wanted name of its context file
}

// StartSessionResult is what an agent should know when its session starts. If it is alone and there is no
// room, RoomID is empty, and nothing was written.
type StartSessionResult struct {
	RoomID  stick.RoomID    `json:"room_id,omitempty"`
	Path    string          `json:"canonical_path,omitempty"`
	AgentID stick.AgentID   `json:"agent_id,omitempty"`
	Alone   *bool           `json:"alone"` // null where nobody can know that from here
	Blind   bool            `json:"blind,omitempty"`
	Role    stick.Role      `json:"role,omitempty"`
	Start   stick.StartKind `json:"verdict,omitempty"` // how the session starts
	Already bool            `json:"already,omitempty"` // it had started before
	Context string          `json:"context_path,omitempty"`
	Primary *stick.AgentID  `json:"primary,omitempty"` // another agent
	// Parent is who started the caller and holds the stick: the caller works under its turn.
	Parent    *stick.AgentID `json:"parent,omitempty"`
	Recovered *Recovered     `json:"recovered,omitempty"`
	Abandoned *AbandonedTurn `json:"abandoned,omitempty"` // by the session before this one
	// Draft is of the handoff of a turn that ended without one, or of a holder from whom the stick can be
	// taken over.
	Draft       *stick.Draft      `json:"draft,omitempty"`
	Contract    *RoleContract     `json:"contract,omitempty"`
	Others      []RosterAgent     `json:"others"`
	RoomState   stick.RoomState   `json:"room_state,omitempty"`
	Holder      stick.Words       `json:"holder,omitempty"` // who has the stick, in words
	Paused      *stick.Pause      `json:"paused,omitempty"` // set while the room is paused
	Enforce     stick.Enforce     `json:"enforce,omitempty"`
	Apart       bool              `json:"apart,omitempty"`        // edits need the stick in the checkout of its holder only
	NoSnapshots bool              `json:"no_snapshots,omitempty"` // the policy switches copies of uncommitted work off
	YourTurn    bool              `json:"your_turn"`
	ReservedFor *stick.AgentID    `json:"reserved_for,omitempty"`
	Unread      int               `json:"unread"`
	Unacked     int               `json:"unacked"`
	Notes       int               `json:"unresolved_notes"`
	Changes     *ledger.NotedWork `json:"changes,omitempty"`
	Joined      bool              `json:"joined,omitempty"`      // by this call
	Created     bool              `json:"created,omitempty"`     // this call made the room
	OlderHooks  []stick.AgentID   `json:"older_hooks,omitempty"` // members whose hooks an older tt than this one answers
	Note        stick.Words       `json:"note,omitempty"`
	Task        string            `json:"task_id,omitempty"` // the task of this worktree
	// Worktree is the linked worktree in which the session works, if it isn't a task's: no change in it needs the
	// stick.
	Worktree string `json:"worktree,omitempty"`
	Answered bool   `json:"-"` // another hook has just told the agent all this

	// the project's own text, from .talking-stick/instructions.md
	Instructions string `json:"instructions,omitempty"`
}

// Recovered is what an earlier session left that never ended.
type Recovered struct {
	AgentID   stick.AgentID  `json:"agent_id,omitempty"` // its agent, if known
	Path      string         `json:"context_path"`
	WrittenAt stick.Time     `json:"written_at"`              // null if an earlier version of tt wrote the event
	Handoff   *stick.Handoff `json:"handoff,omitempty"`       // the room's last one
	From      stick.AgentID  `json:"from_agent_id,omitempty"` // who wrote it
	EventSeq  int64          `json:"handoff_event_seq,omitempty"`
}

// sessionStart is one run of [Roster.StartSession].
type sessionStart struct {
	roster *Roster
	p      StartSessionParams
	project
	scan            scanResult
	takenNames      []string      // names of helpers' context files that exist
	hasAnchorFile   bool          // the primary's context file exists
	anchorWrittenAt stick.Time    // when that was last written
	root            string        // of the workspace; a nested room lies below it
	taskTrees       []string      // the worktrees of tasks
	inTaskTree      bool          // the agent works in one of them
	continues       bool          // the harness says that the session goes on
	elder           *scannedAgent // an agent that began before this one and has started no session here yet
	started         presence.Started
	res             StartSessionResult
	earlierAgents   []stick.AgentID // the agents of the sessions before this one: its own, and those that its process carried
	startedAt       stick.Time      // when the session started
	answered        bool            // another hook has briefed the agent on this start
	seed            string          // for the name of a context file; the same in every run
	me              core.Identity   // the session's agent
}

// StartSession starts the session of an agent, or says that it goes on. It scans for other agents first. Then
// it joins the room and gives the session its role, in the same transaction. Where there is no room, it makes
// one only if other agents are there, or if the session is to be a helper. It fails with [stick.CodeUsage],
// [stick.CodeProjectConfig], [stick.CodeRoomClosed], [stick.CodeKicked] and, without a room,
// [stick.CodeRepositoryMissing].
func (ro *Roster) StartSession(ctx context.Context, p StartSessionParams) (StartSessionResult, error) {
	silent := StartSessionResult{Others: []RosterAgent{}}
	if p.RoomID == "" {
		// A session may make the room, and none is made where nothing is.
		if _, err := ro.core.Place(p.Where); err != nil {
			return silent, err
		}
	}

	place, err := ro.core.PlaceOf(ctx, p.Where)
	if err != nil {
		return silent, err
	}
	if err := requireAgent(p.Caller); err != nil {
		return silent, err
	}

	s := &sessionStart{roster: ro, p: p, root: place.Root, seed: store.NewID()}
	room, err := ro.core.RoomAt(ctx, place)
	if err != nil {
		return silent, err
	}

	path := room
	if room == "" {
		path = place.Root
	}

	s.continues = slices.Contains([]string{"resume", "clear", "compact"}, p.Source)
	var wrong error
	if s.project, wrong = ro.readProject(path); p.Auto && !s.Session.Auto {
		return silent, nil
	}

	if room == "" {
		if err := place.CheckRepository(); err != nil {
			return silent, err // the agents of that repository can't be seen from here
		}
	}

	s.scan = ro.scanAgents(p.Caller, place, false)
	s.taskTrees = taskWorktrees(place.Root)
	s.inTaskTree = s.inTask(cmp.Or(ro.workingDir(p.Caller), place.Path))

	// A hook makes no room for a whole home directory or disk.
	if room == "" && place.Broad && p.Auto {
		return silent, nil
	}
	if room == "" && !p.Helper && !p.Launched && (p.Auto || wrong == nil) && !s.hasOthers() {
		silent.Alone, silent.Blind = aloneOutside(place, s.scan, nil), s.scan.Blind
		return silent, nil
	}

	// This comes last: a hook in a place without agents needs no configuration.
	if wrong != nil {
		return silent, wrong
	}

	s.takenNames = s.anchor.takenNames()
	s.anchorWrittenAt, s.hasAnchorFile = s.anchor.lastWritten()

	err = ro.writeRoom(ctx, p.Where, p.Caller, p.joiningMode(), s.startInRoom, s.fillResult)
	if p.Auto && isExclusion(err) {
		return silent, nil
	}
	if err != nil {
		return silent, err
	}

	if p.Auto {
		ro.core.KeepInbox(p.HookParams, s.me)
	}
	s.finishStart()
	s.addFiles(ctx, place)

	return s.res, nil
}

// joiningMode says how the start of a session joins its room.
func (p StartSessionParams) joiningMode() core.Joining {
	// After a compaction the same agent goes on: if it left the room, it stays out.
	if p.Auto && p.Source == "compact" {
		return core.JoinsUnlessLeft
	}
	return core.JoinsIfNew
}

// isExclusion reports whether an error says that the caller may not be in the room.
func isExclusion(err error) bool {
	codes := []stick.Code{stick.CodeKicked, stick.CodeRoomClosed, stick.CodeUnknownMember}
	return slices.Contains(codes, stick.CodeOf(err))
}

// addFiles adds to the result what only files say: what is uncommitted after a turn that was given up, and
// the worktree with its task.
func (s *sessionStart) addFiles(ctx context.Context, place *workspace.Place) {
	if s.res.Abandoned != nil {
		s.res.Abandoned.Tree = s.roster.core.DescribeTree(ctx, place)
	}
	if f, ok := core.ReadTaskFile(place.Worktree); ok {
		s.res.Task = f.TaskID
	}
	s.res.Worktree = core.FreeWorktree(place)
}

// taskWorktrees returns the worktrees of a workspace that belong to tasks.
func taskWorktrees(root string) []string {
	return slices.DeleteFunc(workspace.Worktrees(root), func(top string) bool {
		_, ok := core.ReadTaskFile(top)
		return !ok
	})
}

// requireAgent refuses a person, who has no session, with [stick.CodeUsage].
func requireAgent(by core.Caller) error {
	if !by.Person || by.As != "" {
		return nil
	}
	return stick.Errorf(stick.CodeUsage, "only agents have sessions, and you are %s", core.HumanID(by)).
		Hintf("run it inside a harness, or give the agent's name: --as <agent>")
}

// hasOthers reports whether other agents are there, in a workspace without a room.
func (s *sessionStart) hasOthers() bool {
	agents := matchMembers(stick.Room{}, s.scan, s.p.Caller, "", core.NewProbed())
	return slices.ContainsFunc(agents, func(f scannedAgent) bool { return !f.mine })
}

// startInRoom gives the session its role, inside of the transaction.
func (s *sessionStart) startInRoom(o *op) error {
	o.Settle()
	s.me = o.Me
	by := s.p.Caller
	was, _ := o.Before.Member(o.Me.Agent)

	q := presence.Starting{
		By: o.Me.Agent, Above: o.Me.Above, Helper: s.p.Helper, Launched: s.p.Launched, Context: s.p.Context,
		Seed: s.seed, Taken: s.takenNames, Anchor: s.hasAnchorFile, AnchorAt: s.anchorWrittenAt,
		Continues: s.continues, Follows: s.inTaskTree,
		Same: by.Process.IsZero() || len(was.Processes) == 0 || hasProcess(was, by.Process),
	}

	s.earlierAgents = []stick.AgentID{o.Me.Agent}
	if !s.p.Sub && by.As == "" && by.Proof == stick.ProvesSession {
		before, err := o.Tx.AgentsCarriedBefore(by.Process, o.Me.Agent)
		if err != nil {
			return err
		}

		s.earlierAgents = append(s.earlierAgents, before...)

		// A process of this kind carries one session at a time. So when it names its session, the one that it
		// carried before is over.
		if by.SessionID != "" && !by.Earlier {
			q.Before = before
		}
	}

	s.compareAgents(o, &q)
	r, events, out := presence.StartSession(o.Room, q, o.Probes.Probed, o.Tx.Now())
	o.Apply(r, events)
	s.started, s.startedAt = out, o.Tx.Now()

	// This asks for the verdicts that fillResult needs, so that all members are probed.
	for _, m := range r.Members {
		if m.State == stick.Joined {
			m.Verdict(o.Probes.Probed)
		}
	}

	if !s.p.Auto {
		return nil
	}
	var err error
	if s.answered, err = s.isBriefed(o); err != nil {
		return err
	}

	o.Tx.RingLooks(o.Room.ID)
	record := o.Tx.RecordStart

	// The session starts at a hook in the middle of its work, or goes on with it.
	if s.p.Source == "" || s.p.Source == "compact" {
		record = o.Tx.RecordWork
	}
	if err := record(o.Me.Session.Key); err != nil {
		return err
	}

	if !by.Process.IsZero() && !by.Person && o.Me.Session.Key != "" {
		// The session that was recorded last is the one that the process carries now.
		return o.Tx.PutProcess(o.Me.Agent, o.Me.Session.Key, stick.Evidence{Process: by.Process, Proof: by.Proof})
	}
	return nil
}

// isBriefed reports whether another hook has briefed the agent on this start. A session starts up once in a
// process; it can resume and compact again and again.
func (s *sessionStart) isBriefed(o *op) (bool, error) {
	h, err := o.Tx.HookTimes(o.Me.Session.Key)
	if err != nil || h.At.IsZero() {
		return false, err
	}

	if s.p.Source == "startup" && s.started.Already {
		return true, nil
	}

	return o.hasOtherHookRun(s.p.HookParams)
}

// compareAgents compares the session with the other agents at work. It finds one that began before this one,
// has started no session here, and may still do so. In a nested room only agents below the room's path count:
// the others start theirs in the outer room. Workers in the worktrees of their tasks don't count, because
// they never lead.
func (s *sessionStart) compareAgents(o *op, q *presence.Starting) {
	agents := matchMembers(o.Room, s.scan, s.p.Caller, o.Me.Agent, o.Probes.Probed)
	q.Process = s.p.Caller.Process

	for _, f := range agents {
		if f.mine {
			q.Process = f.Process
		}

		if s.inTask(f.Dir) {
			q.Followers = append(q.Followers, f.member)
		}
	}

	i := slices.IndexFunc(agents, func(f scannedAgent) bool {
		comes := o.Room.Path == s.root || workspace.IsWithin(f.Dir, o.Room.Path)
		isOther := !f.mine && f.member != o.Me.Agent && !s.inTask(f.Dir)
		return comes && isOther && !isRegistered(o.Room, f) && f.Process.Before(q.Process)
	})

	s.elder = nil
	if i >= 0 {
		s.elder = &agents[i]
	}

	q.Earlier = s.elder != nil
}

// inTask reports whether a directory lies in the worktree of a task.
func (s *sessionStart) inTask(dir string) bool {
	return slices.ContainsFunc(s.taskTrees, func(top string) bool { return workspace.IsWithin(dir, top) })
}

// isRegistered reports whether an agent of a scan has ever started a session here. If so, it won't come later
// and become the primary, even if that session has ended.
func isRegistered(r stick.Room, f scannedAgent) bool {
	return slices.ContainsFunc(r.Members, func(m stick.Member) bool {
		return m.Session.Role != "" && (m.Agent == f.member ||
			slices.ContainsFunc(m.Processes, func(e stick.Evidence) bool { return e.Process == f.Process }))
	})
}
