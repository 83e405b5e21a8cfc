package engine

import (
	"cmp"
	"context"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// resolveRecipient returns the member that a name means; "next" stays as it is. It fails with
// [stick.CodeAmbiguousRecipient].
func (o *op) resolveRecipient(name stick.AgentID) (stick.AgentID, error) {
	if name == stick.Next {
		return name, nil
	}
	return o.Room.Named(name, o.Probes.Probed, o.Tx.Now())
}

// LeaveRoomParams asks to leave a room.
type LeaveRoomParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Fence
	Handoff *stick.Handoff `json:"handoff,omitempty"` // required of the holder, unless it gives
	Abandon string         `json:"abandon,omitempty"` // a reason to leave without one
}

// LeaveRoomResult says what happened to the membership and the stick.
type LeaveRoomResult struct {
	RoomID      stick.RoomID    `json:"room_id"`
	AgentID     stick.AgentID   `json:"agent_id"`
	RoomState   stick.RoomState `json:"room_state"`
	ReservedFor *stick.AgentID  `json:"reserved_for"`
	Abandoned   bool            `json:"abandoned,omitempty"`  // the caller's turn ended without a handoff
	DraftKept   bool            `json:"draft_kept,omitempty"` // the next holder gets the draft that the caller saved in that turn
	Already     bool            `json:"already,omitempty"`    // it had left before
}

// LeaveRoom ends the caller's membership. A holder must give a handoff, or say why it abandons the turn.
// Repeated, it answers that the caller has left. It fails with [stick.CodeUnknownMember],
// [stick.CodeInvalidHandoff], [stick.CodeTurnMismatch], [stick.CodeStaleLease] and, repeated with another
// handoff or reason, [stick.CodeAlreadyEnded].
func (e *Engine) LeaveRoom(ctx context.Context, p LeaveRoomParams) (LeaveRoomResult, error) {
	var res LeaveRoomResult
	p.Where = e.core.Located(p.Where)
	if p.Handoff != nil {
		h, err := e.completeHandoff(ctx, p.Where, *p.Handoff)
		if err != nil {
			return res, err
		}
		p.Handoff = &h
	}

	already := false
	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		// A repeated command gets the answer that the caller has left.
		if m, ok := o.Room.Member(o.Me.Agent); ok && m.State == stick.Left {
			already = true
			said := turnEnding{typ: stick.EventLeave, handoff: p.Handoff, reason: p.Abandon}
			return o.requireRepetition(p.Fence, said)
		}

		o.Settle()
		q := stick.Leaving{By: o.Me.Agent, Handoff: p.Handoff, Abandon: p.Abandon}

		if o.Room.Turn.State == stick.Owned && o.Room.Turn.Owner == o.Me.Agent {
			f, err := o.completeEndingFence(p.Fence.stickFence())
			if err != nil {
				return err
			}
			q.Fence = f
		} else if p.Turn != 0 || p.Lease != "" {
			// Whoever names a turn believes that it still runs. The refusal says that it has ended.
			if err := o.requireKnown(p.Fence.stickFence()); err != nil {
				return err
			}
			if _, err := o.endingEvent(p.Fence.stickFence(), turnEnding{}); err != nil {
				return err
			}
		}

		r, events, err := o.Room.Leave(q, o.Probes.Probed, o.Tx.Now())
		if err != nil {
			return err
		}
		o.Apply(r, events)

		// Processes are looked at before the commit; the answer below only uses what was seen.
		o.Room.State(o.Probes.Probed, o.Tx.Now())

		if err := o.ListUnanswered(o.Me.Agent, stick.EventLeave); err != nil {
			return err
		}
		return o.DropListeners(o.Me.Agent)
	}, func(o *op) error {
		res = LeaveRoomResult{
			RoomID: o.Room.ID, AgentID: o.Me.Agent,
			RoomState: o.Room.State(o.Probes.Probed, o.Tx.Now()), Already: already,
		}

		if o.Room.Turn.State == stick.Reserved {
			res.ReservedFor = &o.Room.Turn.ReservedFor
		}

		if leave := o.LastEvent(stick.EventLeave); leave != nil {
			if res.Abandoned = leave.TurnEndedOf() != ""; res.Abandoned {
				d, err := o.draftOf(leave.Turn)
				res.DraftKept = d != nil
				return err
			}
		}

		return nil
	})
	return res, err
}

// requireRepetition is for a command that ends a turn, from a caller whose turn has ended already. Such a command
// has to be a repetition: a handoff or a reason that the caller hasn't given before would be lost. It fails like
// [op.endingEvent]; and for a caller that never had a turn with [stick.CodeUnknownMember] if it has left, else with
// [stick.CodeNotYourTurn].
func (o *op) requireRepetition(given Fence, q turnEnding) error {
	if q.handoff == nil {
		if q.reason == "" {
			// Nothing is said that could be lost.
			return nil
		}

		last, _, err := o.Tx.Events(store.EventQuery{
			Room: o.Room.ID, From: o.Me.Agent, Types: []stick.EventType{q.typ}, Limit: 1, Newest: true,
		})
		if err != nil || len(last) > 0 && last[0].Reason == strings.TrimSpace(q.reason) {
			return err
		}
	}

	f, err := o.completeEndingFence(given.stickFence())
	if stick.CodeOf(err) == stick.CodeNotYourTurn {
		return cmp.Or(o.RequireMember(), err)
	}

	if err == nil {
		_, err = o.endingEvent(f, q)
	}
	return err
}

// KickMemberParams asks to remove a member.
type KickMemberParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	AgentID stick.AgentID `json:"agent_id"`
	Force   bool          `json:"force,omitempty"` // even if it isn't gone
	Reason  string        `json:"reason,omitempty"`
}

// KickMemberResult says what happened to the member and the stick.
type KickMemberResult struct {
	RoomID      stick.RoomID    `json:"room_id"`
	AgentID     stick.AgentID   `json:"agent_id"`
	Verdict     stick.Verdict   `json:"verdict"`
	RoomState   stick.RoomState `json:"room_state"`
	ReservedFor *stick.AgentID  `json:"reserved_for"`
	EndedTurn   bool            `json:"ended_turn,omitempty"`
	Already     bool            `json:"already,omitempty"`
}

// KickMember removes a member that is gone; with Force, any member. It fails with [stick.CodeUnknownMember]
// and [stick.CodeMemberPresent].
func (e *Engine) KickMember(ctx context.Context, p KickMemberParams) (KickMemberResult, error) {
	var res KickMemberResult
	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		o.Settle()
		if err := o.RequireMember(); err != nil && !o.Me.Caller.Person {
			return err
		}

		who, err := o.resolveRecipient(p.AgentID)
		if err != nil {
			return err
		}

		// A repeated command changes nothing.
		if m, ok := o.Room.Member(who); ok && m.State == stick.Kicked {
			res = KickMemberResult{AgentID: who, Verdict: m.Verdict(o.Probes.Probed), Already: true}
			return nil
		}

		r, events, err := o.Room.Kick(stick.Kicking{
			By: o.Me.Agent, Who: who, Force: p.Force, Relayed: !o.Me.Caller.Person, Reason: p.Reason,
		}, o.Probes.Probed, o.Tx.Now())
		if stick.CodeOf(err) == stick.CodeUnknownMember {
			return stick.AsError(err).Hintf("see who is here: %s", stick.Cmd("tt state"))
		}
		if err != nil {
			return err
		}

		o.Apply(r, events)
		kick, _ := stick.PayloadOf[stick.KickPayload](*o.LastEvent(stick.EventKick))
		res = KickMemberResult{AgentID: who, Verdict: kick.Verdict, EndedTurn: kick.Ends}

		if err := o.ListUnanswered(who, stick.EventKick); err != nil {
			return err
		}

		// Processes are looked at before the commit; the answer below only uses what was seen.
		o.Room.State(o.Probes.Probed, o.Tx.Now())
		return o.DropListeners(who)
	}, func(o *op) error {
		res.RoomID, res.RoomState = o.Room.ID, o.Room.State(o.Probes.Probed, o.Tx.Now())

		if o.Room.Turn.State == stick.Reserved {
			res.ReservedFor = &o.Room.Turn.ReservedFor
		}

		return nil
	})
	return res, err
}

// CloseRoomParams asks to close a room.
type CloseRoomParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Fence
	Handoff *stick.Handoff `json:"handoff,omitempty"` // required of the holder
	Reason  string         `json:"reason,omitempty"`
}

// CloseRoomResult says that the room is closed.
type CloseRoomResult struct {
	RoomID  stick.RoomID `json:"room_id"`
	Path    string       `json:"canonical_path"`
	Already bool         `json:"already,omitempty"`
}

// CloseRoom closes a room: it has no turns until somebody joins it explicitly. It fails with
// [stick.CodeNotYourTurn], [stick.CodeInvalidHandoff], [stick.CodeTurnMismatch], [stick.CodeStaleLease]
// and, repeated with another handoff, [stick.CodeAlreadyEnded].
func (e *Engine) CloseRoom(ctx context.Context, p CloseRoomParams) (CloseRoomResult, error) {
	var res CloseRoomResult
	p.Where = e.core.Located(p.Where)
	if p.Handoff != nil {
		h, err := e.completeHandoff(ctx, p.Where, *p.Handoff)
		if err != nil {
			return res, err
		}
		p.Handoff = &h
	}

	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		res = CloseRoomResult{RoomID: o.Room.ID, Path: o.Room.Path}

		if o.Room.Closed {
			res.Already = true
			return o.requireRepetition(p.Fence, turnEnding{typ: stick.EventClose, handoff: p.Handoff})
		}

		o.Settle()
		q := stick.Closing{By: o.Me.Agent, Person: o.Me.Caller.Person, Handoff: p.Handoff, Reason: p.Reason}
		if o.Room.Turn.State == stick.Owned && o.Room.Turn.Owner == o.Me.Agent {
			f, err := o.completeEndingFence(p.Fence.stickFence())
			if err != nil {
				return err
			}
			q.Fence = f
		}

		r, events, err := o.Room.Close(q, o.Tx.Now())
		o.Apply(r, events)
		return err
	}, nil)
	return res, err
}

// SetRoomPolicyParams asks for changes of a room's policy, each "key=value".
type SetRoomPolicyParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Set []string `json:"set,omitempty"`
}

// SetRoomPolicyResult is the policy as it is now.
type SetRoomPolicyResult struct {
	RoomID  stick.RoomID `json:"room_id"`
	Policy  stick.Policy `json:"policy"`
	Changed bool         `json:"changed"`
}

// SetRoomPolicy changes a room's policy. Without changes it returns the policy and writes nothing. It fails
// with [stick.CodeUsage], [stick.CodePersonOnly] and [stick.CodeUnknownMember].
func (e *Engine) SetRoomPolicy(ctx context.Context, p SetRoomPolicyParams) (SetRoomPolicyResult, error) {
	var res SetRoomPolicyResult

	if len(p.Set) == 0 {
		err := e.core.Read(ctx, p.Where, p.Caller, func(
			_ *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity,
		) error {
			res = SetRoomPolicyResult{RoomID: r.ID, Policy: r.Policy}
			return nil
		})
		return res, err
	}

	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		o.Settle()
		if err := o.RequireMember(); err != nil && !o.Me.Caller.Person {
			return err
		}

		r, events, err := o.Room.SetPolicy(o.Me.Agent, o.Me.Person(), p.Set, o.Tx.Now())
		o.Apply(r, events)
		res = SetRoomPolicyResult{RoomID: r.ID, Policy: r.Policy, Changed: len(events) > 0}
		return err
	}, nil)
	return res, err
}

// ReorderMembersParams asks for another order of the members.
type ReorderMembersParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Order []stick.AgentID `json:"order"` // the first ones; the others follow in their old order
}

// ReorderMembersResult is the order as it is now.
type ReorderMembersResult struct {
	RoomID  stick.RoomID    `json:"room_id"`
	Order   []stick.AgentID `json:"order"`
	Changed bool            `json:"changed"`
}

// ReorderMembers changes the order that the policy order=sequence follows. It fails with
// [stick.CodeUnknownMember], [stick.CodeAmbiguousRecipient] and [stick.CodeUsage].
func (e *Engine) ReorderMembers(ctx context.Context, p ReorderMembersParams) (ReorderMembersResult, error) {
	var res ReorderMembersResult
	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		o.Settle()
		if err := o.RequireMember(); err != nil && !o.Me.Caller.Person {
			return err
		}

		order := make([]stick.AgentID, len(p.Order))
		for i, name := range p.Order {
			var err error
			if order[i], err = o.resolveRecipient(name); err != nil {
				return err
			}
		}

		r, events, err := o.Room.Reorder(o.Me.Agent, order)
		if err != nil {
			return err
		}

		o.Apply(r, events)
		res = ReorderMembersResult{RoomID: r.ID, Order: []stick.AgentID{}, Changed: len(events) > 0}
		for _, m := range r.Members {
			if m.State == stick.Joined {
				res.Order = append(res.Order, m.Agent)
			}
		}

		return nil
	}, nil)
	return res, err
}
