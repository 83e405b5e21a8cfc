package store

import (
	"cmp"
	"strings"

	"talkingstick/stick"
	"talkingstick/stick/talk"
)

// putNote stores what an event changes about a note.
func (tx *Tx) putNote(e stick.Event) error {
	switch e.Type {
	case stick.EventNoteAdded:
		n := talk.NoteOf(e)
		args, err := noteTable().insertArgs(&n, e.Room)
		if err != nil {
			return err
		}
		return tx.exec(noteTable().insert, args...)
	case stick.EventNoteResolved:
		p, _ := stick.PayloadOf[stick.NoteResolvedPayload](e)
		return tx.exec("UPDATE notes SET resolved_at = ?, resolved_by = ? WHERE event_seq = ? AND resolved_at = 0",
			e.CreatedAt, e.From, p.NoteID)
	}

	return nil
}

// NoteQuery selects notes of a room.
type NoteQuery struct {
	Room  stick.RoomID
	ID    int64 // this one, 0 for all
	Open  bool  // only those that aren't resolved, and of those about a turn only the ones about Turn
	Turn  int64
	Limit int
}

// Notes returns the newest notes up to the limit, the oldest of them first, and whether there are
// more.
func (tx *Tx) Notes(q NoteQuery) (notes []stick.Note, more bool, err error) {
	where, args := q.whereClause()
	text := "SELECT " + noteTable().names + " FROM notes WHERE " +
		where + " ORDER BY event_seq DESC LIMIT ?"
	err = tx.scan(text, append(args, q.Limit+1), func(scan rowScan) error {
		var n stick.Note
		err := noteTable().read(scan, &n)
		notes = append(notes, n)
		return err
	})
	if err != nil {
		return nil, false, err
	}

	return boundRows(notes, q.Limit, true)
}

// CountNotes counts how many notes a query selects, whatever its limit.
func (tx *Tx) CountNotes(q NoteQuery) (n int, err error) {
	err = cmp.Or(tx.LaterCountNotes(q, &n), tx.fetchLater())
	return n, err
}

// LaterCountNotes is [Tx.CountNotes] for a caller that doesn't need the count before the next query.
func (tx *Tx) LaterCountNotes(q NoteQuery, n *int) error {
	where, args := q.whereClause()
	return tx.scanLater("SELECT COUNT(*) FROM notes WHERE "+where, args, func(scan rowScan) error { return scan(n) })
}

func (q NoteQuery) whereClause() (string, []any) {
	where, args := []string{"room_id = ?"}, []any{q.Room}
	if q.ID != 0 {
		where, args = append(where, "event_seq = ?"), append(args, q.ID)
	}
	if q.Open {
		where, args = append(where, "resolved_at = 0", "(turn_id = 0 OR turn_id = ?)"), append(args, q.Turn)
	}

	return strings.Join(where, " AND "), args
}
