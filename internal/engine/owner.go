package engine

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Fence names the grant that an owner's command is for. The zero Fence means the caller's own last grant.
type Fence struct {
	Turn  int64         `json:"expected_turn_id,omitempty"`
	Lease stick.LeaseID `json:"lease_id,omitempty"`
}

func (f Fence) stickFence() stick.Fence { return stick.Fence{Turn: f.Turn, Lease: f.Lease} }

// HeartbeatParams says that the caller still works on its turn.
type HeartbeatParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Fence
}

// HeartbeatResult says what keeps the turn, and until when.
type HeartbeatResult struct {
	RoomID         stick.RoomID      `json:"room_id"`
	TurnID         int64             `json:"turn_id"`
	LeaseExpiresAt stick.Time        `json:"lease_expires_at"`
	LeaseKeptBy    stick.LeaseKeeper `json:"lease_kept_by"`

	// the heartbeat put off idle_at. It doesn't if no process of the caller proves the session, or after
	// heartbeats_until
	CountsAsActivity bool `json:"counts_as_activity"`
	// when the caller counts as idle unless it acts; null if the lease runs out instead.
	IdleAt          stick.Time `json:"idle_at"`
	HeartbeatsUntil stick.Time `json:"heartbeats_until"`   // until when heartbeats alone can put that off
	Takeover        *Takeover  `json:"takeover,omitempty"` // one that is open although the owner sent the heartbeat
}

// Heartbeat says that the caller still works on its turn: see [stick.Room.Heartbeat]. It fails with
// [stick.CodeTurnMismatch], [stick.CodeStaleLease] and [stick.CodeNotYourTurn].
func (e *Engine) Heartbeat(ctx context.Context, p HeartbeatParams) (HeartbeatResult, error) {
	var res HeartbeatResult
	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMemberQuietly, func(o *op) error {
		f, err := o.ownFence(p.Fence.stickFence())
		if err != nil {
			return err
		}

		// This refuses a turn that has ended, and says how it ended.
		if _, err := o.endingEvent(f, turnEnding{}); err != nil {
			return err
		}

		o.Room, err = o.Room.Heartbeat(o.Me.Agent, f, o.callerProof(), o.Tx.Now())
		return err
	}, func(o *op) error {
		r, s, now := o.Room, o.Probes.Probed, o.Tx.Now()
		res = HeartbeatResult{
			RoomID: r.ID, TurnID: r.Turn.ID, LeaseExpiresAt: r.LeaseExpiresAt(s, now),
			LeaseKeptBy: r.LeaseKeptBy(s, now),
			IdleAt:      r.IdleAt(s, now), Takeover: openTakeover(r, o.Probes, now),
		}

		if !res.IdleAt.IsZero() {
			res.CountsAsActivity, res.HeartbeatsUntil = r.HeartbeatCounts(o.callerProof(), now), r.HeartbeatsUntil()
		}

		return nil
	})
	return res, err
}

// callerProof returns what the caller's own process proves, or "" without one.
func (o *op) callerProof() stick.Proof {
	if o.Me.Caller.Process.IsZero() {
		return ""
	}
	return o.Me.Caller.Proof
}

// ReleaseStickParams asks to end the caller's turn.
type ReleaseStickParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Fence
	Handoff stick.Handoff `json:"handoff"`
}

// ReleaseStickResult says who may have the stick next.
type ReleaseStickResult struct {
	RoomID         stick.RoomID    `json:"room_id"`
	By             stick.AgentID   `json:"-"`       // the caller, whose turn it was
	TurnID         int64           `json:"turn_id"` // the turn that ended
	EventSeq       int64           `json:"event_seq"`
	RoomState      stick.RoomState `json:"room_state"` // right after the release
	ReservedFor    *stick.AgentID  `json:"reserved_for"`
	ClaimExpiresAt stick.Time      `json:"claim_expires_at"`
	Nobody         stick.Words     `json:"nobody,omitempty"` // why the stick is reserved for nobody
	Rests          bool            `json:"rests,omitempty"`  // the turn changed nothing, so the caller rests
	Already        bool            `json:"already,omitempty"`
	// Unpushed is the commit that the handoff names, if no remote is known to have it.
	Unpushed string `json:"unpushed,omitempty"`
}

// ReleaseStick ends the caller's turn with a handoff, and reserves the stick for the member that the release
// rule chooses. Repeated, it returns its first result. It fails with [stick.CodeInvalidHandoff],
// [stick.CodeTurnMismatch], [stick.CodeStaleLease], [stick.CodeNotYourTurn] and, repeated with another
// handoff, [stick.CodeAlreadyEnded].
func (e *Engine) ReleaseStick(ctx context.Context, p ReleaseStickParams) (ReleaseStickResult, error) {
	var res ReleaseStickResult
	p.Where = e.core.Located(p.Where)

	h, err := e.completeHandoff(ctx, p.Where, p.Handoff)
	if err != nil {
		return res, e.turnBefore(ctx, p.Where, p.Caller, p.Fence, err)
	}

	var end *stick.Event
	err = e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		f, err := o.completeEndingFence(p.Fence.stickFence())
		if err != nil {
			return err
		}

		// A repeated command gets its first result.
		end, err = o.endingEvent(f, turnEnding{typ: stick.EventRelease, handoff: &h})
		if end != nil || err != nil {
			return err
		}

		if err := o.restAfter(h); err != nil {
			return err
		}

		r, events, err := o.Room.Release(o.Me.Agent, f, h, o.Probes.Probed, o.Tx.Now())
		o.Apply(r, events)
		return err
	}, func(o *op) (err error) {
		if end != nil {
			res = releaseResult(*end, true)
			return nil
		}

		res = releaseResult(*o.LastEvent(stick.EventRelease), false)
		return nil
	})

	res.Unpushed = unpushedCommit(h)
	return res, err
}

// unpushedCommit is the commit of a handoff that others can't get.
func unpushedCommit(h stick.Handoff) string {
	if h.Workspace == nil || !h.Workspace.Unpushed {
		return ""
	}
	return h.Workspace.Head
}

// releaseResult rebuilds the result of a release from its event.
func releaseResult(e stick.Event, already bool) ReleaseStickResult {
	f, _ := stick.PayloadOf[stick.ReleasePayload](e)
	res := ReleaseStickResult{
		RoomID: e.Room, By: e.From, TurnID: e.Turn, EventSeq: e.Seq, RoomState: stick.StateIdle,
		ClaimExpiresAt: f.Expires, Nobody: stick.Words(f.Nobody), Rests: f.Rests, Already: already,
	}

	if e.To != "" {
		res.RoomState, res.ReservedFor = stick.StateReserved, &e.To
	}

	return res
}

// PassStickParams asks to pass the stick to a member.
type PassStickParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Fence
	To      stick.AgentID `json:"to_agent_id"` // or "next"
	Handoff stick.Handoff `json:"handoff"`
}

// PassStickResult says for whom the stick is reserved.
type PassStickResult struct {
	RoomID         stick.RoomID    `json:"room_id"`
	By             stick.AgentID   `json:"-"`       // as of a release
	TurnID         int64           `json:"turn_id"` // the turn that ended
	EventSeq       int64           `json:"event_seq"`
	RoomState      stick.RoomState `json:"room_state"`
	ReservedFor    stick.AgentID   `json:"reserved_for"`
	Reachable      bool            `json:"reachable"` // the recipient is a listener
	ClaimExpiresAt stick.Time      `json:"claim_expires_at"`
	Rests          bool            `json:"rests,omitempty"` // as of a release
	Already        bool            `json:"already,omitempty"`
	Unpushed       string          `json:"unpushed,omitempty"` // as of a release
}

// PassStick ends the caller's turn with a handoff and reserves the stick for one member. Repeated, it returns
// its first result. It fails like [Engine.ReleaseStick], and with [stick.CodeUnknownMember] when the
// recipient is unknown, gone or inactive.
func (e *Engine) PassStick(ctx context.Context, p PassStickParams) (PassStickResult, error) {
	var res PassStickResult
	p.Where = e.core.Located(p.Where)

	h, err := e.completeHandoff(ctx, p.Where, p.Handoff)
	if err != nil {
		return res, e.turnBefore(ctx, p.Where, p.Caller, p.Fence, err)
	}

	var end *stick.Event
	err = e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		f, err := o.completeEndingFence(p.Fence.stickFence())
		if err != nil {
			return err
		}

		// A repeated command gets its first result.
		end, err = o.endingEvent(f, turnEnding{typ: stick.EventPass, handoff: &h, to: p.To})
		if end != nil || err != nil {
			return err
		}

		to, err := o.resolveRecipient(p.To)
		if err != nil {
			return err
		}

		if err := o.restAfter(h); err != nil {
			return err
		}

		r, events, err := o.Room.Pass(o.Me.Agent, f, to, h, o.Probes.Probed, o.Tx.Now())
		o.Apply(r, events)
		return err
	}, func(o *op) (err error) {
		// A repeated command describes its first result.
		pass := end
		if pass == nil {
			pass = o.LastEvent(stick.EventPass)
		}

		facts, _ := stick.PayloadOf[stick.PassPayload](*pass)
		res = PassStickResult{
			RoomID: pass.Room, By: pass.From, TurnID: pass.Turn, EventSeq: pass.Seq, RoomState: stick.StateReserved,
			ReservedFor: pass.To,
			Reachable:   facts.Reachable != nil && *facts.Reachable, ClaimExpiresAt: facts.Expires,
			Rests: facts.Rests, Already: end != nil,
		}
		return nil
	})

	res.Unpushed = unpushedCommit(h)
	return res, err
}

// TakeoverStickParams asks to take the stick over.
type TakeoverStickParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	ExpectedTurn int64  `json:"expected_turn_id,omitempty"`
	Reason       string `json:"reason"`
	Operator     bool   `json:"operator_requested,omitempty"` // a person asked for it
}

// TakeoverStickResult is the grant, and the cause of the takeover.
type TakeoverStickResult struct {
	Status  stick.WaitStatus `json:"status"`
	Cause   stick.Cause      `json:"cause,omitempty"`
	From    *stick.AgentID   `json:"taken_from,omitempty"`
	Already bool             `json:"already,omitempty"`
	Joined  bool             `json:"joined,omitempty"`

	Rescue    *restore.TakeoverRescue `json:"rescue"`               // the copy of what the holder before left uncommitted
	RescueWhy stick.Words             `json:"rescue_why,omitempty"` // why there is none
	*Grant
}

// TakeoverStick gives the stick to the caller if it can be taken over, or if a person asks for it. Then it
// keeps a copy of what the holder before left uncommitted, unless the room has enforce=off. A caller that
// isn't a member joins. It fails with [stick.CodeTakeoverNotAvailable], [stick.CodePriorOwner],
// [stick.CodeTurnMismatch], [stick.CodeRoomClosed] and, without a valid reason, [stick.CodeUsage].
func (e *Engine) TakeoverStick(ctx context.Context, p TakeoverStickParams) (TakeoverStickResult, error) {
	var res TakeoverStickResult
	if err := (stick.Take{Reason: p.Reason}).Check(); err != nil {
		return res, err
	}

	p.Where = e.core.Located(p.Where)

	var why stick.ClaimReason
	var committed restore.CommittedTakeover
	err := e.writeRoom(ctx, p.Where, p.Caller, core.JoinsIfNew, func(o *op) error {
		o.Apply(o.Room.Settle(o.Me.Agent, true, o.Probes.Probed, o.Tx.Now()))

		r, events, got, err := o.Room.Takeover(stick.Take{
			By: o.Me.Agent, ExpectedTurn: p.ExpectedTurn, Reason: p.Reason, Operator: p.Operator,
			Relayed: !o.Me.Caller.Person,
		}, o.Lease, o.Probes.Probed, o.Tx.Now())

		// A refusal may have events. They are saved all the same.
		if err != nil && len(events) == 0 {
			return err
		}
		o.Apply(r, events)
		o.Refused, why = err, got
		return nil
	}, func(o *op) (err error) {
		res = TakeoverStickResult{Status: stick.YourTurn, Already: why == stick.AlreadyOwner, Joined: o.Joined}
		if took := o.LastEvent(stick.EventTakeover); took != nil {
			p, _ := stick.PayloadOf[stick.TakeoverPayload](*took)
			res.Cause = p.Cause
			if took.To != "" {
				res.From = &took.To
			}
		}

		if committed, err = restore.DescribeTakeover(o.Op, why); err != nil {
			return err
		}

		res.Grant, err = grantOf(o.Tx, o.Probes, o.Room, o.Me, why, nil)
		return err
	})
	if err != nil {
		return res, err
	}

	e.completeGrant(ctx, res.Grant)

	// The turn is granted by now: it stands even if no copy can be made.
	e.core.KillPoint("before rescue")
	res.Rescue, res.RescueWhy = e.Guard.Restorer.RescueAfterTakeover(ctx, p.Where, committed)
	return res, nil
}

// completeHandoff checks a handoff, resolves its artifacts to paths in the workspace, and adds the state of
// the working tree if git answers in time. Where the workspace is gone it adds nothing.
func (e *Engine) completeHandoff(ctx context.Context, w core.Where, h stick.Handoff) (stick.Handoff, error) {
	// Git says what the tree is like, and not the caller.
	h.Workspace = nil
	if err := h.Check(); err != nil {
		return h, err
	}

	p, err := e.placeArtifacts(ctx, w, &h)
	if err != nil || core.IsGone(p.Root) {
		return h, err
	}

	h.Workspace = e.core.DescribeTree(ctx, p)
	return h, nil
}

// placeArtifacts resolves the artifacts of a handoff to paths in the workspace, and returns that. Where the
// workspace is gone, nobody can compare them with it, and they stay as they were given.
func (e *Engine) placeArtifacts(ctx context.Context, w core.Where, h *stick.Handoff) (*workspace.Place, error) {
	p, err := e.core.PlaceOf(ctx, w)
	if err != nil || core.IsGone(p.Root) {
		return p, err
	}

	tops := p.Worktrees()
	artifacts := make([]stick.Artifact, len(h.Artifacts))
	for i, a := range h.Artifacts {
		rel, err := workspace.RelPath(a.Path, p.Path, p.Root, tops)
		if err != nil {
			return p, stick.Errorf(stick.CodeInvalidHandoff,
				"artifact %q is outside the workspace %s", stick.Clip(a.Path, 120), p.Root).
				With("field", "artifacts").Hintf("name a file of the workspace or of one of its worktrees")
		}

		a.RoomPath = rel
		artifacts[i] = a
	}

	if len(artifacts) > 0 {
		h.Artifacts = artifacts
	}

	return p, nil
}
