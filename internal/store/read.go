package store

import (
	"slices"
	"unicode/utf8"

	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// ReadQuery selects what an agent, or one of its sub-agents, has seen of files in a checkout.
type ReadQuery struct {
	Room     stick.RoomID
	Agent    stick.AgentID
	Helper   string // empty for the agent itself
	Checkout string
	Paths    []string
}

// Reads returns what is noted, by the paths.
func (tx *Tx) Reads(q ReadQuery) (out []edits.NotedRead, err error) {
	for chunk := range slices.Chunk(q.Paths, maxMarks) {
		marks, args := placeholders(chunk)
		err := tx.scan(`SELECT `+readTable().names+` FROM reads
			WHERE room_id = ? AND agent_id = ? AND helper = ? AND checkout = ? AND path IN (`+marks+") ORDER BY path",
			slices.Concat([]any{q.Room, q.Agent, q.Helper, tx.onHost(q.Checkout)}, args), func(scan rowScan) error {
				var n edits.NotedRead
				err := readTable().read(scan, &n)
				out = append(out, n)
				return err
			})
		if err != nil {
			return nil, err
		}
	}

	return out, nil
}

// HasOtherReads reports whether anything is noted of another sub-agent of the agent than that one, or of the
// agent itself.
func (tx *Tx) HasOtherReads(room stick.RoomID, agent stick.AgentID, helper string) (yes bool, err error) {
	var path string
	return tx.queryOne(`SELECT path FROM reads WHERE room_id = ? AND agent_id = ? AND helper <> ?
		ORDER BY helper LIMIT 1`,
		[]any{room, agent, helper}, &path)
}

// PutReads notes what agents have seen of files in a checkout. It leaves out a path that isn't text, of which
// nothing can be noted.
func (tx *Tx) PutReads(room stick.RoomID, checkout string, reads []edits.NotedRead) error {
	for _, n := range reads {
		// A path in another encoding can't be a text of the database.
		if !utf8.ValidString(n.Path) {
			continue
		}

		args, err := readTable().insertArgs(&n, room, tx.onHost(checkout))
		if err == nil {
			err = tx.execIn(room, readTable().upsert, args...)
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// BoundReads forgets what the agent has seen beyond the newest most, and what anybody in the room has seen
// before a time.
func (tx *Tx) BoundReads(room stick.RoomID, agent stick.AgentID, most int, before stick.Time) error {
	if err := tx.lockRoom(room); err != nil {
		return err
	}

	var last stick.Time // of the newest that goes
	query := "SELECT read_at FROM reads WHERE room_id = ? AND agent_id = ? ORDER BY read_at DESC LIMIT 1 OFFSET ?"
	if _, err := tx.queryOne(query, []any{room, agent, most}, &last); err != nil {
		return err
	}

	return tx.exec("DELETE FROM reads WHERE room_id = ? AND (read_at < ? OR agent_id = ? AND read_at <= ?)",
		room, before, agent, last)
}

// ForgetReads forgets what an agent and its sub-agents have seen.
func (tx *Tx) ForgetReads(room stick.RoomID, agent stick.AgentID) error {
	return tx.execIn(room, "DELETE FROM reads WHERE room_id = ? AND agent_id = ?", room, agent)
}
