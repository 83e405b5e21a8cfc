package core

import (
	"slices"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// How many rows of a list an operation returns.
const (
	DefaultRows = 50  // where the caller doesn't say
	MaxRows     = 500 // at most
)

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
