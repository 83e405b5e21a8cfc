package engine

import (
	"context"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// AddNoteParams asks to leave a note.
type AddNoteParams struct {
	Caller Caller `json:"-"`
	Where
	Body      string `json:"body"`
	AboutTurn bool   `json:"about_turn,omitempty"` // it is for this turn, or for the next where none runs
}

// AddNoteResult is the note.
type AddNoteResult struct {
	RoomID stick.RoomID `json:"room_id"`
	stick.Note
}

// AddNote leaves a note for those who come. It fails with [stick.CodeUnknownMember],
// [stick.CodeUsage], [stick.CodeMessageTooLarge] and [stick.CodeRoomClosed].
func (e *Engine) AddNote(ctx context.Context, p AddNoteParams) (AddNoteResult, error) {
	var res AddNoteResult
	err := e.act(ctx, p.Where, p.Caller, mustBeMember, func(t *turn) error {
		t.settle()
		if err := t.member(); err != nil && !t.me.person() {
			return err
		}
		events, err := t.room.AddNote(t.me.Agent, p.Body, p.AboutTurn)
		t.add(t.room, events)
		return err
	}, func(t *turn) error {
		res = AddNoteResult{RoomID: t.room.ID, Note: stick.NoteOf(*t.last(stick.EventNoteAdded))}
		return nil
	})
	return res, err
}

// ListNotesParams asks for notes.
type ListNotesParams struct {
	Caller Caller `json:"-"`
	Where
	All   bool `json:"all,omitempty"`   // resolved ones, and those about other turns, too
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
	switch {
	case p.Limit < 0 || p.Limit > maxEvents:
		return res, stick.Errorf(stick.CodeUsage, "a limit lies between 1 and %d", maxEvents).With("field", "limit")
	case p.Limit == 0:
		p.Limit = defaultEvents
	}
	err := e.look(ctx, p.Where, p.Caller, func(tx *store.Tx, _ *sights, r stick.Room, _ identity) error {
		q := openNotes(r)
		q.Open, q.Limit = !p.All, p.Limit
		notes, more, err := tx.Notes(q)
		res = ListNotesResult{RoomID: r.ID, Notes: append([]stick.Note{}, notes...), More: more}
		return err
	})
	return res, err
}

// openNotes selects what isn't resolved and is about the room or the current turn.
func openNotes(r stick.Room) store.NoteQuery {
	q := store.NoteQuery{Room: r.ID, Open: true, Turn: r.Turn.ID}
	if r.Turn.State != stick.Owned {
		q.Turn++
	}
	return q
}

// ResolveNoteParams names a note that is dealt with.
type ResolveNoteParams struct {
	Caller Caller `json:"-"`
	Where
	NoteID int64 `json:"note_id"`
}

// ResolveNoteResult is the note as it stands.
type ResolveNoteResult struct {
	RoomID stick.RoomID `json:"room_id"`
	stick.Note
	Already bool `json:"already,omitempty"`
}

// ResolveNote notes that a note is dealt with; any member may. Repeated, it answers its first
// result. It fails with [stick.CodeUnknownMember] and [stick.CodeNotFound].
func (e *Engine) ResolveNote(ctx context.Context, p ResolveNoteParams) (ResolveNoteResult, error) {
	var res ResolveNoteResult
	err := e.act(ctx, p.Where, p.Caller, mustBeMember, func(t *turn) error {
		t.settle()
		if err := t.member(); err != nil && !t.me.person() {
			return err
		}
		notes, _, err := t.tx.Notes(store.NoteQuery{Room: t.room.ID, ID: p.NoteID, Limit: 1})
		if err != nil {
			return err
		}
		if len(notes) == 0 || p.NoteID == 0 {
			return stick.Errorf(stick.CodeNotFound, "there is no note %d in this room", p.NoteID).With("note_id", p.NoteID).
				Hintf("tt notes list")
		}
		events := t.room.ResolveNote(t.me.Agent, notes[0])
		t.add(t.room, events)
		res = ResolveNoteResult{RoomID: t.room.ID, Note: notes[0], Already: len(events) == 0}
		return nil
	}, func(t *turn) error {
		if resolved := t.last(stick.EventNoteResolved); resolved != nil {
			res.ResolvedAt, res.ResolvedBy = resolved.CreatedAt, resolved.From
		}
		return nil
	})
	return res, err
}
