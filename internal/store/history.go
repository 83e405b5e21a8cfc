package store

import (
	"cmp"
	"context"
	"fmt"

	"talkingstick/stick"
)

// History is the log of a room, and which room it is.
type History struct {
	Room      stick.RoomID
	Path      string // the workspace
	CreatedAt stick.Time
	Events    int64
	LastEvent int64
	LastSum   string

	Checkpoint *stick.Checkpoint // with which the log begins; nil if that is its first event
}

// HistoryOf says what the log of a room has.
func (tx *Tx) HistoryOf(room stick.RoomID) (h History, err error) {
	r, err := tx.Room(room)
	if err != nil {
		return h, err
	}

	h = History{Room: r.ID, Path: r.Path}
	if _, err := tx.queryOne("SELECT created_at, last_event_seq, last_sum FROM rooms WHERE room_id = ?", []any{room},
		&h.CreatedAt, &h.LastEvent, &h.LastSum); err != nil {
		return h, err
	}

	if _, err = tx.queryOne("SELECT COUNT(*) FROM events WHERE room_id = ?", []any{room}, &h.Events); err != nil {
		return h, err
	}

	p, ok, err := tx.Checkpoint(room)
	if ok {
		h.Checkpoint = &p
	}
	return h, err
}

// ImportRoom makes a room by its log. next returns the events one by one, and false after the last. What a
// room is follows from its log; a turn that is held in it, and reservations, end, because nobody has their
// leases. It fails with [stick.CodeAlreadyExists] if the database has the room, its path or one of its
// events, and with [stick.CodeUsage] if the log isn't whole.
func (tx *Tx) ImportRoom(ctx context.Context, h History, next func() (stick.Event, bool, error)) error {
	if err := tx.requireNewRoom(h); err != nil {
		return err
	}

	// The events refer to the row of their room, which gets what they come to in the end.
	empty := stick.Room{
		ID: h.Room, Path: h.Path, UpdatedAt: tx.Now(), Policy: stick.DefaultPolicy(),
		Turn: stick.Turn{State: stick.Idle, FreeSince: tx.Now()},
	}
	args, err := roomTable().insertArgs(&empty, h.Room, h.Path, h.CreatedAt, h.LastEvent, h.LastSum)
	if err != nil {
		return err
	}
	if err := tx.exec(roomTable().insert, args...); err != nil {
		return err
	}

	record, seen, err := tx.importEvents(ctx, h, next)
	if err != nil {
		return err
	}
	if err := tx.rebuildTables(h.Room, *record); err != nil {
		return err
	}
	if err := tx.importState(empty, record, seen, h.CreatedAt); err != nil {
		return err
	}

	// Numbers of this database go on above those of the room.
	issued, err := tx.Issued()
	if err != nil {
		return err
	}
	if h.LastEvent > issued {
		if err := tx.db.dialect.SkipNumbers(h.LastEvent - issued); err != nil {
			return err
		}
	}

	tx.addBell(&tx.rings, roomsBell)
	return tx.endImportedTurn(h.Room, record)
}

// requireNewRoom refuses a room that the database has.
func (tx *Tx) requireNewRoom(h History) error {
	var id stick.RoomID
	has, err := tx.queryOne("SELECT room_id FROM rooms WHERE room_id = ? OR canonical_path = ?",
		[]any{h.Room, h.Path}, &id)
	if err != nil || !has {
		return err
	}

	if id == h.Room {
		return stick.Errorf(stick.CodeAlreadyExists,
			"the room %s is here already, and an import makes a new one", h.Room).
			Hintf("see the rooms of this machine: %s", stick.Cmd("tt list --all"))
	}
	return stick.Errorf(stick.CodeAlreadyExists, "%s has a room already, which isn't the one of the file", h.Path).
		With("path", h.Path).Hintf("see the rooms of this machine: %s", stick.Cmd("tt list --all"))
}

// importEvents adds the events and the checkpoint. It returns what they come to, and when each agent did something
// last.
func (tx *Tx) importEvents(ctx context.Context, h History, next func() (stick.Event, bool, error)) (
	record *stick.Record, seen map[stick.AgentID]stick.Time, err error,
) {
	seen = map[stick.AgentID]stick.Time{}
	if record, err = startRecord(h.Checkpoint); err != nil {
		return nil, nil, errHistory("%s", stick.Words(err.Error()))
	}
	if h.Checkpoint != nil {
		if err := tx.putCheckpoint(h.Room, *h.Checkpoint); err != nil {
			return nil, nil, err
		}
	}

	last := int64(0)
	for {
		e, more, err := next()
		if err != nil {
			return nil, nil, err
		}
		if !more {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}

		if e.Room != h.Room || e.Seq <= last {
			return nil, nil, errHistory("event %d isn't the next one of room %s", e.Seq, h.Room)
		}
		if err := tx.requireNewEvent(e); err != nil {
			return nil, nil, err
		}
		if err := record.Replay(e); err != nil {
			return nil, nil, errHistory("%s", stick.Words(err.Error()))
		}

		if err := tx.putEvent(e); err != nil {
			return nil, nil, fmt.Errorf("event %d: %w", e.Seq, err)
		}

		last, seen[e.From] = e.Seq, e.CreatedAt
	}

	if last != h.LastEvent || record.Sum != h.LastSum || record.Events != h.Events {
		return nil, nil, errHistory("it has %s up to event %d, and says that there are %d up to event %d",
			stick.Count(record.Events, "event"), last, h.Events, h.LastEvent)
	}

	return record, seen, nil
}

// errHistory is the error for a log that isn't whole.
func errHistory(format string, args ...any) *stick.Error {
	return stick.Errorf(stick.CodeUsage, "the file isn't the whole log of a room: "+format, args...).
		Hintf("export the room again, and copy the whole file; nothing was changed")
}

// requireNewEvent refuses an event whose number or id the database has given to another one. The sums of a
// log are over its numbers, so they can't be changed.
func (tx *Tx) requireNewEvent(e stick.Event) error {
	var seq int64
	has, err := tx.queryOne("SELECT event_seq FROM events WHERE event_seq = ? OR event_id = ? LIMIT 1",
		[]any{e.Seq, e.ID}, &seq)
	if err != nil || !has {
		return err
	}

	return stick.Errorf(stick.CodeAlreadyExists,
		"event %d of the file has a number that an event of this database has, too", e.Seq).
		Hintf("import it where there are no rooms so far, into a data directory of its own: set TALKING_STICK_DATA_DIR")
}

// importState stores the room and its members as the log leaves them.
func (tx *Tx) importState(
	empty stick.Room, record *stick.Record, seen map[stick.AgentID]stick.Time, created stick.Time,
) error {
	r, err := record.Rebuild(empty)
	if err != nil {
		return errHistory("%s", stick.Words(err.Error()))
	}

	if isAtRest(record) {
		r.Generation = tx.Generation().Number
	}
	for _, m := range r.Members {
		// What it did in the removed part isn't known.
		m.JoinedAt = cmp.Or(seen[m.Agent], created)
		m.LastSeenAt = m.JoinedAt
		if err := tx.saveMember(r.ID, stick.Member{}, m, false); err != nil {
			return err
		}
	}

	tx.highestTurn = max(tx.highestTurn, r.Turn.ID)
	if r.Path != empty.Path {
		if err := tx.exec("UPDATE rooms SET canonical_path = ? WHERE room_id = ?", r.Path, r.ID); err != nil {
			return err
		}
	}

	return tx.saveTurn(r)
}

// isAtRest reports whether nothing in a room has to end when it gets to another database.
func isAtRest(record *stick.Record) bool {
	return record.State == stick.Idle && len(record.Reservations) == 0
}

// endImportedTurn ends what nobody can go on with, and checks the whole room.
func (tx *Tx) endImportedTurn(room stick.RoomID, record *stick.Record) error {
	if !isAtRest(record) {
		if err := tx.endWithoutLease(room); err != nil {
			return err
		}
	}

	found := ""
	_, err := tx.checkRoom(room, nil, func(format string, args ...any) {
		if found == "" {
			found = fmt.Sprintf(format, args...)
		}
	})
	if err == nil && found != "" {
		err = errHistory("%s", stick.Words(found))
	}

	return err
}
