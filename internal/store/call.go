package store

import (
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// CallQuery selects calls of a room.
type CallQuery struct {
	Room     stick.RoomID  // empty for all rooms of an agent
	Checkout string        // empty for all of this host
	Agent    stick.AgentID // empty for all; not where Room is
	ID       int64         // 0 for all
	Changed  bool          // only those that have changed something
	Since    stick.Time    // only those of the room and checkout that ran then or later
	Until    stick.Time    // only those that ran then or earlier; 0 for any time
	Open     bool          // only those without an end that began within [edits.LongestCall]
	Late     bool          // only those of the room and checkout that are late, see [edits.Call]
	Limit    int
}

// Calls returns calls, the newest first.
func (tx *Tx) Calls(q CallQuery) (calls []edits.Call, err error) {
	where, args := "room_id = ?", []any{q.Room}
	if q.Room == "" {
		where, args = "agent_id = ?", []any{q.Agent}
	} else if q.Agent != "" {
		where, args = where+" AND agent_id = ?", append(args, q.Agent)
	}

	if q.Checkout != "" && q.Since == 0 {
		where, args = where+" AND checkout = ?", append(args, tx.onHost(q.Checkout))
	}
	if q.ID != 0 {
		where, args = where+" AND call_id = ?", append(args, q.ID)
	}
	if q.Changed {
		where += " AND files > 0"
	}
	if q.Since != 0 {
		// Two ranges of an index are found at once; a condition with OR reads all calls of the checkout.
		const ended = "SELECT call_id FROM calls WHERE room_id = ? AND checkout = ? AND ended_at"
		where += " AND call_id IN (" + ended + " = 0 UNION ALL " + ended + " >= ?)"
		here := tx.onHost(q.Checkout)
		args = append(args, q.Room, here, q.Room, here, q.Since)
	}
	if q.Open {
		where, args = where+" AND ended_at = 0 AND started_at > ?", append(args, tx.Now().Add(-edits.LongestCall))
	}
	if q.Late {
		where += " AND late = 1"
	}
	if q.Until != 0 {
		where, args = where+" AND started_at <= ?", append(args, q.Until)
	}

	// The plus keeps the database from reading all calls of a room in their order, where few are wanted of many.
	order := "call_id"
	if q.Open || q.Late || q.Since != 0 {
		order = "+call_id"
	}

	// The calls of other hosts come, too, and are left out.
	query := "SELECT " + callTable().names + " FROM calls WHERE " + where + " ORDER BY " + order + " DESC, room_id LIMIT ?"
	err = tx.scan(query, append(args, q.Limit), func(scan rowScan) error {
		var c edits.Call
		if err := callTable().read(scan, &c); err != nil {
			return err
		}

		if here, ok := tx.ofThisHost(c.Checkout); ok {
			c.Checkout = here
			calls = append(calls, c)
		}

		return nil
	})

	return calls, err
}

// LastNoted returns the snapshot of a checkout with which the ledger was last brought up to date, and "" if
// none is known.
func (tx *Tx) LastNoted(room stick.RoomID, checkout string) (snapshot string, err error) {
	_, err = tx.queryOne("SELECT after_id FROM calls"+byNoted+" WHERE room_id = ? AND checkout = ? AND noted = 1",
		[]any{room, tx.onHost(checkout)}, &snapshot)
	return snapshot, err
}

// dropNoted has no call in a checkout be the one that was noted last. A call may be noted long after it has
// ended, so the order in which calls are noted counts, and not their times.
func (tx *Tx) dropNoted(room stick.RoomID, checkout string) error {
	return tx.execIn(room, "UPDATE calls"+byNoted+" SET noted = 0 WHERE room_id = ? AND checkout = ? AND noted = 1",
		room, tx.onHost(checkout))
}

// byNoted has a query on calls find the noted one. Without statistics, SQLite takes the index of all calls of a
// checkout for as good, and reads each.
const byNoted = " INDEXED BY calls_noted"

// PutCall writes a call down. One without an id gets the next. If it was noted, no earlier one counts as noted.
func (tx *Tx) PutCall(room stick.RoomID, c *edits.Call) error {
	if err := tx.lockRoom(room); err != nil {
		return err
	}

	c.Room = room
	if c.ID == 0 {
		// The newest call is never forgotten, so no number is given twice.
		var last int64
		query := "SELECT call_id FROM calls WHERE room_id = ? ORDER BY call_id DESC LIMIT 1"
		if _, err := tx.queryOne(query, []any{room}, &last); err != nil {
			return err
		}

		c.ID = last + 1
	}

	if c.Noted {
		if err := tx.dropNoted(room, c.Checkout); err != nil {
			return err
		}
	}

	row := *c
	row.Checkout = tx.onHost(c.Checkout)
	args, err := callTable().insertArgs(&row)
	if err != nil {
		return err
	}
	return tx.execIn(room, callTable().upsert, args...)
}

// ForgetCalls forgets the calls of a room that began before a time, and those beyond the newest most. The
// newest stays, for the next one's number.
func (tx *Tx) ForgetCalls(room stick.RoomID, before stick.Time, most int) error {
	if err := tx.lockRoom(room); err != nil {
		return err
	}

	// These are of the calls that stay.
	var newest, oldest int64
	query := "SELECT call_id FROM calls WHERE room_id = ? ORDER BY call_id DESC LIMIT 1"
	if _, err := tx.queryOne(query, []any{room}, &newest); err != nil {
		return err
	}

	query = "SELECT call_id FROM calls WHERE room_id = ? ORDER BY call_id DESC LIMIT 1 OFFSET ?"
	if _, err := tx.queryOne(query, []any{room, most - 1}, &oldest); err != nil {
		return err
	}

	return tx.exec("DELETE FROM calls WHERE room_id = ? AND call_id < ? AND (started_at < ? OR call_id < ?)",
		room, newest, before, oldest)
}
