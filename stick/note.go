package stick

import (
	"strings"
	"unicode/utf8"
)

// MaxNote is the largest note in bytes.
const MaxNote = 16 << 10

// Note is a durable annotation that can be resolved. Its id is the number of the event that added
// it.
type Note struct {
	ID         int64   `json:"note_id"`
	Author     AgentID `json:"author"`
	Turn       int64   `json:"turn_id,omitempty"` // the turn that it is about, 0 for the room
	Body       string  `json:"body"`
	CreatedAt  Time    `json:"created_at"`
	ResolvedAt Time    `json:"resolved_at"`
	ResolvedBy AgentID `json:"resolved_by,omitempty"`
}

// AddNote leaves a note in the room. One about the turn is for who holds the stick, or for the
// next holder when nobody does, and is over with that turn. It fails with [CodeUsage],
// [CodeMessageTooLarge] and [CodeRoomClosed].
func (r Room) AddNote(by AgentID, body string, aboutTurn bool) ([]Event, error) {
	switch {
	case r.Closed:
		return nil, r.errClosed()
	case !utf8.ValidString(body) || strings.ContainsRune(body, 0):
		return nil, badMessage("body", "the note holds bytes that aren't UTF-8 text")
	case strings.TrimSpace(body) == "":
		return nil, badMessage("body", "the note is empty")
	case len(body) > MaxNote:
		return nil, tooLarge("body", "the note", len(body), MaxNote)
	}
	p := NoteAddedPayload{Note: body}
	if aboutTurn {
		p.Turn = r.Turn.ID
		if r.Turn.State != Owned {
			p.Turn++
		}
	}
	return []Event{r.event(EventNoteAdded, by, "").with(p)}, nil
}

// ResolveNote notes that a note is dealt with. Resolving it again changes nothing.
func (r Room) ResolveNote(by AgentID, n Note) []Event {
	if !n.ResolvedAt.IsZero() {
		return nil
	}
	return []Event{r.event(EventNoteResolved, by, "").with(NoteResolvedPayload{NoteID: n.ID})}
}

// NoteOf is the note that an event added.
func NoteOf(e Event) Note {
	p, _ := PayloadOf[NoteAddedPayload](e)
	return p.of(e)
}

func (p NoteAddedPayload) of(e Event) Note {
	return Note{ID: e.Seq, Author: e.From, Turn: p.Turn, Body: p.Note, CreatedAt: e.CreatedAt}
}
