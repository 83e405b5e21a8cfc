package engine

import (
	"context"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// PathRoom is a room as every surface shows it.
type PathRoom struct {
	RoomID           stick.RoomID      `json:"room_id"`
	Path             string            `json:"canonical_path"`
	State            stick.RoomState   `json:"state"`
	TurnID           int64             `json:"turn_id"`
	Owner            *stick.AgentID    `json:"owner"`
	ReservedFor      *stick.AgentID    `json:"reserved_for"`
	PendingHandoff   *int64            `json:"pending_handoff_event_seq"`
	HandoffSeq       *int64            `json:"handoff_event_seq"`
	LeaseID          *stick.LeaseID    `json:"lease_id"` // shown to its owner only
	LeaseExpiresAt   stick.Time        `json:"lease_expires_at"`
	LeaseKeptBy      stick.LeaseKeeper `json:"lease_kept_by,omitempty"`
	GuardianPID      int               `json:"guardian_pid,omitempty"`
	ClaimExpiresAt   stick.Time        `json:"claim_expires_at"`
	GrantedAt        stick.Time        `json:"granted_at"`
	SequenceIndex    int               `json:"sequence_index"`
	UpdatedAt        stick.Time        `json:"updated_at"`
	Takeover         *Takeover         `json:"takeover,omitempty"`
	Members          []RoomMember      `json:"members"`
	HiddenMembers    int               `json:"hidden_members,omitempty"` // left or removed
	NextActionOfTurn string            `json:"handoff_next_action,omitempty"`
}

// Takeover says why the stick can be taken over, and since when.
type Takeover struct {
	Cause stick.Cause `json:"cause"`
	Since stick.Time  `json:"since"`
}

// openTakeover returns the takeover that is open, or nil.
func openTakeover(r stick.Room, probes *core.Probes, now stick.Time) *Takeover {
	if o := r.Opening(probes.Probed, now); o.Open() {
		return &Takeover{o.Cause, o.Since}
	}
	return nil
}

// RoomMember is a member as every surface shows it.
type RoomMember struct {
	AgentID    stick.AgentID     `json:"agent_id"`
	Ordinal    int               `json:"ordinal"`
	JoinedAt   stick.Time        `json:"joined_at"`
	LastSeenAt stick.Time        `json:"last_seen_at"`
	Status     string            `json:"status"` // active or inactive; for former members left or kicked
	Verdict    stick.Verdict     `json:"verdict"`
	Listening  stick.Purpose     `json:"listening,omitempty"`
	Role       stick.Role        `json:"role,omitempty"` // of its running session
	State      stick.MemberState `json:"-"`
}

// roomView returns what me may see of a room. With all it includes former members.
func roomView(r stick.Room, me stick.AgentID, probes *core.Probes, now stick.Time, all bool) PathRoom {
	t := r.Turn
	v := PathRoom{
		RoomID: r.ID, Path: r.Path, State: r.State(probes.Probed, now), TurnID: t.ID, SequenceIndex: t.SequenceIndex,
		ClaimExpiresAt: r.ClaimExpiresAt(), UpdatedAt: r.UpdatedAt, Members: []RoomMember{},
	}
	switch t.State {
	case stick.Owned:
		v.Owner, v.GrantedAt, v.GuardianPID = &t.Owner, t.GrantedAt, r.Guardian(now)
		v.LeaseKeptBy, v.LeaseExpiresAt = r.LeaseKeptBy(probes.Probed, now), r.LeaseExpiresAt(probes.Probed, now)
		v.NextActionOfTurn = t.NextAction
		if t.Owner == me {
			v.LeaseID = &t.Lease
		}
	case stick.Reserved:
		v.ReservedFor = &t.ReservedFor
	}
	if t.HandoffSeq != 0 {
		v.HandoffSeq = &t.HandoffSeq
	}
	if t.HandoffPending {
		v.PendingHandoff = &t.HandoffSeq
	}
	v.Takeover = openTakeover(r, probes, now)
	for _, m := range r.Members {
		if m.State != stick.Joined && !all {
			v.HiddenMembers++
			continue
		}
		v.Members = append(v.Members, memberView(r, m, probes, now))
	}
	return v
}

// memberView returns what others may see of a member.
func memberView(r stick.Room, m stick.Member, probes *core.Probes, now stick.Time) RoomMember {
	v := RoomMember{
		AgentID: m.Agent, Ordinal: m.Ordinal, JoinedAt: m.JoinedAt, LastSeenAt: m.LastSeenAt,
		Status: "inactive", Verdict: m.Verdict(probes.Probed), State: m.State,
	}
	switch {
	case m.State != stick.Joined:
		v.Status = string(m.State)
	case r.Active(m.Agent, now, probes.Probed):
		v.Status = "active"
	}
	if m.State == stick.Joined && m.Session.Running {
		v.Role = m.Session.Role
	}
	for _, intent := range []stick.Purpose{stick.Wake, stick.Listen, stick.Work} {
		if r.Listening(m.Agent, intent, probes.Probed) {
			v.Listening = intent
		}
	}
	return v
}

// GetRoomStateParams asks for the state of a room.
type GetRoomStateParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	All bool `json:"all,omitempty"` // also members that left or were removed
}

// GetRoomStateResult is the state of a room, and what the caller can do about it.
type GetRoomStateResult struct {
	PathRoom
	PathGone   bool          `json:"path_gone,omitempty"` // there is nothing at the room's path
	AgentID    stick.AgentID `json:"agent_id"`
	Member     bool          `json:"member"`
	Unread     int           `json:"unread"`                   // in the caller's inbox
	Unacked    int           `json:"unacked"`                  // messages that wait for the caller's acknowledgement
	Messages   int64         `json:"messages_since_last_turn"` // since the stick was last granted
	Notes      int           `json:"unresolved_notes"`
	NextAction string        `json:"next_action"`
	Tasks      []TaskForYou  `json:"tasks_for_you,omitempty"`
	MoreTasks  int           `json:"more_tasks_for_you,omitempty"`
}

// TaskForYou is a task that waits for the caller.
type TaskForYou struct {
	TaskID     string          `json:"task_id"`
	State      stick.TaskState `json:"state"`
	NextAction string          `json:"next_action"`
}

// maxTasksForYou is how many tasks the state of a room lists.
const maxTasksForYou = 5

// addTasks adds the tasks that wait for the caller.
func (res *GetRoomStateResult) addTasks(tx *store.Tx, me core.Identity) error {
	if !res.Member && !me.Person() {
		return nil
	}
	open, err := tx.OpenTasks(res.RoomID)
	for _, t := range open {
		next := t.Needs(stick.TaskCall{By: me.Agent, Person: me.Person()})
		switch {
		case next == nil:
		case len(res.Tasks) == maxTasksForYou:
			res.MoreTasks++
		default:
			res.Tasks = append(res.Tasks, TaskForYou{t.ID, t.State, next.As(me.Caller.Flag()).String()})
		}
	}
	return err
}

// GetRoomState returns the state of a room. It writes nothing. It fails with [stick.CodeNoRoom].
func (e *Engine) GetRoomState(ctx context.Context, p GetRoomStateParams) (GetRoomStateResult, error) {
	var res GetRoomStateResult
	err := e.core.Read(ctx, p.Where, p.Caller, func(tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity) error {
		res = GetRoomStateResult{PathRoom: roomView(r, me.Agent, probes, tx.Now(), p.All), AgentID: me.Agent}
		m, ok := r.Member(me.Agent)
		res.Member = ok && m.State == stick.Joined
		res.NextAction, res.Messages = nextStep(r, res.Takeover != nil, me.Agent).As(me.Caller.Flag()).String(), r.Turn.Messages
		var err error
		if res.Unread, res.Unacked, err = tx.CountOpen(r.ID, me.Agent); err != nil {
			return err
		}
		if err = res.addTasks(tx, me); err != nil {
			return err
		}
		res.Notes, err = tx.CountNotes(openNotes(r))
		return err
	})
	res.PathGone = err == nil && isGone(res.Path)
	return res, err
}

// nextStep returns what an agent should do next: a command, for whoever was removed after a person agrees.
func nextStep(r stick.Room, takeover bool, me stick.AgentID) stick.Hint {
	m, _ := r.Member(me)
	switch {
	case m.State == stick.Kicked:
		return stick.RejoinStep(me)
	case r.Closed:
		return stick.Hintf("%s", stick.Cmd("tt join"))
	case r.Turn.State == stick.Owned && r.Turn.Owner == me:
		return stick.Hintf("%s", stick.Cmd("tt release --status … --next-action …"))
	case takeover && r.Turn.ReservedFor != me:
		return stick.Hintf("%s", stick.Cmd("tt take --reason …"))
	}
	return stick.Hintf("%s", stick.Cmd("tt wait"))
}

// ListRoomsParams asks for rooms.
type ListRoomsParams struct {
	Caller core.Caller  `json:"-"`
	Path   string       `json:"context_path,omitempty"`
	RoomID stick.RoomID `json:"-"`               // instead of a path; not for MCP, where each parameter costs all sessions tokens
	All    bool         `json:"all,omitempty"`   // every room of the database
	Limit  int          `json:"limit,omitempty"` // 0 for 50
}

// ListRoomsResult lists rooms: those at the path and above it up to its workspace root, and those below it.
type ListRoomsResult struct {
	Path   string       `json:"path"`
	Root   string       `json:"workspace_root"`
	Rooms  []ListedRoom `json:"rooms"`
	Hidden int          `json:"hidden,omitempty"` // how many more rooms there are
}

// ListedRoom is a room in short.
type ListedRoom struct {
	RoomID      stick.RoomID    `json:"room_id"`
	Path        string          `json:"canonical_path"`
	PathGone    bool            `json:"path_gone,omitempty"`
	Relation    string          `json:"relation"` // to the path: here (its room), above, below, elsewhere
	State       stick.RoomState `json:"state"`
	TurnID      int64           `json:"turn_id"`
	Owner       *stick.AgentID  `json:"owner"`
	ReservedFor *stick.AgentID  `json:"reserved_for"`
}

// ListRooms lists rooms. It writes nothing. It fails with [stick.CodeInvalidPath].
func (e *Engine) ListRooms(ctx context.Context, p ListRoomsParams) (ListRoomsResult, error) {
	place, err := e.placeOf(ctx, core.Where{RoomID: p.RoomID, Path: p.Path})
	if err != nil {
		return ListRoomsResult{}, err
	}
	limit := p.Limit
	if limit <= 0 {
		limit = 50
	}
	res := ListRoomsResult{Path: place.Path, Root: place.Root, Rooms: []ListedRoom{}}
	db, err := e.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return res, nil
	}
	if err != nil {
		return res, err
	}
	err = e.core.View(ctx, db, p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		res.Rooms, res.Hidden = []ListedRoom{}, 0
		var rooms []stick.Room
		var err error
		if p.All {
			rooms, err = tx.Rooms(nil, "")
		} else {
			rooms, err = tx.Rooms(place.Chain, place.Path)
		}
		if err != nil {
			return err
		}
		var shown stick.Room // has the members and listeners of all listed rooms, so that they are probed at once
		here := -1
		for i, r := range rooms {
			if at := slices.Index(place.Chain, r.Path); at >= 0 && (here < 0 || at < slices.Index(place.Chain, rooms[here].Path)) {
				here = i
			}
		}
		for i, r := range rooms {
			if len(res.Rooms) >= limit {
				res.Hidden = len(rooms) - i
				break
			}
			relation := "elsewhere"
			switch {
			case i == here:
				relation = "here"
			case slices.Contains(place.Chain, r.Path):
				relation = "above"
			case strings.HasPrefix(r.Path, strings.TrimSuffix(place.Path, "/")+"/"):
				relation = "below"
			}
			if r, err = tx.Room(r.ID); err != nil {
				return err
			}
			shown.Members, shown.Listeners = append(shown.Members, r.Members...), append(shown.Listeners, r.Listeners...)
			res.Rooms = append(res.Rooms, listed(r.AtGeneration(tx.Generation(), tx.Now()), relation, probes, tx.Now()))
		}
		return probes.Enough(shown)
	})
	for i := range res.Rooms {
		res.Rooms[i].PathGone = isGone(res.Rooms[i].Path)
	}
	return res, err
}

// listed returns a room in short.
func listed(r stick.Room, relation string, probes *core.Probes, now stick.Time) ListedRoom {
	v := ListedRoom{RoomID: r.ID, Path: r.Path, Relation: relation, State: r.State(probes.Probed, now), TurnID: r.Turn.ID}
	switch {
	case r.Closed:
	case r.Turn.State == stick.Owned:
		v.Owner = &r.Turn.Owner
	case r.Turn.State == stick.Reserved:
		v.ReservedFor = &r.Turn.ReservedFor
	}
	return v
}

// JoinPathParams asks to join the room of a path.
type JoinPathParams struct {
	Caller   core.Caller  `json:"-"`
	Path     string       `json:"context_path,omitempty"`
	RoomID   stick.RoomID `json:"room_id,omitempty"`
	ForceNew bool         `json:"force_new,omitempty"` // make a room at the path itself, even inside another one
}

// JoinPathResult is the room that was joined.
type JoinPathResult struct {
	RoomID   stick.RoomID      `json:"room_id"`
	Path     string            `json:"canonical_path"`
	AgentID  stick.AgentID     `json:"agent_id"`
	Joined   bool              `json:"joined"`               // false if it was a member already
	Created  bool              `json:"created"`              // this call made the room
	Moved    string            `json:"moved_from,omitempty"` // the path that the room had before this call
	Warning  string            `json:"warning,omitempty"`
	Policy   stick.Policy      `json:"policy"`
	Template map[string]string `json:"handoff_template"`
	Room     PathRoom          `json:"room"`
}

// HandoffTemplate returns the fields of a handoff and their meanings.
func HandoffTemplate() map[string]string {
	template := map[string]string{}
	for _, f := range stick.HandoffFields {
		template[f.Name] = f.Meaning
	}
	return template
}

// JoinPath joins the room of a path, and makes it if there is none. A room by its id whose directory is gone moves
// to the workspace of the path, if that has no room. It fails with [stick.CodeInvalidPath], [stick.CodeNoRoom] and,
// for a new room by an id, [stick.CodeUsage].
func (e *Engine) JoinPath(ctx context.Context, p JoinPathParams) (JoinPathResult, error) {
	var res JoinPathResult
	w := core.Where{RoomID: p.RoomID, Path: p.Path}
	var above string
	var move moving
	if p.RoomID != "" {
		var err error
		if move, err = e.moving(ctx, p); err != nil {
			return res, err
		}
		w.Path = ""
	}
	if p.ForceNew {
		place, err := e.core.Place(w)
		if err != nil {
			return res, err
		}
		if place == nil {
			return res, stick.Errorf(stick.CodeUsage, "a new room is made at a path, not by an id").With("field", "force_new")
		}
		if above, err = e.nest(ctx, place.Chain); err != nil {
			return res, err
		}
	}
	err := e.write(ctx, w, p.Caller, core.JoinsExplicitly, func(o *op) error {
		o.Settle()
		if err := move.apply(o); err != nil {
			return err
		}
		roomView(o.Room, o.Me.Agent, o.Probes, o.Tx.Now(), false) // asks for the verdicts that the result shows
		return nil
	}, func(o *op) error {
		res = JoinPathResult{
			RoomID: o.Room.ID, Path: o.Room.Path, AgentID: o.Me.Agent, Joined: o.Joined, Created: o.Created || above == "" && p.ForceNew,
			Policy: o.Room.Policy, Template: HandoffTemplate(), Room: roomView(o.Room, o.Me.Agent, o.Probes, o.Tx.Now(), false),
		}
		var warnings []string
		switch {
		case o.Room.Path != o.Before.Path:
			res.Moved = o.Before.Path
		case move.from == o.Room.Path && move.from != "":
			why := " has a room"
			if move.to.Broad {
				why = " is a whole home directory or disk"
			}
			warnings = append(warnings, "the directory of this room is gone, and the room can't move here: "+move.to.Root+why)
		case p.ForceNew && above == o.Room.Path:
			res.Created = false
			warnings = append(warnings, "there was already a room at this path; you joined it")
		case p.ForceNew && above != "":
			res.Created = true
			warnings = append(warnings, "this room lies inside the room of "+above+", whose members don't see it")
		}
		if o.Me.Note != "" {
			warnings = append(warnings, o.Me.Note)
		}
		res.Warning = strings.Join(warnings, "; ")
		return nil
	})
	return res, err
}

// nest makes a room at the first path of a chain, unless there is one. above is the path of the room that was
// there before, at that path or above it; empty for none.
func (e *Engine) nest(ctx context.Context, chain []string) (above string, err error) {
	db, err := e.core.Open(ctx, true)
	if err != nil {
		return "", err
	}
	return above, db.Update(ctx, func(tx *store.Tx) error {
		above = ""
		r, ok, err := tx.RoomAt(chain)
		if err != nil {
			return err
		}
		if ok {
			above = r.Path
		}
		if above == chain[0] {
			return nil
		}
		_, err = tx.NewRoom(chain[0])
		return err
	})
}

// moving is what [Engine.JoinPath] knows of a room whose directory is gone.
type moving struct {
	from string           // the room's path; empty if it is there
	to   *workspace.Place // where the caller is
}

// moving finds out whether the room that the caller names has lost its directory, and where it would move to.
func (e *Engine) moving(ctx context.Context, p JoinPathParams) (moving, error) {
	path, err := e.pathOf(ctx, p.RoomID)
	if stick.CodeOf(err) == stick.CodeNoRoom || err == nil && !isGone(path) {
		return moving{}, nil
	}
	if err != nil {
		return moving{}, err
	}
	to, err := e.core.Place(core.Where{Path: p.Path})
	return moving{path, to}, err
}

// apply moves the room, unless it was moved meanwhile, or the workspace has a room.
func (m moving) apply(o *op) error {
	if m.from == "" || o.Room.Path != m.from {
		return nil
	}
	if _, taken, err := o.Tx.RoomAt(m.to.Chain); taken || err != nil || m.to.Broad {
		return err
	}
	o.Apply(o.Room.Move(o.Me.Agent, m.to.Root))
	return nil
}
