package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"talkingstick/stick"
)

// append adds events of a room to the log, in order, and returns them with their sequence
// numbers. The counter stays locked until the commit, so nobody can read a later event first.
func (tx *Tx) append(room stick.RoomID, events []stick.Event) ([]stick.Event, error) {
	if len(events) == 0 {
		return nil, nil
	}
	sum, loaded := tx.sums[room]
	if !loaded {
		if _, err := tx.one("SELECT last_sum FROM rooms WHERE room_id = ?", []any{room}, &sum); err != nil {
			return nil, err
		}
	}
	var last int64
	if _, err := tx.one("UPDATE counters SET value = value + ? WHERE name = 'event_seq' RETURNING value", []any{len(events)}, &last); err != nil {
		return nil, err
	}
	out := slices.Clone(events)
	for i := range out {
		e := &out[i]
		e.Seq, e.Room, e.CreatedAt = last-int64(len(out)-1-i), room, tx.now
		if e.ID == "" {
			e.ID = tx.db.NewID()
		}
		e.Sum = e.Chain(sum)
		sum = e.Sum
		handoff := ""
		if e.Handoff != nil {
			b, err := json.Marshal(e.Handoff)
			if err != nil {
				return nil, fmt.Errorf("handoff: %w", err)
			}
			handoff = string(b)
		}
		err := tx.exec(`INSERT INTO events (event_seq, event_id, room_id, turn_id, event_type, from_agent_id, to_agent_id,
			session_id, task_id, handoff, reason, payload, created_at, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			e.Seq, e.ID, e.Room, e.Turn, e.Type, e.From, e.To, e.Session, e.Task, handoff, e.Reason, string(e.Payload), e.CreatedAt, e.Sum)
		if err != nil {
			return nil, fmt.Errorf("append event: %w", err)
		}
	}
	tx.sums[room] = sum
	return out, tx.exec("UPDATE rooms SET last_event_seq = ?, last_sum = ?, updated_at = ? WHERE room_id = ?", last, sum, tx.now, room)
}

// EventQuery selects events of a room. Filters come before the limit.
type EventQuery struct {
	Room   stick.RoomID
	After  int64 // only events behind this one
	Turn   int64 // only events of this turn, 0 for all
	Types  []stick.EventType
	From   stick.AgentID
	To     stick.AgentID // addressed to this agent, and not made by it
	Limit  int
	Newest bool // the newest ones up to the limit, instead of the oldest
}

// Events returns events, the oldest first, and whether there are more.
func (tx *Tx) Events(q EventQuery) (events []stick.Event, more bool, err error) {
	where, args := []string{"room_id = ?", "event_seq > ?"}, []any{q.Room, q.After}
	filter := func(condition string, values ...any) {
		where = append(where, condition)
		args = append(args, values...)
	}
	if q.Turn != 0 {
		filter("turn_id = ?", q.Turn)
	}
	if q.From != "" {
		filter("from_agent_id = ?", q.From)
	}
	if q.To != "" {
		filter("to_agent_id = ?", q.To)
		filter("from_agent_id <> ?", q.To)
	}
	if len(q.Types) > 0 {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(q.Types)), ", ")
		types := make([]any, len(q.Types))
		for i, t := range q.Types {
			types[i] = t
		}
		filter("event_type IN ("+marks+")", types...)
	}
	order := "ASC"
	if q.Newest {
		order = "DESC"
	}
	text := "SELECT event_seq, event_id, room_id, turn_id, event_type, from_agent_id, to_agent_id, session_id, task_id, handoff, reason, payload, created_at, sum" +
		" FROM events WHERE " + strings.Join(where, " AND ") + " ORDER BY event_seq " + order + " LIMIT ?"
	err = tx.scan(text, append(args, q.Limit+1), func(scan func(...any) error) error {
		var e stick.Event
		var handoff, payload string
		if err := scan(&e.Seq, &e.ID, &e.Room, &e.Turn, &e.Type, &e.From, &e.To, &e.Session, &e.Task, &handoff, &e.Reason, &payload, &e.CreatedAt, &e.Sum); err != nil {
			return err
		}
		if handoff != "" {
			if err := json.Unmarshal([]byte(handoff), &e.Handoff); err != nil {
				return fmt.Errorf("handoff of event %d: %w", e.Seq, err)
			}
		}
		if payload != "" {
			e.Payload = json.RawMessage(payload)
		}
		events = append(events, e)
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	if more = len(events) > q.Limit; more {
		events = events[:q.Limit]
	}
	if q.Newest {
		slices.Reverse(events)
	}
	return events, more, nil
}

// Event returns one event of a room, or nil.
func (tx *Tx) Event(room stick.RoomID, seq int64) (*stick.Event, error) {
	events, _, err := tx.Events(EventQuery{Room: room, After: seq - 1, Limit: 1})
	if err != nil || len(events) == 0 || events[0].Seq != seq {
		return nil, err
	}
	return &events[0], nil
}

// LastSeq is the sequence number of the newest event of a room, 0 if it has none.
func (tx *Tx) LastSeq(room stick.RoomID) (seq int64, err error) {
	_, err = tx.one("SELECT last_event_seq FROM rooms WHERE room_id = ?", []any{room}, &seq)
	return seq, err
}

// Cursor is how far an agent has read a stream of a room. ok is false when it never read it.
func (tx *Tx) Cursor(room stick.RoomID, a stick.AgentID, stream string) (seq int64, ok bool, err error) {
	ok, err = tx.one("SELECT event_seq FROM cursors WHERE room_id = ? AND agent_id = ? AND stream = ?", []any{room, a, stream}, &seq)
	return seq, ok, err
}

// Advance moves a cursor forward; it never moves back.
func (tx *Tx) Advance(room stick.RoomID, a stick.AgentID, stream string, seq int64) error {
	return tx.exec(`INSERT INTO cursors (room_id, agent_id, stream, event_seq) VALUES (?, ?, ?, ?)
		ON CONFLICT (room_id, agent_id, stream) DO UPDATE SET event_seq = excluded.event_seq
		WHERE excluded.event_seq > cursors.event_seq`, room, a, stream, seq)
}
