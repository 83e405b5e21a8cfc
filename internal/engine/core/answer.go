package core

import (
	"cmp"
	"slices"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// How many rows of a list an operation returns.
const (
	DefaultRows = 50  // where the caller doesn't say
	MaxRows     = 500 // at most
)

// CheckLimit returns how many rows a caller gets that asks for limit, 0 for not saying. It fails with
// [stick.CodeUsage].
func CheckLimit(limit int) (int, error) {
	if limit < 0 || limit > MaxRows {
		return 0, stick.Errorf(stick.CodeUsage, "a limit must be between 1 and %d", MaxRows).With("field", "limit")
	}
	return cmp.Or(limit, DefaultRows), nil
}

// LastSeq returns the number of the last event, 0 for none.
func LastSeq(events []stick.Event) int64 {
	if len(events) == 0 {
		return 0
	}
	return events[len(events)-1].Seq
}

// JoinNotes joins the notes that aren't empty.
func JoinNotes(notes ...stick.Words) stick.Words {
	return stick.JoinWords(slices.DeleteFunc(notes, func(s stick.Words) bool { return s == "" }), "; ")
}

// OpenNotes selects notes that aren't resolved, about the room or the current turn (the next one if none is
// running).
func OpenNotes(r stick.Room) store.NoteQuery {
	q := store.NoteQuery{Room: r.ID, Open: true, Turn: r.Turn.ID}
	if r.Turn.State != stick.Owned {
		q.Turn++
	}
	return q
}
