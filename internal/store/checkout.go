package store

import (
	"slices"

	"talkingstick/stick"
)

// chooseCheckout gives a room that has several checkouts on this host the path of that which is meant: the
// first of the given paths that it has, or else that which was meant the last time.
func (tx *Tx) chooseCheckout(r stick.Room, paths []string) stick.Room {
	has := tx.paths[r.ID]
	if len(has) == 0 {
		return r
	}

	// Without a hint, the first one is as good as any.
	r.Path = has[0]
	for _, p := range slices.Concat(paths, []string{tx.db.meant[r.ID]}) {
		if slices.Contains(has, p) {
			r.Path = p
			break
		}
	}

	tx.db.meant[r.ID] = r.Path
	return r
}

// Place is where a room lies on this host: at one of its paths.
type Place struct {
	Room stick.RoomID // empty for none
	Path string
}

// PartAt is [Tx.RoomPart] for the room at a place. Of several checkouts that one is meant.
func (tx *Tx) RoomPartAt(p Place, a stick.AgentID) (stick.Room, error) {
	r, err := tx.RoomPart(p.Room, a)
	return tx.chooseCheckout(r, []string{p.Path}), err
}

// CheckoutOf names the checkout of a room that is meant, where it has several. It is zero where it has none
// on this host.
func (tx *Tx) CheckoutOf(r stick.Room) stick.Checkout {
	if len(tx.paths[r.ID]) == 0 {
		return stick.Checkout{}
	}
	return stick.Checkout{Host: tx.db.dialect.CurrentHost(), Path: r.Path}
}

// RoomOf finds the room with a key.
func (tx *Tx) RoomOf(key string) (r stick.Room, ok bool, err error) {
	ids, err := tx.roomIDs("SELECT room_id FROM rooms WHERE canonical_path = ? ORDER BY room_id", key)
	if err != nil || len(ids) == 0 {
		return r, false, err
	}

	r, err = tx.Room(ids[0])
	return r, err == nil, err
}

// Checkout records that a room lies at a path of this host, too.
func (tx *Tx) Checkout(r stick.Room, path string) (stick.Room, error) {
	err := tx.execIn(r.ID, `INSERT INTO checkouts (host_id, path, room_id) VALUES (?, ?, ?)
		ON CONFLICT (host_id, path) DO UPDATE SET room_id = excluded.room_id`,
		tx.db.dialect.CurrentHost(), path, r.ID)

	// The paths were read with the room, before this one was there.
	tx.paths[r.ID] = append(slices.Clip(tx.paths[r.ID]), path)
	return tx.chooseCheckout(r, []string{path}), err
}

// ExchangePaths gives two rooms each other's path. No two rooms have one path, so one of them has none in
// between. It is for databases of one host.
func (tx *Tx) ExchangePaths(a, b stick.Room) error {
	for _, to := range []struct {
		room stick.RoomID
		path string
	}{{a.ID, "exchanged " + string(a.ID)}, {b.ID, a.Path}, {a.ID, b.Path}} {
		err := tx.execIn(to.room, "UPDATE rooms SET canonical_path = ? WHERE room_id = ?", to.path, to.room)
		if err != nil {
			return err
		}
	}

	return nil
}

// LeaveCheckout forgets a path of a room on this host.
func (tx *Tx) LeaveCheckout(r stick.Room, path string) error {
	return tx.execIn(r.ID, "DELETE FROM checkouts WHERE host_id = ? AND path = ? AND room_id = ?",
		tx.db.dialect.CurrentHost(), path, r.ID)
}
