package stick

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

// NoteFrom returns the note that the event e added.
func (p NoteAddedPayload) NoteFrom(e Event) Note {
	return Note{ID: e.Seq, Author: e.From, Turn: p.Turn, Body: p.Note, CreatedAt: e.CreatedAt}
}
