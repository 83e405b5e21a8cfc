package store

import "talkingstick/stick"

// TakeNotices records that a person is told of needs in a room, and returns the keys of those of which nobody
// has told it before. Of several that ask for the same at once, one gets it: the room is locked.
func (tx *Tx) TakeNotices(room stick.RoomID, a stick.AgentID, keys []string) (untold []string, err error) {
	if err := tx.lockRoom(room); err != nil {
		return nil, err
	}
	for _, key := range keys {
		n := 0
		if _, err := tx.queryOne("SELECT COUNT(*) FROM notices WHERE room_id = ? AND agent_id = ? AND key = ?", []any{room, a, key}, &n); err != nil {
			return nil, err
		}
		if n > 0 {
			continue
		}
		untold = append(untold, key)
		if err := tx.execIn(room, "INSERT INTO notices (room_id, agent_id, key, told_at) VALUES (?, ?, ?, ?) ON CONFLICT (room_id, agent_id, key) DO NOTHING", room, a, key, tx.Now()); err != nil {
			return nil, err
		}
	}
	return untold, nil
}
