package engine

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/talk"
)

// SaveDraftParams asks to keep a draft of the caller's handoff.
type SaveDraftParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Fence
	Text    string         `json:"text,omitempty"`
	Handoff *stick.Handoff `json:"handoff,omitempty"` // as much of it as is known
}

// SaveDraftResult says that the turn has the draft. It doesn't repeat the text, which the caller has just
// written.
type SaveDraftResult struct {
	RoomID  stick.RoomID `json:"room_id"`
	Turn    int64        `json:"turn_id"`
	SavedAt stick.Time   `json:"saved_at"`
	Size    int          `json:"size"` // in bytes
	Already bool         `json:"already,omitempty"`
}

// SaveDraft keeps a draft of the caller's handoff with its turn, in place of an earlier one. The next holder
// gets it if the turn ends without a handoff. Repeated, it returns its first result. It fails with
// [stick.CodeInvalidHandoff], [stick.CodeTurnMismatch], [stick.CodeStaleLease] and [stick.CodeNotYourTurn].
// See docs/decisions/handoffs.md.
func (e *Engine) SaveDraft(ctx context.Context, p SaveDraftParams) (SaveDraftResult, error) {
	var res SaveDraftResult
	d := stick.Draft{Text: p.Text, Handoff: p.Handoff}
	if err := d.Check(); err != nil {
		return res, err
	}

	p.Where = e.core.Located(p.Where)
	if d.Handoff != nil {
		h := *d.Handoff

		// A draft says nothing of the tree: it is read when the tree has moved on.
		h.Workspace = nil
		if _, err := e.placeArtifacts(ctx, p.Where, &h); err != nil {
			return res, err
		}
		d.Handoff = &h
	}

	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		f, err := o.ownFence(p.Fence.stickFence())
		if err != nil {
			return err
		}

		// This refuses a turn that has ended, and says how it ended.
		if _, err := o.endingEvent(f, turnEnding{}); err != nil {
			return err
		}

		last, err := o.draftOf(o.Room.Turn.ID)
		if err != nil {
			return err
		}

		saved, events, err := talk.SaveDraft(o.Room, o.Me.Agent, f, d, last, o.Tx.Now())
		if err != nil {
			return err
		}

		res = SaveDraftResult{
			RoomID: o.Room.ID, Turn: saved.Turn, SavedAt: saved.SavedAt, Size: saved.Size(), Already: len(events) == 0,
		}
		if res.Already {
			return nil
		}

		o.Apply(o.Room, events)
		return o.Tx.PutDraft(o.Room.ID, saved)
	}, nil)
	return res, err
}

// draftOf returns the draft of a turn, or nil.
func (o *op) draftOf(turn int64) (*stick.Draft, error) { return draftOf(o.Tx, o.Room.ID, turn) }

func draftOf(tx *store.Tx, room stick.RoomID, turn int64) (*stick.Draft, error) {
	drafts, err := tx.Drafts(room)
	if i := slices.IndexFunc(drafts, func(d stick.Draft) bool { return d.Turn == turn }); i >= 0 {
		return &drafts[i], err
	}
	return nil, err
}

// earlierDrafts returns the drafts of turns before the current one that ended without a handoff, the newest
// first.
func earlierDrafts(tx *store.Tx, r stick.Room) ([]stick.Draft, error) {
	drafts, err := tx.Drafts(r.ID)
	return slices.DeleteFunc(drafts, func(d stick.Draft) bool { return d.Turn >= r.Turn.ID }), err
}

// leftDraft returns the newest draft that the next grant brings, or that the caller's brought. It returns nil
// while somebody else holds the stick from whom it can't be taken over.
func (e *Engine) leftDraft(o *core.Op) (*stick.Draft, error) {
	last := o.Room.Turn.ID
	switch {
	case o.HoldsStick():
		// The caller's own turn is still running, so an earlier one left the draft.
		last--
	case o.Room.Turn.State == stick.Owned && openTakeover(o.Room, o.Probes, o.Tx.Now()) == nil:
		return nil, nil
	}

	drafts, err := o.Tx.Drafts(o.Room.ID)
	if i := slices.IndexFunc(drafts, func(d stick.Draft) bool { return d.Turn <= last }); i >= 0 {
		return &drafts[i], err
	}
	return nil, err
}

// AskDraft asks the caller for a draft of its handoff, once a turn, if it holds the stick and has saved none.
// It runs when the harness is about to summarize the conversation. The caller learns of it like of any event
// for it: no harness lets this hook itself speak to the model.
func (e *Engine) AskDraft(ctx context.Context, p core.HookParams) (AskDraftResult, error) {
	var res AskDraftResult
	err := e.runHookOp(ctx, p, true, func(o *op) error {
		res = AskDraftResult{}
		if !o.HoldsStick() {
			return nil
		}

		res = AskDraftResult{RoomID: o.Room.ID, TurnID: o.Room.Turn.ID}

		// Once a turn is enough.
		asked, _, err := o.Tx.Events(store.EventQuery{
			Room: o.Room.ID, Turn: o.Room.Turn.ID, Types: []stick.EventType{stick.EventDraftAsked}, Limit: 1,
		})
		if err != nil || len(asked) > 0 {
			return err
		}

		// Whoever has saved a draft needn't be asked.
		if saved, err := o.draftOf(o.Room.Turn.ID); err != nil || saved != nil {
			return err
		}

		res.Asked = true
		o.Apply(o.Room, talk.AskDraft(o.Room, o.Me.Agent))
		return nil
	})
	return res, err
}

// AskDraftResult says whether the caller was asked for a draft.
type AskDraftResult struct {
	RoomID stick.RoomID `json:"room_id,omitempty"` // empty if the caller doesn't hold the stick
	TurnID int64        `json:"turn_id,omitempty"`
	Asked  bool         `json:"asked"`
}
