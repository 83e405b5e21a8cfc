package engine

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/talk"
)

// AddNoteParams asks to leave a note.
type AddNoteParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Body      string `json:"body"`
	AboutTurn bool   `json:"about_turn,omitempty"` // it is for this turn, or for the next if none is running
}

// AddNoteResult is the new note.
type AddNoteResult struct {
	RoomID stick.RoomID `json:"room_id"`
	stick.Note
}

// AddNote leaves a note for other members and later turns. It fails with [stick.CodeUnknownMember],
// [stick.CodeUsage], [stick.CodeMessageTooLarge] and [stick.CodeRoomClosed].
func (e *Engine) AddNote(ctx context.Context, p AddNoteParams) (AddNoteResult, error) {
	var res AddNoteResult
	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		o.Settle()
		if err := o.RequireMember(); err != nil && !o.Me.Person() {
			return err
		}

		events, err := talk.AddNote(o.Room, o.Me.Agent, p.Body, p.AboutTurn)
		o.Apply(o.Room, events)
		return err
	}, func(o *op) error {
		res = AddNoteResult{RoomID: o.Room.ID, Note: talk.NoteOf(*o.LastEvent(stick.EventNoteAdded))}
		return nil
	})
	return res, err
}

// ListNotesParams asks for notes.
type ListNotesParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	All   bool `json:"all,omitempty"`   // also resolved ones, and those about other turns
	Limit int  `json:"limit,omitempty"` // 0 for 50, at most 500
}

// ListNotesResult lists notes, the oldest first.
type ListNotesResult struct {
	RoomID stick.RoomID `json:"room_id"`
	Notes  []stick.Note `json:"notes"`
	More   bool         `json:"more,omitempty"` // older ones are hidden
}

// ListNotes lists the notes of a room that aren't resolved. It writes nothing. It fails with
// [stick.CodeNoRoom] and [stick.CodeUsage].
func (e *Engine) ListNotes(ctx context.Context, p ListNotesParams) (ListNotesResult, error) {
	var res ListNotesResult
	limit, err := core.CheckLimit(p.Limit)
	if err != nil {
		return res, err
	}

	err = e.core.Read(ctx, p.Where, p.Caller, func(
		tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity,
	) error {
		q := core.OpenNotes(r)
		q.Open, q.Limit = !p.All, limit
		notes, more, err := tx.Notes(q)
		res = ListNotesResult{RoomID: r.ID, Notes: append([]stick.Note{}, notes...), More: more}
		return err
	})
	return res, err
}

// ResolveNoteParams names a note that needs no more attention.
type ResolveNoteParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	NoteID int64 `json:"note_id"`
}

// ResolveNoteResult is the note, resolved.
type ResolveNoteResult struct {
	RoomID stick.RoomID `json:"room_id"`
	stick.Note
	Already bool `json:"already,omitempty"`
}

// ResolveNote resolves a note. Any member may. Repeated, it returns its first result. It fails with
// [stick.CodeUnknownMember] and [stick.CodeNotFound].
func (e *Engine) ResolveNote(ctx context.Context, p ResolveNoteParams) (ResolveNoteResult, error) {
	var res ResolveNoteResult
	err := e.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		o.Settle()
		if err := o.RequireMember(); err != nil && !o.Me.Person() {
			return err
		}

		notes, _, err := o.Tx.Notes(store.NoteQuery{Room: o.Room.ID, ID: p.NoteID, Limit: 1})
		if err != nil {
			return err
		}
		if len(notes) == 0 || p.NoteID == 0 {
			return stick.Errorf(stick.CodeNotFound, "there is no note %d in this room", p.NoteID).
				With("note_id", p.NoteID).
				Hintf("see the notes: %s", stick.Cmd("tt notes list"))
		}

		events := talk.ResolveNote(o.Room, o.Me.Agent, notes[0])
		o.Apply(o.Room, events)
		res = ResolveNoteResult{RoomID: o.Room.ID, Note: notes[0], Already: len(events) == 0}
		return nil
	}, func(o *op) error {
		if resolved := o.LastEvent(stick.EventNoteResolved); resolved != nil {
			res.ResolvedAt, res.ResolvedBy = resolved.CreatedAt, resolved.From
		}
		return nil
	})
	return res, err
}
