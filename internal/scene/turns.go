package scene

import (
	"context"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// Handoff returns a handoff with only the required fields.
func Handoff(status, next string) stick.Handoff {
	return stick.Handoff{Status: status, NextAction: next}
}

// WaitForTurn is the operation of that name. It also records that the events of the answer were delivered.
func (a *Actor) WaitForTurn(p engine.WaitForTurnParams) Asked {
	a.Helper()

	x := a.askTurn(a.Context(), p)
	if x.Err == nil {
		if err := a.Engine.RecordShown(a.Context(), x.Res); err != nil {
			a.failStory("recording the delivery to %s: %v", a.Name, err)
		}
	}
	return x
}

// askTurn calls WaitForTurn without recording the delivery. It builds an actor for the answer, because the wait
// may run in another goroutine.
func (a *Actor) askTurn(ctx context.Context, p engine.WaitForTurnParams) Asked {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	asker := &Actor{Scene: a.Scene, Name: a.Name}
	return Asked{runOperation(asker, "WaitForTurn", func(_ context.Context, p engine.WaitForTurnParams) (engine.WaitForTurnResult, error) {
		return a.Engine.WaitForTurn(ctx, p)
	}, p)}
}

// Try asks once for the turn.
func (a *Actor) Try() Asked {
	a.Helper()
	return a.WaitForTurn(engine.WaitForTurnParams{MaxWaitMS: new(int64)})
}

// Looks asks once for events, and not for the turn.
func (a *Actor) Looks() Asked {
	a.Helper()
	return a.WaitForTurn(engine.WaitForTurnParams{MaxWaitMS: new(int64), Park: true})
}

// Release ends the turn with a handoff.
func (a *Actor) Release(status, next string) Released {
	return Released{a.ReleaseStick(engine.ReleaseStickParams{Handoff: Handoff(status, next)})}
}

// ReleaseOf ends the turn that a fence names.
func (a *Actor) ReleaseOf(f engine.Fence, status, next string) Released {
	return Released{a.ReleaseStick(engine.ReleaseStickParams{Fence: f, Handoff: Handoff(status, next)})}
}

// Pass ends the turn and reserves the stick for to.
func (a *Actor) Pass(to *Actor, status, next string) Answer[engine.PassStickResult] {
	return a.PassStick(engine.PassStickParams{To: to.ID, Handoff: Handoff(status, next)})
}

// Take takes the stick over.
func (a *Actor) Take(reason string) Took {
	return Took{a.TakeoverStick(engine.TakeoverStickParams{Reason: reason})}
}

// Fence returns the fence of a grant.
func (x Asked) Fence() engine.Fence {
	x.by.Helper()
	g := x.Is(stick.YourTurn).Res.Grant
	return engine.Fence{Turn: g.TurnID, Lease: g.LeaseID}
}

// Join joins the room.
func (a *Actor) Join() Answer[engine.JoinPathResult] { return a.JoinPath(engine.JoinPathParams{}) }

// Joins lets actors join the room, and expects that none is refused.
func (s *Scene) Joins(actors ...*Actor) {
	s.Helper()
	for _, a := range actors {
		a.Join().OK()
	}
}

// State returns the state of the room as the actor sees it.
func (a *Actor) State() engine.GetRoomStateResult {
	a.Helper()
	return a.GetRoomState(engine.GetRoomStateParams{}).OK()
}

// Sees expects this state of the room.
func (a *Actor) Sees(want stick.RoomState) engine.GetRoomStateResult {
	a.Helper()
	v := a.State()
	if v.State != want {
		a.failStory("%s sees the room %s, want %s", a.Name, v.State, want)
	}
	return v
}

// Sets changes the policy of the room.
func (a *Actor) Sets(policy ...string) Answer[engine.SetRoomPolicyResult] {
	return a.SetRoomPolicy(engine.SetRoomPolicyParams{Set: policy})
}

// Leave leaves the room.
func (a *Actor) Leave() Answer[engine.LeaveRoomResult] { return a.LeaveRoom(engine.LeaveRoomParams{}) }

// Abandon leaves the room and abandons the turn.
func (a *Actor) Abandon(why string) Answer[engine.LeaveRoomResult] {
	return a.LeaveRoom(engine.LeaveRoomParams{Abandon: why})
}

// Kick removes a member that is gone.
func (a *Actor) Kick(who *Actor) Answer[engine.KickMemberResult] {
	return a.KickMember(engine.KickMemberParams{AgentID: who.ID, Reason: "it is gone"})
}

// KickAnyway removes a member that may still be there.
func (a *Actor) KickAnyway(who *Actor) Answer[engine.KickMemberResult] {
	return a.KickMember(engine.KickMemberParams{AgentID: who.ID, Force: true, Reason: "asked to"})
}

// ByID names the room of the workspace by its id.
func (s *Scene) ByID() core.Where {
	s.Helper()
	return core.Where{RoomID: s.Room().ID}
}
