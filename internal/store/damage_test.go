package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// used is a data directory in which nearly every table has rows.
func used(t *testing.T) (dir string) {
	t.Helper()
	db := rebooted(t)
	recorded(t, db)
	return filesLeft(t, db.Dir())
}

// contents are ways to damage what is in a database whose pages stay whole, each a statement.
func contents(t *testing.T, dir string) (all []string) {
	t.Helper()
	raw := openRaw(t, dir)
	for _, table := range column(t, raw, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
		all = append(all, "DROP TABLE "+table)
		if column(t, raw, "SELECT count(*) FROM "+table)[0] == "0" {
			continue
		}

		for _, c := range column(t, raw, "SELECT name FROM pragma_table_info(?) WHERE type = 'INTEGER' AND pk = 0 ORDER BY cid", table) {
			all = append(all, fmt.Sprintf("UPDATE %s SET %s = 'no number'", table, c))
		}
	}

	return append(
		all,
		"DELETE FROM rooms", "DELETE FROM events", "DELETE FROM counters", "DELETE FROM meta WHERE key = 'schema'", "DELETE FROM meta",
		"UPDATE meta SET value = 'no number'", "UPDATE rooms SET policy = '{'", "UPDATE rooms SET policy = ''", "UPDATE events SET handoff = '{' WHERE handoff <> ''",
		"UPDATE drafts SET handoff = '{'", "UPDATE tasks SET state = 'none'", "UPDATE rooms SET turn_id = turn_id + 1", "UPDATE rooms SET room_id = room_id || 'x'",
		"UPDATE counters SET value = 0", "ALTER TABLE rooms RENAME COLUMN owner TO holder", "ALTER TABLE events DROP COLUMN reason", "DROP INDEX "+column(
			t, raw, "SELECT name FROM sqlite_master WHERE type = 'index' AND sql <> '' ORDER BY name LIMIT 1",
		)[0],
		"CREATE TRIGGER refuses BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no'); END",
	)
}

// TestDamagedContentIsSaid: whatever is wrong with what a database holds, a command fails with a code of ours
// and a next step, in words of ours, or works as ever. The check finds the damage, and a database that is set
// aside makes room for one that works.
func TestDamagedContentIsSaid(t *testing.T) {
	before := used(t)
	all := contents(t, before)
	few := testenv.Leaves(t, testenv.Every, "eleven of twelve values and tables that are damaged")

	// nothing of a file is in these tables
	harmless := []string{"DROP INDEX", "DROP TABLE host", "DROP TABLE checkouts"}
	for i, statement := range all {
		if few && i%12 != 0 && i < len(all)-18 {
			continue
		}

		t.Run(strings.ReplaceAll(statement, " ", "_"), func(t *testing.T) {
			dir := filesLeft(t, before)
			raw := openRaw(t, dir)
			if _, err := raw.Exec("PRAGMA foreign_keys = OFF; " + statement); err != nil {
				t.Fatal(err)
			}
			if err := raw.Close(); err != nil {
				t.Fatal(err)
			}

			found, failed := checked(t, dir), false
			for range 2 { // a process that goes on, and one that begins
				failed = requireCodes(t, dir) || failed
			}
			if !found && failed {
				t.Error("commands fail, and the check finds nothing")
			}
			if !found &&
				!slices.ContainsFunc(harmless, func(s string) bool { return strings.HasPrefix(statement, s) }) {
				t.Error("the check finds nothing")
			}
			requireAside(t, dir)
		})
	}
}

// requireCodes reads and writes what it can, and fails the test at an error that users can do nothing with.
// It reports whether there was any.
func requireCodes(t *testing.T, dir string) (failed bool) {
	t.Helper()
	check := func(err error) {
		if err == nil {
			return
		}
		failed = true
		e := stick.AsError(err)
		if e.Code == stick.CodeInternal || len(e.Hint) == 0 {
			t.Errorf("the code %s: %v (%s)", e.Code, err, e.Hint)
		}

		for _, raw := range []string{
			"sql:", "SQL logic", "constraint failed", "no such", "invalid character", "Scan", "strconv",
			"malformed",
		} {
			if strings.Contains(e.Message, raw) {
				t.Errorf("it says %q", e.Message)
			}
		}
	}

	db, err := store.Open(ctx, store.Options{Dir: dir, Machine: "m", Boot: "the second"}, true)
	check(err)
	if err != nil {
		return failed
	}
	defer db.Close()

	for range 2 {
		var rooms []stick.Room
		check(db.View(ctx, func(tx *store.Tx) (err error) {
			rooms, err = tx.Rooms(nil, "")
			return err
		}))

		check(db.Update(ctx, func(tx *store.Tx) error {
			r, err := tx.NewRoom(fmt.Sprintf("/new/%d", len(rooms)), "")
			if err != nil {
				return err
			}
			joined, events, _, err := r.Join("claude:new", "", true, tx.Now())
			if err == nil {
				_, _, err = tx.Save(r, joined, events)
			}
			return err
		}))

		for _, r := range rooms {
			check(useRoom(db, r.ID))
		}
	}

	return failed
}

// useRoom does in a room what commands do.
func useRoom(db *store.DB, id stick.RoomID) error {
	return db.Update(ctx, func(tx *store.Tx) error {
		r, err := tx.Room(id)
		if stick.CodeOf(err) == stick.CodeNoRoom {
			return nil
		}
		if err != nil {
			return err
		}

		_, _, events := tx.Events(store.EventQuery{Room: id, Limit: 100})
		_, tasks := tx.Tasks(id)
		_, drafts := tx.Drafts(id)
		_, runs := tx.LastRuns(id)
		_, _, notes := tx.Notes(store.NoteQuery{Room: id, Limit: 10})
		_, process := tx.Processes("codex:b")
		_, hooks := tx.HookTimes("key")
		joined, made, _, err := r.Join("gemini:new", "", true, tx.Now())
		if err := try(err, events, tasks, drafts, runs, notes, process, hooks); err != nil {
			return err
		}
		_, _, err = tx.Save(r, joined, made)
		return try(err, tx.RecordStart("key"), tx.AdvanceCursor(id, "codex:b", "wait", 1))
	})
}

// checked reports whether the check finds damage, or can't look because of it.
func checked(t *testing.T, dir string) bool {
	t.Helper()
	db, err := store.Open(ctx, store.Options{Dir: dir}, false)
	if err != nil {
		return store.IsDamage(err) || stick.CodeOf(err) == stick.CodeForeignDatabase
	}
	defer db.Close()
	found, err := db.Check(ctx)
	t.Logf("the check: %q (%v)", found, err)
	return len(found) > 0 || store.IsDamage(err)
}

// requireAside sets what is in dir aside, and fails the test unless a database works there then.
func requireAside(t *testing.T, dir string) {
	t.Helper()
	aside, err := store.SetAside(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(aside, store.FileName)); err != nil {
		t.Error(err)
	}
	if requireCodes(t, dir) {
		t.Error("the database that takes its place doesn't work")
	}
	if checked(t, dir) {
		t.Error("the check finds something in the database that takes its place")
	}
}
