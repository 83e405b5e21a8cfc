package store_test

import (
	"reflect"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestImportRoom_Comments: an import has the comments of a review, though a log has no drafts.
func TestImportRoom_Comments(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		reviewed(t, db, id, "T1")
		was := comments(t, db, id, "T1")
		if len(was) == 0 {
			t.Fatal("the room has no comments")
		}

		importAgain(t, db, id)
		if is := comments(t, db, id, "T1"); !reflect.DeepEqual(is, was) {
			t.Errorf("%+v were %+v", is, was)
		}
	})
}

// importAgain removes a room, and imports it as it was exported.
func importAgain(t *testing.T, db *store.DB, id stick.RoomID) {
	t.Helper()
	var h store.History
	var events []stick.Event
	view(t, db, func(tx *store.Tx) (err error) {
		if h, err = tx.HistoryOf(id); err == nil {
			events, _, err = tx.Events(store.EventQuery{Room: id, Limit: 1000})
		}
		return err
	})

	update(t, db, func(tx *store.Tx) error {
		if err := tx.RemoveRoom(id); err != nil {
			return err
		}

		n := 0
		return tx.ImportRoom(ctx, h, func() (e stick.Event, more bool, err error) {
			if n == len(events) {
				return e, false, nil
			}
			n++
			return events[n-1], true, nil
		})
	})
}
