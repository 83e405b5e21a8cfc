package engine

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/presence"
	"talkingstick/stick/tasks"
)

// PathRoom is a room as every surface shows it.
type PathRoom struct {
	RoomID           stick.RoomID      `json:"room_id"`
	Path             string            `json:"canonical_path"`
	State            stick.RoomState   `json:"state"`
	Paused           *stick.Pause      `json:"paused"` // null unless the room is paused
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
	HandoffFrom      stick.AgentID     `json:"handoff_from,omitempty"` // who wrote that next action
	NoSnapshots      bool              `json:"no_snapshots,omitempty"` // the policy switches copies of uncommitted work off
}

// Takeover says why the stick can be taken over, and since when.
type Takeover struct {
	Cause stick.Cause `json:"cause"`
	Since stick.Time  `json:"since"`
}

// addHandoffAuthor adds who wrote the next action that the room shows.
func (v *PathRoom) addHandoffAuthor(tx *store.Tx) error {
	if v.NextActionOfTurn == "" || v.HandoffSeq == nil {
		return nil
	}

	handoff, err := tx.Event(v.RoomID, *v.HandoffSeq)
	if handoff != nil {
		v.HandoffFrom = handoff.From
	}

	return err
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
	AgentID    stick.AgentID      `json:"agent_id"`
	Name       string             `json:"name,omitempty"` // what people call it, where that isn't its id
	Ordinal    int                `json:"ordinal"`
	JoinedAt   stick.Time         `json:"joined_at"`
	LastSeenAt stick.Time         `json:"last_seen_at"`
	Status     string             `json:"status"` // active or inactive; for former members left or kicked
	Verdict    stick.Verdict      `json:"verdict"`
	Listening  stick.Purpose      `json:"listening,omitempty"`
	RestsSince stick.Time         `json:"rests_since,omitzero"`  // since when nobody names it, because its last turn changed nothing
	Role       stick.Role         `json:"role,omitempty"`        // of its running session
	Activity   *presence.Activity `json:"activity,omitempty"`    // what it does; absent for a person who doesn't wait
	Owes       int                `json:"owes,omitempty"`        // messages that wait for its acknowledgement
	OlderHooks bool               `json:"older_hooks,omitempty"` // an older tt than this one answers its hooks
	State      stick.MemberState  `json:"-"`
	Process    stick.Process      `json:"-"` // its newest process that is alive, as seen from here; zero if there is none
}

// roomView returns what me may see of a room. With all it includes former members.
func roomView(r stick.Room, me stick.AgentID, probes *core.Probes, now stick.Time, all bool) PathRoom {
	t := r.Turn
	v := PathRoom{
		RoomID: r.ID, Path: r.Path, State: r.State(probes.Probed, now), TurnID: t.ID, SequenceIndex: t.SequenceIndex,
		ClaimExpiresAt: r.ClaimExpiresAt(), UpdatedAt: r.UpdatedAt, Members: []RoomMember{},
		NoSnapshots: edits.Enforces(r) && !edits.KeepsSnapshots(r),
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
	if r.Paused.On() {
		v.Paused = &r.Paused
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
		AgentID: m.Agent, Name: m.Name, Ordinal: m.Ordinal, JoinedAt: m.JoinedAt, LastSeenAt: r.SeenAt(m),
		Status: "inactive", Verdict: m.Verdict(probes.Probed), State: m.State, RestsSince: m.RestsSince,
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

	for _, ev := range m.Processes {
		if probes.Processes[ev.Process] == stick.Alive {
			v.Process = ev.Process
		}
	}

	// Of several waits, the one for the most counts.
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
	PathGone   bool              `json:"path_gone,omitempty"` // there is nothing at the room's path
	AgentID    stick.AgentID     `json:"agent_id"`
	Member     bool              `json:"member"`
	Unread     int               `json:"unread"`                   // in the caller's inbox
	Unacked    int               `json:"unacked"`                  // messages that wait for the caller's acknowledgement
	Messages   int64             `json:"messages_since_last_turn"` // since the stick was last granted
	Notes      int               `json:"unresolved_notes"`
	Changes    *ledger.NotedWork `json:"changes,omitempty"`
	NextAction stick.Words       `json:"next_action"`
	Draft      *stick.Draft      `json:"draft,omitempty"` // what the caller, who holds the stick, has saved of its handoff
	Tasks      []TaskForYou      `json:"tasks_for_you,omitempty"`
	MoreTasks  int               `json:"more_tasks_for_you,omitempty"`
	EveryTask  []TaskForYou      `json:"-"` // that waits for the caller, for screens, which bound their lists themselves

	// LooksUntil is when the state will look different although nobody commits anything, zero for never.
	LooksUntil stick.Time      `json:"-"`
	Watched    []stick.Process `json:"-"` // the processes whose ends would change it, too
}

// TaskForYou is a task that waits for the caller.
type TaskForYou struct {
	TaskID     string          `json:"task_id"`
	State      stick.TaskState `json:"state"`
	NextAction stick.Words     `json:"next_action"`
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
		merges, err := tx.MergesByItself(res.RoomID, t)
		if err != nil {
			return err
		}

		next := tasks.Needs(t, tasks.Call{By: me.Agent, Person: me.Person()}, merges)
		if next != nil {
			res.EveryTask = append(res.EveryTask, TaskForYou{t.ID, t.State, next.As(me.Caller.AssumedByFlag()).Words()})
		}
	}

	res.Tasks = res.EveryTask[:min(len(res.EveryTask), maxTasksForYou)]
	res.MoreTasks = len(res.EveryTask) - len(res.Tasks)
	return err
}

// addActivity adds what members do and owe, and how long that may hold.
func (res *GetRoomStateResult) addActivity(tx *store.Tx, probes *core.Probes, r stick.Room) error {
	signs, err := tx.SessionSigns(r.ID)
	if err != nil {
		return err
	}
	owes, err := tx.CountOwed(r.ID)
	if err != nil {
		return err
	}

	for i := range res.Members {
		m := &res.Members[i]
		m.Owes, m.OlderHooks = owes[m.AgentID], signs[m.AgentID].OlderProgram && m.State == stick.Joined
		if does, ok := presence.ActivityOf(r, m.AgentID, signs[m.AgentID], probes.Probed, tx.Now()); ok && m.State == stick.Joined {
			m.Activity = &does
		}
	}

	res.LooksUntil, res.Watched = presence.LooksUntil(r, signs, probes.Probed, tx.Now()), res.Watched[:0]
	for _, m := range r.Members {
		for _, ev := range m.Processes {
			if m.State == stick.Joined && probes.Processes[ev.Process] == stick.Alive {
				res.Watched = append(res.Watched, ev.Process)
			}
		}
	}

	return nil
}

// GetRoomState returns the state of a room. It writes nothing. It fails with [stick.CodeNoRoom].
func (e *Engine) GetRoomState(ctx context.Context, p GetRoomStateParams) (GetRoomStateResult, error) {
	var res GetRoomStateResult
	err := e.core.Read(ctx, p.Where, p.Caller, func(
		tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity,
	) error {
		res = GetRoomStateResult{PathRoom: roomView(r, me.Agent, probes, tx.Now(), p.All), AgentID: me.Agent}
		m, ok := r.Member(me.Agent)
		res.Member = ok && m.State == stick.Joined
		res.NextAction = nextStep(r, res.Takeover != nil, me.Agent).As(me.Caller.AssumedByFlag()).Words()
		res.Messages = r.Turn.Messages

		err := res.addHandoffAuthor(tx)
		if err != nil {
			return err
		}
		if res.Unread, res.Unacked, err = tx.CountOpen(r.ID, me.Agent); err != nil {
			return err
		}
		if err = res.addActivity(tx, probes, r); err != nil {
			return err
		}
		if err = res.addTasks(tx, me); err != nil {
			return err
		}

		if r.Turn.State == stick.Owned && r.Turn.Owner == me.Agent {
			if res.Draft, err = draftOf(tx, r.ID, r.Turn.ID); err != nil {
				return err
			}
		}

		if res.Changes, err = ledger.CountNotedWork(tx, probes, r, me); err != nil {
			return err
		}

		res.Notes, err = tx.CountNotes(core.OpenNotes(r))
		return err
	})
	res.PathGone = err == nil && core.IsGone(res.Path)
	return res, err
}

// nextStep returns what a member should do next: a command, for whoever was removed after a person agrees. A
// person isn't led to take the stick unless its holder is gone: people may edit without it, and the agents
// would wait for them.
func nextStep(r stick.Room, takeover bool, me stick.AgentID) stick.Hint {
	m, _ := r.Member(me)
	switch {
	case m.State == stick.Kicked:
		return stick.RejoinStep(me)
	case r.Closed:
		return stick.Hintf("%s", stick.Cmd("tt join"))
	case r.Paused.On() && me.Human():
		return stick.Hintf("%s", stick.Cmd("tt resume"))
	case r.Paused.On():
	case r.Turn.State == stick.Owned && r.Turn.Owner == me:
		return stick.Hintf("%s", stick.Cmd("tt release --status … --next-action …"))
	case takeover && r.Turn.ReservedFor != me:
		return stick.Hintf("%s", stick.Cmd("tt take --reason …"))
	case me.Human():
		return stick.Hintf("%s", stick.Cmd("tt watch"))
	case m.Rests() && r.Turn.State == stick.Idle:
		return stick.Hintf("%s", stick.Cmd("tt try"))
	}

	return stick.Hintf("%s", stick.Cmd("tt wait"))
}
