package talk

import (
	"strings"

	"talkingstick/stick"
)

// MaxNote is the largest note in bytes.
const MaxNote = 16 << 10

// AddNote leaves a note in the room. A note about the turn is for the holder of the stick, or for the next
// holder if nobody has it, and no longer counts after that turn. It fails with [stick.CodeUsage],
// [stick.CodeMessageTooLarge] and [stick.CodeRoomClosed].
func AddNote(r stick.Room, by stick.AgentID, body string, aboutTurn bool) ([]stick.Event, error) {
	switch bad := stick.NotText(body); {
	case r.Closed:
		return nil, r.ErrClosed()
	case bad != "":
		return nil, stick.BadMessage("body", "the note holds %s", bad)
	case strings.TrimSpace(body) == "":
		return nil, stick.BadMessage("body", "the note is empty")
	case stick.IsLeftBlank(body):
		return nil, stick.BadMessage("body", "the note is still a placeholder: %s", strings.TrimSpace(body))
	case len(body) > MaxNote:
		return nil, stick.TooLarge("body", "the note", len(body), MaxNote)
	}
	p := stick.NoteAddedPayload{Note: body}
	if aboutTurn {
		p.Turn = r.Turn.ID

		// Nobody has the turn: the note is for whoever gets the next one.
		if r.Turn.State != stick.Owned {
			p.Turn++
		}
	}

	return []stick.Event{r.NewEvent(stick.EventNoteAdded, by, "").WithPayload(p)}, nil
}

// ResolveNote marks a note as dealt with. A second time makes no event.
func ResolveNote(r stick.Room, by stick.AgentID, n stick.Note) []stick.Event {
	if !n.ResolvedAt.IsZero() {
		return nil
	}
	return []stick.Event{r.NewEvent(stick.EventNoteResolved, by, "").
		WithPayload(stick.NoteResolvedPayload{NoteID: n.ID})}
}

// NoteOf returns the note that an event of type [stick.EventNoteAdded] added.
func NoteOf(e stick.Event) stick.Note {
	p, _ := stick.PayloadOf[stick.NoteAddedPayload](e)
	return p.NoteFrom(e)
}
