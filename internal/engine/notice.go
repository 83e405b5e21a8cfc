package engine

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// TakeNoticesParams asks of which needs in a room the caller is to be told.
type TakeNoticesParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Keys []string `json:"keys"` // of the needs that there are
}

// TakeNoticesResult names the needs of which nobody has told the caller before.
type TakeNoticesResult struct {
	RoomID stick.RoomID `json:"room_id"`
	Keys   []string     `json:"keys"`
}

// TakeNotices records that the caller, a person, is told of needs. Whoever gets a key tells the person of
// that need, and nobody else does: not another program that watches beside it, and not the same one after it
// was started again. It is no activity of the caller. It fails with [stick.CodeNoRoom],
// [stick.CodePersonOnly] and [stick.CodeKicked]. See docs/decisions/screens-and-browser.md#notices.
func (e *Engine) TakeNotices(ctx context.Context, p TakeNoticesParams) (TakeNoticesResult, error) {
	var res TakeNoticesResult
	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMemberQuietly, func(o *op) (err error) {
		res = TakeNoticesResult{RoomID: o.Room.ID, Keys: []string{}}
		if !o.Me.Person() {
			return stick.Errorf(stick.CodePersonOnly, "only people are told what needs them").
				Hintf("see what waits for you: %s", stick.Cmd("tt state"))
		}

		fresh, err := o.Tx.TakeNotices(o.Room.ID, o.Me.Agent, p.Keys)
		res.Keys = append(res.Keys, fresh...)
		return err
	}, nil)
	return res, err
}
