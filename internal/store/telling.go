package store

import "talkingstick/stick"

// PutTelling writes down what a call of an agent is going to do to work of others, until it has ended. The
// same call again replaces it.
func (tx *Tx) PutTelling(room stick.RoomID, a stick.AgentID, call, plan string) error {
	return tx.execIn(room, `INSERT INTO tellings (room_id, agent_id, call_sum, plan, made_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (room_id, agent_id, call_sum) DO UPDATE SET plan = excluded.plan, made_at = excluded.made_at`,
		room, a, call, plan, tx.Now())
}

// Tellings returns what was written down of a call that has ended, by the rooms.
func (tx *Tx) Tellings(a stick.AgentID, call string) (map[stick.RoomID]string, error) {
	plans := map[stick.RoomID]string{}
	query := "SELECT room_id, plan FROM tellings WHERE agent_id = ? AND call_sum = ? ORDER BY room_id"
	err := tx.scan(query, []any{a, call}, func(scan rowScan) error {
		var room stick.RoomID
		var plan string
		err := scan(&room, &plan)
		plans[room] = plan
		return err
	})

	return plans, err
}

// DropTelling forgets what was written down of a call in a room, and of those in it that began before a time:
// nobody has seen their ends.
func (tx *Tx) DropTelling(room stick.RoomID, a stick.AgentID, call string, before stick.Time) error {
	return tx.execIn(room, `DELETE FROM tellings
		WHERE room_id = ? AND (agent_id = ? AND call_sum = ? OR made_at < ?)`,
		room, a, call, before)
}
