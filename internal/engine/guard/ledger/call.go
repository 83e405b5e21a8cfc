package ledger

import (
	"time"

	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// What is kept of calls.
const (
	maxCalls    = 20_000 // of a room
	callsFor    = 14 * 24 * time.Hour
	forgetEvery = 500 // calls go by until old ones are forgotten
)

// MaxBeside is how many calls of others are looked at that ran beside one.
const MaxBeside = 200

// RecordCall writes a call down, and now and then forgets old ones.
func RecordCall(tx *store.Tx, room stick.RoomID, c *edits.Call) error {
	if err := tx.PutCall(room, c); err != nil || c.ID%forgetEvery != 0 {
		return err
	}
	return tx.ForgetCalls(room, tx.Now().Add(-callsFor), maxCalls)
}
