package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"talkingstick/internal/store/sqlite"
	"talkingstick/stick"
)

// OutputsName is the directory in the data directory that has the outputs of gates and checks.
const OutputsName = sqlite.BlobsName

// RoomSize is how much the log of a room has.
type RoomSize struct {
	Events int64
	Bytes  int64 // about: what its events take in the file
}

// eventBytes is about what an event takes beside its texts, with its entries in indexes.
const eventBytes = 400

// SizeOf says how much the log of a room has.
func (tx *Tx) SizeOf(room stick.RoomID) (s RoomSize, err error) {
	_, err = tx.queryOne(`SELECT COUNT(*), COALESCE(SUM(LENGTH(payload) + LENGTH(handoff) + LENGTH(reason)), 0)
		FROM events WHERE room_id = ?`, []any{room}, &s.Events, &s.Bytes)
	s.Bytes += eventBytes * s.Events
	return s, err
}

// CountOpenTasks counts the tasks of a room that are neither completed nor failed.
func (tx *Tx) CountOpenTasks(room stick.RoomID) (n int64, err error) {
	_, err = tx.queryOne("SELECT COUNT(*) FROM tasks WHERE room_id = ? AND state NOT IN (?, ?)",
		[]any{room, stick.TaskCompleted, stick.TaskFailed}, &n)
	return n, err
}

// roomTables lists the tables with rows of rooms, in an order in which nothing refers to what went before.
var roomTables = []string{
	"notices", "accepted_commands", "drafts", "tellings", "stashes", "commits", "reads", "calls", "edits",
	"checkouts", "intents", "task_setups", "past_runs", "task_runs", "task_views", "comments", "reviews",
	"task_attempts", "tasks", "reservations", "notes", "receipts", "events", "checkpoints", "cursors", "listeners", "members", "rooms",
}

// RemoveRoom removes a room and its log. Its numbers are never given out again.
func (tx *Tx) RemoveRoom(room stick.RoomID) error {
	for _, table := range roomTables {
		if err := tx.exec("DELETE FROM "+table+" WHERE room_id = ?", room); err != nil {
			return fmt.Errorf("remove the rows of %s: %w", table, err)
		}
	}

	// Who follows all rooms, and who waits in this one, find out that it is gone.
	tx.addBell(&tx.rings, roomsBell)
	tx.addBell(&tx.rings, string(room))
	return nil
}

// outputNamers are the columns that name outputs, with the room of each row.
var outputNamers = []string{
	"SELECT room_id, payload FROM events ORDER BY event_seq",
	"SELECT room_id, report FROM reviews ORDER BY event_seq",
	"SELECT room_id, output FROM task_runs ORDER BY room_id",
	"SELECT room_id, output FROM past_runs ORDER BY room_id",
	"SELECT room_id, output FROM task_setups ORDER BY room_id",
	"SELECT room_id, data FROM intents ORDER BY room_id",
}

// UnnamedOutputs returns the sums and sizes of the outputs from before a time that nothing names but rooms that go.
func (tx *Tx) UnnamedOutputs(before stick.Time, going []stick.RoomID) (unnamed map[string]int64, err error) {
	unnamed = map[string]int64{}
	query := "SELECT sum, size FROM blobs WHERE created_at < ? ORDER BY sum"
	err = tx.scan(query, []any{before}, func(scan rowScan) error {
		var sum string
		var size int64
		err := scan(&sum, &size)
		unnamed[sum] = size
		return err
	})

	for _, query := range outputNamers {
		if err != nil || len(unnamed) == 0 {
			break
		}

		err = tx.scan(query, nil, func(scan rowScan) error {
			var room stick.RoomID
			var text string
			if err := scan(&room, &text); err != nil || slices.Contains(going, room) {
				return err
			}

			for _, sum := range sumsIn(text) {
				delete(unnamed, sum)
			}
			return nil
		})
	}

	return unnamed, err
}

// sumsIn returns what in a text may be the sum of an output: 64 hexadecimal digits.
func sumsIn(text string) (sums []string) {
	begin := 0
	for i := 0; i <= len(text); i++ {
		isDigit := i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] >= 'a' && text[i] <= 'f')
		if isDigit {
			continue
		}
		if i-begin == 64 {
			sums = append(sums, text[begin:i])
		}
		begin = i + 1
	}

	return sums
}

// RemoveOutput removes the row of an output. [DB.SweepOutputs] removes its content.
func (tx *Tx) RemoveOutput(sum string) error { return tx.exec("DELETE FROM blobs WHERE sum = ?", sum) }

// SweepOutputs removes contents that no row names and that were written before a time: those of removed outputs,
// and those that killed commands have left. Without remove it only counts them. Contents are written before the
// transaction that names them, so new ones stay.
func (db *DB) SweepOutputs(ctx context.Context, before time.Time, remove bool) (n int, bytes int64, err error) {
	sweep := func(tx *Tx) (err error) {
		n, bytes, err = db.dialect.(*sqlite.DB).SweepBlobs(before, remove, tx.HasBlob)
		return err
	}

	// With the lock of writers, nobody adds a row meanwhile.
	if remove {
		err = db.Update(ctx, sweep)
	} else {
		err = db.View(ctx, sweep)
	}

	return n, bytes, err
}

// Shrink gives the space of removed rows back to the file system.
func (db *DB) Shrink(ctx context.Context) error {
	db.mu.Lock()
	defer db.mu.Unlock()

	file := db.dialect.(*sqlite.DB)
	return file.CodeError(file.Shrink(ctx))
}
