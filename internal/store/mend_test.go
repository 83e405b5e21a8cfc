package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// mendAll mends all rooms that aren't what their logs say, and fails the test unless the check finds nothing then.
func mendAll(t *testing.T, db *store.DB) (ended []stick.AgentID) {
	t.Helper()
	all, err := db.Contradictions(ctx)
	if err != nil || len(all) == 0 {
		t.Fatalf("contradictions: %v (%v)", all, err)
	}

	for _, c := range all {
		if !c.Whole {
			t.Errorf("the log of %s isn't whole: %q", c.Path, c.Found)
		}
		a, err := db.Mend(ctx, c.Room)
		if err != nil {
			t.Fatal(err)
		}
		if a != "" {
			ended = append(ended, a)
		}
	}

	if found, err := db.Check(ctx); err != nil || len(found) > 0 {
		t.Errorf("after it: %q (%v)", found, err)
	}
	return ended
}

// TestMend_Rebuilds: whatever a log says is brought back, and then the check finds nothing.
func TestMend_Rebuilds(t *testing.T) {
	for name, tamper := range map[string]string{
		"owner":            "UPDATE rooms SET owner = 'codex:b'",
		"turn":             "UPDATE rooms SET turn_id = turn_id + 1",
		"closed":           "UPDATE rooms SET closed = 1",
		"end of the log":   "UPDATE rooms SET last_event_seq = 3, last_sum = 'x'",
		"sum of the log":   "UPDATE rooms SET last_sum = 'x'",
		"member gone":      "DELETE FROM members WHERE agent_id = 'codex:b'",
		"member too many":  "INSERT INTO members SELECT room_id, 'gemini:x', 9, 'joined', 0, 0, 0, 0, 0, 0, 0, '', '', 0, 0, '', '', 0, 0, '' FROM rooms",
		"member's place":   "UPDATE members SET ordinal = 5, join_seq = 99 WHERE agent_id = 'codex:b'",
		"receipts gone":    "DELETE FROM receipts",
		"receipt moved":    "UPDATE receipts SET room_id = (SELECT room_id FROM rooms WHERE canonical_path = '/other') WHERE agent_id = 'gemini:c' AND event_seq = 9",
		"note changed":     "UPDATE notes SET body = 'forget'",
		"note moved":       "UPDATE notes SET room_id = (SELECT room_id FROM rooms WHERE canonical_path = '/other') WHERE event_seq = 14",
		"note too many":    "INSERT INTO notes SELECT 3, room_id, 'claude:a', 0, 'x', 0, 0, '' FROM rooms WHERE canonical_path = '/work'",
		"task changed":     "UPDATE tasks SET state = 'MERGED', description = 'another'",
		"attempts gone":    "DELETE FROM task_attempts",
		"reviews gone":     "DELETE FROM reviews",
		"a note that none": "UPDATE tasks SET waits_for = 't9'",
		"tasks gone":       "DELETE FROM tasks",
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
				var at stick.Room
				written(t, db)
				view(t, db, func(tx *store.Tx) (err error) {
					at, _, err = tx.RoomAt([]string{"/work"})
					return err
				})
				reviewed(t, db, at.ID, "T1")
				storetest.Exec(t, db, tamper)

				// A check that comes first may have everybody else stop writing.
				if found, err := db.Check(ctx); err != nil || len(found) == 0 {
					t.Errorf("the check found %q (%v)", found, err)
				}
				mendAll(t, db)
			})
		})
	}
}

// TestMend_EndsTurnWithoutLease: the log has only the sum of a lease, so a turn whose lease was changed ends, and one
// whose lease is there goes on.
func TestMend_EndsTurnWithoutLease(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		claim(t, db, id, "claude:a")
		held := load(t, db, id).Turn

		storetest.Exec(t, db, "DELETE FROM receipts")
		if ended := mendAll(t, db); len(ended) > 0 || load(t, db, id).Turn.Lease != held.Lease {
			t.Errorf("the turn of %v ended", ended)
		}

		storetest.Exec(t, db, "UPDATE rooms SET lease_id = 'x'")
		if ended := mendAll(t, db); len(ended) != 1 || ended[0] != held.Owner {
			t.Errorf("the turn of %v ended, want that of %s", ended, held.Owner)
		}
		if r := load(t, db, id); r.Turn.ID <= held.ID || r.Turn.Owner != "" {
			t.Errorf("turn %d is owned by %q", r.Turn.ID, r.Turn.Owner)
		}
	})
}

// TestMend_RefusesBrokenLog: a room whose log isn't whole stays as it is.
func TestMend_RefusesBrokenLog(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		storetest.Exec(t, db, "UPDATE events SET reason = 'another' WHERE event_seq = 4")
		all, err := db.Contradictions(ctx)
		if err != nil || len(all) != 1 || all[0].Whole {
			t.Errorf("%+v (%v)", all, err)
		}

		_, err = db.Mend(ctx, id)
		refused(t, err, stick.CodeDatabaseCorrupt)

		aside, err := db.KeepCopy(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(aside, store.FileName)); err != nil {
			t.Error(err)
		}
	}, storetest.Damaged())
}
