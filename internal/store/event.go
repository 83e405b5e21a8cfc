package store

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"talkingstick/stick"
)

// appendEvents adds events of a room to the log, in order, and returns them with their sequence
// numbers. The room is locked until the commit, so no later number of its events can be committed first.
func (tx *Tx) appendEvents(room stick.RoomID, events []stick.Event) ([]stick.Event, error) {
	if len(events) == 0 {
		return nil, nil
	}

	// Each event carries the sum of the one before it.
	sum, loaded := tx.sums[room]
	if !loaded {
		if _, err := tx.queryOne("SELECT last_sum FROM rooms WHERE room_id = ?", []any{room}, &sum); err != nil {
			return nil, err
		}
	}

	// Their numbers rise, though those of other rooms may come in between.
	numbers, err := tx.db.dialect.DrawNumbers(len(events))
	if err != nil {
		return nil, err
	}

	out := slices.Clone(events)
	for i := range out {
		e := &out[i]
		e.Seq, e.Room, e.CreatedAt = numbers[i], room, tx.Now()
		if e.ID == "" {
			e.ID = tx.db.NewID()
		}

		// The sum covers all fields, so it comes last of them.
		e.Sum = e.Chain(sum)
		sum = e.Sum
		if err := tx.putEvent(*e); err != nil {
			return nil, fmt.Errorf("append event: %w", err)
		}
		if err := tx.putReceipts(*e); err != nil {
			return nil, fmt.Errorf("put receipts: %w", err)
		}
		if err := tx.putNote(*e); err != nil {
			return nil, fmt.Errorf("note: %w", err)
		}
		if err := tx.dropDrafts(*e); err != nil {
			return nil, fmt.Errorf("drafts: %w", err)
		}
		if err := tx.putReservation(*e); err != nil {
			return nil, fmt.Errorf("reservation: %w", err)
		}
		if err := tx.putTask(*e); err != nil {
			return nil, fmt.Errorf("task %s: %w", e.Task, err)
		}
		if err := tx.putComments(*e); err != nil {
			return nil, fmt.Errorf("comments on %s: %w", e.Task, err)
		}
	}

	tx.sums[room], tx.eventID = sum, out[0].ID
	return out, tx.exec("UPDATE rooms SET last_event_seq = ?, last_sum = ?, updated_at = ? WHERE room_id = ?",
		out[len(out)-1].Seq, sum, tx.Now(), room)
}

// putEvent adds the row of an event.
func (tx *Tx) putEvent(e stick.Event) error {
	args, err := eventTable().insertArgs(&e)
	if err != nil {
		return err
	}
	return tx.exec(eventTable().insert, args...)
}

// boundRows drops the extra row that a query asked for to learn whether there are more, and reverses the rest
// if the query ran backwards.
func boundRows[T any](rows []T, limit int, backwards bool) ([]T, bool, error) {
	more := len(rows) > limit
	if more {
		rows = rows[:limit]
	}
	if backwards {
		slices.Reverse(rows)
	}

	return rows, more, nil
}

// EventQuery selects events of a room. Filters come before the limit.
type EventQuery struct {
	Room   stick.RoomID
	After  int64  // only events after this one
	Before int64  // only events before this one, 0 for all
	Cursor string // with For: only events after its cursor of this stream
	Turn   int64  // only events of this turn, 0 for all
	Types  []stick.EventType
	From   stick.AgentID
	Task   string
	For    stick.AgentID // only events that are for this agent
	Fresh  bool          // with For: only what it hasn't seen: not shown, read or acknowledged, nor withdrawn
	Limit  int
	Newest bool // the newest ones up to the limit, instead of the oldest
}

// Events returns events, the oldest first, and whether there are more.
func (tx *Tx) Events(q EventQuery) (events []stick.Event, more bool, err error) {
	from, seq := "events e", "e.event_seq"
	where, args := []string{"e.room_id = ?"}, []any{q.Room}
	filter := func(condition string, values ...any) {
		where = append(where, condition)
		args = append(args, values...)
	}

	// The index of addressees is shorter than the log.
	if q.For != "" {
		from, seq = "receipts r JOIN events e ON e.event_seq = r.event_seq", "r.event_seq"
		where[0] = "r.room_id = ?"
		filter("r.agent_id = ?", q.For)
		if q.Fresh {
			filter("r.shown_at = 0 AND r.read_at = 0 AND r.acked_at = 0 AND r.withdrawn = 0")
		}
	}

	filter(seq+" > ?", q.After)
	if q.Before != 0 {
		filter(seq+" < ?", q.Before)
	}

	if q.Cursor != "" {
		filter(seq+` > COALESCE((SELECT c.event_seq FROM cursors c
			WHERE c.room_id = ? AND c.agent_id = ? AND c.stream = ?), 0)`, q.Room, q.For, q.Cursor)
	}

	if q.Turn != 0 {
		filter("e.turn_id = ?", q.Turn)
	}
	if q.From != "" {
		filter("e.from_agent_id = ?", q.From)
	}
	if q.Task != "" {
		filter("e.task_id = ? AND e.task_id <> ''", q.Task)
	}

	if len(q.Types) > 0 {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(q.Types)), ", ")
		types := make([]any, len(q.Types))
		for i, t := range q.Types {
			types[i] = t
		}

		filter("e.event_type IN ("+marks+")", types...)
	}

	// The newest are read backwards, and turned round in the end.
	order := "ASC"
	if q.Newest {
		order = "DESC"
	}

	text := "SELECT " + eventTable().namesOf("e") + " FROM " + from + " WHERE " + strings.Join(where, " AND ") +
		" ORDER BY " + seq + " " + order + " LIMIT ?"
	err = tx.scan(text, append(args, q.Limit+1), func(scan rowScan) error {
		var e stick.Event
		err := eventTable().read(scan, &e)
		events = append(events, e)
		return err
	})
	if err != nil {
		return nil, false, err
	}

	return boundRows(events, q.Limit, q.Newest)
}

// Event returns one event of a room, or nil.
func (tx *Tx) Event(room stick.RoomID, seq int64) (e *stick.Event, err error) {
	err = cmp.Or(tx.LaterEvent(room, seq, &e), tx.fetchLater())
	return e, err
}

// LaterEvent is [Tx.Event] for a caller that doesn't need the event before the next query.
func (tx *Tx) LaterEvent(room stick.RoomID, seq int64, into **stick.Event) error {
	query := "SELECT " + eventTable().namesOf("e") + " FROM events e WHERE e.room_id = ? AND e.event_seq = ?"
	return tx.scanLater(query, []any{room, seq}, func(scan rowScan) error {
		e := stick.Event{}
		err := eventTable().read(scan, &e)
		*into = &e
		return err
	})
}

// LastSeq is the sequence number of the newest event of a room, 0 if it has none.
func (tx *Tx) LastSeq(room stick.RoomID) (seq int64, err error) {
	_, err = tx.queryOne("SELECT last_event_seq FROM rooms WHERE room_id = ?", []any{room}, &seq)
	return seq, err
}

// LogBounds returns the number of the newest event of a room, and the one up to which old events were removed; 0 if it
// has none, and if none were.
func (tx *Tx) LogBounds(room stick.RoomID) (last, pruned int64, err error) {
	query := `SELECT r.last_event_seq, COALESCE(c.pruned_to, 0)
		FROM rooms r LEFT JOIN checkpoints c ON c.room_id = r.room_id WHERE r.room_id = ?`
	_, err = tx.queryOne(query, []any{room}, &last, &pruned)
	return last, pruned, err
}

// SeqBack returns the event of a room that has n more between itself and the event before, or the room's end
// if before is 0. It is 0 if there aren't so many. However long the log is, that costs as much as reading the
// numbers of n events.
func (tx *Tx) SeqBack(room stick.RoomID, before int64, n int) (seq int64, err error) {
	// Without a bound the log is counted from its end.
	if before == 0 {
		before = math.MaxInt64
	}

	_, err = tx.queryOne(`SELECT event_seq FROM events WHERE room_id = ? AND event_seq < ?
		ORDER BY event_seq DESC LIMIT 1 OFFSET ?`,
		[]any{room, before, n}, &seq)
	return seq, err
}

// Cursor returns how far an agent has read a stream of a room. ok is false when it has never read it.
func (tx *Tx) Cursor(room stick.RoomID, a stick.AgentID, stream string) (seq int64, ok bool, err error) {
	err = cmp.Or(tx.LaterCursor(room, a, stream, &seq, &ok), tx.fetchLater())
	return seq, ok, err
}

// LaterCursor is [Tx.Cursor] for a caller that doesn't need it before the next query.
func (tx *Tx) LaterCursor(room stick.RoomID, a stick.AgentID, stream string, seq *int64, ok *bool) error {
	query := "SELECT event_seq FROM cursors WHERE room_id = ? AND agent_id = ? AND stream = ?"
	return tx.scanLater(query, []any{room, a, stream}, func(scan rowScan) error {
		*ok = true
		return scan(seq)
	})
}

// Advance moves a cursor forward; it never moves back.
func (tx *Tx) AdvanceCursor(room stick.RoomID, a stick.AgentID, stream string, seq int64) error {
	return tx.execIn(room, `INSERT INTO cursors (room_id, agent_id, stream, event_seq) VALUES (?, ?, ?, ?)
		ON CONFLICT (room_id, agent_id, stream) DO UPDATE SET event_seq = excluded.event_seq
		WHERE excluded.event_seq > cursors.event_seq`, room, a, stream, seq)
}
