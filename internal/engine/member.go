package engine

import (
	"context"
	"strings"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// recipient finds the member that a name means. It fails with [stick.CodeAmbiguousRecipient].
func (t *turn) recipient(name stick.AgentID) (stick.AgentID, error) {
	if name == stick.Next {
		return name, nil
	}
	return named(t.room, name)
}

// named finds the member that a name means: its full id, or its harness's name where only one
// member is of it. A name that fits nobody is returned as it is.
func named(r stick.Room, name stick.AgentID) (stick.AgentID, error) {
	if _, err := stick.ParseAgentID(string(name)); err != nil {
		return "", err
	}
	if _, ok := r.Member(name); ok {
		return name, nil
	}
	var fits []stick.AgentID
	for _, m := range r.Members {
		if m.State == stick.Joined && strings.HasPrefix(string(m.Agent), string(name)+":") {
			fits = append(fits, m.Agent)
		}
	}
	switch len(fits) {
	case 0:
		return name, nil
	case 1:
		return fits[0], nil
	}
	return "", stick.Errorf(stick.CodeAmbiguousRecipient, "%s fits %d members", name, len(fits)).
		With("candidates", fits).Hintf("name one of them in full: %s", list(fits))
}

// list names a few agents.
func list(agents []stick.AgentID) string {
	const most = 5
	var names []string
	for _, a := range agents[:min(len(agents), most)] {
		names = append(names, string(a))
	}
	if len(agents) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// LeaveRoomParams asks to leave a room.
type LeaveRoomParams struct {
	Caller Caller `json:"-"`
	Where
	Fence
	Handoff *stick.Handoff `json:"handoff,omitempty"` // of an owner,
	Abandon string         `json:"abandon,omitempty"` // or why it leaves without one
}

// LeaveRoomResult says what became of the membership and the stick.
type LeaveRoomResult struct {
	RoomID      stick.RoomID    `json:"room_id"`
	AgentID     stick.AgentID   `json:"agent_id"`
	RoomState   stick.RoomState `json:"room_state"`
	ReservedFor *stick.AgentID  `json:"reserved_for"`
	Abandoned   bool            `json:"abandoned,omitempty"` // a turn ended without a handoff
	Already     bool            `json:"already,omitempty"`   // it had left before
}

// LeaveRoom ends the caller's membership. An owner leaves a handoff or says why it abandons the
// turn. Repeated, it answers that it has left. It fails with [stick.CodeUnknownMember],
// [stick.CodeInvalidHandoff], [stick.CodeTurnMismatch] and [stick.CodeStaleLease].
func (e *Engine) LeaveRoom(ctx context.Context, p LeaveRoomParams) (LeaveRoomResult, error) {
	var res LeaveRoomResult
	if p.Handoff != nil {
		h, err := e.complete(ctx, p.Where, *p.Handoff)
		if err != nil {
			return res, err
		}
		p.Handoff = &h
	}
	already := false
	err := e.act(ctx, p.Where, p.Caller, mustBeMember, func(t *turn) error {
		if m, ok := t.room.Member(t.me.Agent); ok && m.State == stick.Left {
			already = true
			return nil
		}
		t.settle()
		q := stick.Leaving{By: t.me.Agent, Handoff: p.Handoff, Abandon: p.Abandon}
		if t.room.Turn.State == stick.Owned && t.room.Turn.Owner == t.me.Agent {
			f, err := t.fence(p.Fence.given())
			if err != nil {
				return err
			}
			q.Fence = f
		} else if p.Turn != 0 || p.Lease != "" {
			if _, err := t.ended(p.Fence.given(), stick.EventLeave); err != nil {
				return err
			}
		}
		r, events, err := t.room.Leave(q, t.s.Sight, t.tx.Now())
		if err != nil {
			return err
		}
		t.add(r, events)
		if err := t.unanswered(t.me.Agent, stick.EventLeave); err != nil {
			return err
		}
		return t.dismiss(t.me.Agent)
	}, func(t *turn) error {
		res = LeaveRoomResult{RoomID: t.room.ID, AgentID: t.me.Agent, RoomState: t.room.State(t.s.Sight, t.tx.Now()), Already: already}
		if t.room.Turn.State == stick.Reserved {
			res.ReservedFor = &t.room.Turn.ReservedFor
		}
		if leave := t.last(stick.EventLeave); leave != nil {
			res.Abandoned = leave.Facts().Ends
		}
		return nil
	})
	return res, err
}

// dismiss ends the waits of a member that takes part no longer.
func (t *turn) dismiss(a stick.AgentID) error {
	for _, l := range t.room.Listeners {
		if l.Agent == a {
			if err := t.tx.DropListener(l.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// KickMemberParams asks to remove a member.
type KickMemberParams struct {
	Caller Caller `json:"-"`
	Where
	AgentID stick.AgentID `json:"agent_id"`
	Force   bool          `json:"force,omitempty"` // also when it isn't gone
	Reason  string        `json:"reason,omitempty"`
}

// KickMemberResult says what became of the member and the stick.
type KickMemberResult struct {
	RoomID      stick.RoomID    `json:"room_id"`
	AgentID     stick.AgentID   `json:"agent_id"`
	Verdict     stick.Verdict   `json:"verdict"`
	RoomState   stick.RoomState `json:"room_state"`
	ReservedFor *stick.AgentID  `json:"reserved_for"`
	EndedTurn   bool            `json:"ended_turn,omitempty"`
	Already     bool            `json:"already,omitempty"`
}

// KickMember removes a member that is gone, or any with Force. It fails with
// [stick.CodeUnknownMember] and [stick.CodeMemberPresent].
func (e *Engine) KickMember(ctx context.Context, p KickMemberParams) (KickMemberResult, error) {
	var res KickMemberResult
	err := e.act(ctx, p.Where, p.Caller, mustBeMember, func(t *turn) error {
		t.settle()
		if err := t.member(); err != nil && !t.me.Caller.Person {
			return err
		}
		who, err := t.recipient(p.AgentID)
		if err != nil {
			return err
		}
		if m, ok := t.room.Member(who); ok && m.State == stick.Kicked {
			res = KickMemberResult{AgentID: who, Verdict: m.Verdict(t.s.Sight), Already: true}
			return nil
		}
		r, events, err := t.room.Kick(stick.Kicking{
			By: t.me.Agent, Who: who, Force: p.Force, Relayed: !t.me.Caller.Person, Reason: p.Reason,
		}, t.s.Sight, t.tx.Now())
		if stick.CodeOf(err) == stick.CodeUnknownMember {
			return stick.AsError(err).Hintf("tt state lists the members")
		}
		if err != nil {
			return err
		}
		t.add(r, events)
		kick := t.last(stick.EventKick).Facts()
		res = KickMemberResult{AgentID: who, Verdict: kick.Verdict, EndedTurn: kick.Ends}
		if err := t.unanswered(who, stick.EventKick); err != nil {
			return err
		}
		return t.dismiss(who)
	}, func(t *turn) error {
		res.RoomID, res.RoomState = t.room.ID, t.room.State(t.s.Sight, t.tx.Now())
		if t.room.Turn.State == stick.Reserved {
			res.ReservedFor = &t.room.Turn.ReservedFor
		}
		return nil
	})
	return res, err
}

// CloseRoomParams asks to close a room.
type CloseRoomParams struct {
	Caller Caller `json:"-"`
	Where
	Fence
	Handoff *stick.Handoff `json:"handoff,omitempty"` // required of an owner
	Reason  string         `json:"reason,omitempty"`
}

// CloseRoomResult says that the room is closed.
type CloseRoomResult struct {
	RoomID  stick.RoomID `json:"room_id"`
	Path    string       `json:"canonical_path"`
	Already bool         `json:"already,omitempty"`
}

// CloseRoom ends the turns of a room, until somebody joins it on purpose. It fails with
// [stick.CodeNotOwner], [stick.CodeInvalidHandoff], [stick.CodeTurnMismatch] and
// [stick.CodeStaleLease].
func (e *Engine) CloseRoom(ctx context.Context, p CloseRoomParams) (CloseRoomResult, error) {
	var res CloseRoomResult
	if p.Handoff != nil {
		h, err := e.complete(ctx, p.Where, *p.Handoff)
		if err != nil {
			return res, err
		}
		p.Handoff = &h
	}
	err := e.act(ctx, p.Where, p.Caller, mustBeMember, func(t *turn) error {
		res = CloseRoomResult{RoomID: t.room.ID, Path: t.room.Path}
		if t.room.Closed {
			res.Already = true
			return nil
		}
		t.settle()
		q := stick.Closing{By: t.me.Agent, Person: t.me.Caller.Person, Handoff: p.Handoff, Reason: p.Reason}
		if t.room.Turn.State == stick.Owned && t.room.Turn.Owner == t.me.Agent {
			f, err := t.fence(p.Fence.given())
			if err != nil {
				return err
			}
			q.Fence = f
		}
		r, events, err := t.room.Close(q, t.tx.Now())
		t.add(r, events)
		return err
	}, saved)
	return res, err
}

// SetRoomPolicyParams asks for changes of a room's policy, each "key=value".
type SetRoomPolicyParams struct {
	Caller Caller `json:"-"`
	Where
	Set []string `json:"set,omitempty"`
}

// SetRoomPolicyResult is the policy as it is now.
type SetRoomPolicyResult struct {
	RoomID  stick.RoomID `json:"room_id"`
	Policy  stick.Policy `json:"policy"`
	Changed bool         `json:"changed"`
}

// SetRoomPolicy changes a room's policy; without changes it tells it and writes nothing. It fails
// with [stick.CodeUsage], [stick.CodePersonOnly] and [stick.CodeUnknownMember].
func (e *Engine) SetRoomPolicy(ctx context.Context, p SetRoomPolicyParams) (SetRoomPolicyResult, error) {
	var res SetRoomPolicyResult
	if len(p.Set) == 0 {
		err := e.look(ctx, p.Where, p.Caller, func(_ *store.Tx, _ *sights, r stick.Room, _ identity) error {
			res = SetRoomPolicyResult{RoomID: r.ID, Policy: r.Policy}
			return nil
		})
		return res, err
	}
	err := e.act(ctx, p.Where, p.Caller, mustBeMember, func(t *turn) error {
		t.settle()
		if err := t.member(); err != nil && !t.me.Caller.Person {
			return err
		}
		r, events, err := t.room.SetPolicy(t.me.Agent, t.me.person(), p.Set, t.tx.Now())
		t.add(r, events)
		res = SetRoomPolicyResult{RoomID: r.ID, Policy: r.Policy, Changed: len(events) > 0}
		return err
	}, saved)
	return res, err
}

// ReorderMembersParams asks for another order of the members.
type ReorderMembersParams struct {
	Caller Caller `json:"-"`
	Where
	Order []stick.AgentID `json:"order"` // who comes first; the others follow as they stood
}

// ReorderMembersResult is the order as it is now.
type ReorderMembersResult struct {
	RoomID  stick.RoomID    `json:"room_id"`
	Order   []stick.AgentID `json:"order"`
	Changed bool            `json:"changed"`
}

// ReorderMembers changes the order in which policy order=sequence goes round. It fails with
// [stick.CodeUnknownMember], [stick.CodeAmbiguousRecipient] and [stick.CodeUsage].
func (e *Engine) ReorderMembers(ctx context.Context, p ReorderMembersParams) (ReorderMembersResult, error) {
	var res ReorderMembersResult
	err := e.act(ctx, p.Where, p.Caller, mustBeMember, func(t *turn) error {
		t.settle()
		if err := t.member(); err != nil && !t.me.Caller.Person {
			return err
		}
		order := make([]stick.AgentID, len(p.Order))
		for i, name := range p.Order {
			var err error
			if order[i], err = t.recipient(name); err != nil {
				return err
			}
		}
		r, events, err := t.room.Reorder(t.me.Agent, order)
		if err != nil {
			return err
		}
		t.add(r, events)
		res = ReorderMembersResult{RoomID: r.ID, Order: []stick.AgentID{}, Changed: len(events) > 0}
		for _, m := range r.Members {
			if m.State == stick.Joined {
				res.Order = append(res.Order, m.Agent)
			}
		}
		return nil
	}, saved)
	return res, err
}
