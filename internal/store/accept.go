package store

import "talkingstick/stick"

// Acceptance returns the last acceptance of a command of a project's settings; zero if there is none.
func (tx *Tx) Acceptance(room stick.RoomID, key string) (a stick.Acceptance, err error) {
	_, err = tx.one("SELECT key, sum, agent_id, accepted_at FROM accepted_commands WHERE room_id = ? AND key = ?", []any{room, key}, &a.Key, &a.Sum, &a.By, &a.At)
	return a, err
}

// Accept records that a person has accepted a command of a project's settings.
func (tx *Tx) Accept(room stick.RoomID, a stick.Acceptance) error {
	return tx.execIn(room, `INSERT INTO accepted_commands (room_id, key, sum, agent_id, accepted_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (room_id, key) DO UPDATE SET sum = excluded.sum, agent_id = excluded.agent_id, accepted_at = excluded.accepted_at`,
		room, a.Key, a.Sum, a.By, a.At)
}
