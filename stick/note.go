package stick

import (
	"strings"
)

// MaxNote is the largest note in bytes.
const MaxNote = 16 << 10

// Note is a durable annotation that can be resolved.
type Note struct {
	ID         int64   `json:"note_id"` // the number of the event that added it
	Author     AgentID `json:"author"`
	Turn       int64   `json:"turn_id,omitempty"` // the turn that it is about, 0 if it is about the room
	Body       string  `json:"body"`
	CreatedAt  Time    `json:"created_at"`
	ResolvedAt Time    `json:"resolved_at"`
	ResolvedBy AgentID `json:"resolved_by,omitempty"`
}

// AddNote leaves a note in the room. A note about the turn is for the holder of the stick, or for the next
// holder if nobody has it, and no longer counts after that turn. It fails with [CodeUsage],
// [CodeMessageTooLarge] and [CodeRoomClosed].
func (r Room) AddNote(by AgentID, body string, aboutTurn bool) ([]Event, error) {
	switch bad := notText(body); {
	case r.Closed:
		return nil, r.errClosed()
	case bad != "":
		return nil, badMessage("body", "the note holds %s", bad)
	case strings.TrimSpace(body) == "":
		return nil, badMessage("body", "the note is empty")
	case isLeftBlank(body):
		return nil, badMessage("body", "the note is the blank of a printed command: %s", strings.TrimSpace(body))
	case len(body) > MaxNote:
		return nil, tooLarge("body", "the note", len(body), MaxNote)
	}
	p := NoteAddedPayload{Note: body}
	if aboutTurn {
		p.Turn = r.Turn.ID

		// Nobody has the turn: the note is for whoever gets the next one.
		if r.Turn.State != Owned {
			p.Turn++
		}
	}

	return []Event{r.newEvent(EventNoteAdded, by, "").withPayload(p)}, nil
}

// ResolveNote marks a note as dealt with. A second time makes no event.
func (r Room) ResolveNote(by AgentID, n Note) []Event {
	if !n.ResolvedAt.IsZero() {
		return nil
	}
	return []Event{r.newEvent(EventNoteResolved, by, "").withPayload(NoteResolvedPayload{NoteID: n.ID})}
}

// NoteOf returns the note that an event of type [EventNoteAdded] added.
func NoteOf(e Event) Note {
	p, _ := PayloadOf[NoteAddedPayload](e)
	return p.noteFrom(e)
}

func (p NoteAddedPayload) noteFrom(e Event) Note {
	return Note{ID: e.Seq, Author: e.From, Turn: p.Turn, Body: p.Note, CreatedAt: e.CreatedAt}
}
