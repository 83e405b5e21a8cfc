package store

import (
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// Acceptance returns the last acceptance of a command of a project's settings in a clone; zero if there is
// none.
func (tx *Tx) Acceptance(room stick.RoomID, key, clone string) (a tasks.Acceptance, err error) {
	query := "SELECT " + acceptanceTable().names + " FROM accepted_commands WHERE room_id = ? AND key = ?"
	ok, err := acceptanceTable().readOne(tx, query, []any{room, acceptanceKey(key, clone)}, &a)
	if ok {
		a.Key = key
	}

	return a, err
}

// Accept records that a person has accepted a command of a project's settings in a clone.
func (tx *Tx) Accept(room stick.RoomID, clone string, a tasks.Acceptance) error {
	args, err := acceptanceTable().insertArgs(&a, room, acceptanceKey(a.Key, clone))
	if err != nil {
		return err
	}
	return tx.execIn(room, acceptanceTable().upsert, args...)
}

// acceptanceKey is a key of the settings as the table has it: with the clone for which it counts. Rows with
// the key alone are those of earlier programs, which count nowhere else.
func acceptanceKey(key, clone string) string { return key + " in " + clone }
