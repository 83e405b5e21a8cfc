package store

import "talkingstick/stick"

// Acceptance returns the last acceptance of a command of a project's settings in a clone; zero if there is
// none.
func (tx *Tx) Acceptance(room stick.RoomID, key, clone string) (a stick.Acceptance, err error) {
	ok, err := tx.queryOne("SELECT sum, agent_id, accepted_at FROM accepted_commands WHERE room_id = ? AND key = ?",
		[]any{room, acceptanceKey(key, clone)}, &a.Sum, &a.By, &a.At)
	if ok {
		a.Key = key
	}

	return a, err
}

// Accept records that a person has accepted a command of a project's settings in a clone.
func (tx *Tx) Accept(room stick.RoomID, clone string, a stick.Acceptance) error {
	return tx.execIn(room, `INSERT INTO accepted_commands (room_id, key, sum, agent_id, accepted_at)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (room_id, key) DO UPDATE
		SET sum = excluded.sum, agent_id = excluded.agent_id, accepted_at = excluded.accepted_at`,
		room, acceptanceKey(a.Key, clone), a.Sum, a.By, a.At)
}

// acceptanceKey is a key of the settings as the table has it: with the clone for which it counts. Rows with
// the key alone are those of earlier programs, which count nowhere else.
func acceptanceKey(key, clone string) string { return key + " in " + clone }
