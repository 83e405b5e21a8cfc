package store_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// cut removes all of a room's log that nobody needs, and fails the test if nothing goes.
func cut(t *testing.T, db *store.DB, room stick.RoomID) store.LogCut {
	t.Helper()
	c, err := db.CutLog(ctx, store.CutRequest{Room: room, Before: stick.At(time.Now().Add(time.Hour)), By: "human:x"})
	if err != nil || c.Removed == 0 {
		t.Fatalf("%+v (%v)", c, err)
	}
	return c
}

// logOf is the whole log of a room.
func logOf(t *testing.T, db *store.DB, room stick.RoomID) (events []stick.Event) {
	t.Helper()
	view(t, db, func(tx *store.Tx) (err error) {
		events, _, err = tx.Events(store.EventQuery{Room: room, Limit: 1000})
		return err
	})
	return events
}

// TestCutLog: the log gets shorter and the room stays what it was. It goes on, and can be cut again.
func TestCutLog(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		reviewed(t, db, id, "T1")
		was, before := load(t, db, id), logOf(t, db, id)

		c := cut(t, db, id)
		after := logOf(t, db, id)
		if want := len(before) - int(c.Removed) + 1; len(after) != want || c.Events != int64(len(before)) {
			t.Errorf("%d events became %d, want %d", len(before), len(after), want)
		}
		is := load(t, db, id)
		is.UpdatedAt = was.UpdatedAt
		if !reflect.DeepEqual(is, was) {
			t.Errorf("%+v\nwas\n%+v", is, was)
		}
		storetest.Check(t, db)

		join(t, db, id, "gemini:new")
		claim(t, db, id, "gemini:new")
		storetest.Check(t, db)
		cut(t, db, id)
		storetest.Check(t, db)
	})
}

// TestCutLog_nothing: what was cut isn't cut again, and young events stay.
func TestCutLog_nothing(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		q := store.CutRequest{Room: id, Before: stick.At(time.Now().Add(-time.Hour)), By: "human:x"}
		if c, err := db.CutLog(ctx, q); err != nil || c.Removed != 0 {
			t.Errorf("%+v (%v)", c, err)
		}

		cut(t, db, id)
		q.Before = stick.At(time.Now().Add(time.Hour))
		if c, err := db.CutLog(ctx, q); err != nil || c.Removed != 0 {
			t.Errorf("%+v (%v)", c, err)
		}
	})
}

// TestCutLog_contradiction: nothing goes that may be needed to repair a room.
func TestCutLog_contradiction(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		storetest.Exec(t, db, "UPDATE rooms SET prior_owner = 'codex:x'")
		q := store.CutRequest{Room: id, Before: stick.At(time.Now().Add(time.Hour)), By: "human:x"}
		if c, err := db.CutLog(ctx, q); err != nil || c.Removed != 0 {
			t.Errorf("%+v (%v)", c, err)
		}
	}, storetest.Damaged())
}

// TestCutLog_knowsOldGrants: a lease whose grant was removed doesn't look like that of a newer database.
func TestCutLog_knowsOldGrants(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		cut(t, db, id)
		view(t, db, func(tx *store.Tx) error {
			for turn, want := range map[int64]bool{1: true, 9: false} {
				if known, err := tx.HasGrant(id, turn, "x"); err != nil || known != want {
					t.Errorf("turn %d: %t (%v)", turn, known, err)
				}
			}
			return nil
		})
	})
}

// TestCheck_checkpoint: what is wrong with a checkpoint is found, and whatever its log says is brought back.
func TestCheck_checkpoint(t *testing.T) {
	for name, c := range map[string]struct{ tamper, says string }{
		"gone":          {"DELETE FROM checkpoints", "its sum doesn't follow"},
		"changed":       {`UPDATE checkpoints SET state = replace(state, '"Closed":false', '"Closed":true')`, "isn't what it was"},
		"cut off":       {"UPDATE checkpoints SET state = substr(state, 1, 50)", "can't be read"},
		"of another":    {"UPDATE checkpoints SET pruned_to = pruned_to - 1", "another checkpoint"},
		"event is lost": {"DELETE FROM events WHERE event_seq = (SELECT MIN(event_seq) FROM events)", "is missing"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
				id := played(t, db)
				reviewed(t, db, id, "T1")
				cut(t, db, id)
				requireFound(t, db, c.tamper, c.says)
			}, storetest.Damaged())
		})
	}
}

// TestMend_checkpoint: a room whose log begins with a checkpoint is rebuilt from it.
func TestMend_checkpoint(t *testing.T) {
	for _, tamper := range []string{
		"DELETE FROM receipts", "DELETE FROM members WHERE agent_id = 'codex:b'", "DELETE FROM reviews", "DELETE FROM tasks",
	} {
		t.Run(strings.Fields(tamper)[2], func(t *testing.T) {
			storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
				id := played(t, db)
				reviewed(t, db, id, "T1")
				cut(t, db, id)
				storetest.Exec(t, db, tamper)
				mendAll(t, db)
			})
		})
	}
}

// TestImportRoom_checkpoint: a log with a checkpoint comes into another database as it is.
func TestImportRoom_checkpoint(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		reviewed(t, db, id, "T1")
		cut(t, db, id)
		events, was := logOf(t, db, id), comments(t, db, id, "T1")
		importAgain(t, db, id)

		if is := comments(t, db, id, "T1"); !reflect.DeepEqual(is, was) {
			t.Errorf("%+v were %+v", is, was)
		}
		if is := logOf(t, db, id); len(is) < len(events) {
			t.Errorf("%d events were %d", len(is), len(events))
		}
		storetest.Check(t, db)
	})
}

// TestSalvage_checkpoint: what can be read of a log with a checkpoint is saved with it.
func TestSalvage_checkpoint(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		cut(t, db, id)
		s, err := db.ReadSalvage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if want := len(logOf(t, db, id)); s.Events() != int64(want) {
			t.Errorf("%d events, want %d", s.Events(), want)
		}

		file := filepath.Join(t.TempDir(), "saved.sqlite")
		if s, err = store.WriteSalvage(ctx, store.Options{Dir: t.TempDir()}, s, file); err != nil {
			t.Fatal(err)
		}
		for _, r := range s.Rooms {
			if r.Why != "" {
				t.Errorf("room %s: %s", r.Room, r.Why)
			}
		}
		if rows := rowsAt(t, file, "SELECT event_seq FROM checkpoints"); len(rows) != 1 {
			t.Errorf("%d checkpoints", len(rows))
		}
	})
}

// TestPlanLogCut_keeps: what somebody hasn't seen, read or answered stays, and so do open notes.
func TestPlanLogCut_keeps(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		written(t, db)
		for _, room := range rooms(t, db) {
			open := rowsAt(t, filepath.Join(db.Dir(), store.FileName), fmt.Sprintf(`
				SELECT event_seq FROM receipts WHERE is_open = 1 AND room_id = '%[1]s'
				UNION SELECT event_seq FROM notes WHERE resolved_at = 0 AND room_id = '%[1]s'
				UNION SELECT handoff_event_seq FROM rooms WHERE handoff_event_seq > 0 AND room_id = '%[1]s'`, room))
			q := store.CutRequest{Room: room, Before: stick.At(time.Now().Add(time.Hour)), By: "human:x"}
			if _, err := db.CutLog(ctx, q); err != nil {
				t.Fatal(err)
			}

			stays := map[string]bool{}
			for _, e := range logOf(t, db, room) {
				stays[fmt.Sprint(e.Seq)] = true
			}
			for _, seq := range open {
				if !stays[seq] {
					t.Errorf("event %s of room %s is gone", seq, room)
				}
			}
			if len(open) == 0 && len(stays) == 0 {
				t.Errorf("room %s has nothing", room)
			}
		}
		storetest.Check(t, db)
	})
}

// rooms lists the rooms.
func rooms(t *testing.T, db *store.DB) (ids []stick.RoomID) {
	t.Helper()
	view(t, db, func(tx *store.Tx) error {
		all, err := tx.Rooms(nil, "")
		for _, r := range all {
			ids = append(ids, r.ID)
		}
		return err
	})
	return ids
}
