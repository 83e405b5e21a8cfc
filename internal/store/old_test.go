package store_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// rowsOf reads all rows of all tables except for meta, each as text. It reads the given columns, which may be
// those of an earlier schema, or else all.
func rowsOf(t *testing.T, raw *sql.DB, columns map[string]string) (rows, read map[string]string) {
	t.Helper()
	rows, read = map[string]string{}, columns
	if read == nil {
		read = map[string]string{}
		for _, table := range column(t, raw, "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'meta' ORDER BY name") {
			read[table] = strings.Join(column(t, raw, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table),
				", ")
		}
	}

	for table, names := range read {
		quoted := "quote(" + strings.ReplaceAll(names, ", ", ") || ' ' || quote(") + ")"
		rows[table] = strings.Join(column(t, raw, fmt.Sprintf("SELECT %s FROM %s ORDER BY 1", quoted, table)), "\n")
	}

	return rows, read
}

// TestDatabaseOf8cc1f78: the database of an earlier program opens and migrates. Its rows stay as they are,
// its log replays to them (the doctor's check, here and after the test), and its rooms can be used.
func TestDatabaseOf8cc1f78(t *testing.T) {
	var before, columns map[string]string
	var types []string
	db := storetest.Old(t, "8cc1f78", func(raw *sql.DB) {
		before, columns = rowsOf(t, raw, nil)
		types = column(t, raw, "SELECT DISTINCT event_type FROM events ORDER BY event_type")
	})

	after, _ := rowsOf(t, openRaw(t, db.Dir()), columns)
	if diff := cmp.Diff(before, after); diff != "" || len(before) < 15 {
		t.Errorf("of %d tables opening it changed:\n%s", len(before), diff)
	}
	if found, err := db.Check(ctx); err != nil || len(found) > 0 {
		t.Errorf("the check found %q (%v)", found, err)
	}
	if len(types) != 38 {
		t.Errorf("it has events of %d types", len(types))
	}

	for _, typ := range types {
		if !slices.ContainsFunc(stick.EventTypes, func(i stick.EventInfo) bool { return string(i.Type) == typ }) {
			t.Errorf("the type %s of events is no longer known", typ)
		}
	}

	meta := func(db *store.DB) []string {
		return column(t, openRaw(t, db.Dir()),
			"SELECT key || ' ' || value FROM meta WHERE key IN ('schema', 'min_reader') ORDER BY key")
	}
	if diff := cmp.Diff(meta(fresh(t)), meta(db)); diff != "" {
		t.Errorf("the database says of itself:\n%s", diff)
	}

	var rooms []stick.Room
	view(t, db, func(tx *store.Tx) (err error) {
		rooms, err = tx.Rooms(nil, "")
		return err
	})

	if len(rooms) != 4 {
		t.Errorf("it has %d rooms", len(rooms))
	}

	kinds := map[string]bool{}
	for _, room := range rooms {
		join(t, db, room.ID, "claude:new")
		view(t, db, func(tx *store.Tx) error {
			open, err := tx.Intents(room.ID, "")
			for _, i := range open {
				kinds[i.Kind] = true
			}
			return err
		})
	}

	if len(kinds) != 7 {
		t.Errorf("the kinds of open intents are %v", kinds)
	}
}
