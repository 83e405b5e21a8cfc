package engine

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// PauseRoomParams asks to pause a room.
type PauseRoomParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Reason string `json:"reason"`
}

// PauseRoomResult says how the room is paused now.
type PauseRoomResult struct {
	RoomID  stick.RoomID   `json:"room_id"`
	Path    string         `json:"canonical_path"`
	Paused  stick.Pause    `json:"paused"`
	Owner   *stick.AgentID `json:"current_owner"`     // it keeps the stick
	Already bool           `json:"already,omitempty"` // it was paused for this reason
}

// PauseRoom pauses a room, as a person: see [stick.Room.Pause]. It makes no room where there is none: the
// caller may be at the wrong place, and would believe that its agents have stopped. It fails with
// [stick.CodeNoRoom], [stick.CodePersonOnly], [stick.CodeUsage], [stick.CodeRoomClosed] and
// [stick.CodeKicked].
func (e *Engine) PauseRoom(ctx context.Context, p PauseRoomParams) (PauseRoomResult, error) {
	var res PauseRoomResult
	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		o.Settle()

		r, events, err := o.Room.Pause(o.Me.Agent, o.Me.Person(), p.Reason, o.Tx.Now())
		o.Apply(r, events)
		res = PauseRoomResult{RoomID: r.ID, Path: r.Path, Paused: r.Paused, Already: len(events) == 0}

		if r.Turn.State == stick.Owned {
			res.Owner = &r.Turn.Owner
		}

		return err
	}, nil)
	return res, err
}

// ResumeRoomParams asks to end the pause of a room.
type ResumeRoomParams struct {
	Caller core.Caller `json:"-"`
	core.Where
}

// ResumeRoomResult says who has the stick now that the room goes on.
type ResumeRoomResult struct {
	RoomID      stick.RoomID   `json:"room_id"`
	Path        string         `json:"canonical_path"`
	Paused      *stick.Pause   `json:"was_paused"` // the pause that ended; null if there was none
	Owner       *stick.AgentID `json:"current_owner"`
	ReservedFor *stick.AgentID `json:"reserved_for"`
	Already     bool           `json:"already,omitempty"` // it wasn't paused
}

// ResumeRoom ends the pause of a room, as a person: see [stick.Room.Resume]. It fails with
// [stick.CodeNoRoom], [stick.CodePersonOnly], [stick.CodeRoomClosed] and [stick.CodeKicked].
func (e *Engine) ResumeRoom(ctx context.Context, p ResumeRoomParams) (ResumeRoomResult, error) {
	var res ResumeRoomResult
	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		was := o.Room.Paused
		r, events, err := o.Room.Resume(o.Me.Agent, o.Me.Person(), o.Probes.Probed, o.Tx.Now())
		if err != nil {
			return err
		}

		o.Apply(r, events)

		// Who died in the pause is seen now.
		o.Settle()

		res = ResumeRoomResult{RoomID: r.ID, Path: r.Path, Already: !was.On()}
		if was.On() {
			res.Paused = &was
		}

		return nil
	}, func(o *op) error {
		switch t := o.Room.Turn; t.State {
		case stick.Owned:
			res.Owner = &t.Owner
		case stick.Reserved:
			res.ReservedFor = &t.ReservedFor
		}

		return nil
	})
	return res, err
}
