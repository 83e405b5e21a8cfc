package store

import "talkingstick/stick"

// TakeNotices records that a person is told of needs in a room, and returns the keys of those of which nobody
// has told it before. Of several that ask for the same at once, one gets it: the room is locked.
func (tx *Tx) TakeNotices(room stick.RoomID, a stick.AgentID, keys []string) (newKeys []string, err error) {
	if err := tx.lockRoom(room); err != nil {
		return nil, err
	}

	for _, key := range keys {
		n := 0
		query := "SELECT COUNT(*) FROM notices WHERE room_id = ? AND agent_id = ? AND key = ?"
		if _, err := tx.queryOne(query, []any{room, a, key}, &n); err != nil {
			return nil, err
		}
		if n > 0 {
			continue
		}

		newKeys = append(newKeys, key)
		query = `INSERT INTO notices (room_id, agent_id, key, told_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (room_id, agent_id, key) DO NOTHING`
		if err := tx.execIn(room, query, room, a, key, tx.Now()); err != nil {
			return nil, err
		}
	}

	return newKeys, nil
}
