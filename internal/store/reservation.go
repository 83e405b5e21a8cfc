package store

import (
	"maps"
	"slices"
	"strings"

	"talkingstick/stick"
	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
)

// putReservation stores what an event changes about reservations.
func (tx *Tx) putReservation(e stick.Event) error {
	switch e.Type {
	case stick.EventReserved, stick.EventUnreserved:
		made, _ := stick.PayloadOf[stick.ReservedPayload](e)
		ended, _ := stick.PayloadOf[stick.UnreservedPayload](e)

		// One of the two is zero.
		if old := made.Replaces + ended.ReservationID; old != 0 {
			if err := tx.exec("DELETE FROM reservations WHERE event_seq = ?", old); err != nil {
				return err
			}
		}
	case stick.EventLeave, stick.EventKick:
		// Who leaves goes itself; who is kicked is named by somebody else.
		gone := e.From
		if e.Type == stick.EventKick {
			gone = e.To
		}
		return tx.exec("DELETE FROM reservations WHERE room_id = ? AND agent_id = ?", e.Room, gone)
	case stick.EventRestored:
		return tx.exec("DELETE FROM reservations WHERE room_id = ?", e.Room)
	}
	if e.Type != stick.EventReserved {
		return nil
	}

	v := scope.ReservationOf(e)
	args, err := reservationTable().insertArgs(&v, e.Room, v.Pattern.Prefix(true))
	if err != nil {
		return err
	}
	return tx.exec(reservationTable().insert, args...)
}

// ReservationQuery selects reservations of a room.
type ReservationQuery struct {
	Room  stick.RoomID
	ID    int64         // this one, 0 for all
	Agent stick.AgentID // only this agent's
	Task  string        // only of this task
	Limit int           // 0 for all
}

// Reservations returns reservations, the earliest first, and whether there are more. With a limit, it returns
// the newest, beginning with the last. There are none in a room that hasn't recorded the last reboot yet,
// because all of them have ended.
func (tx *Tx) Reservations(q ReservationQuery) (out []stick.Reservation, more bool, err error) {
	where, args := "", []any{}
	if q.ID != 0 {
		where, args = where+" AND v.event_seq = ?", append(args, q.ID)
	}
	if q.Agent != "" {
		where, args = where+" AND v.agent_id = ?", append(args, q.Agent)
	}
	if q.Task != "" {
		where, args = where+" AND v.task_id = ?", append(args, q.Task)
	}

	if q.Limit > 0 {
		where, args = where+" ORDER BY v.event_seq DESC LIMIT ?", append(args, q.Limit+1)
	} else {
		where += " ORDER BY v.event_seq"
	}

	out, err = tx.scanReservations(q.Room, "", nil, where, args...)
	if q.Limit > 0 && err == nil {
		return boundRows(out, q.Limit, false)
	}

	return out, false, err
}

// scanReservations loads the reservations of a room that match a join and a condition.
func (tx *Tx) scanReservations(
	room stick.RoomID, join string, joined []any, where string, args ...any,
) (out []stick.Reservation, err error) {
	err = tx.scan("SELECT "+reservationTable().namesOf("v")+`
		FROM reservations v JOIN rooms r ON r.room_id = v.room_id AND r.generation = ?`+join+`
		WHERE v.room_id = ?`+where,
		slices.Concat([]any{tx.Generation().Number}, joined, []any{room}, args), func(scan rowScan) error {
			var v stick.Reservation
			err := reservationTable().read(scan, &v)
			out = append(out, v)
			return err
		})

	return out, err
}

// ReservationsNear returns the reservations that could mean one of the paths, or anything below one of the
// directories, the earliest first: those whose prefix is the path or a directory above it, or lies below
// the directory. The directory "" is the root.
func (tx *Tx) ReservationsNear(room stick.RoomID, paths, dirs []string) ([]stick.Reservation, error) {
	// Prefixes are stored with their case folded, so paths are folded, too.
	above, below := map[string]bool{"": true}, map[string]bool{}
	for _, p := range slices.Concat(paths, dirs) {
		for p = glob.FoldCase(p); p != "" && p != "." && !above[p]; {
			above[p] = true
			p = p[:max(strings.LastIndexByte(p, '/'), 0)]
		}
	}

	for _, d := range dirs {
		below[glob.FoldCase(d)] = true
	}

	var out []stick.Reservation
	for chunk := range slices.Chunk(slices.Sorted(maps.Keys(above)), maxMarks) {
		marks, args := placeholders(chunk)
		vs, err := tx.scanReservations(room, "", nil, " AND v.prefix IN ("+marks+") ORDER BY v.event_seq", args...)
		if err != nil {
			return nil, err
		}

		out = append(out, vs...)
	}

	for chunk := range slices.Chunk(slices.Sorted(maps.Keys(below)), maxMarks/2) {
		// Below the root is everything but the root itself, which was found above.
		if chunk[0] == "" {
			vs, err := tx.scanReservations(room, "", nil, " AND v.prefix > '' ORDER BY v.event_seq")
			if err != nil {
				return nil, err
			}

			out = append(out, vs...)
			break
		}

		var ends []any
		for _, d := range chunk {
			ends = append(ends, d+"/", d+"0") // the character after "/"
		}

		// A join, because alternatives in the condition would read the whole index.
		values := strings.TrimSuffix(strings.Repeat("(?, ?), ", len(chunk)), ", ")
		join := " JOIN (VALUES " + values + ") d ON v.prefix > d.column1 AND v.prefix < d.column2"
		vs, err := tx.scanReservations(room, join, ends, " ORDER BY v.event_seq")
		if err != nil {
			return nil, err
		}

		out = append(out, vs...)
	}

	// A reservation may have been found in several ways.
	slices.SortFunc(out, func(a, b stick.Reservation) int { return int(a.ID - b.ID) })
	return slices.CompactFunc(out, func(a, b stick.Reservation) bool { return a.ID == b.ID }), nil
}

// ReservationsMeeting returns the reservations that could overlap with one of the patterns, the
// earliest first: those whose prefix lies on the way to the pattern's, or below it.
func (tx *Tx) ReservationsMeeting(room stick.RoomID, patterns []glob.Pattern) ([]stick.Reservation, error) {
	var prefixes []string
	for _, p := range patterns {
		prefixes = append(prefixes, p.Prefix(true))
	}
	return tx.ReservationsNear(room, nil, prefixes)
}
