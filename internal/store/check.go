package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"talkingstick/stick"
	sticktasks "talkingstick/stick/tasks"
)

// Check looks for damage and contradictions. It runs the database's own check, verifies the chain of sums and
// the counter, replays the log of every room and compares the result with what is stored. It returns a
// sentence for each thing found; what keeps it from looking further is one, too, unless that is no damage. If
// the file itself is damaged, writers are stopped; if nothing is found, they may go on.
func (db *DB) Check(ctx context.Context) (found []string, err error) {
	return db.CheckShowing(ctx, nil)
}

// CheckShowing is Check that calls shows, at most a hundred times, with how many events it has replayed, and how
// many there are. shows may be nil.
func (db *DB) CheckShowing(ctx context.Context, shows func(replayed, all int64)) (found []string, err error) {
	// A mark that is left while the check runs is newer than it, and has to stay.
	mark := db.dialect.ReadMark()
	began := false
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	err = db.View(ctx, func(tx *Tx) error {
		found, began = nil, true
		if err := db.dialect.CheckIntegrity(report); err != nil {
			return err
		}

		p, err := tx.startReplay(shows)
		if err != nil {
			return err
		}
		return tx.checkRooms(p, report)
	})

	// What ended the check is a finding, too, once the transaction had begun.
	if began && IsDamage(err) {
		report("%s", stick.AsError(err).Message)
		err = nil
	}
	if err == nil && len(found) == 0 {
		err = db.dialect.ClearMark(mark)
	}

	return found, err
}

// replayProgress says how far a check is. Where nobody wants to know, it is nil.
type replayProgress struct {
	replayed, all int64 // events
	shows         func(replayed, all int64)
}

// startReplay returns the progress of a check that begins.
func (tx *Tx) startReplay(shows func(replayed, all int64)) (*replayProgress, error) {
	if shows == nil {
		return nil, nil
	}

	p := &replayProgress{shows: shows}
	_, err := tx.queryOne("SELECT count(*) FROM events", nil, &p.all)
	return p, err
}

// addEvents counts n more events that are replayed, and says so at each hundredth of all.
func (p *replayProgress) addEvents(n int) {
	if p == nil || p.all == 0 {
		return
	}

	before := p.replayed
	p.replayed += int64(n)
	if before*100/p.all != p.replayed*100/p.all {
		p.shows(p.replayed, p.all)
	}
}

// IsDamage reports whether a failure can only come from damage, when a sound database is read: whatever isn't
// the fault of somebody else.
func IsDamage(err error) bool {
	if err == nil {
		return false
	}

	switch stick.CodeOf(err) {
	case stick.CodeDatabaseBusy, stick.CodeDatabaseUnavailable, stick.CodeDatabaseMoved, stick.CodeForeignDatabase,
		stick.CodeSchemaTooNew, stick.CodeUpgraded, stick.CodeCanceled,
		stick.CodeDataDirNotWritable, stick.CodeDataDirRelative, stick.CodeDataDirOfAnother, stick.CodeFileSystem:
		return false
	}

	return true
}

// checkRooms replays the log of every room, and p says how far it is.
func (tx *Tx) checkRooms(p *replayProgress, report func(string, ...any)) error {
	var newest int64
	counter, err := tx.db.dialect.LastDrawn()
	if err != nil {
		return err
	}

	rooms, err := tx.Rooms(nil, "")
	if err != nil {
		return err
	}

	for _, r := range rooms {
		last, err := tx.checkRoom(r.ID, p, report)
		if err != nil {
			return err
		}
		newest = max(newest, last)
	}

	// A later event would get the number of one that is there.
	if newest > counter {
		report("event %d lies beyond the counter, which stands at %d", newest, counter)
	}

	return nil
}

// checkRoom replays the log of a room, and returns its last event.
func (tx *Tx) checkRoom(id stick.RoomID, p *replayProgress, report func(string, ...any)) (seq int64, err error) {
	r, err := tx.Room(id)
	if err != nil {
		return 0, err
	}

	record, err := tx.beginReplay(r.ID)
	if broken, ok := errors.AsType[*brokenCheckpoint](err); ok {
		// Nothing can be compared with such a log.
		report("room %s: %v", r.ID, broken)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}

	var lastSum string
	err = tx.eachEvent(r.ID, func(e stick.Event) error {
		if err := record.Replay(e); err != nil {
			report("room %s: %v", r.ID, err)
		}
		seq, lastSum = e.Seq, e.Sum
		p.addEvents(1)
		return nil
	})
	if err != nil {
		return 0, err
	}

	// The row of the room says where its log ends and by which sum the next event follows, and holds what the log
	// comes to.
	var last int64
	var sum string
	_, err = tx.queryOne("SELECT last_event_seq, last_sum FROM rooms WHERE room_id = ?", []any{r.ID}, &last, &sum)
	switch {
	case err != nil:
		return 0, err
	case last != seq:
		report("room %s: its last event is %d, and the log ends with %d", r.ID, last, seq)
	case sum != lastSum:
		report("room %s: the sum that its next event would follow isn't that of event %d", r.ID, seq)
	}

	// A room without events has nothing to compare with.
	if d := record.Differs(r); d != "" && record.Events > 0 {
		report("room %s: %s", r.ID, d)
	}
	if err := tx.checkReceipts(r.ID, *record, report); err != nil {
		return 0, err
	}

	return seq, tx.checkTasks(r.ID, *record, report)
}

// checkReceipts compares the receipts and notes of a room with what its log says.
func (tx *Tx) checkReceipts(room stick.RoomID, record stick.Record, report func(string, ...any)) error {
	err := tx.scan("SELECT "+receiptTable().namesOf("r")+`, r.is_open FROM receipts r WHERE r.room_id = ?
		ORDER BY r.event_seq, r.agent_id`,
		[]any{room}, func(scan rowScan) error {
			var c stick.Receipt
			var open bool
			if err := receiptTable().read(scan, &c, &open); err != nil {
				return err
			}

			k := stick.ReceiptKey{Event: c.Event, Agent: c.Agent}

			logged, ok := record.Receipts[k]
			if !ok || receiptTable().differs(&logged, &c, unlogged) != "" || open != c.Open() {
				report("room %s: the receipt of %s for message %d isn't what the log says", room, c.Agent, c.Event)
			}

			delete(record.Receipts, k)
			return nil
		})
	if err != nil {
		return err
	}

	// Those that the table has were taken out of the record above.
	if n := len(record.Receipts); n > 0 {
		report("room %s: it lacks %s of its log", room, stick.Count(n, "receipt"))
	}

	notes, _, err := tx.Notes(NoteQuery{Room: room, Limit: math.MaxInt32})
	if err != nil {
		return err
	}

	for _, n := range notes {
		if logged, ok := record.Notes[n.ID]; !ok || noteTable().differs(&logged, &n, unlogged) != "" {
			report("room %s: note %d isn't what the log says", room, n.ID)
		}
	}

	if len(notes) != len(record.Notes) {
		report("room %s: it has %s, and the log says %d", room, stick.Count(len(notes), "note"), len(record.Notes))
	}

	return tx.checkReservations(room, record, report)
}

func (tx *Tx) checkReservations(room stick.RoomID, record stick.Record, report func(string, ...any)) error {
	n := 0
	err := tx.scan("SELECT "+reservationTable().names+`, prefix FROM reservations
		WHERE room_id = ? ORDER BY event_seq`,
		[]any{room}, func(scan rowScan) error {
			var v stick.Reservation
			var prefix string
			if err := reservationTable().read(scan, &v, &prefix); err != nil {
				return err
			}

			logged, ok := record.Reservations[v.ID]
			isLogged := ok && reservationTable().differs(&logged, &v, unlogged) == ""
			if !isLogged || prefix != v.Pattern.Prefix(true) {
				report("room %s: reservation %d isn't what the log says", room, v.ID)
			}

			n++
			return nil
		})
	if err == nil && n != len(record.Reservations) {
		report("room %s: it has %s, and the log says %d", room, stick.Count(n, "reservation"), len(record.Reservations))
	}

	return err
}

// checkTasks compares the tasks of a room, their attempts and reviews with what its log says.
func (tx *Tx) checkTasks(room stick.RoomID, record stick.Record, report func(string, ...any)) error {
	tasks, err := tx.Tasks(room)
	if err != nil {
		return err
	}

	var attempts, reviews, comments int
	for _, t := range tasks {
		key := stick.TaskKey(t.ID)
		if logged := record.Tasks[key]; taskTable().differs(&logged, &t, unlogged) != "" {
			report("room %s: task %s isn't what the log says", room, t.ID)
		}

		as, err := tx.Attempts(room, t.ID)
		if err != nil {
			return err
		}

		for _, a := range as {
			attempts++
			logged := record.Attempts[stick.AttemptKey{Task: key, Number: a.Number}]
			if attemptTable().differs(&logged, &a, unlogged) != "" {
				report("room %s: attempt %d of task %s isn't what the log says", room, a.Number, t.ID)
			}
		}

		rs, err := tx.Reviews(room, t.ID)
		if err != nil {
			return err
		}

		for _, r := range rs {
			reviews++
			if logged := record.Reviews[r.Seq]; reviewTable().differs(&logged, &r, unlogged) != "" {
				report("room %s: review %d of task %s isn't what the log says", room, r.Seq, t.ID)
			}
		}

		cs, err := tx.Comments(room, t.ID)
		if err != nil {
			return err
		}

		for _, c := range cs {
			// Drafts come into the log when their author sends them.
			if c.Draft() {
				continue
			}

			comments++
			logged := record.Comments[stick.CommentKey{Task: key, ID: c.ID}]
			if commentTable().differs(&logged, &c, unlogged) != "" {
				report("room %s: comment %d on task %s isn't what the log says", room, c.ID, t.ID)
			}
		}
	}

	if comments != len(record.Comments) {
		report("room %s: it has %s, and the log says %d", room, stick.Count(comments, "comment"), len(record.Comments))
	}
	if err := tx.checkNotes(room, record.Tasks, report); err != nil {
		return err
	}

	if len(tasks) != len(record.Tasks) || attempts != len(record.Attempts) || reviews != len(record.Reviews) {
		report("room %s: it has %s with %s and %s, and the log says %d, %d and %d", room,
			stick.Count(len(tasks), "task"), stick.Count(attempts, "attempt"), stick.Count(reviews, "review"),
			len(record.Tasks), len(record.Attempts), len(record.Reviews))
	}

	return nil
}

// checkNotes: what the store notes that a task waits for, the task does wait for. Else it would never begin.
func (tx *Tx) checkNotes(room stick.RoomID, tasks map[string]stick.Task, report func(string, ...any)) error {
	find := func(id string) (stick.Task, bool, error) {
		t, ok := tasks[stick.TaskKey(id)]
		return t, ok, nil
	}

	query := "SELECT task_key, waits_for FROM tasks WHERE room_id = ? AND waits_for <> '' ORDER BY task_key"
	return tx.scan(query, []any{room}, func(scan rowScan) error {
		var key, note string
		if err := scan(&key, &note); err != nil {
			return err
		}

		waits, err := sticktasks.WaitsFor(tasks[key], find)
		if !slices.ContainsFunc(waits, func(t stick.Task) bool { return stick.TaskKey(t.ID) == note }) {
			report("room %s: a note says that task %s waits for %s, and it doesn't", room, key, note)
		}

		return err
	})
}
