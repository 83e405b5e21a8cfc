package store

import (
	"maps"
	"slices"
	"strings"

	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// minName is how many characters of a room's id name the room, if they are unique.
const minName = 6

// RoomNamed is [Tx.Room] for an id as somebody typed it: in full, or at least six characters of its start. It
// fails with [stick.CodeNoRoom], and where several ids begin like this with [stick.CodeUsage].
func (tx *Tx) RoomNamed(name stick.RoomID) (stick.Room, error) {
	if err := tx.lockRoom(name); err != nil {
		return stick.Room{}, err
	}

	// A full id needs no search.
	if r, ok, err := tx.loadRoom(name); ok || err != nil {
		return r, err
	}

	// A part of an id stands for it, if it is long enough.
	after := name
	if len(name) >= minName {
		// The character sorts after all characters of ids.
		after += "~"
	}

	ids, err := tx.roomIDs("SELECT room_id FROM rooms WHERE room_id >= ? AND room_id <= ? ORDER BY room_id LIMIT 5",
		name, after)
	switch {
	case err != nil:
		return stick.Room{}, err
	case len(ids) > 1:
		return stick.Room{}, stick.Errorf(stick.CodeUsage, "%q is the start of several room ids", stick.Clip(string(name), 60)).
			With("field", "room_id").With("candidates", ids).Hintf("see the rooms with their ids: %s", stick.Cmd("tt list --all --json"))
	case len(ids) > 0:
		name = ids[0]
	case tx.ManyHosts():
		if r, ok, err := tx.RoomOf(string(name)); ok || err != nil {
			return r, err
		}
	}

	return tx.Room(name)
}

// RoomAt loads the room of the first of the paths that has one.
func (tx *Tx) RoomAt(paths []string) (stick.Room, bool, error) {
	if tx.IsConcurrent() {
		return tx.lockRoomAt(paths)
	}

	for _, p := range paths {
		where := "WHERE room_id IN (SELECT room_id FROM " + tx.db.dialect.PlacesQuery() + " p WHERE p.path = ?)"
		if r, ok, err := tx.loadRoomWhere(where, p); ok || err != nil {
			return tx.chooseCheckout(r, paths), ok, err
		}
	}

	return stick.Room{}, false, nil
}

// lockRoomAt is [Tx.RoomAt] where several transactions write at a time. If no path has a room, none gets one
// before this transaction ends, except by itself.
func (tx *Tx) lockRoomAt(paths []string) (r stick.Room, ok bool, err error) {
	for {
		// Only a room that is known can be locked.
		ids, err := tx.RoomsAt([][]string{paths})
		if err != nil {
			return r, false, err
		}

		if ids[0].Room == "" {
			// Another transaction may have made the room until the paths were locked, so they are read again.
			if again, err := tx.lockClass(dialect.PathsClass); !again {
				return r, false, err
			}
			continue
		}

		r, err = tx.Room(ids[0].Room)
		isThere := func(p string) bool { return slices.Contains(tx.paths[r.ID], p) }
		if err != nil || slices.ContainsFunc(paths, isThere) {
			return tx.chooseCheckout(r, paths), err == nil, err
		}
		// It was moved before it was locked.
	}
}

// RoomsAt finds, for each chain of paths, the room of the first path that has one. It is empty for none.
func (tx *Tx) RoomsAt(chains [][]string) ([]Place, error) {
	at := map[string]stick.RoomID{}
	for _, c := range chains {
		for _, p := range c {
			at[p] = ""
		}
	}

	// Many chains share the directories at their ends, so each path is asked for once.
	paths := slices.Sorted(maps.Keys(at))
	for chunk := range slices.Chunk(paths, maxMarks) {
		marks, args := placeholders(chunk)
		err := tx.scan("SELECT path, room_id FROM "+tx.db.dialect.PlacesQuery()+" p WHERE path IN ("+marks+`)
			ORDER BY path`,
			args, func(scan rowScan) error {
				var path string
				var id stick.RoomID
				err := scan(&path, &id)
				at[path] = id
				return err
			})
		if err != nil {
			return nil, err
		}
	}

	out := make([]Place, len(chains))
	for i, c := range chains {
		for _, p := range c {
			if at[p] != "" {
				out[i] = Place{at[p], p}
				break
			}
		}
	}

	return out, nil
}

// RoomsBelow lists the rooms of a directory and of all directories in it, ordered by path.
func (tx *Tx) RoomsBelow(dir string) (out []Place, err error) {
	// "0" is the character after "/", so the range holds all that begins with the directory.
	below := strings.TrimSuffix(dir, "/")
	err = tx.scan("SELECT room_id, path FROM "+tx.db.dialect.PlacesQuery()+` p
		WHERE path = ? OR (path > ? AND path < ?) ORDER BY path`,
		[]any{dir, below + "/", below + "0"}, func(scan rowScan) error {
			var p Place
			err := scan(&p.Room, &p.Path)
			out = append(out, p)
			return err
		})

	return out, err
}

// roomIDs lists the rooms that a query returns.
func (tx *Tx) roomIDs(query string, args ...any) (ids []stick.RoomID, err error) {
	err = tx.scan(query, args, func(scan rowScan) error {
		var id stick.RoomID
		err := scan(&id)
		ids = append(ids, id)
		return err
	})

	return ids, err
}

// maxMarks is how many values one query is given at most in a list.
const maxMarks = 500

// placeholders are the placeholders for a list of values, and the values as arguments.
func placeholders[T ~string](values []T) (string, []any) {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	return strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", "), args
}

// TurnAt returns the turn of the room with an id or, without an id, of the first path that has a room. The
// returned id is empty when there is no room.
func (tx *Tx) TurnAt(room stick.RoomID, paths []string) (id stick.RoomID, state stick.TurnState, err error) {
	if room != "" {
		_, err = tx.queryOne("SELECT room_id, state FROM rooms WHERE room_id = ?", []any{room}, &id, &state)
		return id, state, err
	}

	for _, p := range paths {
		query := "SELECT r.room_id, r.state FROM rooms r JOIN " + tx.db.dialect.PlacesQuery() +
			" p ON p.room_id = r.room_id WHERE p.path = ?"
		if ok, err := tx.queryOne(query, []any{p}, &id, &state); ok || err != nil {
			return id, state, err
		}
	}

	return "", "", nil
}

// Rooms lists rooms without their members, ordered by path: those at the given paths and those
// below dir, or every room when dir is empty and no path is given.
func (tx *Tx) Rooms(at []string, below string) ([]stick.Room, error) {
	query, args := "SELECT "+tx.roomColumns()+" FROM rooms", []any{}
	if below != "" || len(at) > 0 {
		dir := strings.TrimSuffix(below, "/")
		query += " WHERE room_id IN (SELECT room_id FROM " + tx.db.dialect.PlacesQuery() +
			" p WHERE (path > ? AND path < ?)"

		// "0" is the character after "/", so the range holds all that begins with the directory.
		args = append(args, dir+"/", dir+"0")

		for _, p := range at {
			query += " OR path = ?"
			args = append(args, p)
		}

		query += ")"
	}

	var out []stick.Room
	err := tx.scan(query+" ORDER BY canonical_path", args, func(scan rowScan) error {
		r, err := tx.scanRoom(scan)
		out = append(out, r)
		return err
	})

	return out, err
}
