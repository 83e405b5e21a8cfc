package store

import (
	"maps"
	"slices"

	"talkingstick/stick"
	sticktasks "talkingstick/stick/tasks"
)

// rebuildTables replaces what the store has of a room, beside the room itself and its members.
func (tx *Tx) rebuildTables(room stick.RoomID, record stick.Record) error {
	kept := tx.unloggedOf(room, record)
	for _, table := range []string{
		"receipts", "notes", "reservations", "comments", "reviews", "task_attempts", "tasks",
	} {
		if err := tx.exec("DELETE FROM "+table+" WHERE room_id = ?", room); err != nil {
			return err
		}
	}

	// What belongs to an event of the room may be noted in another one.
	for _, table := range []string{"receipts", "notes", "reservations", "reviews"} {
		query := "DELETE FROM " + table + " WHERE event_seq IN (SELECT e.event_seq FROM events e WHERE e.room_id = ?)"
		if err := tx.exec(query, room); err != nil {
			return err
		}
	}

	for key, c := range record.Receipts {
		c.ShownAt = kept.shown[key]
		if err := insertRow(tx, receiptTable(), &c, room, c.Open()); err != nil {
			return err
		}
	}
	for _, n := range record.Notes {
		if err := insertRow(tx, noteTable(), &n, room); err != nil {
			return err
		}
	}
	for _, v := range record.Reservations {
		if err := insertRow(tx, reservationTable(), &v, room, v.Pattern.Prefix(true)); err != nil {
			return err
		}
	}

	return tx.rebuildTasks(room, record, kept)
}

// unloggedOfRoom is what the tables of a room have that its log doesn't say.
type unloggedOfRoom struct {
	shown      map[stick.ReceiptKey]stick.Time
	heartbeats map[string]stick.Time // of workers, by the keys of tasks
	drafts     map[string][]stick.Comment
}

// unloggedOf reads what the log of a room doesn't say. A row that can't be read says nothing.
func (tx *Tx) unloggedOf(room stick.RoomID, record stick.Record) unloggedOfRoom {
	kept := unloggedOfRoom{
		shown: map[stick.ReceiptKey]stick.Time{}, heartbeats: map[string]stick.Time{},
		drafts: map[string][]stick.Comment{},
	}

	_ = tx.scan("SELECT event_seq, agent_id, shown_at FROM receipts WHERE room_id = ? ORDER BY event_seq, agent_id",
		[]any{room}, func(scan rowScan) error {
			var key stick.ReceiptKey
			var at stick.Time
			err := scan(&key.Event, &key.Agent, &at)
			kept.shown[key] = at
			return err
		})
	_ = tx.scan("SELECT task_key, heartbeat_at FROM tasks WHERE room_id = ? ORDER BY task_key",
		[]any{room}, func(scan rowScan) error {
			var key string
			var at stick.Time
			err := scan(&key, &at)
			kept.heartbeats[key] = at
			return err
		})

	for key := range record.Tasks {
		comments, _ := tx.Comments(room, key)
		for _, c := range comments {
			if c.Draft() {
				kept.drafts[key] = append(kept.drafts[key], c)
			}
		}
	}

	return kept
}

// rebuildTasks inserts the tasks of a log, and what belongs to them.
func (tx *Tx) rebuildTasks(room stick.RoomID, record stick.Record, kept unloggedOfRoom) error {
	find := func(id string) (stick.Task, bool, error) {
		t, ok := record.Tasks[stick.TaskKey(id)]
		return t, ok, nil
	}

	for key, t := range record.Tasks {
		waits, err := sticktasks.WaitsFor(t, find)
		if err != nil {
			return err
		}
		waitsFor := ""
		if len(waits) > 0 {
			waitsFor = stick.TaskKey(waits[0].ID)
		}

		t.HeartbeatAt = kept.heartbeats[key]
		if err := insertRow(tx, taskTable(), &t, room, key, waitsFor); err != nil {
			return err
		}
	}

	for key, a := range record.Attempts {
		if err := insertRow(tx, attemptTable(), &a, room, key.Task); err != nil {
			return err
		}
	}

	for _, seq := range slices.Sorted(maps.Keys(record.Reviews)) {
		e, err := tx.Event(room, seq)
		if err != nil {
			return err
		}
		r := record.Reviews[seq]
		if err := insertRow(tx, reviewTable(), &r, room, stick.TaskKey(e.Task)); err != nil {
			return err
		}
	}

	for key, c := range record.Comments {
		if err := insertRow(tx, commentTable(), &c, room, key.Task); err != nil {
			return err
		}
	}
	for key, drafts := range kept.drafts {
		for _, c := range drafts {
			if err := insertRow(tx, commentTable(), &c, room, key); err != nil {
				return err
			}
		}
	}

	return nil
}

// insertRow inserts a row; first are the values of the columns that it has no field for.
func insertRow[T any](tx *Tx, t *table[T], row *T, first ...any) error {
	args, err := t.insertArgs(row, first...)
	if err != nil {
		return err
	}
	return tx.exec(t.insert, args...)
}
